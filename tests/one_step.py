"""Run inside a rendered project: ask its model for one step a line, and say what came of it.

    python one_step.py PACKAGE

Each line of stdin is a JSON object: {"env": variables, "text": the thread's text}, or {"reply": a
model's text}, which is read without asking anybody. Each line of stdout is the outcome.
"""

import asyncio
import importlib
import json
import sys
import time
from typing import Any


def main(package: str) -> None:
    """Answer every line; what is not one of the agent's own errors is a crash, and ends it."""
    runtime = {name: importlib.import_module(f"{package}.runtime.{name}") for name in MODULES}
    errors, llm = runtime["errors"], runtime["llm"]
    if "--quick" in sys.argv:
        llm.FIRST_PAUSE = 0.01

    async def one(case: dict[str, Any]) -> dict[str, Any]:
        if "reply" in case:

            async def ask(thread: str) -> Any:
                return runtime["reply"].Reply(case["reply"], "scripted")
        else:
            settings = runtime["settings"].Settings(case["env"])
            ask = runtime["models"].choose_model(settings).ask
        try:
            step, meta = await llm.determine_next_step(case.get("text", ""), ask)
        except errors.Refused as error:
            return {"refused": str(error), "meta": error.meta}
        except errors.Unavailable as error:
            return {"unavailable": str(error)}
        return {"step": runtime["baml"].dump_step(step), "meta": meta}

    async def timed(line: str) -> dict[str, Any]:
        started = time.perf_counter()
        outcome = await one(json.loads(line))
        return {**outcome, "milliseconds": (time.perf_counter() - started) * 1000}

    async def all_lines() -> list[dict[str, Any]]:
        return await asyncio.gather(*[timed(line) for line in sys.stdin])

    for outcome in asyncio.run(all_lines()):
        print(json.dumps(outcome))


MODULES = ["baml", "errors", "llm", "models", "reply", "settings"]

if __name__ == "__main__":
    main(sys.argv[1])
