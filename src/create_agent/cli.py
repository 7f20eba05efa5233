"""The command line: it declares the commands and prints. What a command does is in its module.

Nothing here imports copier or baml_py, so that --help answers at once.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .errors import UserError
from .providers import PROVIDERS

_PROVIDERS = ", ".join(PROVIDERS)

app = typer.Typer(
    name="create-agent",
    help="Make a small agent repository that you own.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run(ignore_signals: Callable[[], None]) -> int:
    """Run the command line and return its exit code; the one place that prints a user's errors.

    ignore_signals: called when a command has come to where nothing may interrupt it.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # no console is a reason to crash
    try:
        code = _exit_code_of_app(ignore_signals)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # nothing can be printed any more: a full disk, a reader that left
        if not isinstance(error, BrokenPipeError):
            print(f"error: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _exit_code_of_app(ignore_signals: Callable[[], None]) -> int:
    try:
        app(obj=ignore_signals)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command()
def new(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="The new folder; its name is the project's.")],
    tools: Annotated[
        str | None,
        typer.Option(help="Tool sets, separated by commas. Default: all. Always there: human."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help=f"The model its .env names: {_PROVIDERS}. Default: the agent looks."),
    ] = None,
) -> None:
    """Make a new project, with its client generated and its first commit made."""
    from .new import create

    created = create(path, tools, provider, before_placing=context.obj)
    print(f"Created {created.path} with the tool sets {', '.join(created.tools)}.")
    if created.note:
        print(f"Note: {created.note}")
    if needs := PROVIDERS.get(created.provider):
        print(f"Note: {created.provider} needs {', '.join(needs)} in the project's .env.")
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
    folder = os.path.relpath(path)
    into = f"cd {shlex.quote(folder if folder[0] != '-' else f'./{folder}')}"
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
