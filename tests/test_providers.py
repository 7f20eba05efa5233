"""Every provider over true HTTP on loopback, against answers in the shape it documents.

All cases are asked by one process of the agent: a case is a path below the server's address.
"""

import json
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from providers import PROVIDERS, answer, key_of, settings
from support import Request, Response, agent, http_server, one_step

DONE = {"intent": "done_for_now", "message": "Hello!"}
TEXT = json.dumps(DONE)
REFUND = {"intent": "process_refund", "order_id": "A-17", "amount": 5, "reason": "broken"}
ERROR = {"error": {"message": "no"}}
NO_MODELS = ["", "not json", "[]", "{}", "null", json.dumps(ERROR), TEXT, '{"choices": 1}']
IN_TWO_SECONDS = "a date in two seconds"

# What a model may answer that is not one whole text, and what it is told.
FLAWED: dict[str, tuple[Any, str, str]] = {
    "cut": (TEXT, "cut", "not whole"),
    "cut in the middle": (TEXT[:-9], "cut", "not whole"),
    "filtered": (TEXT, "filtered", "not whole"),
    "called": (TEXT, "called", "not whole"),
    "refused": ([{"refusal": "I cannot help with that."}], "whole", "refus"),
    "empty": ([{"text": ""}], "whole", "no text"),
    "nothing": ([], "whole", "no text"),
    "call": ([{"call": "process_refund"}], "whole", "more than text"),
    "text and call": ([{"text": TEXT}, {"call": "process_refund"}], "whole", "more than text"),
    "two texts": ([{"text": TEXT}, {"text": json.dumps(REFUND)}], "whole", "and nothing else"),
}


def failing(status: int, after: str | None = None) -> Response:
    """An error of a provider, with a Retry-After if given."""
    headers = {} if after is None else {"retry-after": after}
    return Response(ERROR, status, headers)


def cases_of(provider: str) -> dict[str, list[Response]]:
    """Each case and the answers to its requests in turn, the last one for ever."""
    whole = Response(answer(provider, TEXT))
    thinking = [{"thinking": json.dumps(REFUND)}, {"text": TEXT}]
    cases = {
        "whole": [whole],
        "thinking": [Response(answer(provider, thinking))],
        "redirect": [Response("", 307, {"location": "here"}), whole],
        "redirect loop": [Response("", 307, {"location": "here"})],
        "slow": [Response(whole.body, delay=1.0)],
        "after 1": [failing(429, "1"), whole],
        "after 1.5": [failing(429, "1.5"), whole],
        "HTTP 600": [failing(600)],
        "busy within": [Response({"error": {"message": "overloaded", "code": 503}}), whole],
        "after a date": [failing(429, IN_TWO_SECONDS), whole],
        "after an hour": [failing(429, "3600")],
    }
    for name, (parts, finish, _) in FLAWED.items():
        cases[name] = [Response(answer(provider, parts, finish))]
    cases |= {f"no model {i}": [Response(body)] for i, body in enumerate(NO_MODELS)}
    for status in (400, 401, 403, 404, 422):
        cases[f"HTTP {status}"] = [failing(status)]
    for status in (429, 500, 503, 529):
        cases[f"HTTP {status}"] = [failing(status)]
        cases[f"HTTP {status}, then well"] = [failing(status), failing(status), whole]
    for after in ("soon", "-1", "1e9", "", "²"):
        cases[f"after {after}"] = [failing(429, after), whole]
    return cases


@dataclass
class Asked:
    """What came of a case. requests: what was sent. times: when, in seconds."""

    outcome: dict[str, Any] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


@pytest.fixture(scope="module")
def asked(project: Path) -> dict[tuple[str, str], Asked]:
    """What came of every case of every provider."""
    names = {provider: list(cases_of(provider)) for provider in PROVIDERS}
    answers = {provider: list(cases_of(provider).values()) for provider in PROVIDERS}
    seen: dict[tuple[str, str], Asked] = defaultdict(Asked)

    def respond(request: Request) -> Response:
        _, provider, number, *_ = request.path.split("/")
        case = seen[provider, names[provider][int(number)]]
        case.requests.append(request)
        case.times.append(time.monotonic())
        turns = answers[provider][int(number)]
        found = turns[min(len(case.requests), len(turns)) - 1]
        headers = dict(found.headers)
        if "location" in headers:
            headers["location"] = request.path
        if headers.get("retry-after") == IN_TWO_SECONDS:
            date = datetime.now(UTC) + timedelta(seconds=2)
            headers["retry-after"] = format_datetime(date, usegmt=True)
        return replace(found, headers=headers)

    with http_server(respond) as url:
        cases = [
            {
                "env": settings(provider, f"{url}/{provider}/{number}"),
                "text": "<user_input>\nhi\n</user_input>",
            }
            for provider in PROVIDERS
            for number in range(len(names[provider]))
        ]
        outcomes = iter(one_step(project, cases))
    for provider in PROVIDERS:
        for name in names[provider]:
            seen[provider, name].outcome = next(outcomes)
    return seen


