"""The tables of the thread store, and their rows. SQL that SQLite and PostgreSQL both take.

A change is another step at the end of STEPS; one that was released stays as it is, since people
keep threads.
"""

import json
import time
from dataclasses import dataclass
from typing import Any

from .readable import iso

_THREADS = """
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    summary TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    created DOUBLE PRECISION NOT NULL
);
CREATE INDEX threads_by_status ON threads (status, lease_until);
CREATE TABLE events (
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    meta TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    call_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    expires DOUBLE PRECISION NOT NULL
);
CREATE UNIQUE INDEX one_pending_approval ON approvals (thread_id, seq) WHERE status = 'pending';
CREATE TABLE effects (
    key TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    call_hash TEXT NOT NULL,
    call TEXT NOT NULL,
    once TEXT,
    state TEXT NOT NULL,
    result TEXT,
    at DOUBLE PRECISION NOT NULL
);
CREATE UNIQUE INDEX effects_once ON effects (once) WHERE state IN ('started', 'unknown', 'done')
"""
_DELIVERIES = """
CREATE TABLE deliveries (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    status INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    events BIGINT NOT NULL,
    answer TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX deliveries_by_time ON deliveries (at);
CREATE INDEX threads_by_time ON threads (created);
ALTER TABLE effects ADD COLUMN tries INTEGER NOT NULL DEFAULT 1
"""
STEPS = (_THREADS, _DELIVERIES)
STATUSES = ("running", "waiting", "done", "failed")
SUMMARY = "id, status, summary, title, created"
# Status, summary and title of a thread repeat what its log says, so that a list reads no logs.


@dataclass(frozen=True)
class Approval:
    """What a person is asked about the call with this seq. status: pending, approved, refused or
    void. call_hash: of the call that was shown. expires: in seconds since 1970.
    """

    id: str
    thread_id: str
    seq: int
    call_hash: str
    status: str
    by_whom: str
    expires: float

    @property
    def is_over(self) -> bool:
        """Whether the time to decide is over."""
        return self.expires < time.time()


@dataclass(frozen=True)
class Effect:
    """What is known of a call that changes the world. key: the same for every try of the call.

    call: as a person reads it. once: what of it may happen once, over all threads. state: started,
    done, unknown (a person has to say), or failed, which is to say that it did not happen.
    result: JSON, or None. at: in seconds since 1970. tries: how often it was begun.
    """

    key: str
    thread_id: str
    seq: int
    call_hash: str
    call: str
    once: str | None
    state: str
    result: str | None
    at: float
    tries: int = 1


def shape_of(row: tuple[Any, ...]) -> dict[str, Any]:
    """A thread from its row, in the one JSON shape but for its events. A damaged one says so."""
    thread_id, status, summary, title, created = row
    nothing_yet = {"answer": None, "pending": None, "failure": None}
    shape = {"id": str(thread_id), "status": status, "title": str(title), "at": None, **nothing_yet}
    try:
        shape["at"] = iso(created)
        shape |= json.loads(summary)  # an older one lacks what came later
        json.dumps(shape, allow_nan=False)
        if shape["status"] in STATUSES:
            return shape
    except (OSError, TypeError, ValueError, OverflowError, RecursionError):
        pass
    problem = {"type": "damaged", "message": "its summary is damaged"}
    return {**shape, "status": "failed", "failure": problem}
