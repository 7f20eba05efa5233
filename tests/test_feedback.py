"""What the model is told of its mistakes, how many are borne, and what ends a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from providers import PROVIDERS, answer, settings
from support import Done, Request, Response, agent, http_server

DONE = {"intent": "done_for_now", "message": "Hello!"}
HALF = {"intent": "divide", "a": 1, "b": 0}
SUM = {"intent": "add", "a": 3, "b": 4}


def run(project: Path, *replies: Any, **changes: str) -> tuple[Done, dict[str, Any], list[Any]]:
    """Ask an agent whose model gives these replies: the process, the thread, the prompts."""
    prompts: list[str] = []

    def respond(request: Request) -> Response:
        prompts.append(request.json["messages"][-1]["content"])
        reply = replies[min(len(prompts), len(replies)) - 1]
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return Response(answer("compatible", text))

    with http_server(respond) as url:
        env = {**settings("compatible", url), **changes}
        done = agent(project, "ask", "hello", "--json", "--no-input", check=False, **env)
    return done, json.loads(done.stdout), prompts


def types_of(thread: dict[str, Any]) -> list[str]:
    """The types of a thread's events."""
    return [event["type"] for event in thread["events"]]


def test_three_errors_in_a_row_are_borne(project: Path) -> None:
    """The third ends the run: exit 1, the reason, and the thread with everything in it."""
    done, thread, prompts = run(project, "no", "no", "no", DONE)
    assert (1, 3) == (done.returncode, len(prompts))
    assert ("failed", "too_many_errors") == (thread["status"], thread["failure"]["type"])
    assert ["user_input", "error", "error", "error", "failed"] == types_of(thread)
    assert "3 errors in a row; the last: the reply begins with" in done.stderr


def test_the_same_call_that_fails_three_times_is_three(project: Path) -> None:
    """A call that is well formed and cannot be done counts like a reply that is not."""
    done, thread, prompts = run(project, HALF)
    assert (1, 3) == (done.returncode, len(prompts))
    assert ["division by zero"] * 3 == [
        event["data"]["message"] for event in thread["events"] if event["type"] == "error"
    ]


def test_a_result_resets_the_count(project: Path) -> None:
    """Two errors, a result, two errors, an end: nothing fails."""
    done, thread, _ = run(project, "no", HALF, SUM, "no", HALF, DONE)
    assert (0, "Hello!") == (done.returncode, thread["answer"])


def test_the_model_sees_each_error_and_who_made_it_is_known(project: Path) -> None:
    """An error stands in the next prompt, short, and its event says which client it came from."""
    _, thread, prompts = run(project, "I refuse.", HALF, DONE)
    assert "<error>" not in prompts[0]
    assert "the reply begins with" in prompts[1]
    assert "division by zero" in prompts[2]
    first, second = [event for event in thread["events"] if event["type"] == "error"]
    assert ("compatible", "Refused") == (first["meta"]["client"], first["data"]["type"])
    assert {"input": 7, "output": 3} == first["meta"]["tokens"]
    assert thread["events"][2]["seq"] == second["data"]["call"]


def test_what_the_model_is_told_is_short_and_holds_nothing_else(project: Path) -> None:
    """However odd a reply, the error has at most 200 characters, and no key and no prompt."""
    long = "x" * 5000
    many = {"intent": "add", **{f"field {i} {long[:90]}": 1 for i in range(20)}}
    replies = [long, {"intent": long}, many, {**DONE, "message": [long]}, '{"a": "' + long]
    for reply in replies:
        done, thread, _ = run(project, reply, DONE)
        error = thread["events"][1]
        assert "error" == error["type"]
        assert len(error["data"]["message"]) <= 200
        told = json.dumps(error["data"])
        assert "secret-key" not in told + done.stderr
        assert "You choose the next step" not in told
        assert "Traceback" not in told + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "type", "prompts"),
    [
        ("AGENT_MAX_STEPS", "2", "step_limit", 2),
        ("AGENT_MAX_ERRORS", "1", "too_many_errors", 1),
        ("AGENT_MAX_PROMPT_BYTES", "10", "prompt_too_long", 0),
    ],
)
def test_limits_end_a_run(name: str, value: str, type: str, prompts: int, project: Path) -> None:
    """Steps, errors and the prompt have a limit that can be set, and each says so: exit 1."""
    reply = "no" if name == "AGENT_MAX_ERRORS" else SUM
    done, thread, asked = run(project, reply, **{name: value})
    assert (1, type, prompts) == (done.returncode, thread["failure"]["type"], len(asked))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENT_MAX_REPLY_CHARACTERS", "20"),
        ("AGENT_MAX_REPLY_VALUES", "1"),
    ],
)
def test_limits_of_a_reply_are_told_to_the_model(name: str, value: str, project: Path) -> None:
    """A reply beyond a limit that was set is an error of the model's."""
    _, thread, _ = run(project, DONE, **{name: value})
    assert "too_many_errors" == thread["failure"]["type"]
    assert f" {value} " in thread["events"][1]["data"]["message"] + " "


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_that_fails_is_not_told_to_the_model(provider: str, project: Path) -> None:
    """The run fails as model_unreachable; the log has no error, and the rules do not step in."""
    with http_server(lambda request: Response({"error": {"message": "no"}}, 403)) as url:
        env = settings(provider, url)
        done = agent(project, "ask", "add 3 and 4", "--json", check=False, **env)
    thread = json.loads(done.stdout)
    assert (1, "model_unreachable") == (done.returncode, thread["failure"]["type"])
    assert ["user_input", "failed"] == types_of(thread)
    assert f"{provider} answered HTTP 403; check its key" in done.stderr
    assert "secret-key" not in done.stdout + done.stderr


def test_an_amount_that_makes_no_sense_is_shown_to_nobody(project: Path) -> None:
    """Meaning is checked before anyone is asked to approve: only the model hears of it."""
    refund = {"intent": "process_refund", "order_id": "A-17", "amount": -5, "reason": "x"}
    done, thread, _ = run(project, refund, {**refund, "order_id": " ", "amount": 5}, DONE)
    messages = [e["data"]["message"] for e in thread["events"] if e["type"] == "error"]
    assert "amount must be positive" in messages[0]
    assert "order_id is empty" in messages[1]
    assert (0, None) == (done.returncode, thread["pending"])
    assert "approve" not in done.stderr


def test_a_message_may_begin_with_a_dash(project: Path) -> None:
    """After -- it is a message; without, the error says how to write it."""
    assert "-2\n" == agent(project, "ask", "--", "-5 plus 3").stdout
    done = agent(project, "ask", "-x", check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert "write -- before a text that begins with a dash" in done.stderr


def test_what_waits_for_approval_is_what_was_written(project: Path) -> None:
    """The pending call has the reply's values, with the amount as it was written."""
    refund = {"intent": "process_refund", "order_id": "00123", "amount": 45.1, "reason": "é"}
    done, thread, _ = run(project, json.dumps(refund).replace("45.1", "45.10"))
    assert (3, refund) == (done.returncode, thread["pending"]["call"])
    assert 'process_refund(order_id="00123", amount=45.1, reason="é")' in done.stderr
