"""`create-agent new`: build the whole project aside, then let it take its place."""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import __version__, codegen, names, placing, providers, repository, toolsets
from .errors import UserError
from .render import Answers, render

PROJECT = "project"  # the folder that becomes the target, inside the one that everything is made in


@dataclass(frozen=True)
class Created:
    """What `create` made.

    provider: the model that its .env names, "" for none. note: what is left for the user to do
    about git, if anything.
    """

    path: Path
    distribution: str
    package: str
    tools: list[str]
    provider: str
    note: str | None


def create(
    target: str,
    tools: str | None = None,
    provider: str | None = None,
    before_placing: Callable[[], None] = lambda: None,
) -> Created:
    """Make a project: all of it, or nothing.

    target: its folder, which must not exist yet or be empty. tools: the tool sets, separated by
    commas; all of them for None. provider: the model that its .env names; for None its agent looks
    for one. before_placing: called once everything is ready, from where on
    nothing should interrupt. Raises UserError.
    """
    try:
        return _create(_absolute(target), tools, provider, before_placing)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UserError(f"the project could not be made: {where}{error.strerror}") from error


def _create(
    target: Path, tools: str | None, provider: str | None, before_placing: Callable[[], None]
) -> Created:
    named = names.derive(target)
    sets = toolsets.choose(tools)
    model = providers.choose(provider)
    placing.require_free(target)
    answers = Answers(
        project_name=named.distribution,
        package=named.package,
        tools=sets,
        provider=model,
        baml_version=codegen.baml_version(),
        template_version=__version__,
    )
    with _built_aside(target) as aside:
        project = aside / PROJECT
        render(answers, project, workspace=aside)
        _write_env(project)
        codegen.generate(project, named.package)
        note = repository.start(project, inside=target if os.path.isdir(target) else target.parent)
        before_placing()
    return Created(target, named.distribution, named.package, sets, model, note)


def _absolute(target: str) -> Path:
    if not target.strip():
        raise UserError("the path of the new project is empty", exit_code=2)
    try:
        return Path(os.path.abspath(target))
    except FileNotFoundError:
        raise UserError("the folder we stand in is gone; change to another", exit_code=2) from None


@contextmanager
def _built_aside(target: Path) -> Iterator[Path]:
    """A folder for everything this run makes; its folder PROJECT becomes the target at the end.

    It stands where that can be moved from in one go: beside a target that is still to be made,
    inside one that is there, which may be a file system of its own. On any failure it is removed,
    and so are the parents that were made for it.
    """
    filled = os.path.isdir(target)
    where = target if filled else target.parent
    missing = _missing(where)
    aside = where / f".{target.name}.{secrets.token_hex(4)}"
    try:
        _make(where, aside)
        yield aside
        if filled:
            placing.fill(target, aside / PROJECT)
        else:
            placing.become(target, aside / PROJECT)
    except BaseException:
        _remove_tree(aside)
        _remove(missing)
        raise
    _remove_tree(aside)


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it that do not exist, the deepest first."""
    try:
        return [each for each in (folder, *folder.parents) if not each.exists()]
    except OSError as error:
        raise UserError(f"{folder} cannot be used: {error.strerror}", exit_code=2) from error


def _make(where: Path, aside: Path) -> None:
    try:
        where.mkdir(parents=True, exist_ok=True)
        aside.mkdir(mode=0o700)
    except OSError as error:
        message = f"nothing can be written in {where}: {error.strerror}"
        raise UserError(message, exit_code=2) from error


def _remove_tree(folder: Path) -> None:
    """Remove a folder, again if a child that is just ending writes into it meanwhile."""
    for _ in range(40):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


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
