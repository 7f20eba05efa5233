"""Hostile replies: each becomes exactly the step that it says, or is refused; nothing crashes."""

import json
import re
import shutil
from collections import Counter
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hostile_replies import (
    Case,
    add_owners_tools,
    corpus,
    owners_cases_without_rules,
    question,
    wrong,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from providers import PROVIDERS, answer
from providers import settings as provider_settings
from support import Request, Response, http_server, importing, one_step, package_of

REPLIES, OWNERS = corpus("replies"), corpus("owner")
IN_PROCESS = [case for case in REPLIES if "reply" in case and "finish" not in case]
FAR_TOO_LONG = 5000  # milliseconds; bench/ measures, this only notices what hangs


def mistakes(cases: list[Case], outcomes: list[dict[str, Any]]) -> list[str]:
    """Every outcome that is wrong, too long for the model, or came far too late."""
    found = []
    for case, outcome in zip(cases, outcomes, strict=True):
        told = outcome.get("refused", "")
        if problem := wrong(case, outcome):
            found.append(problem)
        elif len(told) > 200 or "\n" in told:
            found.append(f"{case['kind']}: the model would be told {told!r}")
        elif outcome["milliseconds"] > FAR_TOO_LONG:
            found.append(f"{case['kind']}: {outcome['milliseconds']:.0f} ms")
    return found


def test_the_corpus_is_large_and_varied() -> None:
    """300 replies and more, of 12 kinds and more; 80 and more of them have to be accepted."""
    kinds = Counter(case["kind"] for case in REPLIES)
    accepted = [case for case in REPLIES if "step" in case]
    assert (len(REPLIES) >= 300, len(kinds) >= 12, len(accepted) >= 80) == (True, True, True)
    tools = {case["step"]["intent"] for case in accepted}
    assert {"add", "subtract", "multiply", "divide", "process_refund"} < tools
    assert {"done_for_now", "request_more_information", "request_approval_from_manager"} < tools


def test_replies_to_the_projects_tools(project: Path) -> None:
    """No wrong execution, no false refusal, no crash."""
    outcomes = one_step(project, [question(case) for case in IN_PROCESS])
    assert [] == mistakes(IN_PROCESS, outcomes)


def test_replies_to_tools_that_an_owner_added(owners_project: Path) -> None:
    """Nested classes, lists, optionals, maps, enums, aliases, checks and asserts stay exact."""
    cases = [*OWNERS, *IN_PROCESS]
    outcomes = one_step(owners_project, [question(case) for case in cases])
    assert [] == mistakes(cases, outcomes)


def test_replies_to_tools_without_rules(project: Path, tmp_path: Path) -> None:
    """A schema without aliases, checks and asserts is kept to as exactly, by its types alone."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    add_owners_tools(copy, rules=False)
    cases = owners_cases_without_rules()
    assert 200 < len(cases)
    outcomes = one_step(copy, [question(case) for case in cases])
    assert [] == mistakes(cases, outcomes)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_replies_over_http_in_the_shape_of_each_provider(provider: str, project: Path) -> None:
    """What is true of a reply's text is true of it as a provider's answer."""

    def respond(request: Request) -> Response:
        case = REPLIES[int(request.path.split("/")[1])]
        parts = case.get("parts", case.get("reply"))
        return Response(answer(provider, parts, case.get("finish", "whole")))

    with http_server(respond) as url:
        asked = [
            {"env": provider_settings(provider, f"{url}/{number}")}
            for number in range(len(REPLIES))
        ]
        outcomes = one_step(project, asked)
    for case, outcome in zip(REPLIES, outcomes, strict=True):
        if not str(case.get("reply", "x")).strip("\ufeff \n\u00a0"):
            case = {**case, "refused": "write one JSON object"}  # such an answer holds no text
        assert None is wrong(case, outcome)
        assert provider == outcome["meta"]["client"]


# What is written, read by other means than the guard's: any change of it would be seen.


def strictly(text: str) -> Any:
    """A JSON text with its objects as pairs and its numbers as Decimal. Raises ValueError."""
    return json.loads(
        text, object_pairs_hook=tuple, parse_float=Decimal, parse_int=Decimal, strict=False
    )


def says(written: Any, step: Any) -> bool:
    """Whether a step says what was written: the same fields, each with the same value."""
    if isinstance(step, dict):
        pairs = [(name, value) for name, value in written if value is not None]
        given = {name for name, value in step.items() if value is not None}
        same_names = sorted(name for name, _ in pairs) == sorted(given)
        return same_names and all(says(value, step[name]) for name, value in pairs)
    if isinstance(step, list):
        return len(written) == len(step) and all(map(says, written, step))
    if isinstance(step, bool) or not isinstance(step, int | float):
        return type(written) is type(step) and bool(written == step)
    return not isinstance(written, bool) and Decimal(written) == Decimal(repr(step))


@cache
def reader(project: Path) -> Any:
    """From a reply to what its step says, or None where it is refused."""
    with importing(project):
        runtime = f"{package_of(project)}.runtime"
        baml, guard = import_module(f"{runtime}.baml"), import_module(f"{runtime}.guard")
        errors, limits = import_module(f"{runtime}.errors"), import_module(f"{runtime}.settings")

    def read(reply: str) -> Any:
        try:
            return baml.dump_step(guard.read_step(reply, baml.tools(), limits.USUAL))
        except errors.Refused:
            return None

    return read


PLAIN = [
    case["reply"]
    for case in [*REPLIES, *OWNERS]
    if "step" in case and re.fullmatch(r"\{[^`<]{,1000}\}", case.get("reply", ""))
]
SIGNIFICANT = st.text(alphabet='{}[]",:\\0123456789.-+eE$ ntfu\n\u00e9\u200b', max_size=6)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A reply of the corpus with a few cuts, insertions, repetitions and exchanges."""
    text = draw(st.sampled_from(PLAIN))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        piece = draw(st.one_of(SIGNIFICANT, st.just(text[start:end] * 2), st.text(max_size=3)))
        text = text[:start] + piece + text[end:]
    return text


@settings(max_examples=2000, deadline=None)
@given(reply=mutated())
def test_a_step_never_differs_from_what_is_written(reply: str, owners_project: Path) -> None:
    """Whatever happens to a valid reply, what comes of it says what is then written."""
    step = reader(owners_project)(reply)
    if step is not None:
        assert says(strictly(reply.strip()), step)


@settings(max_examples=300, deadline=None)
@given(message=st.text(), amount=st.decimals(-(10**9), 10**9, places=2), order=st.text(min_size=1))
def test_a_valid_reply_is_never_refused(
    message: str, amount: Decimal, order: str, owners_project: Path
) -> None:
    """Any text and any amount of money that JSON can hold comes through as it is."""
    read = reader(owners_project)
    if "\0" not in message + order:
        done = {"intent": "done_for_now", "message": message}
        assert done == read(json.dumps(done))
        refund = f'"order_id": {json.dumps(order)}, "amount": {amount}, "reason": ""'
        step = read('{"intent": "process_refund", ' + refund + "}")
        assert (order, amount) == (step["order_id"], Decimal(repr(step["amount"])))
