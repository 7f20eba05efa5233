"""Runs inside a project for store.py: a conversation of four requests, bare and durable."""

import asyncio
import importlib
import json
import statistics
import sys
import time
from typing import Any

from model_server import model_server

PACKAGE, ROUNDS, EACH = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
QUESTION = "can you multiply 3 and 4, then divide the result by 2 and then add 12 to that result?"
STEPS = [
    {"intent": "multiply", "a": 3, "b": 4},
    {"intent": "divide", "a": 12, "b": 2},
    {"intent": "add", "a": 6, "b": 12},
    {"intent": "done_for_now", "message": "The result is 18."},
]


def module(name: str) -> Any:
    """A module of the project."""
    return importlib.import_module(f"{PACKAGE}.{name}")


async def main(env: dict[str, str]) -> None:
    """Print CPU and wall milliseconds of a conversation, bare and durable, in turns."""
    b, types = module("baml_client.async_client").b, module("baml_client.types")
    settings = module("runtime.settings").Settings({"AGENT_CLIENT": "compatible", **env})
    ask, agent = module("runtime.models").choose_model(settings).ask, module("agent")
    store, thread_class = module("runtime.store").open_store(), module("runtime.thread").Thread

    async def bare() -> str:
        events = [f"<user_input>\n{QUESTION}\n</user_input>"]
        while True:
            thread = "\n".join(events)
            step = await b.DetermineNextStep(thread, {"client": "Compatible", "env": env})
            events.append(f"<tool_call>\n{json.dumps(step.model_dump())}\n</tool_call>")
            match step:
                case types.AddTool():
                    result = step.a + step.b
                case types.MultiplyTool():
                    result = step.a * step.b
                case types.DivideTool():
                    result = step.a / step.b
                case _:
                    return str(step.message)
            events.append(f"<tool_response>\n{result}\n</tool_response>")

    async def durable() -> str:
        thread = thread_class.create(store, QUESTION)
        await agent.agent_loop(thread, ask)
        return str(thread.answer)

    rounds: dict[str, list[tuple[float, float]]] = {"bare": [], "durable": []}
    for number in range(ROUNDS + 1):
        for name, converse in (("bare", bare), ("durable", durable)):
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(EACH):
                assert "18" in await converse()
            spent = (time.process_time() - cpu, time.perf_counter() - wall)
            if number:  # the first round warms up
                rounds[name].append(spent)
    found: dict[str, Any] = {
        name: [statistics.median(each) * 1000 / EACH for each in zip(*spent, strict=True)]
        for name, spent in rounds.items()
    }
    pairs = list(zip(rounds["durable"], rounds["bare"], strict=True))
    found["ratio"] = [
        statistics.median(mine[i] / other[i] for mine, other in pairs) for i in (0, 1)
    ]
    print(json.dumps(found))


if __name__ == "__main__":
    with model_server(STEPS) as env:
        asyncio.run(main(env))
