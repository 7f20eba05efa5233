"""Syntax: a model's reply is one complete, bounded JSON object, or it is refused.

Nothing is repaired: a repaired reply is one that the model did not write. Only what models put
around an object is taken off: blanks, reasoning, a code fence. More of that may be added here.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from .errors import Refused
from .readable import short
from .settings import Limits

MAX_INTEGER = 2**53  # beyond it a browser shows another number than the one that would run
LONGEST_NUMBER = 40  # characters

# Reasoning comes first and ends with a tag; some servers leave out the tag that opens it.
_REASONING = re.compile(r"<(?:think(?:ing)?|thoughts?|reasoning)>|\[THINK\]", re.I)
_REASONING_ENDS = re.compile(r"(?:</(?:think(?:ing)?|thoughts?|reasoning)>|\[/THINK\])\s*", re.I)
_FENCE = re.compile(r"(?:```|~~~)[ \t]*(?:json[5cl]?|javascript|js|plaintext|text|txt)?", re.I)
_END_MARKS = re.compile(
    r"(?:(?:<\|(?:im_end|eot_id|eot|end|endoftext|return)\|>|<end_of_turn>|</s>|<eos>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>)\s*)+\Z"
)
_STRING_OR_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{},]', re.DOTALL)
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # with an odd number of backslashes
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ONE = "write one JSON object and nothing else"


def read_object(reply: str, limits: Limits) -> dict[str, Any]:
    """The JSON object that a reply consists of. Raises Refused with what the model is told.

    Numbers keep the meaning of their text: one that a float or a browser would change is refused.
    """
    text = _unwrap(reply)
    if not text:
        raise Refused(f"the reply is empty; {_ONE}")
    if len(text) > limits.max_reply_characters:
        most = limits.max_reply_characters
        raise Refused(f"the reply has {len(text)} characters; write at most {most}")
    if not text.startswith("{"):
        raise Refused(f"the reply begins with {short(text[:30])}; {_ONE}")
    _check_size(text, limits)
    try:
        written, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        near = short(text[max(0, error.pos - 10) : error.pos + 10])
        problem = f"not valid JSON at character {error.pos}, near {near}: {error.msg}"
        raise Refused(f"{problem}; write one complete JSON object") from None
    if rest := text[end:].strip():
        raise Refused(f"after the JSON object stands {short(rest[:30])}; {_ONE}")
    _check_characters(text, written)
    return dict(written)


def is_numeral(text: str) -> bool:
    """Whether a text is a number and nothing else, as JSON writes one."""
    return _NUMBER.fullmatch(text) is not None


def exact_number(text: str) -> int | float:
    """The number that a numeral writes. Raises Refused where a float or a browser changes it."""
    if len(text) > LONGEST_NUMBER:
        raise Refused(f"the number {text[:20]}… is too long; write at most {LONGEST_NUMBER} digits")
    if text.lstrip("-").isdigit():
        if abs(int(text)) > MAX_INTEGER:
            raise Refused(f"the whole number {text} is beyond ±{MAX_INTEGER}; write a smaller one")
        return int(text)
    value = float(text)
    try:
        exact = repr(value) == text or Decimal(repr(value)) == Decimal(text)
    except InvalidOperation:  # an exponent that no decimal number has
        exact = False
    if not exact:
        raise Refused(f"the number {text} cannot be kept exactly; the nearest is {value!r}")
    return value


def _unwrap(reply: str) -> str:
    """The reply without what stands around its object."""
    text = reply.strip().removeprefix("\ufeff").lstrip()
    if text.startswith("{") and text.endswith("}"):
        return text
    start = 0
    while text[start : start + 1] not in {"{", "`", "~"}:
        end = _REASONING_ENDS.search(text, start)
        if end is None:
            break
        begin = _REASONING.search(text, start, end.start())
        if begin and begin.start() > start:
            break  # prose, and reasoning behind it
        start = end.end()
    text = text[start:]
    if marks := _END_MARKS.search(text, max(0, len(text) - 200)):
        text = text[: marks.start()].rstrip()
    if fence := _FENCE.match(text):
        text = text[fence.end() :].removesuffix(fence[0][:3])
    return text.strip()


def _check_size(text: str, limits: Limits) -> None:
    """Bound depth and number of values before anything parses them."""
    openings = text.count("{") + text.count("[")
    if openings <= limits.max_reply_depth and len(text) <= limits.max_reply_values:
        return  # it cannot be too much, whatever of it stands in strings
    depth = values = 0
    for match in _STRING_OR_MARK.finditer(text):
        mark = match[0]
        depth += (mark in "[{") - (mark in "]}")
        values += mark in "[{,"
        if depth > limits.max_reply_depth:
            raise Refused(f"the JSON is more than {limits.max_reply_depth} levels deep; write less")
        if values > limits.max_reply_values:
            raise Refused(f"the JSON has more than {limits.max_reply_values} values; write less")
        if depth == 0:  # the object is whole, or was never one
            return


def _check_characters(text: str, written: Any) -> None:
    """Refuse text that a database or a terminal could not give back."""
    if "\x00" in text or ("\\u0000" in text and _ESCAPED_NUL.search(text)):
        raise Refused("a string holds a NUL character; leave it out")
    if text.isascii() and "\\u" not in text:
        return
    try:
        json.dumps(written, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("a string holds half a surrogate pair; write the character itself") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"the key {short(twice)} stands twice; write one step, and each key once")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise Refused(f"{name} is not a number in JSON; write a number or leave the field out")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=exact_number,
    parse_float=exact_number,
    parse_constant=_no_constant,
    strict=False,  # models write line breaks into strings, and they mean just that
)
