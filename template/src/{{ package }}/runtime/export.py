"""A recorded thread as a BAML test: this far, the next step has to be the one that was chosen."""

import json
import re
from typing import Any

from .baml import load_step
from .errors import Conflict, ToolError
from .prompt import render
from .thread import Thread


def baml_test(thread: Thread) -> str:
    """A `test` block for baml_src/tests, with the thread up to its last call and that call.

    Raises Conflict for a thread without a call, or with one whose tool has changed since.
    """
    calls = [event for event in thread.events if event.type == "tool_call"]
    if not calls:
        raise Conflict(f"thread {thread.id} has no step yet that a test could expect")
    text = render(thread.events[: calls[-1].seq])
    text = text.replace('"#####', '"&#35;####')  # BAML knows no longer end of a text
    hashes = "#" * (1 + max((len(run) for run in re.findall(r'"(#+)', text)), default=0))
    try:
        step = load_step(calls[-1].data).model_dump(mode="json", exclude_none=True)
    except ToolError as error:
        raise Conflict(f"thread {thread.id} cannot be exported: {error}") from None
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
    """A JSON value as a Jinja expression that holds no end of one, and no end of a BAML text."""
    if isinstance(value, dict):
        pairs = [f"{_jinja(name)}: {_jinja(each)}" for name, each in value.items()]
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_jinja, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    parts = re.split(r"(?<=[\"{}%])(?=[#{}%])|(?<=')|(?=')", value)
    # BAML knows no escapes in them: a text stands there as it is.
    quoted = [f'"{part}"' if part == "'" else f"'{part}'" for part in parts if part]
    return " ~ ".join(quoted) or "''"
