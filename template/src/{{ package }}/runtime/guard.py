"""The guard: a model's reply becomes a step that says exactly what the reply says, or is refused.

A reply is untrusted input. Syntax first: one complete, bounded JSON object (strict_json.py). Then
structure: an intent that exists, and values that fit its class (fit.py). Then a parser builds the
step, and the step is compared with what was written. Nothing here may be loosened: what a person
approves and what is run rely on it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from .errors import Refused
from .fit import MOST_WORK, fit
from .readable import short
from .settings import Limits
from .shape import Names, says
from .strict_json import read_object

LONGEST_LIST = 120  # characters of a list of intents that still helps


@dataclass(frozen=True)
class Tools:
    """What a reply may say. classes: each intent and its class. names: the model's for its fields.

    parsers: from a class and JSON to the step, ValueError where it breaks a rule of the schema; the
    next where one makes something else of it. most_work: what a reply may cost them; see fit.py.
    """

    classes: Mapping[str, type[BaseModel]]
    names: Names
    parsers: Sequence[Callable[[type[BaseModel], str], BaseModel]]
    most_work: int = MOST_WORK


def read_step(reply: str, tools: Tools, limits: Limits) -> BaseModel:
    """The step that a reply says. Raises Refused with what the model should be told."""
    return build_step(read_object(reply, limits), tools)


def build_step(written: dict[str, Any], tools: Tools) -> BaseModel:
    """The step that a JSON object says, from a reply or from the log. Raises Refused."""
    intent = written.get("intent")
    if not isinstance(intent, str) or intent not in tools.classes:
        # No "did you mean": after "do not process_refund" it would talk the model into the refund.
        known = ", ".join(tools.classes)
        way_out = f"use one of: {known}" if len(known) <= LONGEST_LIST else "copy one of the forms"
        problem = "is missing" if intent is None else f"{short(intent)} is unknown"
        raise Refused(f"intent {problem}; {way_out}")
    cls = tools.classes[intent]
    meant = fit(written, cls, tools.names, tools.most_work)
    text = json.dumps(meant)  # parsers are lenient; in our own text of what fits is nothing to mend
    for parse in tools.parsers:
        try:
            step = parse(cls, text)
        except ValueError:
            problem = "breaks a rule of the schema; follow it exactly"
            raise Refused(f"{intent}: a value {problem}") from None
        if says(step, meant, tools.names):
            return step
    raise Refused(f"{intent}: a value would be changed; write it as the schema says")
