"""`new --try`: install the project that was just made, and ask it once."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import install, interrupts
from .errors import UserError, shown
from .new import Created


@dataclass(frozen=True)
class Attempt:
    """What came of asking.

    exit_code: the agent's: 0 answered, 3 waiting for a person, else it failed. answer: what it
    wrote on stdout.
    """

    message: str
    exit_code: int
    answer: str


def require_sense(message: str | None, dry_run: bool, verify: bool) -> None:
    """Raise UserError, exit code 2, for a message or a set of options that cannot be meant."""
    if message is not None and not message.strip():
        raise UserError("the message of --try is empty", exit_code=2)
    if dry_run and (verify or message is not None):
        option = "--verify" if verify else "--try"
        reason = f"--dry-run makes nothing that {option} could run; leave one of them out"
        raise UserError(reason, exit_code=2)


def require_room(target: Path, message: str | None, verify: bool) -> None:
    """Raise UserError, exit code 2, if --try or --verify can make no environment there.

    One that is there already is somebody's, and --try would replace it.
    """
    if (message is not None or verify) and (reason := install.why_no_environment(target)):
        raise UserError(f"{shown(target)} cannot be installed: {reason}", exit_code=2)
    if message is not None and os.path.lexists(target / ".venv"):
        reason = f"{shown(target)} already holds .venv; leave --try out, or move it away"
        raise UserError(reason, exit_code=2)


def attempt(created: Created, message: str, say: Callable[[str], None]) -> Attempt:
    """Install a project in its .venv and ask it once, with the agent's steps on our stderr.

    say: is told each step. The project stays whatever happens. Raises UserError if it cannot be
    installed.
    """
    with interrupts.heard(f"the project is in {shown(created.path)}"):
        name = created.answers.project_name
        try:
            commands = install.install(created.path, name, created.path / ".venv", say)
        except UserError as error:
            raise UserError(f"the project is in {shown(created.path)}, but {error}") from error
        say(f"asking it: {message}")
        words: list[str | Path] = [commands / name, "ask", "--", message]
        done = install.run_installed(words, created.path, show_errors=True)
    return Attempt(message, done.returncode, done.stdout)
