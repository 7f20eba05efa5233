"""BAML: it builds the request, carries it, and reads JSON into the generated types.

The only module that calls BAML. What a reply means is decided by the guard, not here.
"""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

from baml_py import ClientRegistry, Collector
from baml_py.errors import (
    BamlClientFinishReasonError,
    BamlClientHttpError,
    BamlError,
    BamlTimeoutError,
)
from pydantic import BaseModel

from ..baml_client.async_client import b
from ..baml_client.inlinedbaml import get_baml_files
from ..baml_client.sync_client import b as sync_b
from .answers import http_problem, read_text, retry_after
from .errors import Refused, ToolError, TryAgain, Unavailable
from .fit import MOST_WORK
from .guard import Tools, build_step
from .json_schema import in_order
from .reply import Ask, Reply, Tokens
from .schema_check import require_readable
from .schema_source import read_source
from .shape import Names, said
from .steps import NextStep, tool_classes


def baml_model(
    client: str,
    baml_client: str,
    env: Mapping[str, str],
    response_format: dict[str, Any] | None = None,
) -> Ask:
    """The language model behind a client of baml_src/clients.baml, asked once.

    client: its name in AGENT_CLIENT. baml_client: its name in clients.baml. env: every variable
    that the client reads; BAML keeps the value of an earlier call for one that is left out.
    response_format: what the server of `Compatible` is asked for besides.
    """
    options: Any = {"client": baml_client, "env": dict(env)}
    if response_format:
        options |= _with_format(response_format, env)

    async def ask(thread: str) -> Reply:
        return await _ask(client, options, thread)

    return ask


def dump_step(step: BaseModel) -> dict[str, Any]:
    """A step as JSON values, in the words that the model uses."""
    return cast(dict[str, Any], said(step, tools().names))


def load_step(call: dict[str, Any]) -> NextStep:
    """The step that `dump_step` wrote. Raises ToolError if its tool has changed since."""
    try:
        return cast(NextStep, build_step(call, tools()))
    except Refused:
        raise ToolError(f"{call['intent']} is not what it was; choose another step") from None


def request_messages(thread: str) -> list[dict[str, str]]:
    """What a model would be sent for a thread's text: each message's role and content."""
    request = sync_b.request.AskNextStep(thread, tool_schema(), _nowhere())
    return [{"role": m["role"], "content": m["content"]} for m in request.body.json()["messages"]]


@cache
def tool_schema() -> str:
    """The tools as the model sees them."""
    request = sync_b.request.ToolSchema(_nowhere())
    return str(request.body.json()["messages"][0]["content"])


@cache
def tools() -> Tools:
    """What a reply may say. Raises SettingsError for a schema that cannot be kept to."""
    source = read_source(cast(Any, get_baml_files)().values())
    names = Names(source.aliases, source.skipped)
    require_readable(tool_classes().values(), names, source)
    if source.has_rules:
        return Tools(tool_classes(), names, [_parse_by_rules])
    parsers = [_parse_by_types, _parse_by_rules]
    return Tools(tool_classes(), names, parsers, most_work=4 * MOST_WORK)


def _parse_by_types(cls: type[BaseModel], text: str) -> BaseModel:
    """The generated types alone: for a schema without rules, in a hundredth of BAML's time."""
    return cls.model_validate_json(text, strict=True)


def _parse_by_rules(cls: type[BaseModel], text: str) -> BaseModel:
    """BAML, which knows what its types do not: aliases, checks and asserts."""
    try:
        step: BaseModel = b.parse.DetermineNextStep(text)
        return step
    except BamlError as error:
        raise ValueError("BAML reads no step in it") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which Python has no name for
            raise
        raise ValueError("BAML breaks off over it") from error


