"""`create-agent new`: build the whole project aside, then let it take its place."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import (
    __version__,
    aside,
    codegen,
    install,
    interrupts,
    names,
    placing,
    providers,
    repository,
    toolsets,
)
from .errors import UserError, shown
from .render import Answers, Template, template_files

# Folders in which every file counts, wherever it is from: BAML reads the one, Python the other.
_SCHEMAS = PurePosixPath("baml_src")
_SOURCE = PurePosixPath("src")


@dataclass(frozen=True)
class Plan:
    """A project that can be made: everything about it was checked, and nothing is written yet.

    target: its folder, absolute. answers: what it is rendered from. template: what renders it.
    """

    target: Path
    answers: Answers
    template: Template


@dataclass(frozen=True)
class Created:
    """What was made.

    files: their paths in the project, sorted, without git's. note: what is left for the user to do
    about git, if anything. verified: the last line of the tests, if they ran.
    """

    path: Path
    answers: Answers
    files: list[str]
    note: str | None = None
    verified: str | None = None


def plan(
    target: str,
    name: str | None = None,
    tools: str | None = None,
    provider: str | None = None,
    server: bool = True,
) -> Plan:
    """Check the wishes for a project, without writing anything.

    target: its folder, into which its files must fit. name: the distribution's; the folder's name
    for None. tools: the tool sets, separated by commas; all of them for None. provider: the model
    that its .env names; for None its agent looks for one. server: whether it has the HTTP API and
    the inbox. Raises UserError, exit code 2.
    """
    with _one_line_for_disk_errors(target):
        path = absolute(target)
        named = names.derive(path, name)
        answers = Answers(
            project_name=named.distribution,
            package=named.package,
            tools=toolsets.choose(tools),
            server=server,
            provider=providers.choose(provider),
            baml_version=codegen.baml_version(),
            template_version=__version__,
        )
        template = Template(template_files())
        placing.require_free(path, *_paths(template, answers))
        return Plan(path, answers, template)


def create(
    plan: Plan, git: bool = True, verify: bool = False, say: Callable[[str], None] = lambda _: None
) -> Created:
    """Make a project: all of it, or nothing.

    git: start a repository, where the target is in none. verify: install it aside and run its
    tests first. say: is told each step that takes long. Once the project takes its place signals
    are ignored, and stay so. Raises UserError.
    """
    # Beside a target that is still to be made, inside one that may be a file system of its own.
    where = plan.target if os.path.isdir(plan.target) else plan.target.parent
    with _one_line_for_disk_errors(plan.target), aside.workshop(where) as workshop:
        project = workshop.folder / "project"
        name = plan.answers.project_name
        files = _build(plan, project)
        verified = install.verify(project, name, workshop.folder, say) if verify else None
        rendered = sorted(str(path) for path in plan.template.paths(plan.answers))
        note = repository.start(project, plan.target, rendered) if git else None
        interrupts.ignore()
        workshop.require_same_place()
        if os.path.isdir(plan.target):
            placing.require_free(plan.target, *_paths(plan.template, plan.answers))
            placing.fill(plan.target, project)
        else:
            placing.become(plan.target, project)
    return Created(plan.target, plan.answers, files, note or workshop.left or None, verified)


def preview(plan: Plan) -> Created:
    """What `create` would make. It is built among the system's temporary files, and removed."""
    with (
        _one_line_for_disk_errors(plan.target),
        aside.workshop(Path(tempfile.gettempdir())) as workshop,
    ):
        files = _build(plan, workshop.folder / "project")
    return Created(plan.target, plan.answers, files)


def _build(plan: Plan, project: Path) -> list[str]:
    """Make a project in a new folder, but for git, and return its files."""
    plan.template.render(plan.answers, project)
    _write_env(project)
    codegen.generate(project, plan.answers.package)
    files = (path.relative_to(project) for path in project.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in files)


def _paths(
    template: Template, answers: Answers
) -> tuple[list[PurePosixPath], tuple[PurePosixPath, PurePosixPath]]:
    """The files of a project, and the folders that must hold nothing else."""
    files = [*template.paths(answers), PurePosixPath(".env")]
    return files, (_SCHEMAS, _SOURCE / answers.package)


def _write_env(project: Path) -> None:
    """The settings that git ignores, readable by their owner alone."""
    path = project / ".env"
    path.touch(mode=0o600)
    path.write_bytes((project / ".env.example").read_bytes())


def absolute(target: str) -> Path:
    """The path of a project, from what was typed. Raises UserError, exit code 2."""
    if not target.strip():
        raise UserError("the path of the new project is empty", exit_code=2)
    if "\0" in target:
        raise UserError(f"{shown(target)} cannot be a path", exit_code=2)
    try:
        # What ".." means after a link, only the file system knows.
        return Path((os.path.realpath if ".." in Path(target).parts else os.path.abspath)(target))
    except FileNotFoundError:
        raise UserError("the folder we stand in is gone; change to another", exit_code=2) from None


@contextmanager
def _one_line_for_disk_errors(target: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f"{shown(error.filename)}: " if error.filename else ""
        raise UserError(f"{shown(target)} could not be made: {where}{error.strerror}") from error
