"""The events of a thread: what may stand in a log, and how it is kept.

A log is read for as long as there are threads. A new type, or a field that means something else,
needs a new VERSION, and `from_row` has to say what an older one is. Name a tool that a person
answers in QUESTIONS.
"""

import json
import time
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from .errors import StoreError
from .readable import iso

VERSION = 1
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "user_input": {"text": (str,)},
    "tool_call": {"intent": (str,)},  # and a message, where it is for a person
    "tool_response": {"call": (int,), "result": (object,)},
    "human_response": {"call": (int, NoneType), "text": (str,)},
    "approval": {"call": (int,), "approved": (bool,), "by": (str,), "comment": (str,)},
    "error": {"call": (int, NoneType), "type": (str,), "message": (str,)},
    "failed": {"type": (str,), "message": (str,)},
    "resumed": {},
}
"""What each type of event holds at least."""

QUESTIONS = {"request_more_information", "request_approval_from_manager"}
DONE = "done_for_now"
FOR_A_PERSON = {DONE, *QUESTIONS}
PERSON = {"user_input", "human_response", "approval", "resumed"}  # events that a person made

Row = tuple[Any, ...]
COLUMNS = "seq, version, type, data, meta, at"


@dataclass(frozen=True)
class Event:
    """One line of the log. Events are added, never changed.

    seq: its place, from 0. at: UTC, ISO 8601.
    meta: for what a model wrote, `client`, `milliseconds` and `tokens`; else empty.
    """

    seq: int
    type: str
    data: dict[str, Any]
    at: str
    meta: dict[str, Any] = field(default_factory=dict)


def new_event(seq: int, type: str, data: dict[str, Any], meta: dict[str, Any] | None) -> Event:
    """An event of now. `data` is copied as JSON; half a surrogate pair becomes a question mark."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    return Event(seq, type, json.loads(text), iso(time.time()), meta or {})


def to_row(event: Event) -> Row:
    """The event as a row of the table `events`."""
    data, meta = (json.dumps(each, ensure_ascii=False) for each in (event.data, event.meta))
    return (event.seq, VERSION, event.type, data, meta, event.at)


def from_row(seq: int, row: Row) -> Event:
    """The event in a row, which has to be the one with this seq. Raises StoreError if it is not
    one that this version can read.
    """
    found, version, kind, data, meta, at = row
    if version != VERSION:
        raise StoreError(f"event {seq} has version {version}; this code reads {VERSION}: update it")
    if kind not in FIELDS:
        raise StoreError(f"event {seq} has the type {kind!r}, which this code does not know")
    try:
        event = Event(found, kind, json.loads(data), str(at), json.loads(meta))
        text = json.dumps([event.data, event.meta], ensure_ascii=False, allow_nan=False)
        text.encode()  # no half characters
        whole = found == seq and all(isinstance(x, dict) for x in (event.data, event.meta))
        if event.data.get("intent") in FOR_A_PERSON and kind == "tool_call":
            whole = whole and isinstance(event.data["message"], str)
        named = FIELDS[kind].items()
        if not (whole and all(isinstance(event.data[name], kinds) for name, kinds in named)):
            raise ValueError
        return event
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise StoreError(f"event {seq} ({kind}) is damaged") from None
