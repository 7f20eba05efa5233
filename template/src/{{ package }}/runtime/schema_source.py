"""What only the source of the schema tells: aliases, and rules that BAML would not apply.

The generated types know Python's names only. An alias that is not found here is refused by the
guard: its field is then unknown, or missing.
"""

import json
import re
from collections.abc import Iterable

_TOKEN = re.compile(
    r"(?P<comment>\{//.*?//\}|//[^\n]*)|(?P<jinja>\{\{.*?\}\})"
    r'|(?P<raw>(?P<hashes>#+)"(?P<text>.*?)"(?P=hashes))|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<word>@{0,2}\w+)|(?P<mark>[{}\n|])",
    re.DOTALL,
)

_PART_WITH_ASSERT = re.compile(r"\([^()]*@assert\([^()]*\)[^()]*\)")


def find_aliases(sources: Iterable[str]) -> dict[str, str]:
    """The alias of each "Class.field" and "Enum.MEMBER" that has one.

    sources: the texts of the .baml files.
    """
    found: dict[str, str] = {}
    for source in sources:
        found.update(_find(source))
    return found


def dropped_asserts(sources: Iterable[str]) -> list[str]:
    """The lines with an @assert that BAML drops: in an alias of a type, or in a part of a union."""
    found = []
    for source in sources:
        plain = _TOKEN.sub(lambda m: m[0] if m.lastgroup in {"word", "mark"} else "", source)
        for line in plain.splitlines():
            outside = _PART_WITH_ASSERT.sub("X", line)
            in_union = outside != line and re.search(r"X\s*\)*\s*[|?]|\|\s*\(*\s*X", outside)
            if in_union or ("@assert" in line and line.startswith("type ")):
                found.append(" ".join(line.split()))
    return found


def _find(source: str) -> dict[str, str]:
    found = {}
    depth = 0
    owner = member = before = ""
    starts_line = False
    for token in _TOKEN.finditer(source):
        kind, text = token.lastgroup or "", token[0]
        if kind == "mark":
            depth += (text == "{") - (text == "}")
        elif kind == "word" and before in {"class", "enum"} and depth == 0:
            owner = text
        elif kind == "word" and depth == 1 and starts_line and text[0] != "@":
            member = text
        elif before == "@alias" and depth == 1:
            found[f"{owner}.{member}"] = _unquoted(token)
        starts_line = text in {"{", "\n"}
        if text != "\n":
            before = text
    return found


def _unquoted(token: re.Match[str]) -> str:
    if token["raw"]:
        return token["text"]
    try:
        return str(json.loads(token[0])) if token["string"] else token[0]
    except ValueError:  # an escape that JSON does not know
        return token[0][1:-1]
