"""A recorded thread as a BAML test: this far, the next step has to be the one that was chosen."""

import json
import re
from typing import Any

from .baml import load_step
from .errors import Conflict
from .prompt import render
from .thread import Thread


def baml_test(thread: Thread) -> str:
    """A `test` block for baml_src/tests, with the thread up to its last call and that call.

    Raises Conflict for a thread without a call.
    """
    calls = [event for event in thread.events if event.type == "tool_call"]
    if not calls:
        raise Conflict(f"thread {thread.id} has no step yet that a test could expect")
    text = render(thread.events[: calls[-1].seq])
    hashes = "#" * (1 + max((len(run) for run in re.findall(r'"(#+)', text)), default=0))
    step = load_step(calls[-1].data).model_dump(mode="json", exclude_none=True)
    asserts = [
        f"  @@assert({name}, {{{{ this.{name} == {_jinja(value)} }}}})"
        for name, value in step.items()
    ]
    lines = [
        f"test Thread_{thread.id[:8]} {{",
        "  functions [DetermineNextStep]",
        "  args {",
        f'    thread {hashes}"',
        text,
        f'"{hashes}',
        "  }",
        *asserts,
        "}",
    ]
    return "\n".join(lines)


def _jinja(value: Any) -> str:
    """A JSON value as a Jinja expression."""
    return json.dumps(value, ensure_ascii=False)
