"""The thread store: threads, their events, approvals and effects, in plain SQL.

Who runs a thread has claimed it: a claim raises the thread's epoch, every later write of the run
names its epoch, and a write with an old one is refused. A lease says until when a claim holds
without being renewed. Nothing here decides anything; thread.py does, within `writing`.
"""

import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from . import events
from .database import IN_MEMORY, Database, open_database
from .errors import Busy, Damaged, Fenced, StoreError, Unknown
from .events import Event
from .settings import Settings
from .tables import STEPS, SUMMARY, Approval, Effect, shape_of

LAST = 253_402_300_800  # seconds since 1970 until the year 10000, which no date is in
LEASE = 15.0  # seconds that a process may be silent before another takes its thread over

_FREE = "(lease_until < ? OR lease_until > ?)"  # a lease far ahead is one of a clock set back
_APPROVAL = "SELECT id, thread_id, seq, call_hash, status, by_whom, expires FROM approvals"
_SUMMARY = f"SELECT {SUMMARY} FROM threads"
_EFFECT = "SELECT key, thread_id, seq, call_hash, call, once, state, result, at, tries FROM effects"


def new_id() -> str:
    """An id that nobody can guess."""
    return uuid.uuid4().hex


def require_id(text: str) -> str:
    """The text, if it is an id of a thread or an approval. Raises Unknown otherwise."""
    if not re.fullmatch(r"[0-9a-f]{32}", text):
        raise Unknown(f"{text[:40]!r} is no id; `threads` lists them")
    return text


