"""A request that arrives twice has one effect and one answer, if it carries an Idempotency-Key.

What was answered is kept in the same transaction as what was written, so that no moment lies
between them. Answers are made from the log, which only grows, and not kept a second time.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import Conflict, Damaged, Unknown
from ..store import Store
from ..thread import Thread

KEPT = 7 * 24 * 3600.0  # seconds for which a key counts

Work = Callable[[Store], Thread]


@dataclass(frozen=True)
class Answer:
    """What a request is told. thread_id: "" where it is told about no thread."""

    status: int
    body: dict[str, Any]
    thread_id: str = ""


class WrongKey(Exception):
    """A key that stands for no request, or for another one; the message says it."""


def answer_once(store: Store, key: str | None, request: str, status: int, work: Work) -> Answer:
    """Do what a request asks for, unless it was done under this key; the answer is the same.

    request: what makes it the same one again. status: where it succeeds. work: what writes, and
    gives the thread that it wrote to. Raises WrongKey where the key was used for another.
    """
    try:
        with store.database.transaction():
            if known := _known(store, key, request):
                return known
            thread = work(store)
            answer = Answer(status, thread.to_json(), thread.id)
            _keep(store, key, request, answer)
            return answer
    except Unknown as error:
        answer = Answer(404, {"error": str(error)})
    except Conflict as error:
        answer = Answer(409, {"error": str(error)})
    with store.database.transaction():  # the same request may have succeeded meanwhile
        if known := _known(store, key, request):
            return known
        _keep(store, key, request, answer)
    return answer


def _known(store: Store, key: str | None, request: str) -> Answer | None:
    if key is None:
        return None
    sql = "SELECT request, status, thread_id, events, answer FROM deliveries WHERE key = ?"
    for asked, status, thread_id, count, answer in store.database.rows(sql, key):
        if asked != request:
            raise WrongKey("this Idempotency-Key was used for another request; use a new one")
        try:
            body = json.loads(answer)
        except ValueError:
            raise Damaged("what was answered under this key is damaged; use a new one") from None
        if thread_id:
            events = store.events(thread_id)[:count]
            body["events"] = [asdict(event) for event in events]
        return Answer(status, body, thread_id)
    return None


def _keep(store: Store, key: str | None, request: str, answer: Answer) -> None:
    if key is None:
        return
    now = time.time()
    store.database.change("DELETE FROM deliveries WHERE at < ?", now - KEPT)
    rest = {name: value for name, value in answer.body.items() if name != "events"}
    count = len(answer.body.get("events", []))
    values = (key, request, answer.status, answer.thread_id, count, json.dumps(rest), now)
    store.database.change("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?)", *values)
