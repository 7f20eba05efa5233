"""A person at a real terminal (a pseudo-terminal): they are asked, and they decide."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from support import environment

REFUND = "please refund order A-17, the blender for $12.50 arrived broken"
PAYING = """
import sys
from refund_desk.runtime.cli import main
from refund_desk.tools import customer_support
customer_support.send_refund = lambda *payment: print("PAID", payment[:2], file=sys.stderr)
sys.exit(main())
"""
BREAKING = """
import sys
from refund_desk.runtime import call
from refund_desk.runtime.cli import main
from refund_desk.tools import customer_support
call.PAUSE = 0.01
def send_refund(*payment):
    print("TRIED", file=sys.stderr)
    raise ConnectionError("the line is down")
customer_support.send_refund = send_refund
sys.exit(main())
"""


def talk(
    project: Path,
    message: str,
    *answers: str,
    words: tuple[str, ...] = (),
    typed_ahead: str = "",
    raw: bool = False,
    code: str = PAYING,
) -> tuple[int, str, str]:
    """Run ask at a terminal and type an answer at each prompt; an empty text ends the input.

    typed_ahead: what is in the terminal's buffer before the command starts.
    raw: whether the terminal hands characters over as they come, not line by line.
    code: what runs the command line.
    Returns the exit code, stdout, and what the terminal showed.
    """
    ours, theirs = pty.openpty()
    if raw:
        mode = termios.tcgetattr(theirs)
        mode[3] &= ~termios.ICANON
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
    os.write(ours, typed_ahead.encode())
    process = subprocess.Popen(
        [sys.executable, "-c", code, "ask", message, *words],
        env=environment(PYTHONPATH=str(project / "src"), AGENT_CLIENT="offline"),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # Ctrl-C is a signal there
    )
    os.close(theirs)
    left, shown, deadline = list(answers), "", time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([ours], [], [], 0.2)
            try:
                shown += os.read(ours, 4096).decode() if ready else ""
            except OSError:  # the other side has closed the terminal
                break
            prompts = sum(map(shown.count, ("> ", "[y, or why not] ", "[what it gave, or no] ")))
            if left and prompts > len(answers) - len(left):
                os.write(ours, (left.pop(0) + "\n").encode() if left[0] != "" else b"\x04")
                left = left if left or answers[-1] != "" else []
        out, _ = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return process.returncode, out.decode(), shown


@pytest.mark.parametrize("answer", ["y", "YES", "  approve  "])
def test_an_explicit_yes_pays(answer: str, project: Path) -> None:
    """After y, yes or approve the call that was shown runs, once."""
    code, out, shown = talk(project, REFUND, answer)
    assert (0, "refund 12.5 for order A-17 processed\n") == (code, out)
    assert 'approve process_refund(order_id="A-17", amount=12.5' in shown
    assert 1 == shown.count("PAID ('A-17', Decimal('12.5'))")


@pytest.mark.parametrize("answer", ["n", "yes, but later", "ok", "approved?"])
def test_anything_else_is_a_refusal(answer: str, project: Path) -> None:
    """Every other word refuses, and goes back as the reason."""
    code, out, shown = talk(project, REFUND, answer)
    assert 0 == code
    assert "not approved" in out
    assert "PAID" not in shown


@pytest.mark.parametrize(
    ("answer", "out"), [("paid as r-1", "paid as r-1\n"), ("no", "it did not happen")]
)
def test_what_nobody_knows_is_put_to_the_person(answer: str, out: str, project: Path) -> None:
    """A payment that broke off each time is asked about, and the answer is what is recorded."""
    code, said, shown = talk(project, REFUND, "y", answer, code=BREAKING)
    assert 0 == code
    assert out in said
    assert "did this happen, and what did it give? process_refund(" in shown
    assert 3 == shown.count("TRIED")


def test_an_empty_line_is_no_answer(project: Path) -> None:
    """An empty line asks again."""
    code, _, shown = talk(project, REFUND, "   ", "y")
    assert 0 == code
    assert 2 == shown.count("[y, or why not] ")


def test_the_end_of_input_leaves_the_call_waiting(project: Path) -> None:
    """Ctrl-D decides nothing: exit 3, nothing paid."""
    code, out, shown = talk(project, REFUND, "")
    assert (3, "") == (code, out)
    assert "PAID" not in shown


def test_a_question_is_answered_at_the_terminal(project: Path) -> None:
    """What is missing is asked for, and the run goes on with the answer."""
    code, out, _ = talk(project, "please divide 10 by", "5")
    assert (0, "2\n") == (code, out)


def test_no_input_asks_nobody(project: Path) -> None:
    """--no-input exits 3 at a terminal too."""
    code, _, shown = talk(project, REFUND, words=("--no-input",))
    assert 3 == code
    assert "[y, or why not]" not in shown


def test_a_terminal_is_not_steered(project: Path) -> None:
    """Control characters in what is shown are spelled out."""
    _, _, shown = talk(project, REFUND + " \x1b[2J\x07", words=("--no-input",))
    assert "\x1b[2J" not in shown
    assert "\\u001b[2J\\u0007" in shown


def test_what_was_typed_before_the_question_approves_nothing(project: Path) -> None:
    """A "y" that was typed or pasted ahead is dropped: the person has seen nothing yet."""
    code, _, shown = talk(project, REFUND, "n", typed_ahead="y\ny\n")
    assert 0 == code
    assert "PAID" not in shown
    pasted = "order A-17, $500, it arrived broken\ny"
    code, _, shown = talk(project, "please refund", pasted, "n")
    assert 0 == code
    assert "PAID" not in shown


def test_a_question_that_nobody_can_see_is_not_asked(project: Path) -> None:
    """With stderr in a file there is no one to ask: exit 3, although stdin is a terminal."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"y\ny\n")
        done = subprocess.run(
            [sys.executable, "-c", PAYING, "ask", REFUND],
            env=environment(PYTHONPATH=str(project / "src"), AGENT_CLIENT="offline"),
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert 3 == done.returncode
    assert "PAID" not in done.stderr


@pytest.mark.parametrize("unseen", ["\u3164", "\u00ad", "\u2063", "\ufe0f", "\U000e0041", "\u202e"])
def test_nothing_in_a_call_is_invisible(unseen: str, project: Path) -> None:
    """What a person cannot see in an argument is spelled out."""
    message = f"refund order A-17, $12.50, because it broke{unseen} apart"
    _, _, shown = talk(project, message, words=("--no-input",))
    question = shown[shown.index("approve process_refund") :]
    assert unseen not in question
    assert unseen.encode("unicode_escape").decode() in question


def test_ctrl_c_at_a_question_is_130(project: Path) -> None:
    """An interrupt at the prompt ends the command, and decides nothing."""
    code, _, shown = talk(project, REFUND, "\x03")
    assert 130 == code
    assert "PAID" not in shown
    assert "Traceback" not in shown


def test_typed_ahead_is_dropped_in_any_mode(project: Path) -> None:
    """A terminal that hands over more than a line keeps no answer for the next question."""
    message = "please refund order A-17, it arrived broken"
    code, _, shown = talk(project, message, "$12.50\ny\ny", "n", raw=True)
    assert 0 == code
    assert "PAID" not in shown
