"""A thread: a log in the store, and the only ways in which something is added to it.

Every method that writes is one transaction: all of it is on the disk, or nothing. What the loop
writes needs a claim; what a person says does not, and may come at any time.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from .baml import dump_step
from .call import APPROVAL_LASTS, Call
from .errors import Conflict, Overtaken, Refused, StopRun, StoreError, ToolError
from .events import Event, new_event
from .log import Log
from .readable import compact, error_text
from .steps import NextStep, call_hash
from .store import LEASE, Store, new_id
from .tables import Approval

OnEvent = Callable[[Event], None]


class Thread(Log):
    """A thread of the store. `on_event` is told of each event after it was written."""

    def __init__(self, store: Store, some_id: str, on_event: OnEvent | None = None) -> None:
        """Load a thread, by its id or that of an approval. Raises StoreError if it cannot."""
        self.store = store
        self._saved = 0  # how many of the events are in the store
        self._on_event = on_event
        self.epoch: int | None = None  # of the claim, while there is one
        self.id = store.thread_of(some_id)
        self.refresh()

    @classmethod
    def create(cls, store: Store, text: str | None = None, on_event: OnEvent | None = None) -> Self:
        """A new thread, with this message of the user."""
        thread_id = new_id()
        with store.database.transaction():
            store.add_thread(thread_id)
            thread = cls(store, thread_id, on_event)
            if text is not None:
                thread.add_user_input(text)
        return thread

    @asynccontextmanager
    async def claim(self) -> AsyncIterator[None]:
        """Be the one that runs this thread. Raises Busy if somebody does already."""
        self.epoch = self.store.claim(self.id)
        renewing = asyncio.create_task(self._renew(self.epoch))
        try:
            self.refresh()
            yield
        finally:
            renewing.cancel()
            with suppress(StoreError):  # it is lost, or will end by itself
                self.store.release(self.id, self.epoch)
            self.epoch = None

    def refresh(self) -> None:
        """Read the thread again: others may have written to it."""
        Log.__init__(self, self.id, self.store.events(self.id))
        self._saved = len(self.events)
        self._look_up()

    @contextmanager
    def writing(self, claimed: bool = True) -> Iterator[Store]:
        """A transaction for `add`, and for what the store has to know besides.

        Raises Fenced if the claim is lost, and Overtaken if there is a call that is not written
        yet and that was chosen before a person said something. Then nothing is written.
        """
        told = self._saved
        try:
            with self.store.writing(self.id, self.epoch if claimed else None):
                self._catch_up()
                yield self.store
                self.store.add_events(self.id, self.events[self._saved :])
                self._look_up()
                self.store.set_summary(self.id, self.status, self.title, self.summary())
        except BaseException:
            with suppress(StoreError):
                self.refresh()
            raise
        self._saved = len(self.events)
        if self._on_event:
            for event in self.events[told:]:
                self._on_event(event)

    def add(self, type: str, data: dict[str, Any], meta: dict[str, Any] | None = None) -> Event:
        """Add an event; within `writing`."""
        event = new_event(len(self.events), type, data, meta)
        self.take(event)
        return event

    # What the loop writes

    def open_call(self) -> Call | None:
        """The call that was chosen and is not done, with the arguments that are in the log."""
        if self.open is None:
            return None
        data, decided = self.open.data, self.approval
        approved = decided and decided.status == "approved" and decided.call_hash == call_hash(data)
        return Call(self, self.open.seq, data, bool(approved))

    def add_call(self, step: NextStep, meta: dict[str, Any]) -> Call:
        """What the model chose. It is written down with what comes of it, and before any effect."""
        event = self.add("tool_call", dump_step(step), meta)
        return Call(self, event.seq, event.data, approved=False, chosen=step)

    def save(self) -> None:
        """Write down a call that is not written yet. Raises Fenced if the claim is lost."""
        if self._saved < len(self.events):
            with self.writing():
                pass

    def add_error(
        self,
        error: Refused | ToolError,
        call: Call | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """What went wrong, short, for the model to mend. Of a call that was begun and may have done
        something the model is not told: a person has to say what happened.
        """
        kind = str(error.kind) if isinstance(error, ToolError) else type(error).__name__
        message = compact(error_text(error))
        data = {"call": call.seq if call else None, "type": kind, "message": message}
        with self.writing():
            if call is None or self.effect is None:
                self.add("error", data, meta)
            elif isinstance(error, ToolError) and error.did_nothing:
                self.store.end_effect(call.key, "failed")
                self.add("error", data, meta)
            else:
                self.store.end_effect(call.key, "unknown", error_text(error))

    def fail(self, error: StopRun) -> None:
        """End the run. A message, an answer or `reopen` opens it again with fresh counts."""
        with self.writing():
            self.add("failed", {"type": error.type, "message": str(error)})

    # What a person says

    def add_user_input(self, text: str) -> None:
        """A message of the user. A call that waits goes on waiting."""
        with self.writing(claimed=False):
            self.add("user_input", {"text": text})

    def add_answer(self, text: str, or_message: bool = False, seq: int | None = None) -> None:
        """A person's answer to the question that waits, which permits no call. Where none waits it
        is a message if it may be one. seq: of the question that was meant. Raises Conflict.
        """
        with self.writing(claimed=False):
            if self.question and seq in {None, self.question.seq}:
                self.add("human_response", {"call": self.question.seq, "text": text})
            elif or_message and seq is None:
                self.add("user_input", {"text": text})
            else:
                raise Conflict("this question does not wait; look at the thread again")

    def decide(
        self, approval_id: str, call_hash: str, approved: bool, by: str, comment: str = ""
    ) -> None:
        """Record a person's decision on the call that waits, once.

        Raises Conflict when nothing waits under this id, or when the call is not the one shown.
        """
        with self.writing(claimed=False):
            asked = self._undecided(approval_id)
            if not asked.call_hash == call_hash == (self.pending or {}).get("call_hash"):
                raise Conflict("this is not the call that was shown; look at the thread again")
            self.store.decide(asked.id, "approved" if approved is True else "refused", by)
            decision = {"call": asked.seq, "approval_id": asked.id, "approved": approved is True}
            self.add("approval", {**decision, "by": by, "comment": comment})

    def settle(self, effect_key: str, happened: bool, text: str, by: str) -> None:
        """Record what a person found out about a call that may have happened.

        text: what it gave, or why it did not happen. Raises Conflict where nothing waits for it.
        """
        with self.writing(claimed=False):
            doubted = self.effect
            if self.status != "waiting" or doubted is None or doubted.key != effect_key:
                raise Conflict("nothing waits under this key; look at the thread again")
            self.store.end_effect(effect_key, "done" if happened else "failed", text)
            if happened:
                self.add("tool_response", {"call": doubted.seq, "result": text, "by": by})
            else:
                told = {"type": "did_not_happen", "message": compact(text), "by": by}
                self.add("error", {"call": doubted.seq, **told})

    def reopen(self) -> None:
        """Let a run that failed go on, and ask anew where an approval has expired."""
        with self.writing(claimed=False):
            if self.status == "failed":
                self.add("resumed", {})
            elif self.approval and self.approval.status == "pending" and self.approval.is_over:
                until = time.time() + APPROVAL_LASTS
                self.store.add_approval(replace(self.approval, id=new_id(), expires=until))

    def _undecided(self, approval_id: str) -> Approval:
        asked = self.store.approval(approval_id)
        if asked is None or asked.thread_id != self.id:
            raise Conflict("nothing waits under this id; look at the thread again")
        if asked.status in {"approved", "refused"}:
            raise Conflict(f"this call was {asked.status} already, by {asked.by_whom}")
        if asked.status != "pending" or self.approval != asked or self.status != "waiting":
            raise Conflict("this call does not wait any more; look at the thread again")
        if asked.is_over:
            raise Conflict(f"the time to approve is over; `resume {self.id}` asks anew")
        return asked

    def _catch_up(self) -> None:
        """Take in what others have written."""
        missed = self.store.events(self.id, self._saved)
        if missed and self._saved < len(self.events):
            raise Overtaken
        for event in missed:
            self.take(event)
        self._saved += len(missed)
        if missed or self.epoch is None:
            self._look_up()

    def _look_up(self) -> None:
        """See what the store knows about the open call."""
        if self.open is None:
            return
        self.approval = self.store.approval_of(self.id, self.open.seq)
        self.effect = self.store.effect(f"{self.id}:{self.open.seq}")
        if self.approval is not None and self.approval.status == "pending":
            call = Call(self, self.open.seq, self.open.data, approved=False)
            with suppress(ToolError):  # its tool is gone
                self.earlier = call.done_already()

    async def _renew(self, epoch: int) -> None:
        pause = LEASE / 3
        while True:
            await asyncio.sleep(pause)
            pause = LEASE / 100  # if somebody else is writing; what is lost the next write tells
            with suppress(StoreError):
                self.store.beside().renew(self.id, epoch)
                pause = LEASE / 3
