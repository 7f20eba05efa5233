"""Lets one step of create-agent go wrong, as the variable FAULT says; see test_all_or_nothing.py.

FAULT is "module.function moment turn what": before or after which call of the function (1 for the
first), and what happens: the name of an error number, or of a signal that the process gets.
"""

import errno
import os
import signal
from functools import reduce, wraps
from importlib import import_module
from typing import Any


def install(step: str, moment: str, turn: str, what: str) -> None:
    """Wrap the function."""
    module, *inner, name = step.split(".")
    place: Any = reduce(getattr, inner, import_module(f"create_agent.{module}"))
    real = getattr(place, name)
    calls = 0

    @wraps(real)
    def faulty(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        now = calls == int(turn)
        if now and moment == "before":
            go_wrong(what)
        result = real(*arguments, **named)
        if now and moment == "after":
            go_wrong(what)
        return result

    setattr(place, name, faulty)


def go_wrong(what: str) -> None:
    """Raise the error, or send the signal to this process."""
    if what.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, what))
        return
    number = getattr(errno, what)
    raise OSError(number, os.strerror(number))


if fault := os.environ.pop("FAULT", None):  # not in the processes that this one starts
    install(*fault.split())
