"""Signals that ask to end: each becomes one exception, so that what was begun is taken back.

A process has one set of signal handlers, so what they do is state of this module.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
_listening: list[int] = []  # without those that whoever started us ignores, as nohup does
_holding = False
_came_meanwhile = False


class Interrupted(BaseException):
    """A request to end; its text says what is left. Not a KeyboardInterrupt, whose exit code Typer
    would choose.
    """

    def __init__(self, left: str = "nothing was made") -> None:
        super().__init__(f"interrupted; {left}")


def listen() -> None:
    """From now on a signal raises Interrupted; one that is ignored, as under nohup, stays so."""
    if hasattr(signal, "SIGCHLD"):
        # Whoever started us may ignore it, and then no child's exit code would be known.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _listening.extend(each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN)
    _hear()


def ignore() -> None:
    """From now on no signal is heard: what follows is short, and must not be cut in two."""
    for number in _listening:
        # Not SIG_IGN: Python complains where a signal was on its way to a handler by then.
        signal.signal(number, _do_nothing)


def finish() -> None:
    """Let no signal change the exit code: Python takes its handlers away before it ends."""
    ignore()
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


@contextmanager
def heard(left: str) -> Iterator[None]:
    """Hear signals again, until the block ends. left: what an interrupt in it leaves behind."""
    try:
        _hear()
        yield
        ignore()
    except Interrupted:
        raise Interrupted(left) from None


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait until the block ends, which must be soon.

    Not by the signal mask, which the processes that are started in the block would keep.
    """
    global _holding
    _holding = True
    try:
        yield
    finally:
        _holding = False
    if _came_meanwhile:
        raise Interrupted


def _hear() -> None:
    for number in _listening:
        signal.signal(number, _interrupt)


def _do_nothing(number: int, frame: Any) -> None:
    pass


def _interrupt(number: int, frame: Any) -> None:
    global _came_meanwhile
    ignore()  # one is enough: what follows is the cleaning up
    if not _holding:
        raise Interrupted
    _came_meanwhile = True
