"""The project's files, from the template and the schemas.

template/ and baml_src/ lie together as one Copier template, and what is rendered here is what
`copier copy` makes of it, which tests/test_render.py compares. Copier itself takes half a second to
import and asks git about every file, so the little that the template needs of it is done here:
names and contents with Jinja, `.jinja` taken off, and `_exclude`.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from .assets import asset
from .errors import UserError

# What a checkout or pip may have left in the folders and no project should get.
_JUNK = ("__pycache__", "*.pyc", ".DS_Store", ".env", ".venv", "baml_client", ".*_cache")
# The template has its own, for the sets that were chosen.
_WRITTEN_FOR_THE_PROJECT = ("tools.baml", "generators.baml")
_SETTINGS = PurePosixPath("copier.yml")
_SUFFIX = ".jinja"

Files = dict[PurePosixPath, Path]


@dataclass(frozen=True)
class Answers:
    """What a project is rendered from; the questions of template/copier.yml."""

    project_name: str
    package: str
    tools: list[str]
    server: bool
    provider: str
    baml_version: str
    template_version: str


def template_files() -> Files:
    """The template: each file by its path, and where it lies."""
    schemas = asset("baml_src")
    written = {schemas / name for name in _WRITTEN_FOR_THE_PROJECT}
    found = {
        PurePosixPath("baml_src", *path.relative_to(schemas).parts): path
        for path in _files(schemas)
        if path not in written
    }
    template = asset("template")
    for path in _files(template):
        found[PurePosixPath(*path.relative_to(template).parts)] = path
    return found


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if any(fnmatchcase(path.name, pattern) for pattern in _JUNK):
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


class Template:
    """A Copier template, as far as ours goes. files: as `template_files` gives them."""

    def __init__(self, files: Files) -> None:
        import jinja2  # a tenth of a second, as is yaml: not for --help
        import yaml

        settings = yaml.safe_load(files[_SETTINGS].read_text(encoding="utf-8"))
        options = {**settings["_envops"], "undefined": jinja2.StrictUndefined}
        environment = jinja2.Environment(autoescape=False, **options)
        self._compiled = cache(environment.from_string)  # most paths hold the same few names
        self._exclude: list[str] = settings["_exclude"]
        self._files = files

    def paths(self, answers: Answers) -> Files:
        """The files of a project, each by its path in it, with the template's file."""
        values = asdict(answers)
        left_out = [self._rendered(pattern, values) for pattern in self._exclude]
        found = {}
        for path, source in self._files.items():
            plain = PurePosixPath(*(self._rendered(part, values) for part in path.parts))
            if plain.name.endswith(_SUFFIX):
                plain = plain.with_suffix("")
            names = plain.parts  # a pattern may name a file, or a folder above it
            if not any(fnmatchcase(name, pattern) for name in names for pattern in left_out):
                found[plain] = source
        return found

    def render(self, answers: Answers, into: Path) -> None:
        """Write a project's files into a new folder. Raises UserError if the template is wrong."""
        import jinja2

        values = asdict(answers)
        into.mkdir()
        for path, source in self.paths(answers).items():
            data = source.read_bytes()
            if source.name.endswith(_SUFFIX):
                try:
                    data = self._rendered(data.decode(), values).encode()
                except (jinja2.TemplateError, UnicodeError) as error:
                    message = f"the template could not be rendered: {path}: {error}"
                    raise UserError(message) from error
            for above in reversed(path.parents[:-1]):
                (into / above).mkdir(exist_ok=True)  # never what is above `into`, if that is gone
            target = into / path
            target.write_bytes(data)
            _make_executable_as(source, target)

    def _rendered(self, text: str, values: dict[str, Any]) -> str:
        return self._compiled(text).render(values) if "{" in text else text


def _make_executable_as(source: Path, target: Path) -> None:
    """Let whoever can read the target run it, if its source can be run.

    The other bits of the source say how create-agent was installed, perhaps read-only.
    """
    if source.stat().st_mode & 0o100:
        mode = target.stat().st_mode
        target.chmod(mode | (mode & 0o444) >> 2)
