"""The command line: it declares the commands and prints. What a command does is in its module.

Nothing here imports copier or baml_py, so that --help answers at once.
"""

import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from . import __version__
from .errors import UserError

app = typer.Typer(
    name="create-agent",
    help="Make a small agent repository that you own.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Interrupted(BaseException):
    """Ctrl-C or a request to end. Not a KeyboardInterrupt, whose exit code Typer would choose."""


def main() -> NoReturn:
    """Run the command line; the one place where errors of the user are printed."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # no console is a reason to crash
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Interrupted:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(0)


def _interrupt(number: int, frame: Any) -> NoReturn:
    raise Interrupted


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The new folder; its name is the project's.")],
    tools: Annotated[
        str | None,
        typer.Option(help="Tool sets, separated by commas. Default: all. Always there: human."),
    ] = None,
) -> None:
    """Make a new project, with its client generated and its first commit made."""
    from .new import create

    created = create(path, tools)
    print(f"Created {created.path} with the tool sets {', '.join(created.tools)}.")
    if created.note:
        print(f"Note: {created.note}")
    print("\nNow run:\n")
    for command in _next_commands(created.path, created.distribution, created.tools):
        print(f"  {command}")


@app.command()
def tools() -> None:
    """List the tool sets and their tools."""
    from .toolsets import all_sets

    for one in all_sets():
        print(f"{one.name}: {one.summary}\n  {', '.join(one.intents)}")


def _next_commands(path: Path, distribution: str, sets: list[str]) -> list[str]:
    """What to type next, for the tools that this machine has."""
    into = f"cd {shlex.quote(os.path.relpath(path))}"
    ask = f'{distribution} ask "{_question(sets)}"'
    if shutil.which("uv"):
        return [into, f"uv run {ask}", "uv run pytest"]
    install = "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]'"
    return [into, install, f".venv/bin/{ask}", ".venv/bin/pytest"]


def _question(sets: list[str]) -> str:
    """A first message that the chosen sets can answer offline."""
    if "calculator" in sets:
        return (
            "can you multiply 3 and 4, then divide the result by 2 and then add 12 to that result?"
        )
    if "customer-support" in sets:
        return "please refund order A-17, the blender for 12.50 dollars arrived broken"
    return "hello!"
