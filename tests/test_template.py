"""The template keeps to its own rules: few tags, small modules, plain names."""

import re
from pathlib import Path

import pytest
from support import REPOSITORY, package_of

TEMPLATE = REPOSITORY / "template"
PACKAGE = TEMPLATE / "src/{{ package }}"


def tagged(path: Path) -> list[str]:
    """The lines of a template file that carry a tag."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "{{" in line or "{%" in line]


def test_only_two_modules_of_the_package_carry_tags() -> None:
    """agent.py and policy.py are rendered; every other module is plain Python."""
    assert {"agent.py.jinja", "policy.py.jinja"} == {p.name for p in PACKAGE.rglob("*.jinja")}


@pytest.mark.parametrize("name", ["agent.py.jinja", "policy.py.jinja"])
def test_tags_are_few_and_about_tool_sets(name: str) -> None:
    """At most a tenth of the lines carries a tag, and each is about the tool sets."""
    lines = (PACKAGE / name).read_text(encoding="utf-8").splitlines()
    found = tagged(PACKAGE / name)
    assert len(found) <= len(lines) / 10
    assert [] == [line for line in found if "tools" not in line and "endif" not in line]


def test_tests_carry_the_package_name_only() -> None:
    """In the project's tests a tag is the name in an import."""
    for path in (TEMPLATE / "tests").glob("*.jinja"):
        assert [] == [x for x in tagged(path) if x.count("{{ package }}") != x.count("{") / 2], path


def test_a_prompt_is_never_rendered() -> None:
    """A .baml file with a prompt has no .jinja suffix: Jinja would eat its tags."""
    for path in TEMPLATE.rglob("*.baml.jinja"):
        assert "prompt" not in path.read_text(encoding="utf-8")


def test_the_project_stays_small(project: Path) -> None:
    """The owner's zone has at most 350 lines, and no module more than 250."""
    package = project / "src" / package_of(project)
    modules = [p for p in package.rglob("*.py") if "baml_client" not in p.parts]
    lines = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in modules}
    assert max(lines.values()) <= 250
    owned = [package / "agent.py", package / "policy.py", *(package / "tools").glob("*.py")]
    assert sum(lines[path] for path in owned) <= 350
    assert len((project / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 30


def test_every_module_opens_with_its_purpose(project: Path) -> None:
    """The first line of each module is the beginning of its docstring."""
    package = project / "src" / package_of(project)
    for path in package.rglob("*.py"):
        if "baml_client" not in path.parts:
            assert path.read_text(encoding="utf-8").startswith('"""'), path


def test_only_baml_py_calls_baml(project: Path) -> None:
    """Other modules than runtime/baml.py import the generated types and nothing else of BAML."""
    package = project / "src" / package_of(project)
    for path in package.rglob("*.py"):
        if "baml_client" in path.parts or path.name == "baml.py":
            continue
        text = path.read_text(encoding="utf-8")
        imports = re.findall(r"^ *(?:from|import) .*\bbaml_(?:client|py)\b.*", text, re.MULTILINE)
        only_types = re.compile(r"baml_client import types( as \w+)?$")
        assert [] == [each for each in imports if not only_types.search(each)], path
