"""The context window: the events of a thread as the text that the model reads, and back.

Change how an event reads in `_shown`. Keep the escaping: without it a text that a user or a tool
wrote could pass for an event, such as an approval that nobody gave.
"""

import html
import json
import re
from collections.abc import Iterable
from typing import Any, Protocol


class Shown(Protocol):
    """What is needed of an event to show it."""

    @property
    def type(self) -> str: ...
    @property
    def data(self) -> dict[str, Any]: ...


HIDDEN_TYPES = {"failed", "resumed"}  # between the system and its people; the model has no part
HIDDEN_KEYS = {"approval_id"}  # who holds it may decide, so it goes to no provider

# BAML reads roles and media out of texts that hold this word; an entity breaks it, reversibly.
_MAGIC = "MAGIC_STRING_DELIMITER"
_ELEMENT = re.compile(r"<(\w+)>\n(.*?)\n</\1>", re.DOTALL)


def render(events: Iterable[Shown]) -> str:
    """The events as elements, oldest first: `<type>`, the data escaped, `</type>`."""
    return "\n".join(
        f"<{event.type}>\n{_escape(_shown(event))}\n</{event.type}>"
        for event in events
        if event.type not in HIDDEN_TYPES
    )


def parse(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Type and data of each element: what `render` was given, without what it hides."""
    found = []
    for kind, escaped in _ELEMENT.findall(text):
        data = html.unescape(escaped)
        found.append((kind, {"text": data} if kind == "user_input" else json.loads(data)))
    return found


def _shown(event: Shown) -> str:
    if event.type == "user_input":
        return str(event.data["text"])
    hidden = HIDDEN_KEYS if event.type == "approval" else set()
    data = {key: value for key, value in event.data.items() if key not in hidden}
    return json.dumps(data, ensure_ascii=False)


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace(_MAGIC, _MAGIC.replace("_", "&#95;"))
