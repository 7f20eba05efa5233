"""Asks a model for the next step, and again where that makes sense; the guard reads the reply.

This module alone asks twice: after a lost connection, HTTP 429 and 5xx, a few times, and never
because of what a reply says. The three numbers may be changed.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any, cast

from . import baml
from .errors import Refused, TryAgain, Unavailable
from .guard import read_step
from .reply import Ask, Reply
from .settings import USUAL, Limits
from .steps import NextStep

ATTEMPTS = 3  # for one client and one step
FIRST_PAUSE = 0.5  # seconds before the second attempt; it doubles after each
PATIENCE = 60.0  # seconds after which no further attempt begins, even if a provider asks for that


async def determine_next_step(
    thread: str, ask: Ask, limits: Limits = USUAL
) -> tuple[NextStep, dict[str, Any]]:
    """The step a model chooses for a thread's text, and the `meta` of its event.

    Raises Refused when the reply must not become a step, Unavailable when there was no reply.
    """
    started = time.monotonic()
    reply = await ask(thread)
    try:
        if reply.flaw:
            raise Refused(reply.flaw)
        step = read_step(reply.text, baml.tools(), limits)
    except Refused as error:
        error.meta = _meta(reply, started)
        raise
    return cast(NextStep, step), _meta(reply, started)


def patiently(model: Ask) -> Ask:
    """The same model, asked again where it gave no reply and may soon give one."""

    async def ask(thread: str) -> Reply:
        until = time.monotonic() + PATIENCE
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await model(thread)
            except TryAgain as problem:
                pause = FIRST_PAUSE * 2 ** (attempt - 1) if problem.after is None else problem.after
                pause *= random.uniform(1, 1.25)  # so that not all come at the same moment
                if attempt == ATTEMPTS or time.monotonic() + pause > until:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    return ask


def first_to_answer(models: Sequence[Ask]) -> Ask:
    """A model that asks the next one where one gives no reply. A refused reply is a reply."""

    async def ask(thread: str) -> Reply:
        problems = []
        for model in models:
            try:
                return await model(thread)
            except Unavailable as problem:
                problems.append(str(problem))
        raise Unavailable("; ".join(problems))

    return ask


def _meta(reply: Reply, started: float) -> dict[str, Any]:
    tokens = reply.tokens
    return {
        "client": reply.client,
        "milliseconds": round((time.monotonic() - started) * 1000),
        "tokens": {"input": tokens.input, "output": tokens.output} if tokens else None,
    }
