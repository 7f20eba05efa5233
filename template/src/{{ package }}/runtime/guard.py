"""The guard: a model's reply becomes a step that says exactly what the reply says, or is refused.

A reply is untrusted input. Syntax first: one complete, bounded JSON object (strict_json.py). Then
structure: an intent that exists, and values that fit its class (fit.py). Then BAML builds the
step, and the step is compared with what was written. Nothing here may be loosened: what a person
approves and what is run rely on it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from .errors import Refused
from .fit import fit
from .readable import short
from .settings import Limits
from .shape import Names, said
from .strict_json import read_object

LONGEST_LIST = 120  # characters of a list of intents that still helps


@dataclass(frozen=True)
class Tools:
    """What a reply may say. classes: each intent and its class. names: the model's for its fields.

    parse: from the JSON of a step to the step; ValueError where it breaks a rule of the schema.
    """

    classes: Mapping[str, type[BaseModel]]
    names: Names
    parse: Callable[[str], BaseModel]


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
    meant = fit(written, tools.classes[intent], tools.names)
    try:
        # BAML's parser is lenient. It sees only our own text of what fits: nothing to repair.
        step = tools.parse(json.dumps(meant))
    except ValueError:
        raise Refused(f"{intent}: a value breaks a rule of the schema; follow it exactly") from None
    if not _agree(meant, said(step, tools.names)):
        raise Refused(f"{intent}: a value would be changed; write it as the schema says")
    return step


def _agree(meant: Any, got: Any) -> bool:
    """Whether a step says what was meant: the same values, and null where nothing was written."""
    if isinstance(meant, dict) and isinstance(got, dict):
        same = all(name in got and _agree(each, got[name]) for name, each in meant.items())
        return same and all(got[name] is None for name in got.keys() - meant.keys())
    if isinstance(meant, list) and isinstance(got, list):
        return len(meant) == len(got) and all(map(_agree, meant, got))
    if isinstance(meant, bool) or isinstance(got, bool):
        return meant is got
    return bool(meant == got)  # 12 and 12.0 are the same number
