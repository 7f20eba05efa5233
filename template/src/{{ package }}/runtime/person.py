"""The person at the terminal: what waits is put to them, and what they say is recorded."""

import os
import sys
from typing import Any

from .readable import call_text, printable
from .show import note
from .thread import Thread

YES = {"y", "yes", "approve"}  # nothing else is a yes
NO = {"n", "no"}  # where a person says what became of a call
DID_NOT_HAPPEN = "a person says that it did not happen"
NAME = "the person at the terminal"


def is_there() -> bool:
    """Whether somebody can be asked: they see stderr and type into stdin."""
    return all(s is not None and s.isatty() for s in (sys.stdin, sys.stderr))


def put_to_person(thread: Thread, pending: dict[str, Any]) -> bool:
    """Ask the person and record what they say. False if they end the input instead."""
    kind = pending["kind"]
    if kind != "question":
        _drop_typed_ahead()
    line = _read_line(f"{question(pending)}\n{_SIGNS[kind]} ")
    if line is None:
        return False
    if kind == "question":
        thread.add_answer(line)
    elif kind == "approval":
        approved = line.lower() in YES
        shown = (pending["approval_id"], pending["call_hash"])
        thread.decide(*shown, approved, NAME, "" if approved else line)
    else:
        happened = line.lower() not in NO
        text = line if happened else DID_NOT_HAPPEN
        thread.settle(pending["effect_key"], happened, text, NAME)
    return True


def question(pending: dict[str, Any]) -> str:
    """What waits, as a question to a person."""
    match pending["kind"]:
        case "question":
            return str(pending["message"])
        case "approval":
            earlier = f"\nnote: {pending['earlier']}" if pending["earlier"] else ""
            return f"approve {call_text(pending['call'])}?{earlier}"
        case _:
            call, problem = call_text(pending["call"]), pending["problem"]
            return f"did this happen, and what did it give? {call}\nnote: {problem}"


_SIGNS = {"question": ">", "approval": "[y, or why not]", "outcome": "[what it gave, or no]"}


def _drop_typed_ahead() -> None:
    """Forget what was typed or pasted before the question was there: it is no answer to it."""
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _read_line(text: str) -> str | None:
    """A line that is not blank, None at the end of input. The question goes to stderr."""
    while True:
        print(printable(text), end="", file=sys.stderr, flush=True)
        # Not sys.stdin, which would read ahead and keep what is no answer to this question.
        typed = b""
        while b"\n" not in typed and (part := os.read(sys.stdin.fileno(), 4096)):
            typed += part
        line = typed.partition(b"\n")[0].decode(errors="replace").strip()
        if line:
            return line
        if b"\n" not in typed:
            note("")
            return None
