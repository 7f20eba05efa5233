"""Every rule of the guard is needed: without it, a reply of the corpus has another outcome.

Each condition that refuses a reply is made false in turn, found by its syntax, so that a new rule
is checked too. What refuses or accepts in other ways is listed by hand.
"""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile_replies import corpus, question, wrong
from providers import answer
from support import REPOSITORY, one_step, package_of

RUNTIME = REPOSITORY / "template/src/{{ package }}/runtime"
GUARD = ["strict_json.py", "fit.py", "guard.py", "answers.py"]


SHAPES = {"openai": "openai", "anthropic": "anthropic", "google": "google-ai"}


@dataclass(frozen=True)
class Mutation:
    """A module with one rule less. rule: what is taken away, in words of the source."""

    module: str
    rule: str
    source: str


def refusing_conditions(module: str) -> Iterator[Mutation]:
    """The module with one `if` that ends in a refusal made false, for each of them."""
    source = (RUNTIME / module).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and refuses(node.body[-1]):
            condition = ast.get_source_segment(source, node.test)
            assert condition is not None
            if isinstance(node.test, ast.NamedExpr):
                name = ast.get_source_segment(source, node.test.target)
                yield replaced(module, f"if {condition}:", f"if {name} := None:")
            else:
                yield replaced(module, f"if {condition}:", "if False:")


def refuses(statement: ast.stmt) -> bool:
    """Whether a statement raises an error."""
    return isinstance(statement, ast.Raise)


def replaced(module: str, old: str, new: str) -> Mutation:
    """The module with a piece of its source replaced. It must be there once."""
    source = (RUNTIME / module).read_text(encoding="utf-8")
    assert 1 == source.count(old), f"{module} has {source.count(old)} times: {old}"
    return Mutation(module, old, source.replace(old, new))


BY_HAND = [
    ("strict_json.py", r'.removeprefix("\ufeff")', ""),
    ("strict_json.py", "begin and begin.start() > start", "False"),
    ("strict_json.py", "        start = end.end()\n", "        break\n"),
    ("strict_json.py", "text = text[: marks.start()].rstrip()", "pass"),
    ("strict_json.py", "if fence := _FENCE.match(text):", "if fence := None:"),
    ("strict_json.py", ".removesuffix(fence[0][:3])", ""),
    ("strict_json.py", "(?:json[5cl]?|javascript|js|plaintext|text|txt)?", r"\w*"),
    ("strict_json.py", "object_pairs_hook=_object,", ""),
    ("strict_json.py", "parse_int=exact_number,", ""),
    ("strict_json.py", "parse_float=exact_number,", ""),
    ("strict_json.py", "parse_constant=_no_constant,", ""),
    ("strict_json.py", "strict=False,", ""),
    ("strict_json.py", "_NUMBER.fullmatch(text)", "_NUMBER.match(text)"),
    ("strict_json.py", "_NUMBER.fullmatch(text)", "_NUMBER.search(text)"),
    ("strict_json.py", "    _check_size(text, limits)\n", ""),
    ("strict_json.py", "    _check_characters(text, written)\n", ""),
    ("strict_json.py", "Decimal(repr(value)) == Decimal(text)", "True"),
    ("strict_json.py", r"(?<!\\)(?:\\\\)*", ""),
    ("strict_json.py", r'text.isascii() and "\\u" not in text', "True"),
    ("guard.py", "not isinstance(intent, str) or intent not in tools.classes", "False"),
    ("guard.py", "meant = fit(written, cls, tools.names, tools.most_work)", "meant = written"),
    ("shape.py", " and meant.keys() <= fields_of(kind, names).keys()", ""),
    ("shape.py", "all(says(got.get(n), meant.get(wire), names) for", "all(True for"),
    ("shape.py", "meant.get(wire)", "meant.get(wire, got.get(n))"),
    ("shape.py", "got.get(n), ", "got.get(n, meant.get(wire)), "),
    ("shape.py", "same = keys.keys() == meant.keys()", "same = True"),
    ("shape.py", "all(says(value[keys[key]], each, names) for", "all(True for"),
    ("shape.py", "len(value) == len(meant) and ", ""),
    ("shape.py", "all(says(one, other, names) for", "all(True for"),
    ("shape.py", " and (kind is bool) == (type(meant) is bool)", ""),
    ("shape.py", "bool(value == meant) and", "type(value) is type(meant) and value == meant and"),
    ("shape.py", "bool(value == meant) and", ""),
    ("shape.py", "return bool(said(value, names) == meant)", "return True"),
    ("shape.py", "return says(cast(Any, value).value, meant, names)", "pass"),
    ("fit.py", "name not in fields and value[name] is not None", "name not in fields"),
    ("fit.py", "self.changes += name not in fields", "pass"),
    ("fit.py", "key=lambda each: each[0]", "key=lambda each: 0"),
    ("fit.py", "self.changes += isinstance(value, str) or", "self.changes +="),
    ("fit.py", "or (member is int and isinstance(value, float))", ""),
    ("fit.py", "self.spend(weight, path)", "pass"),
    ("fit.py", "name in value or field.has_check", "name in value"),
    (
        "fit.py",
        "isinstance(value, int | float) and not isinstance(value, bool)",
        "isinstance(value, int | float)",
    ),
    (
        "fit.py",
        "return is_number or (isinstance(value, str) and is_numeral(value))",
        "return is_number",
    ),
    ("fit.py", "type(value) is type(each) and value == each", "value == each"),
    ("fit.py", "abs(number) > MAX_INTEGER", "False"),
    ("fit.py", "number != int(number)", "False"),
    ("fit.py", "len(known) + 10 * len(same)", "0"),
    ("shape.py", 'return members_of(annotation.model_fields["value"].annotation)', "pass"),
    ("shape.py", "annotation = found if is_class(found) else annotation", "pass"),
    ("shape.py", " and NoneType not in members", ""),
    ("shape.py", "return said(cast(Any, value).value, names)", "pass"),
    ("shape.py", "return names.member(value)", "return value.value"),
    ("shape.py", "wire[name]: said(each", "name: said(each"),
    (
        "schema_source.py",
        "found.has_rules |= bool(_DEFINES.search(text) and _RULE.search(text))",
        "pass",
    ),
    ("schema_source.py", r"(?P<comment>\{//.*?//\}|//[^\n]*)|", ""),
    ("schema_source.py", r"|(?P<jinja>\{\{.*?\}\})", ""),
    ("schema_source.py", "str(json.loads(token[0], strict=False))", "token[0][1:-1]"),
    ("answers.py", 'not part.get("thought") and ', ""),
    ("answers.py", '"thinking", "redacted', '"redacted'),
    ("answers.py", "if (text := _text_of(block))", "if (text := _text_of(block)) is not None"),
]

