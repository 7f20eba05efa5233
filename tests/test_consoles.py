"""Wherever create-agent prints: the same exit codes, the same words, and nothing that a pipe, a
dumb terminal or a narrow one turns into noise.
"""

import os
import sys
from pathlib import Path

import pytest
from support import Done, create_agent, path_with, run, tree

CONSOLES = {
    "plain": {},
    "C": {"LC_ALL": "C"},
    "POSIX, and no help from Python": {
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "no colour": {"NO_COLOR": "1"},
    "colour": {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "PY_COLORS": "1"},
    "dumb": {"TERM": "dumb"},
    "no TERM": {"TERM": ""},
    "narrow": {"COLUMNS": "40", "LINES": "10", "TERMINAL_WIDTH": "40"},
    "GitHub": {"GITHUB_ACTIONS": "true", "CI": "true"},
    "warnings": {"PYTHONWARNINGS": "default", "PYTHONDEVMODE": "1"},
    "BAML": {"BAML_LOG": "trace", "RUST_BACKTRACE": "full", "RUST_LOG": "trace"},
}
COMMANDS = [
    (0, ("--help",)),
    (0, ("new", "--help")),
    (0, ("--version",)),
    (0, ("tools",)),
    (0, ("new", "[bold]/refund-desk", "--no-git")),
    (2, ("new", "[bold]/refund-desk")),
    (0, ("new", "[bold]/été/refund-desk", "--no-git", "--json")),
    (2, ("new",)),
    (2, ("new", "-i")),
    (2, ("new", "x", "--nonsense")),
    (2, ("nonsense",)),
    (2, ()),
]


def said(name: str, folder: Path) -> list[Done]:
    """What each command says on a console."""
    folder.mkdir()
    here = {"PWD": str(folder), **CONSOLES[name]}
    return [create_agent(*words, cwd=folder, check=False, **here) for _, words in COMMANDS]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Done]]:
    """A folder, and what the commands say when nothing is odd."""
    folder = tmp_path_factory.mktemp("plain") / "here"
    return folder, said("plain", folder)


@pytest.mark.parametrize("name", CONSOLES)
def test_a_console_changes_no_word(
    name: str, tmp_path: Path, plain: tuple[Path, list[Done]]
) -> None:
    """The exit codes, the texts and the files are those of a plain console; only a narrow one
    breaks the lines of the help.
    """
    folder = tmp_path / "here"
    outcomes = said(name, folder)
    assert [code for code, _ in COMMANDS] == [done.returncode for done in outcomes]
    for expected, found in zip(plain[1], outcomes, strict=True):
        for stream in ("stdout", "stderr"):
            text = getattr(found, stream).replace(str(folder), str(plain[0]))
            wanted = getattr(expected, stream)
            if name == "narrow" and "Usage:" in wanted:  # folded, and a summary cut short
                assert max(len(line) for line in text.splitlines()) <= 80
            else:
                assert wanted == text
    assert tree(plain[0]) == tree(folder)


def test_a_path_is_printed_as_it_is(plain: tuple[Path, list[Done]]) -> None:
    """Square brackets are no markup, and a command is one line however long it is."""
    folder, outcomes = plain
    made = outcomes[4].stdout.splitlines()
    assert f"Created {folder}/[bold]/refund-desk with" in made[0]
    assert "  cd '[bold]/refund-desk'" in made
    (question,) = [line for line in made if "ask" in line]
    assert question.endswith('then add 12 to that result?"')


def test_without_a_terminal_nothing_is_asked(plain: tuple[Path, list[Done]]) -> None:
    """The defaults are named, and one line says what is missing and how to give it."""
    made, missing, asked = (plain[1][i] for i in (4, 7, 8))
    assert "every tool set (--tools), the agent looks for a model (--provider)" in made.stdout
    assert "the folder of the new project is missing; give it, as in" in missing.stderr
    assert "there is no terminal to ask on" in asked.stderr
    assert 1 == missing.stderr.count("\n") == asked.stderr.count("\n")


def test_defaults_that_were_not_used_are_not_named(tmp_path: Path) -> None:
    """What was chosen is no default."""
    chosen = ("--tools", "human", "--provider", "offline")
    done = create_agent("new", "refund-desk", *chosen, cwd=tmp_path)
    assert "By default" not in done.stdout


@pytest.mark.parametrize("shell", ["$new >&-", "$new 2>&-", "$new <&-", "$new >&- 2>&- <&-"])
def test_closed_streams_are_no_reason_to_fail(shell: str, tmp_path: Path) -> None:
    """A project is made, whatever cannot be printed."""
    new = f"'{sys.executable}' -m create_agent new refund-desk"
    done = run("/bin/sh", "-c", shell.replace("$new", new), cwd=tmp_path)
    assert "" == done.stderr
    assert (tmp_path / "refund-desk/src/refund_desk/agent.py").is_file()


@pytest.mark.parametrize("shell", ["$new > /dev/full", "$new --json > /dev/full"])
def test_a_stdout_that_is_full_is_one_line(shell: str, tmp_path: Path) -> None:
    """What could not be told is an error that says where the project is, and no traceback."""
    new = f"'{sys.executable}' -m create_agent new refund-desk"
    done = run("/bin/sh", "-c", shell.replace("$new", new), cwd=tmp_path, check=False)
    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert f"error: the project is in {tmp_path}/refund-desk, but stdout took" in done.stderr
    assert (tmp_path / "refund-desk/.git").is_dir()


@pytest.mark.parametrize("end", ["2> /dev/full", "2>&-"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "desk --dry-run"),
        (0, "desk --no-server --verify"),
        (2, "json"),
        (2, "desk --nonsense"),
        (2, ""),
    ],
)
def test_a_stderr_that_takes_nothing_changes_no_exit_code(
    code: int, words: str, end: str, tmp_path: Path
) -> None:
    """Messages may be lost; what is done, and the exit code, are the same."""
    new = f"'{sys.executable}' -m create_agent new {words} {end}"
    path = path_with("uv", folder=tmp_path / "bin")
    done = run("/bin/sh", "-c", new, cwd=tmp_path, check=False, PATH=path)
    assert (code, "") == (done.returncode, done.stderr)
    assert ("verify" in words) == (tmp_path / "desk/.git").is_dir()


def test_a_reader_that_leaves_is_no_error_message(tmp_path: Path) -> None:
    """`| true` and `| head` are quiet."""
    new = f"'{sys.executable}' -m create_agent new refund-desk --dry-run"
    assert "" == run("/bin/sh", "-c", f"{new} 2>/dev/null | true", cwd=tmp_path).stderr
    done = run("/bin/sh", "-c", f"{{ {new}; }} | true", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_folder_of_any_bytes_is_printed(tmp_path: Path) -> None:
    """A path that is not UTF-8 is spelled out, and the project in it is made, or one line says why
    not and nothing is left.
    """
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    for words in (("new", "refund-desk"), ("new", "other-desk", "--json")):
        done = run(sys.executable, "-m", "create_agent", *words, cwd=Path(os.fsdecode(folder)))
        assert "xff" in done.stdout or "dcff" in done.stdout
