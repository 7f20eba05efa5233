"""The thread: the ordered list of events, and the only state. What the agent is about to do,
what it waits for and how it ended are all read from the log.

Threads live in this process. Name a tool that a person answers in QUESTIONS.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from . import prompt
from .baml import dump_step
from .call import Call
from .errors import Conflict, Refused, StopRun, ToolError
from .readable import call_text
from .settings import Limits
from .steps import NextStep, call_hash

Status = Literal["running", "waiting", "done", "failed"]

QUESTIONS = {"request_more_information", "request_approval_from_manager"}
DONE = "done_for_now"
PERSON = {"user_input", "human_response", "approval", "resumed"}  # events that a person made
MESSAGE_LENGTH = 200  # characters of an error that the model is told
LONGEST_SHOWN = 1200  # characters of a call that a person approves; it has to fit on a screen


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


class Thread:
    """A thread, from its first event. `on_event` is told of each event after it was written."""

    def __init__(self, on_event: Callable[[Event], None] | None = None) -> None:
        self.id = uuid.uuid4().hex
        self.events: list[Event] = []
        self.started: set[int] = set()  # calls whose tool was begun, by seq
        self._approval_ids: dict[int, str] = {}  # of calls that wait for a decision, by seq
        self._approved: dict[int, str] = {}  # the hash of each call that a person approved
        self._claimed = False
        self._on_event = on_event

    # Reading the log

    @property
    def status(self) -> Status:
        """running: the loop's turn. waiting: a person's turn. done, failed: nobody's."""
        if self.events and self.events[-1].type == "failed":
            return "failed"
        call = self._unsettled()
        if call is None:
            return "running"
        if call.data["intent"] == DONE:
            return "done"
        waits = call.data["intent"] in QUESTIONS or call.seq in self._approval_ids
        return "waiting" if waits else "running"

    @property
    def answer(self) -> str | None:
        """The text for the user, once the thread is done."""
        call = self._unsettled()
        return str(call.data["message"]) if call and self.status == "done" else None

    @property
    def pending(self) -> dict[str, Any] | None:
        """What a person is asked: a question, or the exact call that they may approve."""
        call = self._unsettled()
        if call is None or self.status != "waiting":
            return None
        if call.data["intent"] in QUESTIONS:
            return {"kind": "question", "message": call.data["message"]}
        return {
            "kind": "approval",
            "approval_id": self._approval_ids[call.seq],
            "call": deepcopy(call.data),  # what is shown may be changed, what will run may not
            "call_hash": call_hash(call.data),
        }

    @property
    def failure(self) -> dict[str, Any] | None:
        """Why the thread failed: a type and a message."""
        return self.events[-1].data if self.status == "failed" else None

    def open_call(self) -> Call | None:
        """The call that was chosen and is not done, with the arguments that are in the log."""
        event = self._unsettled()
        if event is None:
            return None
        approved = self._approved.get(event.seq) == call_hash(event.data)
        return Call(self, event.seq, event.data, approved)

    def prompt(self, limits: Limits) -> str:
        """The text the model is asked with. Raises StopRun when the run has reached a limit."""
        if self._count({"error"}, since=PERSON | {"tool_response"}) >= limits.max_errors:
            last = self.events[-1].data["message"]
            problem = f"{limits.max_errors} errors in a row; the last: {last}"
            raise StopRun("too_many_errors", problem)
        if self._count({"tool_call"}, since=PERSON) >= limits.max_steps:
            raise StopRun("step_limit", f"{limits.max_steps} steps without an end")
        text = prompt.render(self.events)
        size = len(text.encode())
        if size > limits.max_prompt_bytes:
            problem = f"the thread has {size} bytes; the limit is {limits.max_prompt_bytes}"
            raise StopRun("prompt_too_long", problem)
        return text

    def to_json(self) -> dict[str, Any]:
        """The one shape in which a thread leaves this program."""
        return {
            "id": self.id,
            "status": self.status,
            "answer": self.answer,
            "pending": self.pending,
            "failure": self.failure,
            "events": [asdict(event) for event in self.events],
        }

    # Writing it

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Be the one that runs this thread. Raises Conflict if somebody does already."""
        if self._claimed:
            raise Conflict("this thread is being run already")
        self._claimed = True
        try:
            yield
        finally:
            self._claimed = False

    def append(self, type: str, data: dict[str, Any], meta: dict[str, Any] | None = None) -> Event:
        """Add an event. `data` is copied as JSON; half a surrogate pair becomes a question mark."""
        text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode(errors="replace")
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        event = Event(len(self.events), type, json.loads(text), at, meta or {})
        self.events.append(event)
        if self._on_event:
            self._on_event(event)
        return event

    def add_user_input(self, text: str) -> None:
        """A message of the user. A call that waits goes on waiting."""
        self.append("user_input", {"text": text})

    def add_answer(self, text: str) -> None:
        """A person's answer to the question that waits. No answer permits a call."""
        call = self._unsettled()
        asked = call.seq if call and call.data["intent"] in QUESTIONS else None
        self.append("human_response", {"call": asked, "text": text})

    def add_call(self, step: NextStep, meta: dict[str, Any]) -> Call:
        """What the model chose, before anything is done about it."""
        event = self.append("tool_call", dump_step(step), meta)
        return Call(self, event.seq, event.data, approved=False, chosen=step)

    def add_error(
        self,
        error: Refused | ToolError,
        call: Call | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """What went wrong, short, for the model to mend."""
        kind = error.kind if isinstance(error, ToolError) else type(error).__name__
        seq = call.seq if call else None
        self.append("error", {"call": seq, "type": kind, "message": _compact(str(error))}, meta)

    def request_approval(self, call: Call) -> None:
        """Let the call wait until a person decides. ToolError if it cannot be shown whole."""
        if len(call_text(call.data)) > LONGEST_SHOWN:
            raise ToolError("the call is too long to be shown to a person; write less")
        self._approval_ids[call.seq] = uuid.uuid4().hex

    def decide(
        self, approval_id: str, call_hash: str, approved: bool, by: str, comment: str = ""
    ) -> None:
        """Record a person's decision on the call that waits, once.

        Raises Conflict when nothing waits under this id, or when the call is not the one shown.
        """
        pending = self.pending or {"kind": None}
        shown = (pending.get("approval_id"), pending.get("call_hash"))
        if pending["kind"] != "approval" or (approval_id, call_hash) != shown:
            raise Conflict("this call does not wait for a decision; look at the thread again")
        seq = next((s for s, own in list(self._approval_ids.items()) if own == approval_id), -1)
        if self._approval_ids.pop(seq, None) is None:  # another decision was faster
            raise Conflict("this call was decided just now; look at the thread again")
        if approved is True:
            self._approved[seq] = call_hash
        decision = {"call": seq, "approval_id": approval_id, "approved": approved is True}
        self.append("approval", {**decision, "by": by, "comment": comment})

    def fail(self, error: StopRun) -> None:
        """End the run. A message, an answer or `resumed` opens it again with fresh counts."""
        self.append("failed", {"type": error.type, "message": str(error)})

    def _unsettled(self) -> Event | None:
        """The last tool call, unless a later event settled it."""
        for i in range(len(self.events) - 1, -1, -1):
            event = self.events[i]
            if event.type != "tool_call":
                continue
            after = self.events[i + 1 :]
            if event.data["intent"] == DONE:
                settled = any(e.type in PERSON | {"error"} for e in after)
            else:
                about = (e for e in after if e.data.get("call") == event.seq)
                settled = any(not (e.type == "approval" and e.data["approved"]) for e in about)
            return None if settled else event
        return None

    def _count(self, types: set[str], since: set[str]) -> int:
        """How many events of these types came after the last one of `since`."""
        count = 0
        for event in reversed(self.events):
            if event.type in since:
                break
            count += event.type in types
        return count


def _compact(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"
