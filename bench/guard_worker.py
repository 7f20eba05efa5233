"""Runs inside a project for guard.py: a request a line, an outcome a line."""

import asyncio
import importlib
import json
import multiprocessing
import signal
import statistics
import sys
import time
from typing import Any

PACKAGE = sys.argv[1]


def module(name: str) -> Any:
    """A module of the project."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def guard(request: dict[str, Any]) -> dict[str, Any]:
    """The reply as the guard reads it."""
    baml, limits = module("runtime.baml"), module("runtime.settings").USUAL
    started = time.perf_counter()
    try:
        step = module("runtime.guard").read_step(request["reply"], baml.tools(), limits)
        outcome = {"step": baml.dump_step(step)}
    except module("runtime.errors").Refused as error:
        outcome = {"refused": str(error)}
    return {**outcome, "milliseconds": (time.perf_counter() - started) * 1000}


def parse(request: dict[str, Any]) -> dict[str, Any]:
    """The reply as BAML's parser alone reads it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the parser is in no hurry to let Python in
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    try:
        step = module("baml_client.sync_client").b.parse.DetermineNextStep(request["reply"])
        return {"step": step.model_dump(mode="json")}
    except Exception:
        return {"refused": ""}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def serve(ready: Any) -> None:
    """A model server that always answers with the same step."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


STEP = {"intent": "process_refund", "order_id": "A-17", "amount": 12.5, "reason": "arrived broken"}
BODY = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": json.dumps(STEP)},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
)
ANSWER = (
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    f"content-length: {len(BODY)}\r\n\r\n{BODY}"
).encode()
THREAD = "<user_input>\nplease refund order A-17, 12.50, it arrived broken\n</user_input>"


async def costs(request: dict[str, Any]) -> dict[str, Any]:
    """CPU and wall milliseconds of a step, plain and guarded, in rounds that take turns."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    env = {"COMPATIBLE_BASE_URL": url, "COMPATIBLE_API_KEY": "k", "COMPATIBLE_MODEL": "m"}
    b, policy = module("baml_client.async_client").b, module("policy")
    settings = module("runtime.settings").Settings({"AGENT_CLIENT": "compatible", **env})
    ask, llm = module("runtime.models").choose_model(settings).ask, module("runtime.llm")

    async def plain() -> None:
        await b.DetermineNextStep(THREAD, {"client": "Compatible", "env": env})

    async def guarded() -> None:
        step, _ = await llm.determine_next_step(THREAD, ask)
        policy.check(step)
        policy.needs_approval(step)

    rounds: dict[str, list[tuple[float, float]]] = {"plain": [], "guarded": []}
    for number in range(request["rounds"] + 1):
        for name, work in (("plain", plain), ("guarded", guarded)):
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(request["steps"]):
                await work()
            spent = (time.process_time() - cpu, time.perf_counter() - wall)
            if number:  # the first round warms up
                rounds[name].append(spent)
    server.terminate()
    server.join()
    each = 1000 / request["steps"]
    found: dict[str, Any] = {
        name: {
            "cpu": statistics.median(cpu for cpu, _ in spent) * each,
            "wall": statistics.median(wall for _, wall in spent) * each,
        }
        for name, spent in rounds.items()
    }
    pairs = list(zip(rounds["guarded"], rounds["plain"], strict=True))
    found["cpu ratio"] = statistics.median(mine[0] / other[0] for mine, other in pairs)
    found["wall ratio"] = statistics.median(mine[1] / other[1] for mine, other in pairs)
    return found


def main() -> None:
    """Answer every line."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "costs":
            outcome = asyncio.run(costs(request))
        else:
            outcome = {"guard": guard, "parse": parse}[request["do"]](request)
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
