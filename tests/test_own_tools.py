"""Tools that an owner adds: what is logged, shown and run is what was written, or a line says why
not.
"""

import json
import re
import shutil
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest
from hostile_replies import add_owners_tools, corpus, is_step, owners_cases_without_rules
from support import agent, generate, importing, one_step

ACCEPTED = [case for case in corpus("owner") if "step" in case and "parsed" not in case]


@pytest.fixture(scope="module")
def runtime(owners_project: Path) -> Any:
    """The agent's modules of the project with the owner's tools."""
    names = ("baml", "database", "guard", "json_schema", "prompt", "settings", "steps", "store")
    names = (*names, "thread")
    with importing(owners_project):
        found = {name: import_module(f"owner_desk.runtime.{name}") for name in names}
    return SimpleNamespace(**found)


def test_what_is_logged_and_run_is_what_was_written(runtime: Any) -> None:
    """A call's log entry is the reply in the model's words, and the step built from it the same."""
    for case in ACCEPTED:
        step = runtime.guard.read_step(case["reply"], runtime.baml.tools(), runtime.settings.USUAL)
        memory = runtime.database.Database(runtime.database.IN_MEMORY)
        thread = runtime.thread.Thread.create(runtime.store.Store(memory))
        thread.add_user_input("do it")
        thread.add_call(step, {})
        thread.save()
        thread.refresh()
        logged = json.loads(json.dumps(thread.events[1].data))
        assert is_step(case["step"], logged)
        assert repr(step) == repr(thread.open_call().step)
        assert ("tool_call", logged) == runtime.prompt.parse(runtime.prompt.render(thread.events))[
            1
        ]


def test_the_json_schema_speaks_the_models_words(runtime: Any) -> None:
    """Aliases, enums, checks and classes that hold themselves are in the schema of a step."""
    tools = runtime.baml.tools()
    schema = runtime.json_schema.step_schema(tools.classes.values(), tools.names)
    by_intent = {each["properties"]["intent"]["enum"][0]: each for each in schema["anyOf"]}
    book, visit = by_intent["book"]["properties"], by_intent["visit"]
    assert ["intent", "roomId", "seats"] == list(book)[:3]
    assert {"type": "integer"} == book["seats"]
    assert ["link", "reason"] == list(visit["properties"])[1:3]
    assert "count" not in visit["required"]
    assert ["LOW", "urgent", 'do "nothing"'] == schema["$defs"]["Issue"]["properties"][
        "how_urgent"
    ]["enum"]
    assert {"$ref": "#/$defs/Step"} == schema["$defs"]["Step"]["properties"]["parts"]["items"]


def test_a_class_that_fits_everything_is_not_taken_for_a_map(tmp_path: Path, project: Path) -> None:
    """Where the types make something else of a value, BAML is asked; it stays what was written."""
    source = "class Any {\n  v int?\n  w string?\n}\n"
    source += 'class Mine {\n  intent "mine"\n  x Any | map<string, string>\n}\n'
    copy = with_tools(project, tmp_path, source, "Mine")
    for x in ({"P": "a"}, {"v": 1}, {}):
        (outcome,) = one_step(copy, [{"reply": json.dumps({"intent": "mine", "x": x})}])
        assert is_step({"intent": "mine", "x": x}, outcome.get("step")), outcome


