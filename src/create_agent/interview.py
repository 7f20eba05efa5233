"""`new -i`: the questions, each asked again until its answer would do."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import names, new, providers, toolsets
from .errors import UserError


@dataclass
class Wishes:
    """What `new.plan` takes, as far as it was said; None for what was not."""

    target: str | None
    name: str | None
    tools: str | None
    provider: str | None

    def missing_options(self) -> list[str]:
        """The options whose defaults count."""
        return [f"--{each}" for each in ("tools", "provider") if getattr(self, each) is None]

    def require_target(self) -> str:
        """The folder. Raises UserError, exit code 2, where none was said."""
        if self.target is None:
            message = (
                "the folder of the new project is missing; give it, as in create-agent new "
                "refund-desk, or be asked with create-agent new -i"
            )
            raise UserError(message, exit_code=2)
        return self.target


def complete(wishes: Wishes) -> None:
    """Ask on the terminal for whatever was not said. Questions go to stderr.

    Raises UserError where there is no terminal, and when the answers end.
    """
    if not sys.stdin or not sys.stdin.isatty():
        message = "-i asks questions, and there is no terminal to ask on; leave it out"
        raise UserError(message, exit_code=2)
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A path may hold any bytes, and is to be read as one of the command line is.
        encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
        sys.stdin.reconfigure(encoding=encoding, errors=errors)
    if wishes.name is not None:
        names.derive(Path(), wishes.name)
    toolsets.choose(wishes.tools)
    providers.choose(wishes.provider)
    if wishes.target is None:
        check = partial(_check_path, name=wishes.name)
        wishes.target = _ask("Folder of the new project", "", check)
    else:
        _check_path(wishes.target, wishes.name)
    if wishes.name is None:
        usual = names.default(new.absolute(wishes.target))
        wishes.name = _ask("Name", usual, partial(new.plan, wishes.target))
    if wishes.tools is None:
        sets = ",".join(one.name for one in toolsets.all_sets())
        wishes.tools = _ask(f"Tool sets ({sets})", sets, toolsets.choose)
    if wishes.provider is None:
        known = ", ".join(providers.PROVIDERS)
        question = f"Provider ({known}; empty: the agent looks for one)"
        wishes.provider = _ask(question, "", lambda text: providers.choose(text or None)) or None


def _check_path(text: str, name: str | None) -> None:
    new.plan(text, name or names.default(new.absolute(text)))


def _ask(question: str, usual: str, check: Callable[[str], object]) -> str:
    """An answer that the check lets pass; the usual one for an empty line."""
    while True:
        print(f"{question}{f' [{usual}]' if usual else ''}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            raise UserError("the answers ended before the questions did; nothing was made")
        answer = line.strip() or usual
        try:
            check(answer)
        except UserError as error:
            print(f"  {error}", file=sys.stderr)
        else:
            return answer
