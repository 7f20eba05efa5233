"""Runs inside a project for guard.py: a request a line, an outcome a line."""

import asyncio
import importlib
import json
import signal
import statistics
import sys
import time
from typing import Any

from model_server import model_server

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


STEP = {"intent": "process_refund", "order_id": "A-17", "amount": 12.5, "reason": "arrived broken"}
THREAD = "<user_input>\nplease refund order A-17, 12.50, it arrived broken\n</user_input>"


async def costs(request: dict[str, Any], env: dict[str, str]) -> dict[str, Any]:
    """CPU and wall milliseconds of a step, plain and guarded, in rounds that take turns."""
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
            with model_server([STEP]) as env:
                outcome = asyncio.run(costs(request, env))
        else:
            outcome = {"guard": guard, "parse": parse}[request["do"]](request)
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
