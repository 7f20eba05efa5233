"""A virtual environment for a project: to run its tests before it is there, and to ask it once."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from . import processes
from .errors import UserError, shown

Say = Callable[[str], None]

# What pip and uv are told of where packages come from, and how to get there.
_SOURCE_SETTINGS = """
CACHE CERT CLIENT_CERT CONFIG_FILE CREDENTIALS DEFAULT EXTRA_INDEX FIND_LINKS HTTP INDEX INSECURE
KEYRING NATIVE_TLS NO_CACHE NO_CONFIG NO_INDEX NO_PROXY OFFLINE PROXY REQUEST RETRIES SYSTEM_CERTS
TIMEOUT TRUSTED USE_FEATURE
""".split()
# Variables that would let another environment, or a user's options for tests, have a say: under
# PYTHONOPTIMIZE no test fails, and PIP_PYTHON names another interpreter.
_FOREIGN = ("PYTHON", "PYTEST_", "VIRTUAL_ENV", "CONDA_", "PIP_", "UV_")
_SOURCES = (
    "PYTHON_KEYRING_BACKEND",
    *(f"PIP_{what}" for what in _SOURCE_SETTINGS),
    *(f"UV_{what}" for what in _SOURCE_SETTINGS),
)
_SHOWN = 20  # lines of a program that failed


def verify(project: Path, command: str, workspace: Path, say: Say) -> str:
    """Install a copy of the project and run its own tests, offline.

    project: stays as it is. command: what it installs. workspace: an existing folder, which the
    caller removes. say: is told each step. Returns pytest's last line, such as "162 passed in
    4.11s". Raises UserError with the output of what failed.
    """
    copy = workspace / "verified"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git"))
    commands = install(copy, command, workspace / "environment", say)
    say("running its tests ...")
    words: list[str | Path] = [commands / "python", "-m", "pytest", "-q", "--color=no"]
    words += ["-p", "no:cacheprovider"]
    done = run_installed(words, copy, AGENT_CLIENT="offline")
    if done.returncode:
        raise UserError(f"the new project's own tests failed:\n{_tail(done)}")
    return done.stdout.strip().splitlines()[-1].strip("= ")


def install(project: Path, command: str, environment: Path, say: Say) -> Path:
    """Make a virtual environment and install a project into it, editable, with its tests' needs.

    project: its folder. command: what it installs. environment: a folder that is still to be made.
    say: is told each step. Takes uv where there is one, else venv and pip. Returns the folder of
    the environment's commands. Raises UserError with the output of what failed.
    """
    commands = environment / ("Scripts" if os.name == "nt" else "bin")
    make: list[str | Path]
    put: list[str | Path]
    if found := shutil.which("uv"):
        uv = os.path.abspath(found)
        make = [uv, "venv", "--quiet", "--python", sys.executable, environment]
        put = [uv, "pip", "install", "--quiet", "--python", commands / "python"]
    else:
        make = [sys.executable, "-m", "venv", environment]
        put = [commands / "python", *"-m pip install --quiet --disable-pip-version-check".split()]
    say("making a virtual environment ...")
    installer = "uv" if found else "pip"
    _must_work(make, project, f"{installer} could make no virtual environment")
    say(f"installing the project with {installer} ...")
    put += ["--editable", ".[dev]"]  # the folder itself may have a name that pip cannot read
    _must_work(put, project, "the new project could not be installed")
    if not shutil.which(command, path=commands):
        reason = f"its configuration has {installer} install elsewhere than into the environment"
        raise UserError(f"the new project could not be installed: {reason}")
    return commands


def why_no_environment(target: Path) -> str | None:
    """Why no virtual environment can stand in a folder of that path, if so."""
    if os.pathsep in str(target):
        held = repr(os.pathsep)
    elif str(target).splitlines()[1:]:
        held = "a line break"
    else:
        return None
    return f"no virtual environment works below a folder whose name holds {held}"


def run_installed(
    words: list[str | Path], folder: Path, show_errors: bool = False, **changes: str
) -> CompletedProcess[str]:
    """Run a program of an environment, without variables that would let another one have a say.

    show_errors: let its stderr be ours. changes: variables. Raises UserError if it cannot start.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_SOURCES) or not name.startswith(_FOREIGN)
    }
    try:
        return processes.run(words, folder, {**kept, **changes}, show_errors)
    except OSError as error:
        raise UserError(f"{shown(words[0])} cannot be run: {error.strerror}") from error


def _must_work(words: list[str | Path], folder: Path, otherwise: str) -> None:
    done = run_installed(words, folder)
    if done.returncode:
        raise UserError(f"{otherwise}:\n{_tail(done)}")


def _tail(done: CompletedProcess[str]) -> str:
    lines = "\n".join(filter(None, (done.stdout, done.stderr))).strip().splitlines()
    return "\n".join(lines[-_SHOWN:]) or "it said nothing"
