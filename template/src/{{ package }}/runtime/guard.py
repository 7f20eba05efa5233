"""The guard: a model's reply becomes a step that says exactly what the reply says, or is refused.

A reply is untrusted input. Syntax first: one complete, bounded JSON object. Then structure: a known
intent, and a typed step equal to what was written. The limits may be changed. The comparison may
not be loosened: what a person approves and what is run rely on it.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

from pydantic import BaseModel, ValidationError

from .errors import Refused

MAX_CHARACTERS = 100_000
MAX_DEPTH = 16
MAX_VALUES = 500  # BAML's time grows with the square of the items of a list
MAX_INTEGER = 2**53  # beyond it a browser shows another number than the one that would run

_REASONING = re.compile(r"\A(?![{`]).*?(?:</think(?:ing)?>|\[/THINK\])", re.DOTALL)
_FENCE = re.compile(r"\A```[ \t]*(?:json[c5]?|javascript|js|text)?|```\Z", re.IGNORECASE)
_STRING_OR_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{},]', re.DOTALL)
_NUL = re.compile(r"\x00|(?<!\\)(?:\\\\)*\\u0000")  # raw, or escaped by an odd backslash
_ONE = "write one JSON object and nothing else"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

Parse = Callable[[str], BaseModel]
Classes = Mapping[str, type[BaseModel]]


def read_step(reply: str, parse: Parse, classes: Classes) -> BaseModel:
    """The step that a reply says. Raises Refused with what the model should be told.

    reply: the model's text. parse: from the JSON of a step to the step, or ValueError.
    classes: each intent that exists and its class.
    """
    written = _read_object(_unwrap(reply))
    intent = written.get("intent")
    if not isinstance(intent, str) or intent not in classes:
        # No "did you mean": after "do not process_refund" it would talk the model into the refund.
        raise Refused(f"intent {_show(intent)} is unknown; use one of: {', '.join(classes)}")
    try:
        # The parser is lenient, and sees only our own serialisation: there is nothing to repair.
        step = parse(json.dumps(written))
    except ValueError:
        raise Refused(_misfit(written, classes[intent])) from None
    _compare(written, step, "")
    return step


# Syntax


def _unwrap(reply: str) -> str:
    """The reply without what models put around an object: blanks, reasoning, one code fence."""
    text = reply.strip().removeprefix("\ufeff").lstrip()
    text = _REASONING.sub("", text, count=1).strip()
    return _FENCE.sub("", text).strip()


def _read_object(text: str) -> dict[str, Any]:
    if not text:
        raise Refused(f"the reply is empty; {_ONE}")
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"the reply has {len(text)} characters; write at most {MAX_CHARACTERS}")
    if not text.startswith("{"):
        raise Refused(f"the reply begins with {_show(text[:20])}; {_ONE}")
    _check_size(text)
    try:
        written, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        near = _show(text[max(0, error.pos - 10) : error.pos + 10])
        problem = f"not valid JSON at character {error.pos}, near {near}: {error.msg}"
        raise Refused(problem) from None
    if rest := text[end:].strip():
        raise Refused(f"after the JSON object stands {_show(rest[:20])}; {_ONE}")
    _check_characters(text, written)
    return dict(written)


def _check_size(text: str) -> None:
    """Bound depth and number of values before anything parses them."""
    depth = deepest = values = 0
    for mark in _STRING_OR_MARK.findall(text):
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, depth)
        values += mark in "[{,"
    if deepest > MAX_DEPTH or values > MAX_VALUES:
        raise Refused(
            f"the JSON is {deepest} levels deep with {values} values;"
            f" write at most {MAX_DEPTH} levels and {MAX_VALUES} values"
        )


def _check_characters(text: str, written: Any) -> None:
    """Refuse text that a database or a terminal could not give back."""
    if _NUL.search(text):
        raise Refused("a string holds a NUL character; leave it out")
    try:
        json.dumps(written, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("a string holds half a surrogate pair; write the character itself") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"the key {_show(twice)} stands twice; write one step, and each key once")
    return dict(pairs)


def _number(text: str) -> int | float:
    """A number exactly as written. Raises Refused where a float or a browser would change it."""
    if len(text) > 40:
        raise Refused(f"the number {text[:20]}… is too long")
    if text.lstrip("-").isdigit():
        if abs(int(text)) > MAX_INTEGER:
            raise Refused(f"the whole number {text} is beyond ±{MAX_INTEGER}")
        return int(text)
    value = float(text)
    try:
        exact = math.isfinite(value) and Decimal(repr(value)) == Decimal(text)
    except InvalidOperation:  # an exponent that no decimal number has
        exact = False
    if not exact:
        raise Refused(f"the number {text} cannot be kept exactly; the nearest is {value!r}")
    return value


def _no_constant(name: str) -> None:
    raise Refused(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_number,
    parse_float=_number,
    parse_constant=_no_constant,
    strict=False,  # models write line breaks into strings, and they mean just that
)


# Structure


def _compare(written: Any, got: Any, path: str) -> None:
    """Refuse unless the typed value says what was written: same names, lengths, values, types."""
    if isinstance(got, Enum):
        got = got.value
    allowed = list(type(got).model_fields) if isinstance(got, BaseModel) else []
    if isinstance(got, BaseModel) and isinstance(written, dict):
        got = {name: getattr(got, name) for name in type(got).model_fields}
        # Inside a class, null and absent say the same.
        written = {name: value for name, value in written.items() if value is not None}
        got = {name: value for name, value in got.items() if value is not None or name in written}
    if isinstance(got, dict) and isinstance(written, dict):
        for name in written:
            if name not in got:
                hint = f"allowed are {', '.join(allowed)}" if allowed else "its value does not fit"
                raise Refused(f"{path}{name} is no field here; {hint}")
        for name, value in got.items():
            if name not in written:
                raise Refused(f"{path}{name} is missing")
            _compare(written[name], value, f"{path}{name}.")
    elif isinstance(got, list) and isinstance(written, list):
        if len(got) != len(written):
            raise Refused(f"{path[:-1]}: not every item has the right type")
        for i, (item, typed) in enumerate(zip(written, got, strict=True)):
            _compare(item, typed, f"{path}{i}.")
    elif not _says_the_same(written, got):
        raise Refused(f"{path[:-1]} is {_show(written)}; write it as the schema says")


def _says_the_same(written: Any, got: Any) -> bool:
    if isinstance(got, int | float) and not isinstance(got, bool):
        if isinstance(written, str) and _NUMBER.fullmatch(written):
            written = _number(written)  # a numeric string, where it is exactly that number
        is_number = isinstance(written, int | float) and not isinstance(written, bool)
        return is_number and bool(written == got)
    return type(got) is type(written) and bool(written == got)


def _misfit(written: dict[str, Any], cls: type[BaseModel]) -> str:
    """Which fields do not fit the class. Pydantic words it: BAML's message holds the prompt."""
    try:
        cls.model_validate_json(json.dumps(written), strict=True)
    except ValidationError as error:
        problems = {str(e["loc"][0]): e["msg"].removeprefix("Input ") for e in error.errors()}
        return "; ".join(f"{name}: {problem}" for name, problem in list(problems.items())[:3])
    return f"{written['intent']} does not fit the schema; follow it exactly"


def _show(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:39] + "…"
