"""The one class of errors that a user can cause. cli.py prints them; nothing else does."""

import os
from pathlib import Path


class UserError(Exception):
    """Something the user can put right.

    message: the value, the reason and the way out, in one line where that is enough.
    exit_code: 1 when a step failed, 2 when usage, a name or a target was refused.
    """

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def shown(path: Path | str) -> str:
    """A path as a message names it: on one line, and steering no terminal."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "surrogatepass").decode()
        for each in as_text(path)
    )


def as_text(path: Path | str) -> str:
    """A path as text, also where the locale has Python take its bytes for no text."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")
