"""What may be sent, and what is answered. A field that is not here is refused.

Nothing can be sent that stands in a log as it is, but for the words of a person: calls, results
and decisions are made by this program.
"""

import json
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ..readable import is_blank

LONGEST_TEXT = 50_000  # characters of what a person writes
LONGEST_COMMENT = 2_000


def _not_blank(text: str) -> str:
    if is_blank(text):
        raise ValueError("it is blank")
    return text


Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), AfterValidator(_not_blank)]
Comment = Annotated[str, Field(max_length=LONGEST_COMMENT)]


def _as_digits(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,20}", value):
        raise ValueError("it is no whole number")
    return value


Whole = Annotated[int, BeforeValidator(_as_digits)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Message(_Body):
    """What the user says: the answer to the question that waits, or else a message.

    answers: the `seq` of the question in `pending` that it is meant for, and for no other.
    """

    message: Text
    answers: int | None = None


class First(_Body):
    """The message that a thread begins with."""

    message: Text


class Decision(_Body):
    """What a person decides. call_hash: of the call that they were shown, from `pending`."""

    approved: bool
    call_hash: Annotated[str, Field(max_length=200)]
    comment: Comment = ""


class Outcome(_Body):
    """What a person found out about a call that may have happened. result: what it gave, or why it
    did not happen.
    """

    happened: bool
    result: Comment = ""


class Nothing(_Body):
    """An empty object, where nothing is to be said."""


class Event(BaseModel):
    """A line of a thread's log."""

    seq: int
    type: str
    data: dict[str, Any]
    at: str
    meta: dict[str, Any]


class Summary(BaseModel):
    """A thread, but for its events. pending: what a person is asked; failure: why it failed."""

    id: str
    status: Literal["running", "waiting", "done", "failed"]
    title: str
    at: str | None
    answer: str | None
    pending: dict[str, Any] | None
    failure: dict[str, Any] | None


class Thread(Summary):
    """A thread."""

    events: list[Event]


class Problem(BaseModel):
    """Why a request is refused, in one line."""

    error: str


class StrictRoute(APIRoute):
    """A route whose body is JSON as RFC 8259 has it, and no name stands twice in an object."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What handles a request."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            text = (await self.body()).decode()
            found = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse)
        except (json.JSONDecodeError, _NotStrict) as error:
            problem = str(error)
        except (ValueError, RecursionError):  # not UTF-8; too many digits, or brackets
            problem = "it cannot be read"
        else:
            if isinstance(found, dict):
                return found
            problem = "it is no object"
        raise json.JSONDecodeError(problem, "", 0)  # as FastAPI expects it


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotStrict("a name stands twice")
    return found


def _refuse(text: str) -> NoReturn:
    raise _NotStrict(f"{text} is no number")


class _NotStrict(ValueError):
    pass
