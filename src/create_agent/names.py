"""The names of a project, derived from its folder and checked before anything is written."""

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import UserError
from .taken import DEVICES, STANDARD_LIBRARY, TAKEN

LONGEST = 40  # lines that hold the name stay within 100 characters


@dataclass(frozen=True)
class Names:
    """distribution: what pip and the command are called. package: what Python imports."""

    distribution: str
    package: str


def derive(target: Path, name: str | None = None) -> Names:
    """The names for a project in the folder `target`: the folder's own, or the one that is given.

    Raises UserError, exit code 2, with the reason and a name that would do.
    """
    wanted = target.name if name is None else name
    if problem := _problem(wanted):
        other = _suggest(wanted)
        remedy = other if name is not None else f"{other}, or keep the folder with --name {other}"
        message = f"{wanted!r} cannot be the project's name: {problem}; try {remedy}"
        raise UserError(message, exit_code=2)
    return Names(wanted, _package(wanted))


def default(target: Path) -> str:
    """The name of a project in that folder if nobody chooses one: the folder's, or one like it."""
    return target.name if _problem(target.name) is None else _suggest(target.name)


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
    if package in STANDARD_LIBRARY:
        return f"{package!r} is a module of Python's standard library"
    normal = re.sub(r"[-_.]+", "-", name).lower()
    if normal in TAKEN or re.fullmatch(r"(?:python|pip)[\d-]*", normal):
        return "it would hide a package or a command that the project needs"
    if package in DEVICES or name.partition(".")[0].lower() in DEVICES:
        return "Windows cannot have a folder of that name"
    if package.startswith("test_"):
        return "the project's tests are called so"
    return None


def _package(name: str) -> str:
    return re.sub(r"[-.]+", "_", name).lower()


def _suggest(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST - 6].strip("-")
    candidates = [plain, f"{plain}-agent", f"agent-{plain}", "my-agent"]
    return next(name for name in candidates if _problem(name) is None)
