"""A model server on loopback for the workers: a process of its own, its answers made before."""

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def answer_to(step: dict[str, Any]) -> bytes:
    """An answer in the shape of OpenAI's chat completions, with its HTTP head."""
    message = {"role": "assistant", "content": json.dumps(step)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    shape = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**shape, "choices": [choice], "usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def serve(ready: Any, steps: list[dict[str, Any]], seconds: float) -> None:
    """Answer for ever: with the step whose number is that of the results in the request."""
    answers = [answer_to(step) for step in steps]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                await asyncio.sleep(seconds)
                writer.write(answers[body.count(b"</tool_response>")])
        except asyncio.IncompleteReadError:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def model_server(steps: list[dict[str, Any]], seconds: float = 0) -> Iterator[dict[str, str]]:
    """The settings of a server that chooses these steps, until the block ends.

    seconds: that it takes for each answer.
    """
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=serve, args=(there, steps, seconds), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    try:
        yield {"COMPATIBLE_BASE_URL": url, "COMPATIBLE_API_KEY": "k", "COMPATIBLE_MODEL": "m"}
    finally:
        server.terminate()
        server.join()
