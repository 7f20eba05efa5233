"""The command line: it declares the commands and prints. What a command does is in its module.

Nothing here imports copier or baml_py, so that --help answers at once.
"""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .errors import UserError

app = typer.Typer(
    name="create-agent",
    help="Make a small agent repository that you own: BAML tool schemas, a typed client, safe code.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the one place where errors of the user are printed."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # no console is a reason to crash
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The folder of the new project; its name is the project's.")],
    tools: Annotated[
        str | None,
        typer.Option(help="Tool sets, separated by commas; all if left out. 'human' is always there."),
    ] = None,
) -> None:
    """Make a new project, with its client generated and its first commit made."""
    from .new import create

    created = create(path, tools)
    typer.echo(f"Created {created.path} with the tool sets {', '.join(created.tools)}.")
    if created.note:
        typer.echo(f"Note: {created.note}")
    typer.echo("\nNow run:\n")
    for command in _next_commands(created.path, created.distribution):
        typer.echo(f"  {command}")


@app.command()
def tools() -> None:
    """List the tool sets and their tools."""
    from .toolsets import all_sets

    for one in all_sets():
        typer.echo(f"{one.name}: {one.summary}\n  {', '.join(one.intents)}")


def _next_commands(path: Path, distribution: str) -> list[str]:
    """What to type next, for the tools that this machine has."""
    message = shlex.quote("can you multiply 3 and 4, then divide the result by 2 and then add 12 to that result?")
    into = f"cd {shlex.quote(os.path.relpath(path))}"
    if shutil.which("uv"):
        return [into, f"uv run {distribution} ask {message}", "uv run pytest"]
    return [
        into,
        "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]'",
        f".venv/bin/{distribution} ask {message}",
        ".venv/bin/pytest",
    ]
