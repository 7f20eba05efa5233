"""The folder in which everything is made before it takes its place, and its removal."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import interrupts
from .errors import UserError


@contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """An empty folder from which a finished project can be moved to the target in one go.

    It stands beside a target that is still to be made, whose parents are made with it, and inside
    one that is there, which may be a file system of its own. It is removed at the end, and after a
    failure so are the parents that were made for it, unless somebody uses them by now.
    """
    where = target if os.path.isdir(target) else target.parent
    folder = where / f".new-{os.urandom(4).hex()}"
    made: list[Path] = []
    try:
        try:
            with interrupts.held():
                _make(where, folder, made)
        except OSError as error:
            message = f"nothing can be written in {where}: {error.strerror}"
            raise UserError(message, exit_code=2) from error
        yield folder
    except BaseException:
        interrupts.ignore()
        _remove(folder)
        for parent in reversed(made):
            try:
                parent.rmdir()
            except OSError:
                break
        raise
    interrupts.ignore()
    _remove(folder)


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder among the system's temporary ones, which is removed at the end."""
    folder = None
    try:
        with interrupts.held():
            folder = Path(tempfile.mkdtemp(prefix="create-agent-"))
        yield folder
    finally:
        interrupts.ignore()
        if folder:
            _remove(folder)


def _make(where: Path, folder: Path, made: list[Path]) -> None:
    """Make the folder and what is missing above it. made: is told each parent that was made."""
    for parent in [*reversed(where.parents), where]:
        if not os.path.isdir(parent):
            try:
                parent.mkdir()
            except FileExistsError:
                if not os.path.isdir(parent):  # else another run was faster
                    raise
            else:
                made.append(parent)
    folder.mkdir(mode=0o700)


def _remove(folder: Path) -> None:
    """Remove a folder, again if a child that is just ending writes into it meanwhile."""
    for _ in range(40):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(0.05)
