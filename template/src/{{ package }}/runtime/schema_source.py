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
    r'|(?P<raw>(?P<hashes>#+)"(?P<text>.*?)"(?P=hashes))|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<word>@{0,2}\w+)|(?P<mark>[{}\n|])",
    re.DOTALL,
)
# A test has asserts of its own, which are no rules. Anything that might be a type ends a test.
_RULE = re.compile(
    r"^(?P<test>test)\s+\w+\s*\{|\b(?:class|enum|type)\s|(?P<rule>@(?!description\b)\w)",
    re.MULTILINE,
)


@dataclass
class Source:
    """What the source tells.

    aliases: what the model writes, by "Class.field" and "Enum.MEMBER". fields: the names of each
    class and enum. dropped_asserts: the fields and type aliases with an @assert that BAML may
    forget, because it is a part of a union or of an alias. has_rules: there is an attribute other
    than a description, such as @alias, @check, or @assert; where in doubt, there is.
    """

    aliases: dict[str, str] = field(default_factory=dict)
    fields: dict[str, set[str]] = field(default_factory=dict)
    dropped_asserts: list[str] = field(default_factory=list)
    has_rules: bool = False


def read_source(texts: Iterable[str]) -> Source:
    """What the .baml files with these texts tell."""
    found = Source()
    for text in texts:
        found.has_rules |= _has_rules(text)
        for owner, name, tokens in _definitions(text):
            words = [token[0] for token in tokens]
            if owner:
                found.fields.setdefault(owner, set()).add(name)
            for i, word in enumerate(words[:-1]):
                if word == "@alias":
                    found.aliases[f"{owner}.{name}"] = _unquoted(tokens[i + 1])
            if "@assert" in words and ("|" in words or not owner):
                found.dropped_asserts.append(f"{owner}.{name}" if owner else name)
    return found


def _has_rules(text: str) -> bool:
    in_test = False
    for match in _RULE.finditer(text):
        if match["rule"] and not in_test:
            return True
        in_test = bool(match["test"] or (match["rule"] and in_test))
    return False


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


def _unquoted(token: re.Match[str]) -> str:
    if token["raw"]:
        return token["text"].strip()
    try:
        return str(json.loads(token[0])) if token["string"] else token[0]
    except ValueError:  # an escape that JSON does not know
        return token[0][1:-1]
