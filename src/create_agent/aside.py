"""The folder in which everything is made before it takes its place, and its removal."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import interrupts
from .errors import UserError, shown


class Workshop:
    """A folder from which a finished project can be moved to its target in one go.

    It is found again when folders above it are renamed meanwhile, where the system allows that.
    """

    def __init__(self, where: Path) -> None:
        self._where = where
        self._made: list[tuple[Path, os.stat_result]] = []  # parents, the highest first
        self._handle: int | None = None
        self.folder = where / f".new-{os.urandom(4).hex()}"

    def open(self) -> None:
        """Make it, and what is missing above it. Raises OSError."""
        for parent in [*reversed(self._where.parents), self._where]:
            if not os.path.isdir(parent):
                self._make_parent(parent)
        if os.open in os.supports_dir_fd:
            # O_PATH asks for no right to list what else is there.
            self._handle = os.open(self._where, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
        here = self.folder if self._handle is None else self.folder.name
        os.mkdir(here, 0o700, dir_fd=self._handle)

    def _make_parent(self, parent: Path) -> None:
        try:
            parent.mkdir()
        except FileExistsError:
            if not os.path.isdir(parent):  # else another run was faster
                raise
        else:
            self._made.append((parent, parent.stat()))

    def require_same_place(self) -> None:
        """Raise UserError if what the path names is no longer the folder that it was."""
        if self._handle is None:
            return
        try:
            same = os.path.samestat(os.stat(self._handle), os.stat(self._where))
        except OSError:
            same = False
        if not same:
            where = shown(self._where)
            raise UserError(f"{where} was moved or removed meanwhile; the project was not made")

    def clear(self) -> bool:
        """Remove it; returns whether it is gone. Call it once."""
        try:
            return _remove(self.folder, self._handle)
        finally:
            if self._handle is not None:
                os.close(self._handle)

    def clear_parents(self) -> None:
        """Remove the parents that were made, as far as nobody has used or replaced them."""
        for parent, made in reversed(self._made):
            try:
                if not os.path.samestat(made, parent.stat()):
                    return
                parent.rmdir()
            except OSError:
                return


@contextmanager
def workshop(target: Path) -> Iterator[Workshop]:
    """An open workshop for a target, which is cleared at the end.

    It stands beside a target that is still to be made, and inside one that is there, which may be a
    file system of its own. After a failure the parents that were made for it are removed, too.
    """
    room = Workshop(target if os.path.isdir(target) else target.parent)
    try:
        with interrupts.held(), _as_refusal(room):
            room.open()
        try:
            yield room
        except (UserError, OSError):
            room.require_same_place()  # or it would be told as somebody else's fault
            raise
    except BaseException as error:
        interrupts.ignore()
        gone = room.clear()
        room.clear_parents()
        if not gone:
            raise _with_rest(error, room.folder) from error
        raise
    interrupts.ignore()
    room.clear()


@contextmanager
def _as_refusal(room: Workshop) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = shown(room.folder.parent)
        message = f"nothing can be written in {where}: {error.strerror}"
        raise UserError(message, exit_code=2) from error


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder among the system's temporary ones, which is removed at the end."""
    folder = None
    try:
        with interrupts.held():
            folder = Path(tempfile.mkdtemp(prefix="create-agent-"))
        yield folder
    except BaseException as error:
        interrupts.ignore()
        if folder and not _remove(folder):
            raise _with_rest(error, folder) from error
        raise
    interrupts.ignore()
    _remove(folder)


def _with_rest(error: BaseException, folder: Path) -> BaseException:
    """The error with a word about what could not be removed."""
    rest = f"{shown(folder)} could not be removed and is left"
    if isinstance(error, interrupts.Interrupted):
        return interrupts.Interrupted(rest)
    if isinstance(error, UserError):
        return UserError(f"{error}; {rest}", error.exit_code)
    reason = error.strerror if isinstance(error, OSError) else error
    return UserError(f"{reason}; {rest}")


def _remove(folder: Path, above: int | None = None) -> bool:
    """Remove a folder, again if a child that is just ending writes into it meanwhile.

    above: the open folder that holds it, which finds it where its path no longer does. Returns
    whether it is gone.
    """
    here = folder if above is None else folder.name
    for _ in range(40):
        shutil.rmtree(here, ignore_errors=True, dir_fd=above)
        if _is_gone(here, above):
            return True
        with suppress(OSError):
            _remove_by_path(folder)
        if _is_gone(here, above):
            return True
        time.sleep(0.05)
    return False


def _is_gone(here: Path | str, above: int | None) -> bool:
    try:
        os.lstat(here, dir_fd=above)
    except OSError as error:
        return not isinstance(error, PermissionError)
    return False


def _remove_by_path(folder: Path) -> None:
    """Remove a folder that rmtree cannot: with no open files to spare, or with closed folders."""
    folder.chmod(0o700)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(inner := os.path.join(path, name)):
                os.chmod(inner, 0o700)
    for path, folders, files in os.walk(folder, topdown=False):
        for name in [*files, *folders]:
            inner = os.path.join(path, name)
            if os.path.isdir(inner) and not os.path.islink(inner):
                os.rmdir(inner)
            else:
                os.unlink(inner)
    folder.rmdir()
