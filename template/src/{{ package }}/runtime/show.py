"""What a person at a terminal reads: events, pending calls and tables as lines of text."""

import sys
from typing import Any

from .events import FOR_A_PERSON, Event
from .log import Log
from .readable import call_text, printable, value_text


def note(text: str) -> None:
    """Print a line for the person on stderr; stdout is for the answer alone."""
    print(printable(text), file=sys.stderr, flush=True)


def words(event: Event) -> tuple[str, str]:
    """Whose an event is, and what it says to a person: `("call", "add(a=3, b=4)")`."""
    data = event.data
    match event.type:
        case "user_input" | "human_response":
            return "person", str(data["text"])
        case "tool_call" if data["intent"] in FOR_A_PERSON:
            return "agent", str(data["message"])
        case "tool_call":
            return "call", call_text(data)
        case "tool_response":
            return "result", value_text(data["result"])
        case "approval":
            comment = f": {data['comment']}" if data["comment"] else ""
            said = "approved" if data["approved"] else "refused"
            return "decision", f"{said} by {data['by']}{comment}"
        case "error":
            return "error", str(data["message"])
        case "failed":
            return "failed", f"({data['type']}): {data['message']}"
    return event.type, ""


_SIGNS = {"person": "person: ", "agent": "agent: ", "call": "→ ", "result": "= ", "error": "! "}


def timeline(log: Log) -> str:
    """What happened in a thread, one event a line, and what it waits for."""
    lines = [f"thread {log.id}: {log.status}"]
    for event in log.events:
        text = f"{_line(event).strip()}{_cost(event.meta)}"
        # Indented, so that no text can pass for another event.
        lines.append(f"{event.at[:19]}Z  " + text.replace("\n", "\n" + " " * 22))
    if pending := log.pending:
        what = pending["message"] if pending["kind"] == "question" else call_text(pending["call"])
        lines.append(f"waits for a person ({pending['kind']}): {what}")
        known = pending.get("earlier") or pending.get("problem")
        lines += [f"note: {known}"] if known else []
    return "\n".join(lines)


def _line(event: Event) -> str:
    whose, said = words(event)
    if whose in {"failed", "resumed"}:
        return f"{whose} {said}"
    return f"{_SIGNS.get(whose, '')}{said}"


def _cost(meta: dict[str, Any]) -> str:
    """Who wrote an event, in what time and for how many tokens."""
    if not meta:
        return ""
    tokens = meta.get("tokens")
    spent = ""
    if isinstance(tokens, dict):
        spent = f", {tokens.get('input')} + {tokens.get('output')} tokens"
    return f"  [{meta.get('client')}, {meta.get('milliseconds')} ms{spent}]"


def tell(event: Event) -> None:
    """Print an event as it is written, for the `on_event` of a thread; not what the person at the
    terminal has just said, nor what they are about to be asked or told.
    """
    whose, _ = words(event)
    if whose not in {"person", "agent", "resumed"}:
        note(f"{'' if whose in {'call', 'failed'} else '  '}{_line(event)}")


def table(rows: list[list[str]]) -> str:
    """Rows as columns, the first row the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
