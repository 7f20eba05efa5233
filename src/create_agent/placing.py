"""How a finished project takes its place without ever replacing anything of the user's."""

import errno
import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from .errors import UserError, shown

_LISTED = 10  # paths that a message names


def require_free(target: Path, files: Iterable[PurePath], whole: Iterable[PurePath]) -> None:
    """Raise UserError, exit code 2, unless the files can be laid into the target.

    target: it may exist, and hold what is not in the way. files: each relative to it. whole: the
    folders in which the project's files are to be alone, since everything in them counts.
    """
    if not _exists_as_folder(target):
        next(filter(_exists_as_folder, target.parents), None)  # looks for the nearest
        return
    found = {_in_the_way(target, path) for path in files} | {_filled(target, one) for one in whole}
    if conflicts := sorted(str(path) for path in found if path):
        listed = ", ".join(conflicts[:_LISTED])
        more = f" and {len(conflicts) - _LISTED} more" if len(conflicts) > _LISTED else ""
        where = shown(target)
        message = f"{where} already holds {listed}{more}; choose another path, or move them away"
        raise UserError(message, exit_code=2)


def _exists_as_folder(path: Path) -> bool:
    """Whether the path exists. Raises UserError, exit code 2, if it is no folder or cannot be."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # a name that is too long
        raise _unusable(path, error) from None
    try:
        mode = path.stat().st_mode
    except OSError as error:  # a link to nowhere, or to itself
        raise _unusable(path, error) from None
    if not stat.S_ISDIR(mode):
        raise UserError(f"{shown(path)} is a file; choose another path", exit_code=2)
    return True


def _unusable(path: Path, error: OSError) -> UserError:
    message = f"{shown(path)} cannot be used: {error.strerror}; choose another path"
    return UserError(message, exit_code=2)


def _in_the_way(target: Path, path: PurePath) -> PurePath | None:
    """The file, or the link, that exists where the path or a folder above it is to be."""
    for above in [*reversed(path.parents[:-1]), path]:
        place = target / above
        if not os.path.lexists(place):
            return None
        if above == path or place.is_symlink() or not place.is_dir():
            return above
    return None


def _filled(target: Path, folder: PurePath) -> PurePath | None:
    """The folder, if there is anything in it but folders, or something that we may not see."""
    hidden: list[OSError] = []
    for path, folders, files in os.walk(target / folder, onerror=hidden.append):
        if files or any(os.path.islink(os.path.join(path, name)) for name in folders):
            return folder
    absent = (FileNotFoundError, NotADirectoryError)
    return folder if any(not isinstance(each, absent) for each in hidden) else None


def become(target: Path, project: Path) -> None:
    """Rename the finished folder to the target, which did not exist when we began.

    Raises UserError if it exists by now and holds anything: somebody else was faster.
    """
    try:
        project.rename(target)
    except OSError as error:
        if os.path.lexists(target):
            where = shown(target)
            message = f"{where} has appeared meanwhile and was left alone; choose another path"
            raise UserError(message) from error
        raise


def fill(target: Path, project: Path) -> None:
    """Put what is in the finished folder into the target, an existing folder.

    Raises UserError where a name is taken by now, after taking out again what was put in. Of two
    runs at once the first file decides, since both begin with the same one.
    """
    placed: list[tuple[Path, Path]] = []
    ours = {path.relative_to(project) for path in project.rglob("*")}
    try:
        for source in sorted(project.iterdir()):
            _place(source, target / source.name, placed)
    except OSError as error:
        for source, destination in reversed(placed):
            _take_back(destination, source)
        _give_back(target, project, ours)
        if isinstance(error, FileExistsError) or error.errno == errno.ENOTEMPTY:
            where = shown(target)
            message = f"{where} was used by somebody else meanwhile; the project was not made"
            raise UserError(message) from error
        raise


def _place(source: Path, destination: Path, placed: list[tuple[Path, Path]]) -> None:
    """Put a file or a folder in its place, or what a folder holds into one that is there.

    placed: is told each move. Raises FileExistsError rather than replace a file.
    """
    if not source.is_dir():
        _place_file(source, destination)
        placed.append((source, destination))
    elif destination.is_dir() and not destination.is_symlink():
        for inner in sorted(source.iterdir()):
            _place(inner, destination / inner.name, placed)
    else:
        destination.mkdir()  # ours and empty: the one thing that a rename may replace
        placed.append((source, destination))
        try:
            source.rename(destination)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # The folder above it is a file system of its own.
            for inner in sorted(source.iterdir()):
                _place(inner, destination / inner.name, placed)


def _place_file(source: Path, destination: Path) -> None:
    try:
        os.link(source, destination)
    except FileExistsError:
        raise
    except OSError:  # another file system, or one without hard links
        with open(source, "rb") as read:
            write = open(destination, "xb")
            try:
                with write:  # a full disk may be found out only when it is closed
                    shutil.copyfileobj(read, write)
                shutil.copymode(source, destination)
            except OSError:
                destination.unlink()
                raise


def _take_back(destination: Path, source: Path) -> None:
    """Undo `_place`."""
    with suppress(OSError):
        if not source.exists():
            destination.rename(source)
        elif source.is_dir():
            destination.rmdir()
        else:
            destination.unlink(missing_ok=True)


def _give_back(target: Path, project: Path, ours: set[Path]) -> None:
    """Return to the target what somebody has put into our folders while they stood there."""
    for path in list(project.rglob("*")):
        name = path.relative_to(project)
        if name not in ours and (name.parent in ours or name.parent == Path()):
            with suppress(OSError):
                (target / name.parent).mkdir(parents=True, exist_ok=True)
                path.rename(target / name)
