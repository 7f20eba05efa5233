"""The commands over threads: each records what a person says, and runs the thread until it rests.

They return exit codes: 0 done, 1 failed, 3 waiting for a person. Whatever they need to know is in
the store, so that each may be used hours after the one before, and on another terminal.
"""

import argparse
import asyncio
import getpass
import json
import os
import sys
from functools import cached_property
from typing import Any

from . import person
from .errors import Busy, Conflict
from .models import choose_model
from .readable import call_text, printable
from .reply import Ask
from .settings import Limits, load_settings, program
from .show import note, table, tell, timeline
from .store import open_store
from .thread import Thread

EXIT_CODES = {"done": 0, "failed": 1, "waiting": 3}
POLL = 0.2  # seconds between two looks at a thread that another process runs

_running: list[Thread] = []  # the thread that this process has claimed


def ask(args: argparse.Namespace) -> int:
    """Give the agent a message, in a new thread or in one that there is."""
    desk = Desk()
    if args.thread is None:
        thread = Thread.create(desk.store, args.message, tell)
    else:
        thread = Thread(desk.store, args.thread, tell)
        thread.add_answer(args.message, or_message=True)
    desk.run(thread)
    while thread.pending and not args.no_input and person.is_there():
        if not person.put_to_person(thread, thread.pending):
            break
        desk.run(thread)
    return desk.run_and_rest(args, thread)


def answer(args: argparse.Namespace) -> int:
    """Answer the question that waits."""
    desk = Desk()
    thread = Thread(desk.store, args.id, tell)
    _pending(thread, "question")
    thread.add_answer(args.text)
    return desk.run_and_rest(args, thread)


def decide(args: argparse.Namespace) -> int:
    """Approve or refuse the call that waits."""
    desk = Desk()
    thread = Thread(desk.store, args.id, tell)
    if args.id == thread.id:
        args.id = _pending(thread, "approval")["approval_id"]
    pending = thread.pending or {}
    thread.decide(args.id, pending.get("call_hash", ""), args.approved, _name(), args.comment)
    note(f"{'approved' if args.approved else 'refused'}: {call_text(pending['call'])}")
    return desk.run_and_rest(args, thread)


def settle(args: argparse.Namespace) -> int:
    """Say what became of a call that may have happened."""
    desk = Desk()
    thread = Thread(desk.store, args.id.partition(":")[0], tell)
    key = args.id if ":" in args.id else _pending(thread, "outcome")["effect_key"]
    happened = args.happened is not None
    text = args.happened if happened else person.DID_NOT_HAPPEN
    thread.settle(key, happened, text, _name())
    return desk.run_and_rest(args, thread)


def resume(args: argparse.Namespace) -> int:
    """Let a thread go on that failed or was cut off, and ask anew what has expired."""
    desk = Desk()
    thread = Thread(desk.store, args.id, tell)
    thread.reopen()
    return desk.run_and_rest(args, thread)


def threads(args: argparse.Namespace) -> int:
    """List the threads, those that wait for a person first."""
    shapes = open_store().summaries()
    if args.json:
        print(json.dumps(shapes, indent=2))
        return 0
    shapes.sort(key=lambda shape: shape["status"] != "waiting")
    rows = [[s["id"], s["status"], printable(s["title"])] for s in shapes]
    print(table([["thread", "status", "began with"], *rows]))
    return 0


def show(args: argparse.Namespace) -> int:
    """Print a thread: what happened in it, and what it waits for."""
    thread = Thread(open_store(), args.id)
    print(json.dumps(thread.to_json(), indent=2) if args.json else printable(timeline(thread)))
    return 0


def export(args: argparse.Namespace) -> int:
    """Print the last step of a thread as a BAML test, for baml_src/tests."""
    from .export import baml_test

    text = baml_test(Thread(open_store(), args.id))
    print(printable(text) if sys.stdout.isatty() else text)  # a file gets it as it is
    return 0


def leave() -> str:
    """Give up the thread that is running, within an interrupt, and say how to go on with it."""
    if not _running:
        return ""
    thread = _running[0]
    if thread.epoch is not None:
        thread.store.database.abandon()
        thread.store.release(thread.id, thread.epoch)
    return f"; go on with: {program()} resume {thread.id}"


class Desk:
    """What a command works at: the store, and the model, which is looked for when it is needed."""

    def __init__(self) -> None:
        self._settings = load_settings()
        self._limits = self._settings.limits
        self.store = open_store(self._settings)

    def run(self, thread: Thread) -> None:
        """Run a thread until it rests."""
        if thread.status == "running":
            asyncio.run(_run(thread, self._ask, self._limits))

    def run_and_rest(self, args: argparse.Namespace, thread: Thread) -> int:
        """Run a thread, show how it rests, finish what was interrupted elsewhere; the exit code."""
        self.run(thread)
        if args.json:
            print(json.dumps(thread.to_json(), indent=2))
        elif thread.answer is not None:
            print(printable(thread.answer))
        if pending := thread.pending:
            note(f"waiting for a person: {person.question(pending)}")
            note(_ways_on(thread, pending["kind"]))
        sys.stdout.flush()
        for thread_id in self.store.interrupted():
            try:
                other = Thread(self.store, thread_id, tell)
                note(f"thread {thread_id} was interrupted and goes on:")
                self.run(other)
            except Exception as error:  # whatever it is, it is no reason not to end
                note(f"thread {thread_id} does not go on: {error}")
        return EXIT_CODES[thread.status]

    @cached_property
    def _ask(self) -> Ask:
        found = choose_model(self._settings)
        if found.note:
            note(found.note)
        return found.ask


async def _run(thread: Thread, ask: Ask, limits: Limits) -> None:
    """Run a thread until it rests; wait while another process runs it."""
    from ..agent import agent_loop

    has_waited = False
    _running[:] = [thread]
    try:
        while thread.status == "running":
            try:
                await agent_loop(thread, ask, limits)
            except Busy:
                if not has_waited:
                    note(f"another process runs thread {thread.id}; waiting for it")
                has_waited = True
                await asyncio.sleep(POLL)
                thread.refresh()
    finally:
        _running.clear()


def _ways_on(thread: Thread, kind: str) -> str:
    name = program()
    match kind:
        case "question":
            return f"go on with: {name} answer {thread.id} TEXT"
        case "approval":
            approval_id = (thread.pending or {})["approval_id"]  # of this very call
            return (
                f"go on with: {name} approve {approval_id}, or refuse {approval_id} --comment WHY"
            )
        case _:
            return f"go on with: {name} settle {thread.id} --happened TEXT, or --did-not-happen"


def _pending(thread: Thread, kind: str) -> dict[str, Any]:
    """What waits in a thread, if it is of this kind. Raises Conflict otherwise."""
    found = thread.pending
    if found is None:
        raise Conflict(f"nothing waits in thread {thread.id}; it is {thread.status}")
    if found["kind"] != kind:
        raise Conflict(f"something else waits; {_ways_on(thread, found['kind'])}")
    return found


def _name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody in particular
        return f"user {os.getuid()}"