every_provider = pytest.mark.parametrize("provider", PROVIDERS)
Cases = dict[tuple[str, str], Asked]


@every_provider
@pytest.mark.parametrize("name", ["whole", "thinking", "slow", "redirect"])
def test_a_whole_reply_is_a_step(name: str, provider: str, asked: Cases) -> None:
    """The step, who answered and the tokens come back, from a slow or moved server too."""
    case = asked[provider, name]
    assert DONE == case.outcome["step"]
    meta = case.outcome["meta"]
    assert (provider, {"input": 7, "output": 3}) == (meta["client"], meta["tokens"])


@every_provider
def test_key_model_and_thread_arrive(provider: str, asked: Cases) -> None:
    """The one request holds all three where the provider expects them."""
    (request,) = asked[provider, "whole"].requests
    assert (None if provider == "ollama" else "secret-key") == key_of(provider, request.headers)
    assert "some-model" == request.json.get("model") or "/models/some-model:" in request.path
    assert "<user_input>" in json.dumps(request.json)


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        ("openai", {"response_format": {"type": "json_object"}}),
        ("ollama", {"response_format": {"type": "json_object"}}),
        ("google", {"generationConfig": {"responseMimeType": "application/json"}}),
        ("anthropic", {}),
        ("compatible", {}),
    ],
)
def test_json_is_asked_for_where_the_provider_has_it(
    provider: str, wanted: dict[str, Any], asked: Cases
) -> None:
    """OpenAI, Ollama and Google are asked for JSON; Anthropic and a compatible server are not."""
    body = asked[provider, "whole"].requests[0].json
    found = {name: body[name] for name in ("response_format", "generationConfig") if name in body}
    assert wanted == found


@every_provider
@pytest.mark.parametrize("name", FLAWED)
def test_what_is_not_one_whole_text_is_told_to_the_model(
    name: str, provider: str, asked: Cases
) -> None:
    """Cut, filtered, refused, empty, called and doubled answers are refused and not asked again."""
    case = asked[provider, name]
    assert FLAWED[name][2] in case.outcome["refused"]
    assert provider == case.outcome["meta"]["client"]
    assert 1 == len(case.requests)


@every_provider
@pytest.mark.parametrize("number", range(len(NO_MODELS)))
def test_an_answer_that_is_no_models_is_not_told_to_the_model(
    number: int, provider: str, asked: Cases
) -> None:
    """Something else with status 200 ends the run; the model is not blamed for it."""
    case = asked[provider, f"no model {number}"]
    assert case.outcome["unavailable"].startswith(f"{provider} sent no answer of a model")
    assert 1 == len(case.requests)


@every_provider
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 600])
def test_what_asking_again_cannot_mend_is_asked_once(
    status: int, provider: str, asked: Cases
) -> None:
    """A wrong key, model or request is a failure at once, and names the status."""
    case = asked[provider, f"HTTP {status}"]
    assert f"{provider} answered HTTP {status}" in case.outcome["unavailable"]
    assert 1 == len(case.requests)


@every_provider
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_provider_is_asked_again(status: int, provider: str, asked: Cases) -> None:
    """After 429 and 5xx the same request is sent again, three times in all."""
    case = asked[provider, f"HTTP {status}, then well"]
    assert DONE == case.outcome["step"]
    assert (3, 1) == (len(case.requests), len({request.body for request in case.requests}))
    case = asked[provider, f"HTTP {status}"]
    assert f"{provider} answered HTTP {status}" in case.outcome["unavailable"]
    assert 3 == len(case.requests)


@every_provider
def test_an_error_within_an_answer_counts_as_one(provider: str, asked: Cases) -> None:
    """Status 200 with an error of 503 inside, as OpenRouter sends it, is asked again."""
    case = asked[provider, "busy within"]
    assert (DONE, 2) == (case.outcome["step"], len(case.requests))


@every_provider
@pytest.mark.parametrize("name", ["after 1", "after 1.5", "after a date"])
def test_retry_after_is_honoured(name: str, provider: str, asked: Cases) -> None:
    """The second request comes no earlier than the provider said, in seconds or as a date."""
    case = asked[provider, name]
    assert DONE == case.outcome["step"]
    first, second = case.times
    assert 0.9 <= second - first


@every_provider
def test_a_provider_that_asks_for_too_long_is_given_up(provider: str, asked: Cases) -> None:
    """With an hour to wait the run fails at once instead."""
    case = asked[provider, "after an hour"]
    assert "HTTP 429" in case.outcome["unavailable"]
    assert 1 == len(case.requests)


@every_provider
@pytest.mark.parametrize("after", ["soon", "-1", "1e9", "", "²"])
def test_a_retry_after_that_makes_no_sense_is_ignored(
    after: str, provider: str, asked: Cases
) -> None:
    """The usual pause is made then."""
    assert DONE == asked[provider, f"after {after}"].outcome["step"]


