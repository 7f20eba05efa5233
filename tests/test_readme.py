"""The README of this repository is true: its transcripts are what happens, its lists are whole."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from markdown import blocks, codes, rows, sections
from support import (
    REPOSITORY,
    Done,
    agent,
    compatible,
    create_agent,
    environment,
    model_server,
    package_of,
    run,
)

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
ANYTHING = "…"  # a line of a transcript that stands for any number of lines
HOME = "/home/you"
# A model server may run where the tests do, so there AGENT_CLIENT=offline is set.
NOTHING_SET = "no key is set, no local server runs; "
ID = re.compile(r"\b[0-9a-f]{32}\b")


def spoken(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a transcript, each with what came of it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, said = part.partition("\n")
        yield command, said


def as_pattern(said: str) -> re.Pattern[str]:
    """What an output has to look like: the same, but for ids and for lines that say `…`."""
    lines = [
        r"(?:.*\n)*?" if line == f"{ANYTHING}\n" else ID.sub(r"([0-9a-f]{32})", re.escape(line))
        for line in said.splitlines(keepends=True)
    ]
    return re.compile("".join(lines))


@dataclass
class Terminal:
    """A terminal of somebody who types the README.

    ids: those of the README, each with what it is here.
    """

    folder: Path
    env: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)

    def type(self, command: str) -> Done:
        """Run a command where the last one left the terminal."""
        place = self.folder / "place"
        command = ID.sub(lambda found: self.ids[found[0]], command)
        here = (
            place.read_text(encoding="utf-8").strip() if place.exists() else self.folder / "clone"
        )
        return subprocess.run(
            ["sh", "-c", f"{command}\ncode=$?; pwd > {place}; exit $code"],
            cwd=here,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
        )


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal in a clone of this checkout, with pip and uv; AGENT_CLIENT is all that is set."""
    run("git", "clone", "-q", REPOSITORY, "clone", cwd=tmp_path)
    changed = run("git", "ls-files", "-zom", "--exclude-standard", cwd=REPOSITORY).stdout
    for path in filter(None, changed.split("\0")):
        if (REPOSITORY / path).is_file():  # what is not committed yet
            (tmp_path / "clone" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / path, tmp_path / "clone" / path)
    run(sys.executable, "-m", "venv", "environment", cwd=tmp_path)
    uv = Path(sys.executable).with_name("uv")
    (tmp_path / "environment/bin/uv").symlink_to(uv)
    path = f"{tmp_path}/environment/bin:/usr/local/bin:/usr/bin:/bin"
    env = environment(PATH=path, LOGNAME="you", UV_PYTHON=sys.executable)
    del env["DATABASE_URL"]
    return Terminal(tmp_path, env)


def test_the_transcripts_are_what_happens(terminal: Terminal) -> None:
    """Each command, typed in order, says what the README says that it does."""
    typed = 0
    for block in blocks(README, "console"):
        for command, said in spoken(block.text):
            done = terminal.type(command)
            output = done.stdout.replace(str(terminal.folder), HOME)
            said = said.replace(NOTHING_SET, "")
            found = as_pattern(said).fullmatch(output)
            assert found, f"$ {command}\n{output}\nand not\n{said}"
            terminal.ids.update(zip(ID.findall(said), found.groups(), strict=True))
            typed += 1
            stops = "error: " in said or "waiting for a person" in said
            assert stops == bool(done.returncode), command
    assert typed > 8


def test_the_commands_in_a_clone_are_those_of_ci() -> None:
    """scripts/demo and scripts/test, which .ci/run runs."""
    shown = [block.text.strip() for block in blocks(README, "sh")]
    assert ["scripts/demo", "scripts/test"] == shown
    script = (REPOSITORY / ".ci/run").read_text(encoding="utf-8")
    assert shown == re.findall(r"scripts/\w+", re.sub(r"echo.*|#.*", "", script))


