"""The command line: `ask`, `prompt`, `tools`. Each command is a function here; it prints, and what
it does is elsewhere. Add one with a function and a parser in `_parser`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waiting for a person, 130 interrupted.
"""

import argparse
import asyncio
import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import SettingsError

if TYPE_CHECKING:
    from .thread import Thread

PACKAGE = __name__.split(".")[0]
EXIT_CODES = {"done": 0, "failed": 1, "waiting": 3}


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code. argv: the words after the command's name."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # no console is a reason to crash
    args = _parser().parse_args(argv)
    try:
        _require_client()
        return int(args.command(args))
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _ask(args: argparse.Namespace) -> int:
    """Run a new thread until it is done, fails, or waits for a person who is not there."""
    from .models import choose_model, client_name
    from .settings import load_settings
    from .show import event_text, note, printable
    from .thread import Thread

    settings = load_settings()
    limits, ask, client = settings.limits, choose_model(settings), client_name(settings)
    if client == "offline":
        note(
            "offline: these answers come from a few rules, not from a language model;"
            " set AGENT_CLIENT and a model in .env to use one"
        )
    thread = Thread(on_event=lambda event: (line := event_text(event)) and note(line))
    thread.add_user_input(args.message)
    asyncio.run(_converse(thread, ask, limits, interactive=sys.stdin.isatty() and not args.no_input))
    if args.json:
        print(json.dumps(thread.to_json(), indent=2))
    elif thread.answer is not None:
        print(printable(thread.answer))
    return EXIT_CODES[thread.status]


async def _converse(thread: "Thread", ask: Any, limits: Any, interactive: bool) -> None:
    """Run the agent, and where it waits put the question to the person at the terminal."""
    from ..agent import agent_loop
    from .show import call_text, note

    while True:
        await agent_loop(thread, ask, limits)
        pending = thread.pending
        if pending is None:
            return
        is_question = pending["kind"] == "question"
        shown = pending["message"] if is_question else f"approve {call_text(pending['call'])}?"
        if not interactive:
            note(f"waiting for a person: {shown}")
            return
        try:
            text = _read_line(f"{shown}\n" + ("> " if is_question else "[y = run it; else say why not] "))
        except EOFError:
            note("\nwaiting for a person: nobody answered")
            return
        if is_question:
            thread.add_answer(text)
        else:
            approved = text.lower() in {"y", "yes", "approve"}
            comment = "" if approved or text.lower() in {"n", "no"} else text
            decided = (pending["approval_id"], pending["call_hash"], approved)
            thread.decide(*decided, by="person at the terminal", comment=comment)


def _read_line(question: str) -> str:
    """A line that is not blank, from the terminal. The question goes to stderr."""
    from .show import printable

    while True:
        print(printable(question), end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if line.strip():
            return line.strip()


def _prompt(args: argparse.Namespace) -> int:
    """Print what a model would be sent for a first message."""
    from .llm import request_messages
    from .settings import load_settings
    from .show import note, printable
    from .thread import Thread

    thread = Thread()
    thread.add_user_input(args.message)
    messages = request_messages(thread.prompt(load_settings().limits))
    for message in messages:
        print(f"[{message['role']}]\n{printable(message['content'])}\n")
    characters = sum(len(message["content"]) for message in messages)
    note(f"{characters} characters, about {-(-characters // 4)} tokens")
    return 0


def _tools(args: argparse.Namespace) -> int:
    """Print the tools: a table, or their JSON Schemas."""
    from ..policy import policy_of
    from .show import table
    from .steps import tool_classes

    classes = tool_classes()
    if args.json:
        print(json.dumps({intent: cls.model_json_schema() for intent, cls in classes.items()}, indent=2))
        return 0
    rows = [["intent", "effect", "approval", "fields", "description"]]
    for intent, cls in classes.items():
        policy = policy_of(intent)
        fields = ", ".join(name for name in cls.model_fields if name != "intent")
        description = cls.model_fields["intent"].description or ""
        rows.append([intent, policy.effect, "yes" if policy.approval else "no", fields, description])
    print(table(rows))
    return 0


def _parser() -> argparse.ArgumentParser:
    name = Path(sys.argv[0]).name
    prog = f"python -m {PACKAGE}" if name == "__main__.py" else name
    parser = argparse.ArgumentParser(prog=prog, description="An agent whose tools are checked by code.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="give the agent a message; its answer goes to stdout")
    ask.add_argument("message", metavar="MESSAGE", help="after -- if it begins with a dash")
    ask.add_argument("--json", action="store_true", help="print the whole thread as JSON")
    ask.add_argument("--no-input", action="store_true", help="ask nobody; exit 3 where a person is needed")
    ask.set_defaults(command=_ask)

    prompt = commands.add_parser("prompt", help="show what a model would be sent for a message")
    prompt.add_argument("message", metavar="MESSAGE")
    prompt.set_defaults(command=_prompt)

    tools = commands.add_parser("tools", help="list the tools, their policies and fields")
    tools.add_argument("--json", action="store_true", help="print their JSON Schemas")
    tools.set_defaults(command=_tools)
    return parser


def _require_client() -> None:
    """A fresh clone has no client: it is generated, and git ignores it."""
    if find_spec(f"{PACKAGE}.baml_client") is None:
        from .settings import project_root

        generate = shlex.join([str(Path(sys.executable).with_name("baml-cli")), "generate"])
        source = shlex.join(["--from", str((project_root() or Path()) / "baml_src")])
        raise SettingsError(f"the typed client is not generated yet; run: {generate} {source}")
