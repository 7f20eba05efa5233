"""The names of a project, derived from its folder and checked before anything is written."""

import keyword
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import UserError

# What a project imports, or installs beside itself, also for its tests: a project of the same name
# would hide it, or ask pip to install it into itself.
TAKEN = {
    "activate",
    "annotated-types",
    "ast-serialize",
    "baml",
    "baml-cli",
    "baml-client",
    "baml-py",
    "conftest",
    "create-agent",
    "create-baml-agent",
    "dmypy",
    "dotenv",
    "hatchling",
    "iniconfig",
    "librt",
    "mypy",
    "mypy-extensions",
    "mypyc",
    "packaging",
    "pathspec",
    "pip",
    "pluggy",
    "py",
    "py-test",
    "pydantic",
    "pydantic-core",
    "pygmentize",
    "pygments",
    "pytest",
    "python-dotenv",
    "ruff",
    "scripted",
    "setuptools",
    "src",
    "stubgen",
    "stubtest",
    "test",
    "tests",
    "typing-extensions",
    "typing-inspection",
    "uv",
    "uvx",
}


LONGEST = 40  # lines that hold the name stay within 100 characters


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
    if problem := _problem(name):
        message = f"{name!r} cannot be the project's name: {problem}; try {_suggest(name)}"
        raise UserError(message, exit_code=2)
    return Names(name, _package(name))


def _problem(name: str) -> str | None:
    package = _package(name)
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        return "it may hold the letters a to z, digits, and between them '-', '_' and '.'"
    if len(name) > LONGEST:
        return f"it has more than {LONGEST} characters"
    if not package.isidentifier():
        return f"Python cannot import {package!r}"
    if keyword.iskeyword(package) or keyword.iskeyword(package.capitalize()):
        return f"{package!r} is a word of Python"
    if package in sys.stdlib_module_names:
        return f"{package!r} is a module of Python's standard library"
    normal = re.sub(r"[-_.]+", "-", name).lower()
    if normal in TAKEN or re.fullmatch(r"(?:python|pip)[\d-]*", normal):
        return "it would hide a package or a command that the project needs"
    if package.startswith("test_"):
        return "the project's tests are called so"
    return None


def _package(name: str) -> str:
    return re.sub(r"[-.]+", "_", name).lower()


def _suggest(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST - 6].strip("-")
    candidates = [plain, f"{plain}-agent", f"agent-{plain}", "my-agent"]
    return next(name for name in candidates if _problem(name) is None)