class Store:
    """The threads of a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        database.create(STEPS)

    def beside(self) -> "Store":
        """The same threads over another connection, which waits for no other."""
        path = self.database.path
        self.database.require_same_file()
        return self if path == IN_MEMORY else Store(Database(path, patience=0))

    # Threads

    def add_thread(self, thread_id: str) -> None:
        """A new thread, without events."""
        sql = "INSERT INTO threads VALUES (?, 'waiting', '{}', '', 0, 0, ?)"
        self.database.change(sql, thread_id, time.time())

    def summaries(
        self, status: str | None = None, before: str | None = None, limit: int = 10**9
    ) -> list[dict[str, Any]]:
        """Threads as in the one JSON shape, but for their events, newest first.

        status: only these. before: only those older than this one. limit: at most so many.
        Raises Unknown where there is no thread `before`.
        """
        where, values = "WHERE 1 = 1", []
        if status is not None:
            where, values = f"{where} AND status = ?", [status]
        if before is not None:
            found = self.database.rows("SELECT created FROM threads WHERE id = ?", before)
            if not found:
                raise Unknown(f"there is no thread {before[:40]}")
            created = found[0][0]
            where = f"{where} AND (created < ? OR (created = ? AND id > ?))"
            values += [created, created, before]
        sql = f"{_SUMMARY} {where} ORDER BY created DESC, id LIMIT ?"
        return [shape_of(row) for row in self.database.rows(sql, *values, limit)]

    def summary(self, thread_id: str) -> dict[str, Any]:
        """One thread, in the same shape. Raises Unknown."""
        for row in self.database.rows(f"{_SUMMARY} WHERE id = ?", thread_id):
            return shape_of(row)
        raise Unknown(f"there is no thread {thread_id[:40]}")

    def thread_of(self, some_id: str) -> str:
        """The id of a thread from its own or from that of an approval. Raises Unknown."""
        for sql in ("SELECT id FROM threads WHERE id = ?", f"{_APPROVAL} WHERE id = ?"):
            if found := self.database.rows(sql, require_id(some_id)):
                return str(found[0][1 if len(found[0]) > 1 else 0])
        raise Unknown(f"there is no thread or approval {some_id}; `threads` lists them")

    def interrupted(self) -> list[str]:
        """The threads that should be running, and that nobody has claimed, oldest first."""
        sql = f"SELECT id FROM threads WHERE status = 'running' AND {_FREE} ORDER BY created"
        now = time.time()
        found = self.database.rows(sql, now, now + 2 * LEASE)
        return [thread_id for (thread_id,) in found if isinstance(thread_id, str)]

    # Claims

    def claim(self, thread_id: str) -> int:
        """Claim a thread and return its epoch. Raises Busy if another process has it."""
        now = time.time()
        with self.database.transaction():
            taken = self.database.change(
                f"UPDATE threads SET epoch = epoch + 1, lease_until = ? WHERE id = ? AND {_FREE}",
                now + LEASE,
                thread_id,
                now,
                now + 2 * LEASE,
            )
            if not taken:
                raise Busy("another process runs this thread; try again when it is done")
            ((epoch,),) = self.database.rows("SELECT epoch FROM threads WHERE id = ?", thread_id)
        return int(epoch)

    def renew(self, thread_id: str, epoch: int) -> None:
        """Hold a claim for longer."""
        sql = "UPDATE threads SET lease_until = ? WHERE id = ? AND epoch = ?"
        self.database.change(sql, time.time() + LEASE, thread_id, epoch)

    def release(self, thread_id: str, epoch: int) -> None:
        """Give a claim up."""
        sql = "UPDATE threads SET lease_until = 0 WHERE id = ? AND epoch = ? AND lease_until > 0"
        self.database.change(sql, thread_id, epoch)

    @contextmanager
    def writing(self, thread_id: str, epoch: int | None) -> Iterator[None]:
        """A transaction on a thread; epoch None: without a claim. Raises Fenced if it is lost."""
        with self.database.transaction():
            found = self.database.rows("SELECT epoch FROM threads WHERE id = ?", thread_id)
            if epoch is not None and found != [(epoch,)]:
                raise Fenced("another process has taken this thread over")
            yield

    # Events. What follows belongs within `writing` where it writes.

    def events(self, thread_id: str, since: int = 0, limit: int = 10**9) -> list[Event]:
        """The events of a thread from one on. Raises StoreError for one that cannot be read."""
        sql = f"SELECT {events.COLUMNS} FROM events WHERE thread_id = ? AND seq >= ? ORDER BY seq"
        rows = self.database.rows(f"{sql} LIMIT ?", thread_id, since, limit)
        try:
            return [events.from_row(since + i, row) for i, row in enumerate(rows)]
        except StoreError as error:
            raise Damaged(f"thread {thread_id}: {error}; it is kept as it is") from None

    def add_events(self, thread_id: str, added: Iterable[Event]) -> None:
        """Write events down."""
        for event in added:
            sql = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
            self.database.change(sql, thread_id, *events.to_row(event))

    def set_summary(self, thread_id: str, status: str, title: str, summary: dict[str, Any]) -> None:
        """Note what a thread's log says by now. One that does not run needs no claim."""
        self.database.change(
            "UPDATE threads SET status = ?, summary = ?, title = ?,"
            " lease_until = CASE WHEN ? = 'running' THEN lease_until ELSE 0 END WHERE id = ?",
            status,
            json.dumps(summary),  # a tool's error may hold half characters, which ASCII bears
            title,
            status,
            thread_id,
        )

    # Approvals

    def approval(self, approval_id: str) -> Approval | None:
        """The approval with this id."""
        found = self.database.rows(f"{_APPROVAL} WHERE id = ?", approval_id)
        return _approval(found)

    def approval_of(self, thread_id: str, seq: int) -> Approval | None:
        """What was last asked about a call."""
        sql = f"{_APPROVAL} WHERE thread_id = ? AND seq = ? AND status <> 'void'"
        found = self.database.rows(f"{sql} ORDER BY expires DESC LIMIT 1", thread_id, seq)
        return _approval(found)

    def add_approval(self, approval: Approval) -> None:
        """Ask anew about a call; what was asked before is void."""
        sql = "UPDATE approvals SET status = 'void' WHERE thread_id = ? AND seq = ?"
        self.database.change(sql, approval.thread_id, approval.seq)
        sql = "INSERT INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.database.change(sql, *vars(approval).values())

    def decide(self, approval_id: str, status: str, by_whom: str) -> bool:
        """Note a decision. False if there is one already."""
        sql = "UPDATE approvals SET status = ?, by_whom = ? WHERE id = ? AND status = 'pending'"
        return self.database.change(sql, status, by_whom, approval_id) == 1

    # Effects

    def effect(self, key: str) -> Effect | None:
        """What is known of an effect."""
        found = self.database.rows(f"{_EFFECT} WHERE key = ?", key)
        return Effect(*found[0]) if found else None

    def effect_once(self, once: str) -> Effect | None:
        """The effect that did, or may have done, what may happen once."""
        states = "('started', 'unknown', 'done')"
        found = self.database.rows(f"{_EFFECT} WHERE once = ? AND state IN {states}", once)
        return Effect(*found[0]) if found else None

    def start_effect(self, effect: Effect) -> None:
        """Note that an effect is about to happen."""
        sql = "INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self.database.change(sql, *vars(effect).values())

    def count_try(self, key: str, most: int) -> bool:
        """Note another try. False if there were that many."""
        sql = "UPDATE effects SET tries = tries + 1 WHERE key = ? AND tries < ?"
        return self.database.change(sql, key, most) == 1

    def end_effect(self, key: str, state: str, result: Any = None) -> None:
        """Note how an effect ended."""
        sql = "UPDATE effects SET state = ?, result = ?, at = ? WHERE key = ?"
        self.database.change(sql, state, json.dumps(result), time.time(), key)


def _approval(rows: list[tuple[Any, ...]]) -> Approval | None:
    if not rows:
        return None
    expires = rows[0][-1]
    if not isinstance(expires, float | int) or not 0 <= expires < LAST:
        raise StoreError(f"approval {rows[0][0]!r} is damaged; it is kept as it is")
    return Approval(*rows[0])


def open_store(settings: Settings | None = None) -> Store:
    """The store of the settings, made if it is not there yet."""
    return Store(open_database(settings))
