"""What stands in a README: its sections, its blocks of code, and the code in its tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code. language: what stands after its fence. before: the line above it."""

    language: str
    text: str
    before: str


def blocks(text: str, language: str | None = None) -> list[Block]:
    """The blocks of a text in order; all of them, or those in one language."""
    found = [
        Block(match[1], match[2], text[: match.start()].rstrip().rpartition("\n")[2])
        for match in _FENCE.finditer(text)
    ]
    return [block for block in found if language in {None, block.language}]


def sections(text: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text: str) -> Iterator[list[str]]:
    """The cells of each row of the tables of a text, without their headings."""
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def codes(text: str) -> list[str]:
    """What stands between single backticks, outside the blocks."""
    return re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))
