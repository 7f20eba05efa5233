"""The command line: it declares the commands and prints. What a command does is in its module.

Nothing here imports jinja2 or baml_py, so that --help answers at once.
"""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from . import __version__, streams
from .errors import UserError, shown
from .providers import PROVIDERS

if TYPE_CHECKING:
    from .new import Created

_PROVIDERS = ", ".join(PROVIDERS)

app = typer.Typer(
    name="create-agent",
    help="Make a small agent repository that you own.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run() -> int:
    """Run the command line and return its exit code; the one place that prints a user's errors."""
    try:
        code = _exit_code_of_app()
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # nothing can be printed any more: a full disk, a reader that left
        if not isinstance(error, BrokenPipeError):
            print(f"error: {error}", file=sys.stderr)
        streams.abandon_stdout()
        return 1


def _exit_code_of_app() -> int:
    try:
        app()
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
    path: Annotated[
        str | None, typer.Argument(help="The new folder; its name is the project's.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The project's name. Default: the folder's.")
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(help="Tool sets, separated by commas. Default: all. Always there: human."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help=f"The model its .env names: {_PROVIDERS}. Default: the agent looks."),
    ] = None,
    no_server: Annotated[
        bool, typer.Option("--no-server", help="Leave the HTTP API and the inbox out.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("-i", "--interactive", help="Ask for what is not given.")
    ] = False,
    no_git: Annotated[bool, typer.Option("--no-git", help="Start no repository.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the files, and write nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a receipt as JSON instead of text.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="First install it aside and run its tests (network)."),
    ] = False,
    message: Annotated[
        str | None,
        typer.Option("--try", help="Then install it and ask it this once (network)."),
    ] = None,
) -> None:
    """Make a new project, with its client generated and its first commit made."""
    from . import interview, new, report, trying

    trying.require_sense(message, dry_run, verify)
    wishes = interview.Wishes(path, name, tools, provider)
    defaults = wishes.missing_options()
    if interactive:
        interview.complete(wishes)
        defaults = []
    given = (wishes.require_target(), wishes.name, wishes.tools, wishes.provider)
    plan = new.plan(*given, server=not no_server)
    trying.require_room(plan.target, message, verify)
    if dry_run:
        made = new.preview(plan)
        if as_json:
            print(_as_json(report.receipt(made, defaults, dry_run=True)))
        else:
            print("\n".join(made.files))
            _say(f"Nothing was written; these files would be in {shown(made.path)}.")
        return
    made = new.create(plan, git=not no_git, verify=verify, say=_say)
    if not as_json:
        _tell(report.summary(made, defaults), made)
    tried = None
    try:
        if message is not None:
            tried = trying.attempt(made, message, _say)
    finally:
        if as_json:
            _tell(_as_json(report.receipt(made, defaults, tried=tried)), made)
        else:
            _tell(report.ending(made, tried), made)
    if tried:
        raise typer.Exit(tried.exit_code)


@app.command()
def tools() -> None:
    """List the tool sets and their tools."""
    from .toolsets import all_sets

    for one in all_sets():
        print(f"{one.name}: {one.summary}\n  {', '.join(one.intents)}")


def _tell(text: str, made: "Created") -> None:
    """Print what was made; that this fails does not mean that it was not."""
    try:
        print(text, flush=True)
    except OSError as error:
        streams.abandon_stdout()
        message = f"the project is in {shown(made.path)}, but stdout took no report of it"
        raise UserError(f"{message}: {error.strerror}") from error


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2)


def _say(step: str) -> None:
    """Say something beside the answer."""
    print(step, file=sys.stderr, flush=True)
