"""The command line: `ask`, `prompt`, `tools`. Each command is a function here; it prints, and what
it does is elsewhere. Add one with a function and a parser in `_parser`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waiting for a person, 130 interrupted.
"""

import argparse
import json
import os
import shlex
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import SettingsError, StopRun

if TYPE_CHECKING:
    from .thread import Thread

PACKAGE = __name__.split(".")[0]
EXIT_CODES = {"done": 0, "failed": 1, "waiting": 3}


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
    except (SettingsError, StopRun) as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # as `head` leaves one; nobody is to be told
            print(f"error: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _interrupt(number: int, frame: Any) -> None:
    """End at once, whatever a library or a tool is in the middle of."""
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(130)


def _open_streams() -> None:
    """A closed stream must not send its text into another, and no console is a reason to crash."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _ask(args: argparse.Namespace) -> int:
    """Run a new thread until it is done, fails, or waits for a person who is not there."""
    import asyncio

    from ..agent import agent_loop
    from .models import choose_model
    from .readable import printable
    from .settings import load_settings
    from .show import note, tell
    from .thread import Thread

    settings = load_settings()
    limits, model = settings.limits, choose_model(settings)
    if model.note:
        note(model.note)
    thread = Thread(on_event=tell)
    thread.add_user_input(args.message)
    interactive = not args.no_input and _is_terminal(sys.stdin) and _is_terminal(sys.stderr)
    asyncio.run(agent_loop(thread, model.ask, limits))
    while thread.pending and _put_to_person(thread, thread.pending, interactive):
        asyncio.run(agent_loop(thread, model.ask, limits))
    if args.json:
        print(json.dumps(thread.to_json(), indent=2))
    elif thread.answer is not None:
        print(printable(thread.answer))
    return EXIT_CODES[thread.status]


def _put_to_person(thread: "Thread", pending: dict[str, Any], interactive: bool) -> bool:
    """Ask the person at the terminal and record what they say. False if nobody is there."""
    from .readable import call_text
    from .show import note

    if pending["kind"] == "question":
        question, sign = pending["message"], "> "
    else:
        question, sign = f"approve {call_text(pending['call'])}?", "[y, or why not] "
        if interactive:
            _drop_typed_ahead()
    answer = _read_line(f"{question}\n{sign}") if interactive else None
    if answer is None:
        note(f"waiting for a person: {question}")
        return False
    if pending["kind"] == "question":
        thread.add_answer(answer)
        return True
    approved = answer.lower() in {"y", "yes", "approve"}  # nothing else is a yes
    comment = "" if approved or answer.lower() in {"n", "no"} else answer
    shown = (pending["approval_id"], pending["call_hash"])
    thread.decide(*shown, approved, by="the person at the terminal", comment=comment)
    return True


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def _drop_typed_ahead() -> None:
    """Forget what was typed or pasted before the question was there: it is no answer to it."""
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _read_line(question: str) -> str | None:
    """A line that is not blank, None at the end of input. The question goes to stderr."""
    from .readable import printable

    while True:
        print(printable(question), end="", file=sys.stderr, flush=True)
        # Not sys.stdin, which would read ahead and keep what is no answer to this question.
        typed = b""
        while b"\n" not in typed and (part := os.read(sys.stdin.fileno(), 4096)):
            typed += part
        line = typed.partition(b"\n")[0].decode(errors="replace").strip()
        if line:
            return line
        if b"\n" not in typed:
            print(file=sys.stderr)
            return None


def _prompt(args: argparse.Namespace) -> int:
    """Print what a model would be sent for a first message."""
    from .baml import request_messages
    from .readable import printable
    from .settings import load_settings
    from .show import note
    from .thread import Thread

    thread = Thread()
    thread.add_user_input(args.message)
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


def _parser() -> argparse.ArgumentParser:
    name = Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(
        prog=f"python -m {PACKAGE}" if name == "__main__.py" else name,
        description="An agent: a model proposes the next step, and code decides what runs.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="give the agent a message; the answer goes to stdout")
    ask.add_argument("--json", action="store_true", help="print the whole thread as JSON")
    ask.add_argument("--no-input", action="store_true", help="exit 3 where a person is needed")
    ask.set_defaults(command=_ask)

    prompt = commands.add_parser("prompt", help="show what a model would be sent")
    prompt.add_argument("--json", action="store_true", help="print the messages as JSON")
    prompt.set_defaults(command=_prompt)

    for command in (ask, prompt):
        help = "the user's message; write -- before one that begins with a dash"
        command.add_argument("message", metavar="MESSAGE", type=_message, help=help)

    listing = commands.add_parser("tools", help="list the tools, their policies and fields")
    listing.add_argument("--json", action="store_true", help="print their JSON Schemas")
    listing.set_defaults(command=_tools)
    return parser


def _message(text: str) -> str:
    if not text.strip():
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
