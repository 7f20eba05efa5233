"""Odd consoles and environments: the answer arrives, and nothing dies of where it is printed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import agent, compatible, environment, model_server, run

SHELL = ("/bin/sh", "-c")


def ask_through(shell: str, project: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which $ask is the project's command, without a terminal."""
    ask = f"{sys.executable} -m refund_desk ask"
    changes = {"PYTHONPATH": str(project / "src"), "AGENT_CLIENT": "offline", **changes}
    return run(*SHELL, shell.replace("$ask", ask), cwd=project, check=False, **changes)


def test_a_closed_stderr_sends_nothing_to_stdout(project: Path) -> None:
    """Steps and notes do not end up where only the answer belongs."""
    done = ask_through("$ask 'add 3 and 4' 2>&-", project)
    assert (0, "7\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("end", [">&-", ">/dev/full", "| true"])
def test_a_stdout_that_takes_nothing_is_no_traceback(end: str, project: Path) -> None:
    """Closed, full or left by its reader: at most one line about it."""
    done = ask_through(f"$ask 'add 3 and 4' {end}", project)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_no_console_is_a_reason_to_crash(encoding: str, project: Path) -> None:
    """What a console cannot show is spelled out; the exit code is the same."""
    changes = {"PYTHONIOENCODING": encoding, "LC_ALL": "C", "TERM": "dumb"}
    done = ask_through("$ask 'add 3 and 4'", project, **changes)
    assert (0, "7\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("level", ["", "garbage"])
def test_a_senseless_log_level_prints_nothing(level: str, project: Path) -> None:
    """BAML would take it for a wish to see every prompt on stdout."""
    step = {"intent": "done_for_now", "message": "Hello!"}
    with model_server(lambda messages: json.dumps(step)) as server:
        done = agent(project, "ask", "hello", BAML_LOG=level, **compatible(server.url))
    assert "Hello!\n" == done.stdout


def test_an_answer_in_any_script_is_printed_as_it_is(project: Path) -> None:
    """Wide blanks, narrow blanks and joined emoji are text; an escape character is not."""
    answer = "価格\u300012\u00a0€ 👩\u200d💻 é"
    step = {"intent": "done_for_now", "message": answer + "\x1b[2J"}
    with model_server(lambda messages: json.dumps(step)) as server:
        done = agent(project, "ask", "hello", PYTHONIOENCODING="utf-8", **compatible(server.url))
    assert answer + "\\x1b[2J\n" == done.stdout


def test_a_variable_that_is_not_utf_8_is_no_reason_to_fail(project: Path, tmp_path: Path) -> None:
    """BAML takes the whole environment as text; a foreign variable in it does no harm."""
    foreign = {b"FOREIGN": b"\xff"}
    env = {name.encode(): value.encode() for name, value in environment().items()}
    source = {b"PYTHONPATH": bytes(project / "src"), b"AGENT_CLIENT": b"offline"}
    ask = [sys.executable, "-m", "refund_desk", "ask", "add 3 and 4"]
    done = subprocess.run(ask, env=env | foreign | source, capture_output=True, text=True)
    assert "7\n" == done.stdout, done.stderr
    new = [sys.executable, "-m", "create_agent", "new", "myproj"]
    done = subprocess.run(new, env=env | foreign, cwd=tmp_path, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr


@pytest.mark.parametrize("words", [("",), ("  ",), ("-x",), ()])
def test_a_message_that_is_none_is_wrong_usage(words: tuple[str, ...], project: Path) -> None:
    """An empty message, a missing one and one that looks like an option are exit 2."""
    done = agent(project, "ask", *words, check=False)
    assert (2, "") == (done.returncode, done.stdout)


def test_a_message_may_begin_with_a_dash(project: Path) -> None:
    """After -- everything is the message."""
    done = agent(project, "ask", "--", "-1 + 2", AGENT_CLIENT="offline")
    assert "1\n" == done.stdout


def test_a_client_of_another_baml_is_named(project: Path, tmp_path: Path) -> None:
    """A client that the installed baml-py refuses is one line with the command that mends it."""
    run("cp", "-r", project, tmp_path / "refund-desk", cwd=tmp_path)
    client = tmp_path / "refund-desk/src/refund_desk/baml_client/__init__.py"
    text = client.read_text(encoding="utf-8").replace("0.226", "0.1")
    client.write_text(text + "\nraise ImportError('baml-py is likely out of date')\n")
    done = agent(tmp_path / "refund-desk", "ask", "hello", check=False)
    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert "does not fit the installed baml-py; run: " in done.stderr
