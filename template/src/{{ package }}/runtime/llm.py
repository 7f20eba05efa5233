"""Asks a model for the next step: BAML carries the request, the guard reads the reply.

The only module that calls BAML. Everything that can answer is an `Ask`, a plain function: the
language models here, the rules of offline.py, the scripted model of the tests. Yours fits in too.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, cast

from baml_py import Collector
from baml_py.errors import (
    BamlClientFinishReasonError,
    BamlClientHttpError,
    BamlError,
    BamlTimeoutError,
)
from pydantic import BaseModel

from ..baml_client.async_client import b
from ..baml_client.sync_client import b as sync_b
from .errors import Refused, Unavailable
from .guard import read_step
from .steps import NextStep, tool_classes


@dataclass(frozen=True)
class Tokens:
    """What a reply cost, as the provider counted it."""

    input: int
    output: int


@dataclass(frozen=True)
class Reply:
    """A model's reply as it was written. client: who answered. tokens: where they are known."""

    text: str
    client: str
    tokens: Tokens | None = None


Ask = Callable[[str], Awaitable[Reply]]
"""From the text of a thread to a reply. Raises Refused for a reply that is not whole, and
Unavailable when there is none."""


async def determine_next_step(thread: str, ask: Ask) -> tuple[NextStep, dict[str, Any]]:
    """The step a model chooses for a thread's text, and the `meta` of its event.

    Raises Refused when the reply must not become a step, Unavailable when there was no reply.
    """
    started = time.monotonic()
    reply = None
    try:
        reply = await ask(thread)
        step = read_step(reply.text, _parse, tool_classes())
    except Refused as error:
        error.meta = _meta(reply, started)
        raise
    return cast(NextStep, step), _meta(reply, started)


def baml_model(client: str, baml_client: str, env: Mapping[str, str]) -> Ask:
    """The language model behind a client of baml_src/clients.baml.

    client: its name in AGENT_CLIENT. baml_client: its name in clients.baml. env: every variable
    that the client reads; BAML keeps the value of an earlier call for one that is left out.
    """

    async def ask(thread: str) -> Reply:
        sent = Collector(client)
        options: Any = {"client": baml_client, "env": dict(env), "collector": sent}
        try:
            # Not DetermineNextStep: there BAML's lenient parser would read the reply first.
            text = await b.AskNextStep(thread, tool_schema(), options)
        except BamlClientFinishReasonError as error:
            why = f"the reply was cut off ({error.finish_reason}); write one short JSON object"
            raise Refused(why) from None
        except BamlTimeoutError:
            raise Unavailable(f"{client} did not answer in time") from None
        except BamlClientHttpError as error:
            if problem := _http_problem(error.status_code, sent):
                raise Unavailable(f"{client} {problem}") from None
            raise Refused("the reply held no text; write one JSON object as text") from None
        except BamlError:  # its text may hold the prompt
            raise Unavailable(f"{client} could not be asked; check its variables") from None
        return Reply(text, client, _tokens(sent))

    return ask


def request_messages(thread: str) -> list[dict[str, str]]:
    """What a model would be sent for a thread's text: each message's role and content."""
    request = sync_b.request.AskNextStep(thread, tool_schema(), _nowhere())
    return [{"role": m["role"], "content": m["content"]} for m in request.body.json()["messages"]]


@cache
def tool_schema() -> str:
    """The tools as the model sees them."""
    request = sync_b.request.ToolSchema(_nowhere())
    return str(request.body.json()["messages"][0]["content"])


def _nowhere() -> Any:
    """Options that build a request and send none."""
    names = ("COMPATIBLE_BASE_URL", "COMPATIBLE_API_KEY", "COMPATIBLE_MODEL")
    return {"client": "Compatible", "env": {name: "http://nowhere.invalid" for name in names}}


def _parse(text: str) -> BaseModel:
    try:
        step: BaseModel = b.parse.DetermineNextStep(text)
        return step
    except BamlError as error:
        raise ValueError("BAML reads no step in it") from error


def _http_problem(status: int, sent: Collector) -> str | None:
    """What went wrong on the way, or None if a model did answer, only without text.

    status: BAML's; 2 and 200 stand for both. BAML makes up an answer without headers when there
    was none.
    """
    answer = sent.last.calls[-1].http_response if sent.last and sent.last.calls else None
    if answer is None or not answer.headers:
        return "cannot be reached, or broke off"
    if status not in (2, 200):
        return f"answered HTTP {status}"
    try:
        choices = answer.body.json()["choices"]
        return None if isinstance(choices[0]["message"], dict) else "sent no chat completion"
    except Exception:  # no JSON, or JSON of another shape
        return "sent no chat completion"


def _tokens(sent: Collector) -> Tokens | None:
    usage = sent.last.usage if sent.last else None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return Tokens(usage.input_tokens, usage.output_tokens)


def _meta(reply: Reply | None, started: float) -> dict[str, Any]:
    return {
        "client": reply.client if reply else None,
        "milliseconds": round((time.monotonic() - started) * 1000),
        "tokens": asdict(reply.tokens) if reply and reply.tokens else None,
    }
