"""`create-agent new`: render beside the target, generate the client, move into place, commit."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import __version__, codegen, names, repository, toolsets
from .errors import UserError
from .render import Answers, render


@dataclass(frozen=True)
class Created:
    """What `create` made. note: what is left for the user to do about git, if anything."""

    path: Path
    distribution: str
    package: str
    tools: list[str]
    note: str | None


def create(target: Path, tools: str | None = None) -> Created:
    """Make a project: all of it, or nothing.

    target: its folder, which must not exist yet or be empty. tools: the tool sets, separated by
    commas; all of them for None. Raises UserError.
    """
    try:
        target = Path(os.path.abspath(target))
    except FileNotFoundError:
        raise UserError("the folder we stand in is gone; change to another", exit_code=2) from None
    named = names.derive(target)
    sets = toolsets.choose(tools)
    _require_free(target)
    answers = Answers(named.distribution, named.package, sets, codegen.baml_version(), __version__)
    with _built_aside(target) as project:
        render(answers, project)
        _write_env(project)
        codegen.generate(project, named.package)
    return Created(target, named.distribution, named.package, sets, repository.start(target))


def _require_free(target: Path) -> None:
    try:
        inside = sorted(os.listdir(target)) if os.path.lexists(target) else []
    except NotADirectoryError:
        raise UserError(f"{target} is a file; choose another path", exit_code=2) from None
    except OSError as error:  # a link to nowhere, a folder that nobody may read
        message = f"{target} cannot be used: {error.strerror}; choose another path"
        raise UserError(message, exit_code=2) from None
    if inside:
        listed = ", ".join(inside[:5]) + (", …" if len(inside) > 5 else "")
        raise UserError(
            f"{target} is not empty (it holds {listed}); choose another path", exit_code=2
        )


@contextmanager
def _built_aside(target: Path) -> Iterator[Path]:
    """A folder beside the target that takes its place at the end, or is removed on any failure."""
    made = _make_parents(target.parent)
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        _remove(made)
        raise UserError(
            f"nothing can be written in {target.parent}: {error.strerror}", 2
        ) from error
    try:
        aside.chmod(0o777 & ~_umask())
        yield aside
        _take_place(aside, target)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        _remove(made)
        if isinstance(error, OSError):
            raise UserError(f"{target} could not be written: {error.strerror}") from error
        raise


def _take_place(aside: Path, target: Path) -> None:
    """Make the finished folder the target; a folder that is there already is kept, and filled."""
    if not target.is_dir():
        aside.rename(target)
        return
    moved: list[str] = []
    try:
        for name in sorted(os.listdir(aside)):
            (aside / name).rename(target / name)
            moved.append(name)
        aside.rmdir()
    except BaseException:
        for name in moved:
            (target / name).rename(aside / name)
        raise


def _make_parents(parent: Path) -> list[Path]:
    """Create the missing folders and return them, the deepest first."""
    missing = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove(missing)
        raise UserError(f"{parent} cannot be created: {error.strerror}", exit_code=2) from error
    return missing


def _remove(folders: list[Path]) -> None:
    """Remove folders that are empty; one that somebody has used meanwhile stays."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return


def _write_env(project: Path) -> None:
    """The settings that git ignores, readable by their owner alone."""
    path = project / ".env"
    path.touch(mode=0o600)
    path.write_bytes((project / ".env.example").read_bytes())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
