"""The corpus of hostile/: replies, and what must come of each.

A line is {"kind", "reply", "step"} where the reply has to become exactly this step, or {"kind",
"reply", "refused"} with words of what the model is told. A reply is a text, or pieces of text with
how often each is repeated. Further keys:

    python   a piece of the step as Python shows it, where its JSON does not tell
    parts    instead of a reply, what an answer with several parts consists of (providers.py)
    finish   how an answer ends that is not whole
    parsed   the fields that BAML makes of the reply, in a case where it cannot be trusted with it
"""

import json
import re
from pathlib import Path
from typing import Any

from support import generate

FOLDER = Path(__file__).with_name("hostile")

Case = dict[str, Any]


def corpus(name: str) -> list[Case]:
    """The cases of hostile/NAME.jsonl, each reply as one text."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    for case in cases:
        if isinstance(case.get("reply"), list):
            case["reply"] = "".join(text * times for text, times in case["reply"])
    return cases


def question(case: Case) -> dict[str, Any]:
    """What one_step.py is asked about a case."""
    return {name: case[name] for name in ("reply", "parsed") if name in case}


def wrong(case: Case, outcome: dict[str, Any]) -> str | None:
    """What is wrong with the outcome of a case, or None."""
    if "step" in case:
        right = (
            is_step(case["step"], outcome.get("step"))
            and case.get("python", "") in outcome["python"]
        )
    else:
        right = case["refused"] in outcome.get("refused", "\0")
    said = str(case.get("reply", case.get("parts")))[:200]
    return None if right else f"{case['kind']}: {said!r} became {str(outcome)[:300]}"


def is_step(expected: Any, step: Any) -> bool:
    """Whether a step is the expected one, but for fields that were left out and are null."""
    return json.dumps(expected, sort_keys=True) == json.dumps(_plain(step), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list) else value


ALIASES = {
    "headline": "title",
    "e-mail": "mail",
    "how_urgent": "urgency",
    "urgent": "HIGH",
    'do \\"nothing\\"': "NEVER_MIND",
    "roomId": "room",
    "link": "url",
    "reason": "why",
}


def without_rules(source: str) -> str:
    """The source of owner.baml with neither an @alias nor a @check nor an @assert."""
    checks = re.compile(r"@(?:check|assert)\([^{]*\{\{.*?\}\}\)")
    aliases = re.compile(r'@alias\(\s*\\?"(?:[^"\\]|\\.)*?\\?"\s*\)')
    return aliases.sub("", checks.sub("", source))


def owners_cases_without_rules() -> list[Case]:
    """The cases of owner.jsonl to tools without rules, in the names of Python.

    Left out are those that are refused for a rule, for a name of Python's, or for what BAML bears.
    """
    cases = []
    for case in corpus("owner"):
        is_about_rules = any(f'"{name}"' in str(case.get("reply")) for name in ALIASES.values())
        is_about_rules |= any(
            word in case.get("refused", "") for word in ("rule", "changed", "much")
        )
        if "parsed" in case or (is_about_rules and "step" not in case):
            continue
        text = json.dumps({**case, "reply": ""})
        reply = case["reply"]
        for alias, name in ALIASES.items():
            reply = reply.replace(f'"{alias}"', f'"{name}"')
            text = text.replace(json.dumps(alias)[1:-1], name).replace(alias, name)
        cases.append({**json.loads(text), "reply": reply})
    return cases


def add_owners_tools(project: Path, rules: bool = True) -> None:
    """Add the tools of owner.baml to a project, and generate its client anew."""
    schemas = project / "baml_src"
    source = (FOLDER / "owner.baml").read_text(encoding="utf-8")
    source = source if rules else without_rules(source)
    (schemas / "owner.baml").write_text(source, encoding="utf-8")
    with (schemas / "tools.baml").open("a", encoding="utf-8") as tools:
        tools.write("  | OwnerTools\n")
    generate(project)
