"""What a log says: what the agent is about to do, what it waits for, and how it ended.

Each event is looked at once, when it comes in, so that a long thread costs no more than a short
one.
"""

import json
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import asdict
from typing import Any, Literal

from . import prompt
from .errors import StopRun
from .events import DONE, PERSON, QUESTIONS, Event
from .readable import call_text, iso
from .settings import Limits
from .steps import call_hash
from .tables import Approval, Effect

Status = Literal["running", "waiting", "done", "failed"]

TITLE_LENGTH = 80  # characters


class Log:
    """The events of a thread so far, and what the store knows of the call that is open.

    open: the last call, unless a later event settled it. errors: in a row, since a person spoke
    or a tool gave a result. steps: calls since a person spoke. approval, effect: of the open call,
    where it has one. earlier: what was done already of what the call may do once only.
    """

    def __init__(self, thread_id: str, events: Iterable[Event] = ()) -> None:
        self.id = thread_id
        self.events: list[Event] = []
        self.open: Event | None = None
        self.errors = 0
        self.steps = 0
        self.approval: Approval | None = None
        self.effect: Effect | None = None
        self.earlier: str | None = None
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Take an event in."""
        self.events.append(event)
        if event.type == "tool_call" or (self.open and _settles(event, self.open)):
            self.open = event if event.type == "tool_call" else None
            self.approval = self.effect = self.earlier = None
        if event.type in PERSON:
            self.errors = self.steps = 0
        elif event.type == "tool_response":
            self.errors = 0
        self.errors += event.type == "error"
        self.steps += event.type == "tool_call"

    @property
    def status(self) -> Status:
        """running: the loop's turn. waiting: a person's turn. done, failed: nobody's."""
        if self.events and self.events[-1].type == "failed":
            return "failed"
        if self.open is None:
            return "running"
        if self.open.data["intent"] == DONE:
            return "done"
        asked = self.approval is not None and self.approval.status == "pending"
        unknown = self.effect is not None and self.effect.state == "unknown"
        return "waiting" if self.question or asked or unknown else "running"

    @property
    def question(self) -> Event | None:
        """The question that a person is asked."""
        return self.open if self.open and self.open.data["intent"] in QUESTIONS else None

    @property
    def answer(self) -> str | None:
        """The text for the user, once the thread is done."""
        return str(self.open.data["message"]) if self.open and self.status == "done" else None

    @property
    def failure(self) -> dict[str, Any] | None:
        """Why the thread failed: a type and a message."""
        return self.events[-1].data if self.status == "failed" else None

    @property
    def pending(self) -> dict[str, Any] | None:
        """What a person is asked: a question, the exact call that they may approve, or what
        became of a call that was begun.
        """
        if self.open is None or self.status != "waiting":
            return None
        call = deepcopy(self.open.data)  # what is shown may be changed, what will run may not
        if self.question:
            return {"kind": "question", "message": call["message"], "seq": self.question.seq}
        shown = {"call": call, "call_hash": call_hash(call), "text": call_text(call)}
        if self.effect is not None:
            problem = json.loads(self.effect.result or "null")
            return {"kind": "outcome", "effect_key": self.effect.key, **shown, "problem": problem}
        assert self.approval is not None
        known = {"earlier": self.earlier, "expires": iso(self.approval.expires)}
        return {"kind": "approval", "approval_id": self.approval.id, **shown, **known}

    @property
    def title(self) -> str:
        """The beginning of the first message, for lists."""
        first = self.events[0].data.get("text", "") if self.events else ""
        return " ".join(str(first).split())[:TITLE_LENGTH]

    def prompt(self, limits: Limits) -> str:
        """The text the model is asked with. Raises StopRun when the run has reached a limit."""
        if self.errors >= limits.max_errors:
            last = next(e for e in reversed(self.events) if e.type == "error").data["message"]
            problem = f"{limits.max_errors} errors in a row; the last: {last}"
            raise StopRun("too_many_errors", problem)
        if self.steps >= limits.max_steps:
            raise StopRun("step_limit", f"{limits.max_steps} steps without an end")
        text = prompt.render(self.events)
        size = len(text.encode())
        if size > limits.max_prompt_bytes:
            problem = f"the thread has {size} bytes; the limit is {limits.max_prompt_bytes}"
            raise StopRun("prompt_too_long", problem)
        return text

    def summary(self) -> dict[str, Any]:
        """The one shape in which a thread leaves this program, but for its events."""
        return {
            "id": self.id,
            "status": self.status,
            "title": self.title,
            "at": self.events[-1].at if self.events else None,
            "answer": self.answer,
            "pending": self.pending,
            "failure": self.failure,
        }

    def to_json(self) -> dict[str, Any]:
        """The one shape, whole."""
        return {**self.summary(), "events": [asdict(event) for event in self.events]}


def _settles(event: Event, call: Event) -> bool:
    """Whether nothing is left to do about a call after this event."""
    if call.data["intent"] == DONE:
        return event.type in PERSON or event.type == "error"
    is_about = event.data.get("call") == call.seq
    return is_about and not (event.type == "approval" and event.data["approved"])
