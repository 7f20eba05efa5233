"""The HTTP API: threads are launched, looked at and answered from anywhere.

Each function is one thing that can be asked for. What it writes is written before it answers; the
run goes on in the background, whether anybody waits for it or not.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Security
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from .. import store as kept
from ..errors import Conflict, Unknown
from ..person import DID_NOT_HAPPEN
from ..store import Store
from ..thread import Thread
from . import bodies
from .redelivery import Answer, Work, WrongKey, answer_once
from .runs import Runs
from .stores import Stores
from .streams import Streams

BY = "a person over HTTP"  # as it stands in the log; a token says no name
HAPPENED = "a person says that it happened"


@dataclass(frozen=True)
class Services:
    """What the functions work with."""

    stores: Stores
    runs: Runs
    streams: Streams

    async def get(self, work: Callable[[Store], Any]) -> Response:
        """Answer a request that reads. JSON is made where it holds up nobody."""
        text = await self.stores.read(lambda store: json.dumps(work(store)))
        return Response(text, media_type="application/json")

    async def post(
        self,
        request: Request,
        key: str | None,
        body: BaseModel | None,
        work: Work,
        status: int = 200,
    ) -> Response:
        """Answer a request that writes, and let its thread go on.

        work: writes, and gives the thread. status: if it does.
        """
        sent = body.model_dump_json() if body else ""
        same = hashlib.sha256(f"{request.url.path}\n{sent}".encode()).hexdigest()

        def write(store: Store) -> tuple[Answer, str]:
            answer = answer_once(store, key, same, status, work)
            if answer.thread_id:
                self.runs.start(answer.thread_id)
            return answer, json.dumps(answer.body)

        if len(request.headers.getlist("idempotency-key")) > 1:
            raise WrongKey("there is more than one Idempotency-Key; send one")
        answer, text = await self.stores.write(write)
        location = {"location": f"/threads/{answer.thread_id}"} if answer.status == 201 else None
        return Response(text, answer.status, location, "application/json")


def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


With = Annotated[Services, Depends(_services)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Any text; a request that comes again with it has one effect, for 7 days.",
    ),
]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": bodies.Problem, "description": "It is no HTTP that can be read"},
    401: {"model": bodies.Problem, "description": "The token is missing or wrong"},
    403: {"model": bodies.Problem, "description": "Asked from another site, or by another name"},
    404: {"model": bodies.Problem, "description": "There is nothing under this id"},
    408: {"model": bodies.Problem, "description": "The body took too long"},
    413: {"model": bodies.Problem, "description": "The body is too large"},
    411: {"model": bodies.Problem, "description": "The body does not say its length"},
    422: {"model": bodies.Problem, "description": "The request is not as it has to be"},
    500: {"model": bodies.Problem, "description": "A fault of the server; its log says more"},
    503: {"model": bodies.Problem, "description": "The threads cannot be read or written"},
}
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": bodies.Problem, "description": "It no longer fits; nothing was changed"}
}

router = APIRouter(
    route_class=bodies.StrictRoute,
    responses=_PROBLEMS,
    dependencies=[Security(HTTPBearer(auto_error=False, description="AGENT_API_TOKEN"))],
)

open_router = APIRouter()  # what needs no token; access.py says so


@router.post("/threads", status_code=201, response_model=bodies.Thread)
async def launch(body: bodies.First, given: With, request: Request, key: Key = None) -> Response:
    """Give the agent a message, in a new thread. It answers at once; the thread is running."""
    return await given.post(request, key, body, lambda s: Thread.create(s, body.message), 201)


@router.get("/threads", response_model=list[bodies.Summary])
async def list_threads(
    given: With,
    status: Annotated[Literal["running", "waiting", "done", "failed"] | None, Query()] = None,
    limit: Annotated[bodies.Whole, Query(ge=1, le=1000)] = 100,
    before: Annotated[str | None, Query(max_length=100, description="a thread's id")] = None,
) -> Response:
    """Threads, newest first: those with this status, and older than the one that is named."""
    return await given.get(lambda s: s.summaries(status, before, limit))


@router.get("/threads/{id}", response_model=bodies.Thread)
async def get_thread(id: str, given: With) -> Response:
    """A thread: what happened in it, how it ended, and what it waits for."""
    return await given.get(lambda s: _thread(s, id).to_json())


@router.post("/threads/{id}/messages", response_model=bodies.Thread, responses=_CONFLICT)
async def say(
    id: str, body: bodies.Message, given: With, request: Request, key: Key = None
) -> Response:
    """Say something in a thread: the answer to the question that waits, or else a message.

    With `answers` it is for that question, and 409 where another waits, or none. A message to a
    failed thread lets it go on.
    """

    def work(store: Store) -> Thread:
        thread = _thread(store, id)
        thread.add_answer(body.message, or_message=True, seq=body.answers)
        return thread

    return await given.post(request, key, body, work)


@router.post("/threads/{id}/resume", response_model=bodies.Thread, responses=_CONFLICT)
async def resume(
    id: str, given: With, request: Request, body: bodies.Nothing | None = None, key: Key = None
) -> Response:
    """Let a thread go on that has failed, or ask anew where the time to approve is over."""

    def work(store: Store) -> Thread:
        thread = _thread(store, id)
        before = thread.summary()
        thread.reopen()
        if thread.summary() == before and thread.status != "running":
            raise Conflict(f"nothing is to be resumed; the thread is {thread.status}")
        return thread

    return await given.post(request, key, body, work)


@router.post("/approvals/{id}", response_model=bodies.Thread, responses=_CONFLICT)
async def decide(
    id: str, body: bodies.Decision, given: With, request: Request, key: Key = None
) -> Response:
    """Approve or refuse the very call that was shown, once."""

    def work(store: Store) -> Thread:
        if store.approval(kept.require_id(id)) is None:
            raise Unknown(f"there is no approval {id}")
        thread = Thread(store, id)
        thread.decide(id, body.call_hash, body.approved, BY, body.comment)
        return thread

    return await given.post(request, key, body, work)


@router.post("/effects/{key}", response_model=bodies.Thread, responses=_CONFLICT)
async def settle(
    key: str, body: bodies.Outcome, given: With, request: Request, delivery: Key = None
) -> Response:
    """Say what became of a call that may have happened."""
    text = body.result.strip() or (HAPPENED if body.happened else DID_NOT_HAPPEN)

    def work(store: Store) -> Thread:
        effect = store.effect(key)
        if effect is None:
            raise Unknown("there is no call under this key")
        thread = Thread(store, effect.thread_id)
        thread.settle(key, body.happened, text, BY)
        return thread

    return await given.post(request, delivery, body, work)


@router.get(
    "/threads/{id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def follow(
    id: str,
    given: With,
    last: Annotated[bodies.Whole, Header(alias="Last-Event-ID", ge=-1, le=2**53)] = -1,
) -> Response:
    """What happens in a thread, as it happens, from the event after `Last-Event-ID` on.

    Each event of the log is a message, with its words as `text` and `whose` they are; an event
    `thread` is the thread without its events, whenever that changes. The stream stays open.
    """
    there = await given.stores.read(lambda s: len(_thread(s, id).events))
    headers = {"x-accel-buffering": "no"}
    stream = given.streams.follow(id, min(last + 1, there))
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


@open_router.api_route(
    "/health",
    methods=["GET", "HEAD"],
    response_model=dict[str, str],
    responses={status: _PROBLEMS[status] for status in (400, 403, 411, 413, 503)},
)
async def health(given: With) -> Response:
    """Whether the server can read its threads, and runs them."""
    await given.stores.version()
    if not given.runs.are_alive:
        return JSONResponse({"error": "the runs have ended; start the server again"}, 503)
    return JSONResponse({"status": "ok"})


def _thread(store: Store, thread_id: str) -> Thread:
    """The thread with this id, which no id of an approval is. Raises Unknown."""
    thread = Thread(store, kept.require_id(thread_id))
    if thread.id != thread_id:
        raise Unknown(f"there is no thread {thread_id}")
    return thread
