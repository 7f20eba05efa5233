"""The command line. The commands over threads are in commands.py, the others here. Add one with a
function and a parser in `_parser`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waiting for a person, 130 interrupted.
"""

import argparse
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from .errors import Conflict, SettingsError, StopRun, StoreError
from .readable import is_blank, printable
from .settings import PACKAGE, program


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code. argv: the words after the command's name."""
    if argv is None:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as under nohup
            signal.signal(signal.SIGINT, _interrupt)
        _open_streams()
    args = _parser().parse_args(argv)
    try:
        _require_client()
        code = int(args.command(args))
        sys.stdout.flush()
        return code
    except (SettingsError, StopRun, Conflict, StoreError) as error:
        print(printable(f"error: {error}"), file=sys.stderr)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # as `head` leaves one; nobody is to be told
            print(printable(f"error: {error}"), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _interrupt(number: int, frame: Any) -> None:
    """End at once, whatever a library or a tool is in the middle of. The threads are saved."""
    told = "interrupted"
    with suppress(Exception):
        from .commands import leave

        told = f"interrupted{leave()}"
    with suppress(OSError):
        os.write(2, f"{told}\n".encode(errors="replace"))
    os._exit(130)


def _open_streams() -> None:
    """A closed stream must not send its text into another, and no console is a reason to crash."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _prompt(args: argparse.Namespace) -> int:
    """Print what a model would be sent for a first message."""
    from .baml import request_messages
    from .database import IN_MEMORY, Database
    from .settings import load_settings
    from .show import note
    from .store import Store
    from .thread import Thread

    thread = Thread.create(Store(Database(IN_MEMORY)), args.message)
    messages = request_messages(thread.prompt(load_settings().limits))
    characters = sum(len(message["content"]) for message in messages)
    size = {"characters": characters, "estimated_tokens": -(-characters // 4)}
    if args.json:
        print(json.dumps({"messages": messages, **size}, indent=2))
        return 0
    for message in messages:
        print(f"[{message['role']}]\n{printable(message['content'])}\n")
    note(f"{size['characters']} characters, about {size['estimated_tokens']} tokens")
    return 0


def _tools(args: argparse.Namespace) -> int:
    """Print the tools: a table, or the JSON Schema of each."""
    from ..policy import policy_of
    from .baml import tools
    from .json_schema import tool_schema
    from .shape import fields_of
    from .show import table

    if args.json:
        names = tools().names
        schemas = {intent: tool_schema(cls, names) for intent, cls in tools().classes.items()}
        print(json.dumps(schemas, indent=2))
        return 0
    rows = [["intent", "effect", "approval", "fields", "description"]]
    for intent, cls in tools().classes.items():
        policy = policy_of(intent)
        approval = "a person" if policy.approval else "none"
        fields = ", ".join(name for name in fields_of(cls, tools().names) if name != "intent")
        description = cls.model_fields["intent"].description or ""
        rows.append([intent, policy.effect, approval, fields, description])
    print(table(rows))
    return 0


def _serve(args: argparse.Namespace) -> int:
    """Serve the HTTP API and the inbox; loaded when it is used."""
    return int(import_module(f"{PACKAGE}.runtime.server").serve(args))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say how to write a text that looks like an option."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2."""
        dashed = any(word.startswith("-") for word in sys.argv[2:]) and "--" not in sys.argv
        hint = "; write -- before a text that begins with a dash" if dashed else ""
        super().error(printable(message + hint))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=program(),
        description="An agent: a model proposes the next step, and code decides what runs.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = _add(commands, "ask", "give the agent a message; the answer goes to stdout")
    ask.add_argument("--thread", metavar="ID", help="go on with this thread")
    ask.add_argument("--no-input", action="store_true", help="exit 3 where a person is needed")

    prompt = _add(commands, "prompt", "show what a model would be sent")
    for command in (ask, prompt):
        help = "the user's message; write -- before one that begins with a dash"
        command.add_argument("message", metavar="MESSAGE", type=_message, help=help)

    _add(commands, "threads", "list the threads")
    _add(commands, "show", "show what happened in a thread").add_argument("id", metavar="ID")

    answer = _add(commands, "answer", "answer the question that waits")
    answer.add_argument("id", metavar="ID")
    answer.add_argument("text", metavar="TEXT", type=_message)

    for name, approved, what in (
        ("approve", True, "let the call that waits run"),
        ("refuse", False, "do not let the call that waits run"),
    ):
        decide = _add(commands, name, what, command="decide")
        decide.set_defaults(approved=approved, comment="")
        decide.add_argument("id", metavar="ID", help="of the approval, or of its thread")
        if not approved:
            decide.add_argument("--comment", default="", help="why, for the model to know")

    settle = _add(commands, "settle", "say what became of a call that may have happened")
    settle.add_argument("id", metavar="ID", help="of the thread, or the key of the effect")
    outcome = settle.add_mutually_exclusive_group(required=True)
    outcome.add_argument("--happened", metavar="TEXT", type=_message, help="what it gave")
    outcome.add_argument("--did-not-happen", action="store_true")

    resume = _add(commands, "resume", "go on with a thread that failed or was cut off")
    resume.add_argument("id", metavar="ID")
    export = _add(commands, "export", "print the last step of a thread as a BAML test")
    export.add_argument("id", metavar="ID")

    _add(commands, "tools", "list the tools, their policies and fields")

    if find_spec(f"{PACKAGE}.runtime.server"):  # left out of a project without a server
        serve = commands.add_parser("serve", help="serve the HTTP API, and the inbox as a page")
        serve.set_defaults(command=_serve)
        serve.add_argument("--host", default="127.0.0.1", help="another needs AGENT_API_TOKEN")
        serve.add_argument("--port", type=_port, default=8000, help="0 for any that is free")
        serve.add_argument("--workers", type=_count, default=1, help="processes; 1 if left out")
    return parser


def _add(commands: Any, name: str, help: str, command: str = "") -> argparse.ArgumentParser:
    """A command that is a function of commands.py, or of this module."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help)
    parser.add_argument("--json", action="store_true", help="print JSON")
    own = {"prompt": _prompt, "tools": _tools}
    parser.set_defaults(command=own.get(name) or _over_threads(command or name))
    return parser


def _over_threads(name: str) -> Callable[[argparse.Namespace], int]:
    """A command over threads; what it needs is loaded when it is used."""

    def command(args: argparse.Namespace) -> int:
        from . import commands

        code: int = getattr(commands, name)(args)
        return code

    return command


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use 0 to 65535")
    return int(text[:9])


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= 64):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; use 1 to 64")
    return int(text[:9])


def _message(text: str) -> str:
    if is_blank(text):
        raise argparse.ArgumentTypeError("the message is empty")
    return text


def _require_client() -> None:
    """The client is generated, and git ignores it: a clone has none, an upgrade has an old one."""
    from .settings import project_root

    try:
        import_module(f"{PACKAGE}.baml_client")
    except ModuleNotFoundError as error:
        if error.name != f"{PACKAGE}.baml_client":
            raise
        problem = "is not generated yet"
    except (ImportError, SyntaxError):
        problem = "does not fit the installed baml-py"
    else:
        return
    root = project_root()
    if root is None:
        raise SettingsError(
            f"the typed client {problem}; generate it, then build the package again"
        )
    baml_cli = Path(sys.executable).with_name("baml-cli")
    command = shlex.join([str(baml_cli), "generate", "--from", str(root / "baml_src")])
    raise SettingsError(f"the typed client {problem}; run: {command}")
