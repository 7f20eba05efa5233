"""Text that a person can trust: nothing in it steers the terminal, and nothing is invisible."""

import json
import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

# What turns the direction of writing or ends a line where none is meant.
_STEERING = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Letters and marks that show nothing, beside whole categories of them.
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4")
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Zl", "Zp", "Zs"}
_UNUSUAL = re.compile(r"[^\n -~]")  # what is worth a closer look

MESSAGE_LENGTH = 200  # characters of an error that the model is told


def printable(text: str) -> str:
    """The text with control characters spelled out, so that a model cannot steer the terminal."""
    return _UNUSUAL.sub(lambda found: _spell(found[0]) if _steers(found[0]) else found[0], text)


def call_text(call: dict[str, Any]) -> str:
    """A call as one line that shows every character of it: `add(a=3, b=4)`."""
    values = {name: value for name, value in call.items() if name != "intent"}
    arguments = [f"{name}={value_text(value)}" for name, value in values.items()]
    return f"{call['intent']}({', '.join(arguments)})"


def value_text(value: Any) -> str:
    """A value as JSON in which nothing is invisible."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNUSUAL.sub(lambda found: _spell(found[0]) if _is_unseen(found[0]) else found[0], text)


def is_blank(text: str) -> bool:
    """Whether a text shows nothing."""
    return all(c.isspace() or _is_unseen(c) for c in text)


def error_text(error: BaseException) -> str:
    """What an error says, whatever its class makes of that."""
    try:
        return str(error) or "no message"
    except BaseException:
        return "no message"


def on_day(seconds: float) -> str:
    """A time, in seconds since 1970, as a day: `on 2026-11-30`."""
    return f"on {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def iso(seconds: float) -> str:
    """A time, in seconds since 1970, in ISO 8601: `2026-11-30T12:00:00.000+00:00`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def compact(text: str) -> str:
    """An error in one line of at most 200 characters, for the model to read."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"


def short(value: Any) -> str:
    """A value in at most 40 characters of ASCII, for a message that quotes it."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:39] + "…"


def _steers(c: str) -> bool:
    return c not in "\n\t" and (unicodedata.category(c) in _STEERING or c in _DIRECTIONS)


def _is_unseen(c: str) -> bool:
    selects = "\u180b" <= c <= "\u180f" or "\ufe00" <= c <= "\ufe0f" or c >= "\U000e0000"
    return c != " " and (unicodedata.category(c) in _UNSEEN or c in _BLANK or selects)


def _spell(c: str) -> str:
    return c.encode("unicode_escape").decode()