@every_provider
def test_a_redirect_in_circles_is_a_failure(provider: str, asked: Cases) -> None:
    """A server that sends round in circles is not reached, and says so."""
    assert asked[provider, "redirect loop"].outcome["unavailable"].startswith(provider)


def test_a_port_where_nobody_listens_is_a_failure(project: Path) -> None:
    """Each provider says that it cannot be reached, after the last attempt."""
    cases = [{"env": settings(each, "http://127.0.0.1:9")} for each in PROVIDERS]
    for provider, outcome in zip(PROVIDERS, one_step(project, cases), strict=True):
        assert outcome["unavailable"].startswith(f"{provider} cannot be reached")


def changed(provider: str, **changes: Any) -> dict[str, Any]:
    """A whole answer of a provider with other fields; a name with dots says where."""
    body: Any = answer(provider, TEXT)
    for where, value in changes.items():
        *path, name = where.split("__")
        inner = body
        for step in path:
            inner = inner[int(step) if step.isdecimal() else step]
        inner[name] = value
    return dict(body)


ODD = {
    "content in parts": (
        "compatible",
        {"choices__0__message__content": [{"type": "text", "text": TEXT}]},
    ),
    "thinking in parts": (
        "compatible",
        {
            "choices__0__message__content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": TEXT},
            ]
        },
    ),
    "no role": ("compatible", {"choices__0__message": {"content": TEXT}}),
    "no model": ("compatible", {"model": None}),
    "no usage": ("compatible", {"usage": None}),
    "half a usage": ("compatible", {"usage": {"prompt_tokens": 7}}),
    "empty feedback": ("google", {"promptFeedback": {}}),
    "ratings": ("google", {"promptFeedback": {"safetyRatings": []}}),
    "no usage of Google": ("google", {"usageMetadata": None}),
    "no usage of Anthropic": ("anthropic", {"usage": None}),
    "a blank text first": (
        "anthropic",
        {"content": [{"type": "text", "text": " "}, {"type": "text", "text": TEXT}]},
    ),
    "a signature of a thought": (
        "google",
        {"candidates__0__content__parts": [{"text": TEXT}, {"thoughtSignature": "c2ln"}]},
    ),
    "one text in two parts": (
        "google",
        {"candidates__0__content__parts": [{"text": TEXT[:9]}, {"text": TEXT[9:]}]},
    ),
}


@pytest.fixture(scope="module")
def odd(project: Path) -> dict[str, dict[str, Any]]:
    """What comes of each answer of ODD and of each end of ENDS."""
    bodies = {name: (provider, changed(provider, **how)) for name, (provider, how) in ODD.items()}
    for end in [*BAD_ENDS, *GOOD_ENDS]:
        bodies[f"end {end}"] = ("compatible", changed("compatible", choices__0__finish_reason=end))
    names = list(bodies)

    def respond(request: Request) -> Response:
        return Response(bodies[names[int(request.path.split("/")[1])]][1])

    with http_server(respond) as url:
        cases = [
            {"env": settings(bodies[name][0], f"{url}/{number}"), "text": "hi"}
            for number, name in enumerate(names)
        ]
        return dict(zip(names, one_step(project, cases), strict=True))


BAD_ENDS = [
    *("length", "content_filter", "content-filter", "max_tokens", "MAX_TOKENS", "model_length"),
    *(
        "tool_calls",
        "tool_call",
        "function_call",
        "error",
        "abort",
        "cancelled",
        "insufficient_system_resource",
    ),
]
GOOD_ENDS = ["stop", "eos", "eos_token", "end_turn", "stop_sequence", "STOP", "COMPLETE", "", None]


@pytest.mark.parametrize("name", ODD)
def test_an_answer_that_is_a_little_odd_is_read(name: str, odd: Any) -> None:
    """Shapes that providers send, and that BAML cannot read, give the step all the same."""
    assert DONE == odd[name]["step"], odd[name]


@pytest.mark.parametrize("end", BAD_ENDS)
def test_a_bad_end_is_refused_in_whatever_words(end: str, odd: Any) -> None:
    """Compatible servers have many names for an answer that is not whole."""
    assert "not whole" in odd[f"end {end}"]["refused"]


@pytest.mark.parametrize("end", GOOD_ENDS)
def test_a_good_end_is_taken_in_whatever_words(end: str | None, odd: Any) -> None:
    """And many for one that is."""
    assert DONE == odd[f"end {end}"]["step"]


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(project: Path) -> None:
    """HTTP_PROXY is for the rest of the world."""
    with http_server(lambda request: Response(answer("compatible", TEXT))) as url:
        proxy = {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
        done = agent(project, "ask", "hi", **settings("compatible", url), **proxy)
    assert "Hello!\n" == done.stdout
