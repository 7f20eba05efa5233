"""What a person at a terminal reads: events, pending calls and tables as lines of text."""

import json
import re
import sys
from typing import Any

from .thread import DONE, QUESTIONS, Event

LONGEST = 500  # characters of one argument; a longer one could push the others off the screen

# What steers a terminal, turns the direction of writing, or is half a character.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Letters that show nothing.
_INVISIBLE = re.compile(r"[\u115f\u1160\u2800\u3164\uffa0]|[^\S ]|[\u200b-\u200d\u2060\ufeff]")


def printable(text: str) -> str:
    """The text with control characters spelled out, so that a model cannot steer the terminal."""
    return _STEERING.sub(_spell, text)


def note(text: str) -> None:
    """Print a line for the person on stderr; stdout is for the answer alone."""
    print(printable(text), file=sys.stderr, flush=True)


def call_text(call: dict[str, Any]) -> str:
    """A call as one line: `add(a=3, b=4)`."""
    values = {name: value for name, value in call.items() if name != "intent"}
    arguments = [f"{name}={_json(value)}" for name, value in values.items()]
    return f"{call['intent']}({', '.join(arguments)})"


def event_text(event: Event) -> str | None:
    """An event as one line; None for a person's own words and for what is put to them."""
    data = event.data
    match event.type:
        case "tool_call" if data["intent"] not in {DONE, *QUESTIONS}:
            return f"→ {call_text(data)}"
        case "tool_response":
            return f"  = {_json(data['result'])}"
        case "approval":
            comment = f": {data['comment']}" if data["comment"] else ""
            return f"  {'approved' if data['approved'] else 'refused'} by {data['by']}{comment}"
        case "error":
            return f"  ! {data['message']}"
        case "failed":
            return f"failed ({data['type']}): {data['message']}"
    return None


def tell(event: Event) -> None:
    """Print an event as it is written, for `Thread(on_event=tell)`."""
    if line := event_text(event):
        note(line)


def table(rows: list[list[str]]) -> str:
    """Rows as columns, the first row the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)


def _json(value: Any) -> str:
    """A value as a person can check it: nothing in it is invisible, and it fits on a screen."""
    text = _INVISIBLE.sub(_spell, json.dumps(value, ensure_ascii=False))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _spell(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