FOUND = [mutation for module in GUARD for mutation in refusing_conditions(module)]


@pytest.fixture(scope="module")
def project(owners_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the owner's tools, to take rules away from."""
    copy = tmp_path_factory.mktemp("mutated") / owners_project.name
    shutil.copytree(owners_project, copy)
    return copy


def mistakes(project: Path) -> list[str]:
    """What is wrong with the outcomes of the corpus."""
    replies, questions = [*corpus("replies"), *corpus("owner")], []
    cases = []
    for case in replies:
        if "finish" in case:  # BAML's to notice
            continue
        if "parts" in case:
            asked = [
                {"answer": answer(shape, case["parts"]), "provider": provider}
                for shape, provider in SHAPES.items()
            ]
        else:
            asked = [question(case)]
        questions += asked
        cases += [case] * len(asked)
    try:
        outcomes = one_step(project, questions, timeout=30)
    except (AssertionError, subprocess.TimeoutExpired) as end:
        if "SettingsError: baml_src: " not in str(end):  # the schema's own check at the start
            one_step(project, [{"reply": ""}])  # a mutation that cannot even be imported is none
        return [str(end)]
    return [found for pair in zip(cases, outcomes, strict=True) if (found := wrong(*pair))]


def test_the_guard_makes_no_mistake(project: Path) -> None:
    """With every rule in place, every outcome is right."""
    assert [] == mistakes(project)


@pytest.mark.parametrize("mutation", FOUND, ids=lambda m: f"{m.module}: {m.rule[:60]}")
def test_a_condition_less_is_noticed(mutation: Mutation, project: Path) -> None:
    """Without a condition that refuses at least one outcome is wrong."""
    assert mistakes_with(mutation, project)


@pytest.mark.parametrize("change", BY_HAND, ids=lambda c: f"{c[0]}: {c[1][:60]}")
def test_a_rule_less_is_noticed(change: tuple[str, str, str], project: Path) -> None:
    """Without any other rule at least one outcome is wrong."""
    assert mistakes_with(replaced(*change), project)


def mistakes_with(mutation: Mutation, project: Path) -> list[str]:
    """What is wrong with the outcomes of the corpus once the project is mutated."""
    module = project / "src" / package_of(project) / "runtime" / mutation.module
    original = module.read_bytes()
    module.write_text(mutation.source, encoding="utf-8")
    try:
        return mistakes(project)
    finally:
        module.write_bytes(original)
