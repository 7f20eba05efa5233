"""What `new` tells about a project: for a person, and as a receipt for a program."""

import os
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import __version__
from .errors import as_text, shown
from .install import why_no_environment
from .new import Created
from .providers import PROVIDERS
from .trying import Attempt

_CALCULATION = (
    "can you multiply 3 and 4, then divide the result by 2 and then add 12 to that result?"
)
_REFUND = "please refund order A-17, the blender for 12.50 dollars arrived broken"
# What an option means that was not given.
_DEFAULTS = {
    "--tools": "every tool set (--tools)",
    "--provider": "the agent looks for a model (--provider)",
}


def summary(created: Created, defaults: list[str]) -> str:
    """What was made, a sentence a line. defaults: the options that were not given."""
    answers = created.answers
    lines = [f"Created {shown(created.path)} with the tool sets {', '.join(answers.tools)}."]
    if defaults:
        lines.append(f"By default: {', '.join(_DEFAULTS[option] for option in defaults)}.")
    if answers.server:
        lines.append("It has an HTTP API and an inbox (serve; --no-server leaves them out).")
    if reason := why_no_environment(created.path):
        lines.append(f"Note: {reason}; move the project before it is installed")
    if created.verified:
        lines.append(f"Its own tests: {created.verified}.")
    if created.note:
        lines.append(f"Note: {created.note}")
    if needs := PROVIDERS.get(answers.provider):
        lines.append(f"Note: {answers.provider} needs {', '.join(needs)} in the project's .env.")
    return "\n".join(lines)


def ending(created: Created, tried: Attempt | None) -> str:
    """The answer, if the project was asked, and what to type next."""
    lines = ["", "Now run:", "", *(f"  {command}" for command in next_commands(created, tried))]
    return "\n".join([tried.answer.rstrip("\n"), *lines] if tried else lines)


def receipt(
    created: Created, defaults: list[str], dry_run: bool = False, tried: Attempt | None = None
) -> dict[str, Any]:
    """The same for a program, as CONTRIBUTING.md describes it. Members are added, never changed."""
    answers = created.answers
    return {
        "path": as_text(created.path),
        "name": answers.project_name,
        "package": answers.package,
        "sets": answers.tools,
        "server": answers.server,
        "provider": answers.provider or None,
        "defaults": defaults,
        "dry_run": dry_run,
        "files": created.files,
        "versions": {"create-agent": __version__, "baml-py": answers.baml_version},
        "note": created.note,
        "verified": created.verified,
        "tried": asdict(tried) if tried else None,
        "next": [] if dry_run else next_commands(created, tried),
    }


def next_commands(created: Created, tried: Attempt | None = None) -> list[str]:
    """What to type next, with the tools that this machine has; one that was tried is installed."""
    folder = _from_here(created.path)
    into = [] if folder == "." else [f"cd {shlex.quote(folder)}"]
    ask = f'{created.answers.project_name} ask "{_question(created.answers.tools)}"'
    if shutil.which("uv"):
        return [*into, f"uv run {ask}", "uv run pytest"]
    install = [f"{_python()} -m venv .venv && .venv/bin/pip install -e '.[dev]'"]
    if tried:
        install = []
    return [*into, *install, f".venv/bin/{ask}", ".venv/bin/pytest"]


def _python() -> str:
    """A Python that is new enough: python3 may be an older one."""
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return own if shutil.which(own) else "python3"


def _from_here(path: Path) -> str:
    """The path as a shell's cd takes it: relative where that is shorter and not ambiguous."""
    try:
        folder = os.path.relpath(as_text(path), as_text(Path.cwd()))
    except FileNotFoundError:  # the folder we stand in is gone
        return as_text(path)
    if folder.startswith(".."):  # a shell that came here through a link means another folder
        return as_text(path)
    # Not an option, and no matter of CDPATH.
    return f"./{folder}" if folder.startswith("-") or os.environ.get("CDPATH") else folder


def _question(sets: list[str]) -> str:
    """A first message that the chosen sets can answer offline."""
    if "calculator" in sets:
        return _CALCULATION
    return _REFUND if "customer-support" in sets else "hello!"
