"""What a person at a terminal reads: events, pending calls and tables as lines of text."""

import sys

from .readable import call_text, printable, value_text
from .thread import DONE, QUESTIONS, Event


def note(text: str) -> None:
    """Print a line for the person on stderr; stdout is for the answer alone."""
    print(printable(text), file=sys.stderr, flush=True)


def event_text(event: Event) -> str | None:
    """An event as one line; None for a person's own words and for what is put to them."""
    data = event.data
    match event.type:
        case "tool_call" if data["intent"] not in {DONE, *QUESTIONS}:
            return f"→ {call_text(data)}"
        case "tool_response":
            return f"  = {value_text(data['result'])}"
        case "approval":
            comment = f": {data['comment']}" if data["comment"] else ""
            return f"  {'approved' if data['approved'] else 'refused'} by {data['by']}{comment}"
        case "error":
            return f"  ! {data['message']}"
        case "failed":
            return f"failed ({data['type']}): {data['message']}"
    return None


def tell(event: Event) -> None:
    """Print an event as it is written, for `Thread(on_event=tell)`."""
    if line := event_text(event):
        note(line)


def table(rows: list[list[str]]) -> str:
    """Rows as columns, the first row the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
