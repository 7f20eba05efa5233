"""Where we print: no console, full disk or reader that has left is a reason to crash."""

import io
import os
import sys
from typing import Any


class _Forgiving(io.FileIO):
    """A stream whose words may be lost: messages change neither what is done nor the exit code."""

    def write(self, data: Any) -> int:
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError:
            pass
        return memoryview(data).nbytes


def prepare() -> None:
    """Make stdout and stderr take any text, and stderr any fate."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        # Without a buffer, which a signal would make print a line twice.
        raw: Any = _Forgiving(sys.stderr.fileno(), "w", closefd=False)
        encoding = sys.stderr.encoding
        sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", write_through=True)


def abandon_stdout() -> None:
    """Let what could not be written be forgotten; Python would try again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
