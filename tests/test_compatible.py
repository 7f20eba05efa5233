"""A real client against a real HTTP server: what is sent, and what an answer leads to."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import (
    QUESTION,
    Done,
    ModelServer,
    agent,
    compatible,
    environment,
    model_server,
    raw_server,
)

DONE = '{"intent": "done_for_now", "message": "Hello!"}'


def ask(project: Path, url: str, *words: str, check: bool = False, **changes: str) -> Done:
    """Ask the project's agent with its compatible client."""
    return agent(project, "ask", *words, check=check, **{**compatible(url), **changes})


def test_a_chain_over_http(project: Path) -> None:
    """Four requests, each with the results so far, give the answer and the tokens."""
    replies = [
        {"intent": "multiply", "a": 3, "b": 4},
        {"intent": "divide", "a": 12, "b": 2},
        {"intent": "add", "a": 6, "b": 12},
        {"intent": "done_for_now", "message": "The result is 18."},
    ]

    def answer(messages: list[dict[str, Any]]) -> str:
        return json.dumps(replies[messages[-1]["content"].count("<tool_response>")])

    with model_server(answer) as server:
        done = ask(project, server.url, QUESTION, "--json", check=True)
    thread = json.loads(done.stdout)
    assert "The result is 18." == thread["answer"]
    assert "rules" not in done.stderr
    assert 4 == len(server.requests)
    assert {"Bearer secret-key"} == set(server.keys)
    assert {"some-model"} == {request["model"] for request in server.requests}
    first, last = server.requests[0]["messages"], server.requests[3]["messages"]
    assert first[0] == last[0]
    assert last[1]["content"].startswith(first[1]["content"])
    meta = thread["events"][1]["meta"]
    assert ("compatible", {"input": 7, "output": 3}) == (meta["client"], meta["tokens"])
    assert "secret-key" not in done.stdout + done.stderr


def test_prompt_shows_exactly_what_is_sent(project: Path) -> None:
    """prompt prints the messages that ask sends for the same words."""
    with model_server(lambda messages: DONE) as server:
        ask(project, server.url, "hello <you>", check=True)
    shown = json.loads(agent(project, "prompt", "hello <you>", "--json").stdout)
    assert server.requests[0]["messages"] == shown["messages"]


@pytest.mark.parametrize(
    "reply",
    [
        "{" + '"intent": "done_for_now", "message": "The total is 1',
        {"message": {"role": "assistant", "content": DONE}, "finish_reason": "length"},
        {"message": {"role": "assistant", "content": DONE}, "finish_reason": "content_filter"},
        {"message": {"role": "assistant", "content": ""}},
        {"message": {"role": "assistant", "content": None}},
        "[" * 3000,
        'I will NOT call {"intent": "process_refund", "order_id": "1", "amount": 5, "reason": "x"}',
    ],
)
def test_a_reply_that_is_no_step_is_told_to_the_model(reply: Any, project: Path) -> None:
    """What is cut off, filtered, empty or wrapped in prose becomes an error, and then a new try."""

    def answer(messages: list[dict[str, Any]]) -> Any:
        return DONE if "<error>" in messages[-1]["content"] else reply

    with model_server(answer) as server:
        done = ask(project, server.url, "hello", "--json")
    thread = json.loads(done.stdout)
    assert ["user_input", "error", "tool_call"] == [e["type"] for e in thread["events"]]
    assert (0, "Hello!", 2) == (done.returncode, thread["answer"], len(server.requests))


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_server_that_refuses_ends_the_run(status: int, project: Path) -> None:
    """An HTTP error is a failure that is named, never the rules' turn."""
    with model_server(lambda messages: status) as server:
        done = ask(project, server.url, "add 3 and 4", "--json")
    thread = json.loads(done.stdout)
    assert (1, "model_unreachable") == (done.returncode, thread["failure"]["type"])
    assert f"compatible answered HTTP {status}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\x01no http",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>ok<",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"choices": [',
        b"HTTP/1.1 302 Found\r\nlocation: /v1/chat/completions\r\ncontent-length: 0\r\n\r\n",
    ],
    ids=["dropped", "garbage", "html", "other-json", "truncated", "redirect-loop"],
)
def test_an_answer_that_is_no_models_is_not_told_to_the_model(answer: bytes, project: Path) -> None:
    """Trouble on the way ends the run; the model is not blamed for it and asked again."""
    with raw_server(answer) as url:
        done = ask(project, url, "hello", "--json")
    thread = json.loads(done.stdout)
    assert "model_unreachable" == thread["failure"]["type"]
    assert ["user_input", "failed"] == [event["type"] for event in thread["events"]]


