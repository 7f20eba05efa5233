"""Run inside a rendered project, to be killed, stopped and raced by test_durable.py.

    python durable_worker.py PACKAGE LEASE work     finish every thread, approving what waits
    python durable_worker.py PACKAGE LEASE decide   read a line of ids, decide on each in turn

A thread that cannot be written to any more is a line "fenced"; a lost decision is "lost".
"""

import asyncio
import importlib
import sys
import threading
import time
from typing import Any

PACKAGE, LEASE, DO = sys.argv[1], float(sys.argv[2]), sys.argv[3]


def module(name: str) -> Any:
    """A module of the project."""
    return importlib.import_module(f"{PACKAGE}.{name}")


errors, store, threads = (module(f"runtime.{name}") for name in ("errors", "store", "thread"))
store.LEASE = threads.LEASE = LEASE
ask = module("runtime.models").choose_model(module("runtime.settings").load_settings()).ask
agent_loop = module("agent").agent_loop


def finish(thread: Any) -> None:
    """Run a thread until it rests, unless somebody else does."""
    try:
        asyncio.run(agent_loop(thread, ask))
    except errors.Busy:
        pass
    except errors.Fenced:
        print("fenced", flush=True)


def decide(kept: Any, some_id: str) -> None:
    """Approve what waits in a thread, and go on with it."""
    thread = threads.Thread(kept, some_id)
    shown = (thread.pending or {}).get("call_hash", "")
    approval_id = (thread.pending or {}).get("approval_id", some_id)
    try:
        thread.decide(approval_id, shown, True, "a manager")
    except errors.Conflict:
        print("lost", flush=True)
    else:
        print("won", flush=True)
        finish(thread)


def work() -> None:
    """Finish every thread that this process can, until none is left to do."""
    kept = store.open_store()
    while True:
        for thread_id in kept.interrupted():
            finish(threads.Thread(kept, thread_id))
        rest = [shape for shape in kept.summaries() if shape["status"] in {"running", "waiting"}]
        if all((shape["pending"] or {}).get("kind") == "outcome" for shape in rest):
            return
        for shape in rest:
            if (shape["pending"] or {}).get("kind") == "approval":
                decide(kept, shape["id"])
        time.sleep(0.05)


def decide_in_pairs() -> None:
    """For each id that is read, two threads decide at once, each on a connection of its own."""
    for line in sys.stdin:

        def one(some_id: str = line.strip()) -> None:
            decide(store.open_store(), some_id)

        pair = [threading.Thread(target=one) for _ in range(2)]
        for each in pair:
            each.start()
        for each in pair:
            each.join()
        print("next", flush=True)


if __name__ == "__main__":
    print("up", flush=True)
    {"work": work, "decide": decide_in_pairs}[DO]()
