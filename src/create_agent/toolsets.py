"""The tool sets: which there are, and which intents each one holds.

A set is a file of baml_src/ that defines a union of tool classes, `type …Tools = …`. Its name is
the file's, with hyphens. What it is for stands in its first comment.
"""

import re
from dataclasses import dataclass

from .assets import asset
from .errors import UserError

ALWAYS = "human"


@dataclass(frozen=True)
class ToolSet:
    """name: as on the command line. summary: what it is for. intents: its tools, in order."""

    name: str
    summary: str
    intents: tuple[str, ...]


def all_sets() -> list[ToolSet]:
    """Every set, the one that is always there first, the others by name."""
    found = []
    for path in asset("baml_src").glob("*.baml"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "tools" or not re.search(r"^type \w+Tools =", text, re.MULTILINE):
            continue
        intents = tuple(re.findall(r'^  intent "(\w+)"', text, re.MULTILINE))
        summary = text.splitlines()[0].removeprefix("// ")
        found.append(ToolSet(path.stem.replace("_", "-"), summary, intents))
    return sorted(found, key=lambda one: (one.name != ALWAYS, one.name))


def choose(names: str | None) -> list[str]:
    """The sets of a comma-separated list, in the order of `all_sets`; all of them for None.

    Raises UserError, exit code 2, for a name that is no set.
    """
    known = [one.name for one in all_sets()]
    if names is None:
        return known
    wanted = {name.strip() for name in names.split(",")} - {""}
    if unknown := sorted(wanted - set(known)):
        raise UserError(
            f"no tool set is called {', '.join(map(repr, unknown))}; there are: {', '.join(known)}",
            exit_code=2,
        )
    return [name for name in known if name in wanted | {ALWAYS}]