async def _ask(client: str, options: Any, thread: str) -> Reply:
    collector = Collector(client)
    found, problem = None, None
    try:
        # Not DetermineNextStep: there BAML's lenient parser would read the reply first.
        found = await b.AskNextStep(thread, tool_schema(), options | {"collector": collector})
    except BamlClientFinishReasonError as error:
        problem = f"the reply is not whole ({error.finish_reason}); write one short JSON object"
    except BamlTimeoutError:
        raise TryAgain(f"{client} did not answer in time") from None
    except BamlClientHttpError as error:
        asked_for_json = "client_registry" in options and error.status_code in {400, 422}
        hint = "; COMPATIBLE_JSON=off asks it for less" if asked_for_json else ""
        _require_answer(client, error.status_code, _last_call(collector).http_response, hint)
    except BamlError:  # its text may hold the prompt
        raise Unavailable(f"{client} could not be asked; check its variables") from None
    call = _last_call(collector)
    text = ""
    if problem is None:
        text, problem = _read(client, call, found)
    # Behind a `fallback` or `round-robin` client it is one of several that answered.
    who = client if call.client_name == options["client"] else f"{client}: {call.client_name}"
    return Reply(text, who, _tokens(call.usage), problem)


def _last_call(collector: Collector) -> Any:
    """The request that was answered, or else one that was not; all None if nothing was sent."""
    log = collector.last
    if log is None:
        return _NOTHING_SENT
    # Of those that were not answered any will do; their order is not that of time.
    return log.selected_call or next(iter(log.calls), _NOTHING_SENT)


def _require_answer(client: str, status: int, answer: Any, hint: str = "") -> None:
    """Raise Unavailable unless the server answered with success.

    status: BAML's; 2 and 200 stand for answers that it could not read. BAML makes up an answer of
    status 2 or 503, without headers, where there was none.
    """
    if answer is None or (not answer.headers and status in {2, 503}):
        raise TryAgain(f"{client} cannot be reached, or broke off")
    if status in {2, 200}:
        status = _status_within(answer)
    if status == 200:
        return
    problem = f"{client} {http_problem(status)}"
    if status == 429 or 500 <= status < 600:
        raise TryAgain(problem, retry_after(answer.headers))
    raise Unavailable(problem + hint)


def _status_within(answer: Any) -> int:
    """The status that some servers, such as OpenRouter, put into an answer with status 200."""
    try:
        code = int(answer.body.json()["error"]["code"])
        return code if 400 <= code < 600 else 200
    except Exception:  # as most answers, it has none
        return 200


def _read(client: str, call: Any, found: str | None) -> tuple[str, str | None]:
    """The text of an answer, and what is wrong with it. found: what BAML takes for the text."""
    try:
        answer = call.http_response.body.json()
        if isinstance(answer, dict) and answer.get("error"):
            _require_answer(client, 200, call.http_response)
            raise Unavailable(f"{client} sent no answer of a model, but an error")
        text = read_text(call.provider, answer)
    except Unavailable:
        raise
    except Refused as error:
        return "", str(error)
    except Exception:  # no JSON, or JSON of another shape
        text = None
    text = found if text is None else text
    if text is None:
        raise Unavailable(f"{client} sent no answer of a model; check its base URL")
    return text, None


def _tokens(usage: Any) -> Tokens | None:
    read, written = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
    if read is None or written is None or min(read, written) < 0:  # BAML's counts may run over
        return None
    return Tokens(read, written)


def _with_format(response_format: dict[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """Options for `Compatible` with a response_format, which clients.baml cannot compute.

    BAML takes this client instead of the one there, so what you add to that one belongs here, too.
    The timeouts are the same; how an answer ended is seen in answers.py.
    """
    registry = ClientRegistry()
    options = {
        "model": env["COMPATIBLE_MODEL"],
        "api_key": env["COMPATIBLE_API_KEY"],
        "base_url": env["COMPATIBLE_BASE_URL"],
        "response_format": in_order(response_format),
        "http": {
            "connect_timeout_ms": 5000,
            "idle_timeout_ms": 60000,
            "request_timeout_ms": 120000,
        },
    }
    registry.add_llm_client("CompatibleJson", "openai-generic", options)
    return {"client": "CompatibleJson", "client_registry": registry}


_NOTHING_SENT = SimpleNamespace(client_name=None, provider="", http_response=None, usage=None)


def _nowhere() -> Any:
    """Options that build a request and send none."""
    names = ("COMPATIBLE_BASE_URL", "COMPATIBLE_API_KEY", "COMPATIBLE_MODEL")
    return {"client": "Compatible", "env": {name: "http://nowhere.invalid" for name in names}}