def test_the_tree_is_whole(project: Path) -> None:
    """Every file of a new project is in the tree or in a folder of it, and all of it is there."""
    (tree,) = [b.text for b in blocks(README) if b.text.startswith("refund-desk/\n")]
    named: list[str] = []
    folders: dict[int, str] = {}
    for line in tree.splitlines()[1:]:
        depth = len(line) - len(line.lstrip())
        names = re.split(r"  +", line.strip())
        names = [name for name in names if re.fullmatch(r"[\w./-]+", name)]
        above = "".join(folders[d] for d in sorted(folders) if d < depth)
        named += [above + name for name in names]
        folders = {d: name for d, name in folders.items() if d < depth}
        if len(names) == 1 and names[0].endswith("/"):
            folders[depth] = names[0]
    assert [] == [name for name in named if not (project / name).exists()]
    leaves = [
        n for n in named if not any(o != n and n.endswith("/") and o.startswith(n) for o in named)
    ]
    files = [str(p.relative_to(project)) for p in project.rglob("*") if p.is_file()]
    kept = [f for f in files if not re.search(r"^\.git/|__pycache__|^data/", f)]
    assert [] == [
        f for f in kept if not any(f == n or (n.endswith("/") and f.startswith(n)) for n in leaves)
    ]


def test_the_arm_that_is_shown_is_in_the_dispatcher(project: Path) -> None:
    """The lines of Python stand in agent.py."""
    source = (project / "src" / package_of(project) / "agent.py").read_text(encoding="utf-8")
    assert [True] == [block.text in source for block in blocks(README, "python")]


def refused_replies() -> list[str]:
    """The replies of the table of what is refused."""
    table = sections(README)["What the agent refuses, and why"].split("| a moment |")[0]
    return [codes(cell)[0] for cell, _ in rows(table)]


def test_a_table_of_refusals_is_there() -> None:
    """The tests below have something to test."""
    assert len(refused_replies()) > 5


@pytest.mark.parametrize("reply", refused_replies())
def test_what_the_agent_refuses(reply: str, project: Path) -> None:
    """The reply becomes an error for the model, and neither a call that waits nor a payment."""
    done = json.dumps({"intent": "done_for_now", "message": "I cannot."})

    def answer(messages: list[dict[str, Any]]) -> str:
        return done if "<error>" in messages[-1]["content"] else reply

    with model_server(answer) as server:
        asked = agent(project, "ask", "refund order 1", "--json", **compatible(server.url))
    thread = json.loads(asked.stdout)
    kinds = [event["type"] for event in thread["events"]]
    assert "I cannot." == thread["answer"]
    assert "error" in kinds
    assert not {"approval", "tool_response"} & set(kinds)


def test_every_option_is_in_the_table(tmp_path: Path) -> None:
    """The table of `new` has what --help has."""
    table = [cell for cell, _ in rows(sections(README)["Every option"])]
    listed = {code.split()[0] for cell in table for code in codes(cell)}
    shown = create_agent("new", "--help", cwd=tmp_path, COLUMNS="200", NO_COLOR="1").stdout
    known = set(re.findall(r"(?<![\w-])(-i\b|--[a-z-]+)", shown)) - {
        "--help",
        "--interactive",
        "--git",
    }
    assert known == listed


def test_the_name_and_the_python_are_those_of_the_distribution() -> None:
    """What the README says is what pyproject.toml says."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"The distribution is called `{project['name']}`" in README
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in README


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_path_that_is_named_is_there(name: str) -> None:
    """Links and paths of this repository lead somewhere."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    ours = r"\b(?:src|tests|bench|scripts|template|baml_src)/(?:[\w/.-]|\{\{ package }})+"
    named = {path for code in codes(text) for path in re.findall(ours, code) if "NAME" not in path}
    assert len(named) > 5
    places = [REPOSITORY, REPOSITORY / "template"]
    assert [] == [p for p in (*links, *named) if not any((place / p).exists() for place in places)]