def with_tools(project: Path, folder: Path, source: str, union: str) -> Path:
    """A copy of a project with these classes and members of its union added."""
    copy = folder / project.name
    shutil.copytree(project, copy)
    (copy / "baml_src/mine.baml").write_text(source, encoding="utf-8")
    with (copy / "baml_src/tools.baml").open("a", encoding="utf-8") as tools:
        tools.write(f"  | {union}\n")
    generate(copy)
    return copy


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("x int", "Mine is no tool: its intent"),
        ("intent string", "Mine is no tool: its intent"),
        ('intent "a" | "b"', "Mine is no tool: its intent"),
        ("intent 5", "Mine is no tool: its intent"),
        ('intent "mine" @check(c, {{ true }})', "Mine is no tool: its intent"),
        ('intent "mine"\n  @@check(c, {{ true }})', "no tool: its intent"),
        ('intent "mine" @alias("action")', "Mine has an @alias on intent"),
        ('intent "done_for_now"', "have the intent 'done_for_now'"),
        ('intent "mine"\n  x Positive?', "BAML may drop the @assert of"),
        ('intent "mine"\n  x int @assert(p, {{ this > 0 }}) | string', "the @assert of Mine.x"),
        ('intent "mine"\n  x int @alias("y")\n  y int?', "two fields of Mine are written 'y'"),
        ('intent "mine"\n  x Level', "two values of Level are written the same"),
        ('intent "mine"\n  x map<Named, int>', "no map whose keys are Named"),
        ('intent "mine" x int @alias("ex")', "the fields of Mine cannot be told apart"),
        ('intent "mine"\n  x int @alias(foo-bar)', "the text of Mine.x is not in quotes"),
        ('intent "mine"\n  x int @alias("f\\u00e9")', "the text of Mine.x is not in quotes"),
        ('intent "mine"\n  x int @description(say "hi)\n  y int @alias("z")', "the text of Mine.x"),
        ('intent "mine"\n  x (int @ assert(p, {{ this > 0 }})) | string', "the @assert of Mine.x"),
        (
            'intent "mine"\n  x string @description("a\\\\" b")\n'
            '  y (int @assert(p, {{ this > 0 }}) | string)[]\n  z int @description("ok")',
            "the @assert of Mine.y",
        ),
        ('intent "mine"\n  x Check @check(p, {{ true }})\n}\nclass Check {\n  v int', "name Check"),
        ('intent "mine"\n  x (int, string)', "Mine.x has a type that BAML cannot show"),
        ('intent "mine"\n  x (true | int)[]', "Mine.x mixes true or false with numbers"),
        ('intent "mine"\n  x 0 | 1 | bool', "Mine.x mixes true or false with numbers"),
        (
            'intent "mine"\n  x map<Level, int> | map<string, string>\n  y int @alias("z")\n}\n'
            "enum Level {\n  HIGH",
            "the maps of Mine.x",
        ),
        (
            'intent "mine"\n  x (int @assert(p, {{ this > 0 }})) | string',
            "BAML may drop the @assert of",
        ),
    ],
)
def test_a_tool_that_cannot_be_read_is_named(
    fields: str, told: str, tmp_path: Path, project: Path
) -> None:
    """One line, exit 1, no traceback, whatever is asked."""
    source = f"class Mine {{\n  {fields}\n}}\n"
    if "Positive" in fields:
        source += "type Positive = int @assert(positive, {{ this > 0 }})\n"
    source += 'enum Named {\n  A @alias("a")\n}\n'
    if "x Level" in fields:
        source += 'enum Level {\n  LOW @alias("HIGH")\n  HIGH\n}\n'
    copy = with_tools(project, tmp_path, source, "Mine")
    for words in (["tools"], ["ask", "hello"]):
        done = agent(copy, *words, check=False)
        assert (1, "") == (done.returncode, done.stdout)
        assert done.stderr.splitlines()[-1].startswith("error: baml_src: ")
        assert told in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("member", ["Mine[]", "Mine?", "string", '"x"', "map<string, Mine>"])
def test_a_member_of_the_union_that_is_no_class_is_named(
    member: str, tmp_path: Path, project: Path
) -> None:
    """One line, exit 1, no traceback."""
    source = 'class Mine {\n  intent "mine"\n}\n'
    copy = with_tools(project, tmp_path, source, member)
    done = agent(copy, "tools", check=False)
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("error: baml_src: ")
    assert 1 == done.stderr.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        "{// Old tools:\nclass Old { x int @assert(a, {{ 1 }}) | string\n//}\n"
        'class Mine {\n  intent "mine"\n  x int @alias("ex")\n}\n',
        'class Mine {\n  intent "mine"\n  x int @ alias("ex")\n}\n',
        'class Mine {\n  intent "mine" @description("a\\\\" b")\n  x int @alias("ex")\n}\n',
        'class Mine {\n  intent "mine" // the name\n  x int @alias(#" ex "#)\n}\n',
        'class Mine {\n  /// with @alias("no")\n  intent "mine"\n  x int\n    @alias("ex")\n}\n',
        'class Mine {\n  type (int @assert(p, {{ this > 0 }}))[]\n  intent "mine"\n'
        '  x int @alias("ex")\n}\n',
        'class Mine { intent "mine"\n  x int @description("x | y") @assert(p, {{ this > 0 or 1 }})'
        ' @alias("ex") }\n',
    ],
)
def test_a_schema_that_is_fine_is_read(source: str, tmp_path: Path, project: Path) -> None:
    """However it is laid out, a tool's call is read by the names that the model is shown."""
    copy = with_tools(project, tmp_path, source, "Mine")
    reply = {"intent": "mine", "ex": 1, **({"type": [2]} if "type (" in source else {})}
    (outcome,) = one_step(copy, [{"reply": json.dumps(reply)}])
    assert reply == outcome["step"], outcome


TEST = """test Says {
  functions [DetermineNextStep]
  args {
    thread #"
      hello
    "#
  }
  @@assert(ends, {{ this.intent == "done_for_now" }})
}
"""


