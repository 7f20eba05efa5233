"""Compose the template and the schemas, and let Copier render them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .assets import asset
from .errors import UserError

# What a checkout or pip may have left in the folders and no project should get.
_JUNK = shutil.ignore_patterns(
    "__pycache__", "*.pyc", ".DS_Store", ".env", ".venv", "baml_client", ".*_cache"
)
# The template has its own, for the sets that were chosen.
_WRITTEN_FOR_THE_PROJECT = ("tools.baml", "generators.baml")


@dataclass(frozen=True)
class Answers:
    """What a project is rendered from; the questions of template/copier.yml."""

    project_name: str
    package: str
    tools: list[str]
    provider: str
    baml_version: str
    template_version: str


def compose(into: Path) -> None:
    """Lay template/ and baml_src/ together: one Copier template, in a new folder."""
    shutil.copytree(asset("template"), into, ignore=_JUNK)
    shutil.copytree(
        asset("baml_src"),
        into / "baml_src",
        ignore=lambda folder, names: {*_JUNK(folder, names), *_WRITTEN_FOR_THE_PROJECT},
        dirs_exist_ok=True,
    )


def render(answers: Answers, into: Path, workspace: Path) -> None:
    """Render the project into a folder. Raises UserError if Copier or the disk refuses.

    workspace: an existing folder for what is needed meanwhile; the caller removes it.
    """
    os.environ.setdefault("COPIER_SETTINGS_PATH", os.devnull)
    with _without_git():
        import copier  # half a second, so only here; it keeps the PATH that it first sees
        import jinja2
        from copier.errors import CopierError

        template = workspace / "template"
        try:
            compose(template)
            copier.run_copy(
                str(template),
                into,
                data=asdict(answers),
                defaults=True,
                overwrite=True,
                quiet=True,
                settings=copier.Settings(),
                skip_tasks=True,
            )
        except (CopierError, ValueError, jinja2.TemplateError, OSError) as error:
            raise UserError(f"the template could not be rendered: {error}") from error


@contextmanager
def _without_git() -> Iterator[None]:
    """Hide git from Copier, which would ask it about a template that is no repository.

    A git that does not work, or whose settings do not, is then no reason to make no project.
    """
    path = os.environ.get("PATH")
    os.environ["PATH"] = os.devnull
    try:
        yield
    finally:
        if path is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = path