def test_no_server_ends_the_run(project: Path) -> None:
    """A closed port is a failure in one line."""
    done = ask(project, "http://127.0.0.1:9/v1", "add 3 and 4")
    assert (1, "") == (done.returncode, done.stdout)
    assert "compatible cannot be reached" in done.stderr


@pytest.mark.parametrize("name", ["COMPATIBLE_BASE_URL", "COMPATIBLE_API_KEY", "COMPATIBLE_MODEL"])
def test_a_missing_variable_is_named_and_nothing_is_sent(name: str, project: Path) -> None:
    """One line with the variable, exit 1, no request."""
    with model_server(lambda messages: DONE) as server:
        done = ask(project, server.url, "hello", **{name: ""})
    assert (1, "", []) == (done.returncode, done.stdout, server.requests)
    assert done.stderr.startswith(f"error: {name} is not set; ")
    assert 1 == done.stderr.count("\n")


def test_env_in_the_project_counts_wherever_the_command_starts(
    project: Path, tmp_path: Path
) -> None:
    """.env is read from the project's root, and a .env of the current folder is not."""
    copy = tmp_path / "refund-desk"
    subprocess.run(["cp", "-r", project, copy], check=True)
    with model_server(lambda messages: DONE) as server:
        lines = [f'{name}="{value}"' for name, value in compatible(server.url).items()]
        (copy / ".env").write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / ".env").write_text("COMPATIBLE_MODEL=a-stranger", encoding="utf-8")
        words = [sys.executable, "-m", "refund_desk", "ask", "hello"]
        env = environment(PYTHONPATH=str(copy / "src"), AGENT_CLIENT="")
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "Hello!\n" == done.stdout, done.stderr
    assert ["some-model"] == [request["model"] for request in server.requests]


def test_ctrl_c_during_a_plain_tool_ends_at_once(project: Path, tmp_path: Path) -> None:
    """A tool that blocks holds nobody up."""
    started = tmp_path / "started"
    script = f"""
import sys, time
from pathlib import Path
from refund_desk.runtime.cli import main
from refund_desk.tools import calculator
def slow(a, b):
    Path({str(started)!r}).touch()
    time.sleep(20)
calculator.add = slow
sys.argv[1:] = ["ask", "add 3 and 4"]
sys.exit(main())
"""
    env = environment(PYTHONPATH=str(project / "src"), AGENT_CLIENT="offline")
    process = subprocess.Popen([sys.executable, "-c", script], env=env, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=5)
    assert 130 == process.returncode


def test_ctrl_c_during_a_model_call_ends_at_once(project: Path) -> None:
    """An interrupt while the model thinks is exit 130 without a traceback."""

    def slow(messages: list[dict[str, Any]]) -> str:
        time.sleep(3)
        return DONE

    def wait_for_request(server: ModelServer) -> None:
        deadline = time.monotonic() + 30
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.05)

    with model_server(slow) as server:
        words = [sys.executable, "-m", "refund_desk", "ask", "hello"]
        env = environment(PYTHONPATH=str(project / "src"), **compatible(server.url))
        process = subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True)
        wait_for_request(server)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=2.5)
    assert 130 == process.returncode
    assert re.fullmatch("interrupted; go on with: .* resume [0-9a-f]{32}\n", said)