@pytest.mark.parametrize(
    "source",
    [
        'class Mine {\n  intent "mine"\n  x int @assert(small, {{ this < 5 }})\n}\n',
        'class Mine {\n  intent "mine"\n  x int\n  @@assert(small, {{ this.x < 5 }})\n}\n',
        'class Mine {\n  intent "mine"\n  x int @ assert(small, {{ this < 5 }})\n}\n',
        'class Mine {\n  intent "mine"\n  x int\n  @@\tassert(small, {{ this.x < 5 }})\n}\n',
        'class Mine {\n  intent "mine" @description(#"as in\ntest foo {\n"#)\n'
        "  x int @assert(small, {{ this < 5 }})\n}\n",
        f'{TEST}class Mine {{\n  intent "mine"\n  x int @assert(small, {{{{ this < 5 }}}})\n}}\n',
        f'{TEST}class Mine {{\n  test string?\n  intent "mine"\n'
        f"  x int @assert(small, {{{{ this < 5 }}}})\n}}\n",
    ],
)
def test_a_rule_is_kept_wherever_it_stands(source: str, tmp_path: Path, project: Path) -> None:
    """The only rule of a schema refuses what breaks it, and nothing else."""
    copy = with_tools(project, tmp_path, source, "Mine")
    replies = ['{"intent": "mine", "x": 4}', '{"intent": "mine", "x": 5}']
    kept, broken = one_step(copy, [{"reply": reply} for reply in replies])
    assert 4 == kept["step"]["x"]
    assert "mine: a value breaks a rule of the schema; follow it exactly" == broken["refused"]


def test_a_type_that_cannot_be_verified_is_an_error_at_the_start(
    tmp_path: Path, project: Path
) -> None:
    """A tool that no reply could call is named, whatever command is given."""
    source = 'type Js = int | Js[]\nclass Any {\n  intent "any"\n  value Js\n}\n'
    copy = with_tools(project, tmp_path, source, "Any")
    for words in (("tools",), ("ask", "add 3 and 4")):
        done = agent(copy, *words, check=False)
        assert (1, "") == (done.returncode, done.stdout)
        where = "error: baml_src: Any.value has a type whose values cannot be verified; use plain"
        assert where in done.stderr


def test_a_value_that_is_skipped_is_not_the_models_to_choose(tmp_path: Path, project: Path) -> None:
    """An enum's value with @skip is neither in the schema that is sent nor taken from a reply."""
    source = "enum Size {\n  S\n  M\n  XXL @skip\n}\n"
    source += 'class Shirt {\n  intent "shirt"\n  size Size\n  left map<Size, int>\n}\n'
    copy = with_tools(project, tmp_path, source, "Shirt")
    schema = json.loads(agent(copy, "tools", "--json").stdout)["shirt"]["properties"]
    assert ["S", "M"] == schema["size"]["enum"] == list(schema["left"]["properties"])
    assert schema["left"]["additionalProperties"] is False
    steps = [{"intent": "shirt", "size": size, "left": {size: 1}} for size in ("M", "XXL")]
    taken, refused = one_step(copy, [{"reply": json.dumps(step)} for step in steps])
    assert steps[0] == taken["step"]
    assert 'write "S" or "M"' in refused["refused"]


BEYOND_JSON_SCHEMA = (
    *("rule", "changed", "too ", "much", "deep", "characters", "not whole"),
    *("NUL", "surrogate", "beyond", "kept exactly"),
)
QUOTED = re.compile(r'"-?\d[\d.e]*"')


@pytest.mark.parametrize("rules", [True, False])
def test_the_json_schema_allows_what_the_guard_takes(
    rules: bool, owners_project: Path, project: Path, tmp_path: Path
) -> None:
    """Of the replies of the corpora that are one plain JSON object both say the same.

    Left out is what JSON Schema cannot say: rules, limits, texts and numbers that cannot be kept;
    and where the guard takes more than it asks for: a number in quotes, the nulls of another tool.
    """
    with_rules, without = owners_project, tmp_path / project.name
    if not rules:
        shutil.copytree(project, without)
        add_owners_tools(without, rules=False)
    copy = with_rules if rules else without
    cases = corpus("owner") if rules else owners_cases_without_rules()
    cases = [case for case in [*cases, *corpus("replies")] if is_plain(case)]
    schemas = json.loads(agent(copy, "tools", "--json").stdout)
    found = set()
    for case in cases:
        reply = json.loads(case["reply"])
        schema = schemas.get(reply.get("intent")) if isinstance(reply.get("intent"), str) else None
        allowed = schema is not None and jsonschema_rs.is_valid(schema, reply)
        if any(words in case.get("refused", "") for words in BEYOND_JSON_SCHEMA):
            continue
        if "step" in case and (QUOTED.search(case["reply"]) or "null of" in case["kind"]):
            continue
        assert ("step" in case) == allowed, case
        found.add(allowed)
    assert found == {True, False}
    assert len(cases) > 50


def is_plain(case: dict[str, Any]) -> bool:
    """Whether a case is a reply that is one JSON object, each name in it once, and numbers that
    every reader of JSON takes for the same.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a name stands there twice")
        return dict(pairs)

    def refuse(text: str) -> Any:
        raise ValueError(text)

    def broken(text: str) -> float:
        return refuse(text) if float(text).is_integer() else float(text)  # 3.0 is a 3 there

    hooks: dict[str, Any] = {"object_pairs_hook": once, "parse_constant": refuse}
    try:
        reply = json.loads(case["reply"], parse_float=broken, **hooks)
        json.dumps(reply).encode()
    except (KeyError, ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and "parsed" not in case
