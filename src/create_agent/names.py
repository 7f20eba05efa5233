"""The names of a project, derived from its folder and checked before anything is written."""

import keyword
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import UserError

# What the generated project imports, or installs beside itself: a project of the same name would
# shadow it, or ask to be installed into itself.
TAKEN = {
    "annotated-types",
    "baml",
    "baml-client",
    "baml-py",
    "create-agent",
    "create-baml-agent",
    "dotenv",
    "mypy",
    "pydantic",
    "pydantic-core",
    "pytest",
    "python-dotenv",
    "ruff",
    "test",
    "tests",
    "typing-extensions",
    "typing-inspection",
}


@dataclass(frozen=True)
class Names:
    """distribution: what pip and the command are called. package: what Python imports."""

    distribution: str
    package: str


def derive(target: Path) -> Names:
    """The names for a project in the folder `target`.

    Raises UserError, exit code 2, with the reason and a name that would do.
    """
    name = target.name
    suggestion = _suggest(name)
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        _refuse(name, "a project name has letters, digits, '-', '_' and '.' only", suggestion)
    package = re.sub(r"[-.]+", "_", name).lower()
    normal = re.sub(r"[-_.]+", "-", name).lower()
    if not package.isidentifier():
        _refuse(name, f"Python cannot import {package!r}", suggestion)
    if keyword.iskeyword(package) or keyword.issoftkeyword(package):
        _refuse(name, f"{package!r} is a word of Python", suggestion)
    if package in sys.stdlib_module_names:
        _refuse(name, f"{package!r} is a module of Python's standard library", suggestion)
    if normal in TAKEN:
        _refuse(name, "the project would hide a package that it needs", suggestion)
    return Names(name, package)


def _suggest(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = plain if plain[:1].isalpha() else f"agent-{plain}".rstrip("-")
    return plain if plain != name.lower() else f"{plain}-agent"


def _refuse(name: str, reason: str, suggestion: str) -> None:
    raise UserError(f"{name!r} cannot be the project's name: {reason}; try {suggestion}", exit_code=2)
