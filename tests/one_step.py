"""Run inside a rendered project: let its agent read replies, or ask its model for a step.

    python one_step.py PACKAGE [--quick] [--in-turn]

Each line of stdin is a JSON object:

    {"reply": a model's text}           is read without asking anybody
    {"reply": …, "parsed": fields}      as if BAML had made these fields of it; one that is a class
                                        or a value of an enum is {"class": name, "fields": …}
    {"answer": body, "provider": name}  is a provider's answer, read without BAML
    {"env": variables, "text": …}       the model of these settings is asked, with a thread's text

Each line of stdout is the outcome: `step`, or `refused`, or `unavailable`. Forty at once, or one
after the other.
"""

import asyncio
import importlib
import json
import sys
import time
from dataclasses import replace
from typing import Any


class Agent:
    """The agent of a rendered project, which can be imported."""

    def __init__(self, package: str) -> None:
        def module(name: str) -> Any:
            return importlib.import_module(f"{package}.runtime.{name}")

        self.answers, self.baml, self.errors = map(module, ("answers", "baml", "errors"))
        self.llm, self.models, self.reply = map(module, ("llm", "models", "reply"))
        self.settings = module("settings")
        self.types = importlib.import_module(f"{package}.baml_client.types")
        self.tools = self.baml.tools()

    async def outcome(self, case: dict[str, Any]) -> dict[str, Any]:
        """What comes of a case; whatever is not one of the agent's own errors is a crash."""
        ask = self.model(case)
        self.baml.tools = lambda: self.tools_for(case)
        try:
            step, meta = await self.llm.determine_next_step(case.get("text", ""), ask)
        except self.errors.Refused as error:
            return {"refused": str(error), "meta": error.meta}
        except self.errors.Unavailable as error:
            return {"unavailable": str(error)}
        return {"step": self.baml.dump_step(step), "python": repr(step), "meta": meta}

    def tools_for(self, case: dict[str, Any]) -> Any:
        """The agent's tools, with a parser that makes of a reply what the case says."""
        if "parsed" not in case:
            return self.tools

        def made(value: Any) -> Any:
            if isinstance(value, dict) and "class" in value:
                cls, fields = getattr(self.types, value["class"]), made(value["fields"])
                return cls.model_construct(**fields) if isinstance(fields, dict) else cls(fields)
            return (
                {n: made(each) for n, each in value.items()} if isinstance(value, dict) else value
            )

        fields = made(case["parsed"])
        return replace(self.tools, parsers=[lambda cls, text: cls.model_construct(**fields)])

    def model(self, case: dict[str, Any]) -> Any:
        """What answers in a case."""
        if "env" in case:
            return self.models.choose_model(self.settings.Settings(case["env"])).ask

        async def ask(thread: str) -> Any:
            if "answer" in case:
                text = self.answers.read_text(case["provider"], case["answer"])
            else:
                text = case["reply"]
            return self.reply.Reply(text, "scripted")

        return ask


async def main(agent: Agent, at_once: int) -> None:
    """Answer every line."""

    places = asyncio.Semaphore(at_once)

    async def timed(case: dict[str, Any]) -> dict[str, Any]:
        async with places:
            started = time.perf_counter()
            outcome = await agent.outcome(case)
            return {**outcome, "milliseconds": (time.perf_counter() - started) * 1000}

    cases = [json.loads(line) for line in sys.stdin]
    for outcome in await asyncio.gather(*[timed(case) for case in cases]):
        print(json.dumps(outcome))


if __name__ == "__main__":
    agent = Agent(sys.argv[1])
    if "--quick" in sys.argv:
        agent.llm.FIRST_PAUSE = 0.01
    asyncio.run(main(agent, 1 if "--in-turn" in sys.argv else 40))
