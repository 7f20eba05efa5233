"""The folder in which everything is made before it takes its place, and its removal.

It is known by open handles and never by its path alone: what has its name at the end may be another
folder, or a link to one, and is then somebody else's.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import interrupts
from .errors import UserError, shown

# Windows has no handles of folders, and finds them by their paths.
_HANDLES = os.open in os.supports_dir_fd
# O_PATH asks for no right to list what is there.
_OPEN = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


class Workshop:
    """A folder from which a finished project can be moved to its target in one go.

    folder: its path. left: after `clear`, what could not be removed, as a sentence.
    """

    def __init__(self, where: Path) -> None:
        self.folder = where / f".new-{os.urandom(4).hex()}"
        self.left = ""
        self._where = where
        self._made: list[tuple[Path, os.stat_result]] = []  # parents, the highest first
        self._above: int | None = None
        self._inside: int | None = None

    def open(self) -> None:
        """Make it, and what is missing above it. Raises OSError."""
        for parent in [*reversed(self._where.parents), self._where]:
            if not os.path.isdir(parent):
                self._make_parent(parent)
        if not _HANDLES:
            self.folder.mkdir(0o700)
            return
        self._above = os.open(self._where, _OPEN)
        os.mkdir(self.folder.name, 0o700, dir_fd=self._above)
        try:
            self._inside = os.open(self.folder.name, _OPEN | os.O_NOFOLLOW, dir_fd=self._above)
        except OSError:
            os.rmdir(self.folder.name, dir_fd=self._above)
            raise

    def _make_parent(self, parent: Path) -> None:
        try:
            parent.mkdir()
        except FileExistsError:
            if not os.path.isdir(parent):  # else another run was faster
                raise
        else:
            self._made.append((parent, parent.stat()))

    def require_same_place(self) -> None:
        """Raise UserError if the paths no longer name the folders that they did."""
        for handle, path in ((self._above, self._where), (self._inside, self.folder)):
            if handle is not None and not _is_same(handle, path):
                where = shown(path)
                message = f"{where} was moved or removed meanwhile; the project was not made"
                raise UserError(message)

    def clear(self, parents: bool) -> None:
        """Remove it, and the parents that were made for it if so asked. Call it once."""
        if not _HANDLES:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self._above is not None and self._inside is not None:
            self._clear(self._above, self._inside)
        for handle in (self._inside, self._above):
            if handle is not None:
                os.close(handle)
        for parent, made in reversed(self._made if parents else []):
            try:
                if not os.path.samestat(made, parent.stat()):
                    return
                parent.rmdir()
            except FileNotFoundError:
                reason = f"{shown(parent)}, which was made for it, was moved or removed meanwhile"
                self.left = self.left or reason
                return
            except OSError:  # somebody uses it by now
                return

    def _clear(self, above: int, inside: int) -> None:
        if os.stat(inside).st_nlink == 0:  # somebody has removed it
            return
        for _ in range(40):  # a child that is just ending may write into it meanwhile
            if _empty(inside):
                break
            time.sleep(0.05)
        else:
            self.left = f"{shown(self.folder)} could not be removed and is left"
            return
        if not os.path.samestat(os.stat(inside), _lstat(self.folder.name, above)):
            self.left = f"{shown(self.folder)} was moved meanwhile and is left, empty"
            return
        try:
            os.rmdir(self.folder.name, dir_fd=above)
        except OSError:
            self.left = f"{shown(self.folder)} could not be removed and is left"


@contextmanager
def workshop(where: Path) -> Iterator[Workshop]:
    """An open workshop in a folder, which is made with those above it if it is not there.

    It is cleared at the end, after a failure with the parents that were made for it.
    """
    room = Workshop(where)
    try:
        with interrupts.held(), _as_refusal(where):
            room.open()
        try:
            yield room
        except (UserError, OSError):
            room.require_same_place()  # or it would be told as somebody else's fault
            raise
    except BaseException as error:
        interrupts.ignore()
        room.clear(parents=True)
        if room.left:
            raise _with_rest(error, room.left) from error
        raise
    interrupts.ignore()
    room.clear(parents=False)


@contextmanager
def _as_refusal(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"nothing can be written in {shown(where)}: {error.strerror}"
        raise UserError(message, exit_code=2) from error


def _with_rest(error: BaseException, left: str) -> BaseException:
    """The error with a word about what could not be removed."""
    if isinstance(error, interrupts.Interrupted):
        return interrupts.Interrupted(left)
    if isinstance(error, UserError):
        return UserError(f"{error}; {left}", error.exit_code)
    reason = error.strerror if isinstance(error, OSError) else error
    return UserError(f"{reason}; {left}")


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.stat(handle), os.stat(path))
    except OSError:
        return False


def _lstat(name: str, above: int) -> os.stat_result:
    try:
        return os.lstat(name, dir_fd=above)
    except OSError:
        return os.stat(above)  # which it never is


def _empty(folder: int) -> bool:
    """Remove what is in an open folder; returns whether nothing is left."""
    with suppress(OSError):
        for name in _names(folder):
            shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
        if not _names(folder):
            return True
    with suppress(OSError):
        _empty_slowly(folder)
        return not os.listdir(".")
    return False


def _names(folder: int) -> list[str]:
    handle = os.open(".", os.O_RDONLY, dir_fd=folder)
    try:
        return os.listdir(handle)
    finally:
        os.close(handle)


def _empty_slowly(folder: int) -> None:
    """Remove what rmtree cannot: with no handles to spare, or folders that may not be read.

    From within, so that no path leads elsewhere. We do not come back: what follows is the end.
    """
    os.fchdir(folder)
    os.chmod(".", 0o700)
    for path, folders, _ in os.walk("."):
        for name in folders:
            if not os.path.islink(inner := os.path.join(path, name)):
                os.chmod(inner, 0o700)
    for path, folders, files in os.walk(".", topdown=False):
        for name in [*files, *folders]:
            inner = os.path.join(path, name)
            if os.path.isdir(inner) and not os.path.islink(inner):
                os.rmdir(inner)
            else:
                os.unlink(inner)
