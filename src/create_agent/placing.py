"""How a finished folder takes its place without ever replacing anything of the user's."""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from .errors import UserError


def require_free(target: Path) -> None:
    """Raise UserError, exit code 2, unless the target does not exist or is an empty folder."""
    try:
        inside = sorted(os.listdir(target)) if os.path.lexists(target) else []
    except NotADirectoryError:
        raise UserError(f"{target} is a file; choose another path", exit_code=2) from None
    except OSError as error:  # a link to nowhere, a folder that nobody may read
        message = f"{target} cannot be used: {error.strerror}; choose another path"
        raise UserError(message, exit_code=2) from None
    if inside:
        listed = ", ".join(inside[:5]) + (", …" if len(inside) > 5 else "")
        message = f"{target} is not empty (it holds {listed}); choose another path"
        raise UserError(message, exit_code=2)


def become(target: Path, aside: Path) -> None:
    """Rename the finished folder to the target, which did not exist when we began.

    Raises UserError if it exists by now and holds anything: somebody else was faster.
    """
    try:
        aside.rename(target)
    except OSError as error:
        if os.path.lexists(target):
            message = f"{target} has appeared meanwhile and was left alone; choose another path"
            raise UserError(message) from error
        raise


def fill(target: Path, aside: Path) -> None:
    """Put what is in the finished folder into the target, which was empty when we began.

    Raises UserError at a name that exists there by now, after taking out again what was put in. Of
    two runs at once the first name decides, since both begin with the same one.
    """
    placed: list[Path] = []
    try:
        for source in sorted(aside.iterdir()):
            _place(source, target / source.name)
            placed.append(source)
    except OSError as error:
        for source in reversed(placed):
            _take_back(target / source.name, source)
        if isinstance(error, FileExistsError) or error.errno == errno.ENOTEMPTY:
            message = f"{target} was used by somebody else meanwhile; the project was not made"
            raise UserError(message) from error
        raise


def _place(source: Path, destination: Path) -> None:
    """Put a file or a folder in its place. Raises FileExistsError rather than replace one."""
    if source.is_dir():
        destination.mkdir()  # ours and empty: the one thing that a rename may replace
        try:
            source.rename(destination)
        except OSError:
            with suppress(OSError):
                destination.rmdir()
            raise
        return
    try:
        os.link(source, destination)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with open(source, "rb") as read, open(destination, "xb") as write:
            try:
                shutil.copyfileobj(read, write)
            except OSError:
                destination.unlink()
                raise
        shutil.copymode(source, destination)


def _take_back(destination: Path, source: Path) -> None:
    if source.exists():
        destination.unlink(missing_ok=True)
    else:
        destination.rename(source)
