"""What only the source of the schema tells: aliases, rules, and where an @assert stands.

The generated types know Python's names only. This reads no more of BAML than it has to: comments,
texts and templates are passed over, and a class has a field where a line of it begins with a word.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"(?P<comment>\{//.*?//\}|//[^\n]*)|(?P<jinja>\{\{.*?\}\})"
    r'|(?P<raw>(?P<hashes>#+)"(?P<text>.*?)"(?P=hashes))|(?P<string>"(?:\\"|[^"])*")'
    r"|(?P<word>(?:@{1,2}[ \t]*)?\w+)|(?P<mark>[{}\n|(])",
    re.DOTALL,
)
# Where in doubt, there is a rule. A file of tests alone has none: its asserts are the tests' own.
_DEFINES = re.compile(r"\b(?:class|enum|type|function)\b")
_RULE = re.compile(r"@(?!@|\s*description\b)")


@dataclass
class Source:
    """What the source tells.

    aliases: what the model writes, by "Class.field" and "Enum.MEMBER". fields: the names of each
    class and enum. skipped: the "Enum.MEMBER" with a @skip. dropped_asserts: the fields and type
    aliases with an @assert that BAML may forget, because it is a part of a union or of an alias.
    has_rules: there is an attribute other than a description, such as @alias or @assert.
    has_checks: there may be a @check. unclear: the fields and enum values whose alias or
    description may be misread, and with it what follows.
    """

    aliases: dict[str, str] = field(default_factory=dict)
    fields: dict[str, set[str]] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    dropped_asserts: list[str] = field(default_factory=list)
    has_rules: bool = False
    has_checks: bool = False
    unclear: list[str] = field(default_factory=list)


def read_source(texts: Iterable[str]) -> Source:
    """What the .baml files with these texts tell."""
    found = Source()
    for text in texts:
        found.has_checks |= "check" in text
        found.has_rules |= bool(_DEFINES.search(text) and _RULE.search(text))
        for owner, name, tokens in _definitions(text):
            words = [_word(token) for token in tokens]
            if owner:
                found.fields.setdefault(owner, set()).add(name)
            for i, word in enumerate(words[:-1]):
                if word in {"@alias", "@description"}:
                    said = _quoted(tokens[i + 1 : i + 3], exactly=word == "@alias")
                    if said is None:
                        found.unclear.append(f"{owner}.{name}")
                    elif word == "@alias":
                        found.aliases[f"{owner}.{name}"] = said
            if "@skip" in words:
                found.skipped.add(f"{owner}.{name}")
            if "@assert" in words and ("|" in words or not owner):
                found.dropped_asserts.append(f"{owner}.{name}" if owner else name)
    return found


def _definitions(text: str) -> Iterator[tuple[str, str, list[re.Match[str]]]]:
    """Each field with its class, each value with its enum, and each type alias without an owner.

    With it come the tokens of its definition, without comments, templates and line ends.
    """
    depth = 0
    block = owner = name = before = ""
    tokens: list[re.Match[str]] = []
    starts_line = True
    for token in _TOKEN.finditer(text):
        kind, said = token.lastgroup, token[0]
        begins = kind == "word" and starts_line and (depth == 0 or (depth == 1 and block))
        if name and (said == "}" or (begins and said[0] != "@")) and depth <= 1:
            yield owner, name, tokens
            name, tokens = "", []
        if kind == "mark":
            depth += (said == "{") - (said == "}")
        elif begins and depth == 0:
            block = said if said in {"class", "enum"} else ""
            owner = ""
        elif kind == "word" and depth == 0 and before in {"class", "enum"}:
            owner = said
        elif (kind == "word" and depth == 0 and before == "type") or (begins and said[0] != "@"):
            name = said
        if name and kind not in {"comment", "jinja"} and said != "\n":
            tokens.append(token)
        starts_line = said in {"{", "\n"} or (starts_line and kind == "comment")
        before = said
    if name:
        yield owner, name, tokens


def _word(token: re.Match[str]) -> str:
    """A token's text; BAML lets an attribute be written with blanks, as in `@ alias`."""
    return re.sub(r"\s", "", token[0]) if token["word"] else token[0]


def _quoted(tokens: list[re.Match[str]], exactly: bool) -> str | None:
    """The text of an attribute, of `(` and what follows it; None if it stands in no quotes.

    exactly: None as well for backslashes that BAML reads otherwise than JSON.
    """
    if len(tokens) < 2 or tokens[0][0] != "(":
        return None
    token = tokens[1]
    if token["raw"]:
        return token["text"].strip()
    if not token["string"] or not exactly:
        return token["string"]
    plain = not re.search(r'\\[^"n]', token[0])
    return str(json.loads(token[0], strict=False)) if plain else None
