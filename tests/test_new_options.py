"""The options of `create-agent new`, one by one; --tools is in test_new.py."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
import tomllib
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest
import yaml
from support import (
    adding,
    agent,
    create_agent,
    environment,
    everything,
    faults,
    path_with,
    run,
    start,
    tree,
)

from create_agent import __version__


def test_name_is_the_projects_whatever_the_folder_is_called(tmp_path: Path) -> None:
    """--name is what pip, the command and the package are called."""
    done = create_agent("new", "a folder", "--name", "refund-desk", cwd=tmp_path)
    project = tomllib.loads((tmp_path / "a folder/pyproject.toml").read_text(encoding="utf-8"))
    assert {"refund-desk": "refund_desk.runtime.cli:main"} == project["project"]["scripts"]
    assert "  cd 'a folder'\n" in done.stdout
    assert "/refund-desk ask " in done.stdout


def test_provider_is_named_in_env(tmp_path: Path) -> None:
    """--provider sets AGENT_CLIENT, and the output says what else it needs."""
    done = create_agent("new", "refund-desk", "--provider", "anthropic", cwd=tmp_path)
    env = (tmp_path / "refund-desk/.env").read_text(encoding="utf-8").splitlines()
    assert "AGENT_CLIENT=anthropic" in env
    assert "Note: anthropic needs ANTHROPIC_API_KEY in the project's .env." in done.stdout


def test_no_git_starts_no_repository(tmp_path: Path) -> None:
    """--no-git leaves git alone; everything else is the same."""
    create_agent("new", "refund-desk", "--no-git", cwd=tmp_path)
    assert not (tmp_path / "refund-desk/.git").exists()
    (tmp_path / "with").mkdir()
    create_agent("new", "refund-desk", cwd=tmp_path / "with")
    assert tree(tmp_path / "with/refund-desk") == tree(tmp_path / "refund-desk")


@pytest.mark.parametrize("tools", ["human", "human,calculator,customer-support"])
def test_dry_run_lists_what_would_be_made(tools: str, tmp_path: Path) -> None:
    """--dry-run prints the files that new makes, a path a line, and writes nothing."""
    words = ("new", "a/refund-desk", "--tools", tools)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = create_agent(*words, "--dry-run", cwd=tmp_path, TMPDIR=str(temporary))
    assert [temporary] == list(tmp_path.rglob("*"))
    assert "Nothing was written" in done.stderr
    create_agent(*words, cwd=tmp_path)
    assert sorted(tree(tmp_path / "a/refund-desk")) == sorted(done.stdout.splitlines())


@pytest.mark.parametrize("target", ["missing", "used"])
def test_dry_run_touches_no_target(target: str, tmp_path: Path) -> None:
    """Neither a new folder nor one that is there is touched, also when signals come."""
    if target == "used":
        (tmp_path / "used").mkdir()
        (tmp_path / "used/notes.txt").write_text("mine", encoding="utf-8")
    before = everything(tmp_path), tmp_path.stat().st_mtime_ns
    create_agent("new", target, "--name", "refund-desk", "--dry-run", cwd=tmp_path)
    assert before == (everything(tmp_path), tmp_path.stat().st_mtime_ns)


@pytest.mark.parametrize("dry_run", [True, False])
def test_json_is_a_receipt(dry_run: bool, tmp_path: Path) -> None:
    """--json prints one object on stdout: where, what, with what, and what to do next."""
    words = ("new", "a/my desk", "--name", "refund-desk", "--tools", "calculator", "--json")
    words += ("--dry-run",) if dry_run else ()
    binaries = path_with(folder=tmp_path / "bin")
    done = create_agent(*words, cwd=tmp_path, PATH=binaries)
    receipt = json.loads(done.stdout)
    assert "" == done.stderr
    project = tmp_path / "a/my desk"
    assert {
        "path": str(project),
        "name": "refund-desk",
        "package": "refund_desk",
        "sets": ["human", "calculator"],
        "server": True,
        "provider": None,
        "defaults": ["--provider"],
        "dry_run": dry_run,
        "versions": {"create-agent": __version__, "baml-py": version("baml-py")},
        "note": None,
        "verified": None,
        "tried": None,
    } == {name: value for name, value in receipt.items() if name not in ("files", "next")}
    if dry_run:
        assert not project.exists()
        assert [] == receipt["next"]
    else:
        assert sorted(tree(project)) == receipt["files"]
        assert "cd 'a/my desk'" == receipt["next"][0]
        install = ".venv/bin/pip install -e '.[dev]'"  # as in the project's README, which is typed
        assert receipt["next"][1].endswith(f"-m venv .venv && {install}")
        assert ".venv/bin/pytest" == receipt["next"][-1]


def test_the_next_commands_of_a_receipt_work(tmp_path: Path) -> None:
    """Typed into a shell one after the other, they install, ask and test the project."""
    path = f"{path_with('uv', folder=tmp_path / 'bin')}:{os.environ['PATH']}"
    receipt = json.loads(create_agent("new", "my desk/x", "--json", cwd=tmp_path, PATH=path).stdout)
    assert "uv run pytest" == receipt["next"][-1]
    script = " && ".join(receipt["next"])
    done = run("/bin/sh", "-c", script, cwd=tmp_path, PATH=path)
    assert done.stdout.startswith("18\n")
    assert " passed" in done.stdout


def test_json_says_nothing_on_stdout_when_it_fails(tmp_path: Path) -> None:
    """A program sees the exit code, and the reason on stderr."""
    done = create_agent("new", "json", "--json", cwd=tmp_path, check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("error: ")


def test_verify_runs_the_projects_own_tests_first(tmp_path: Path) -> None:
    """--verify installs it aside, tells each step, and says success only after its tests passed."""
    binaries = path_with("uv", folder=tmp_path / "bin")
    foreign = {"PYTEST_ADDOPTS": "-k nothing", "OPENAI_API_KEY": "x", "AGENT_CLIENT": "openai"}
    done = create_agent("new", "a/refund-desk", "--verify", cwd=tmp_path, PATH=binaries, **foreign)
    steps = ["making a virtual environment ...", "installing the project with uv ..."]
    assert [*steps, "running its tests ..."] == done.stderr.splitlines()
    assert "\nIts own tests: 1" in done.stdout
    assert " passed in " in done.stdout
    project = tmp_path / "a/refund-desk"
    assert [project] == list((tmp_path / "a").iterdir())
    assert "" == run("git", "status", "--porcelain", "--ignored", cwd=project).stdout.replace(
        "!! .env\n", ""
    ).replace("!! src/refund_desk/baml_client/\n", "")
    (tmp_path / "b").mkdir()
    create_agent("new", "refund-desk", cwd=tmp_path / "b")
    assert tree(tmp_path / "b/refund-desk") == tree(project)


@pytest.mark.parametrize("tools", ["uv", "pip"])
def test_verify_makes_nothing_of_a_project_that_cannot_be_installed(
    tools: str, tmp_path: Path
) -> None:
    """Without a registry there is the installer's word for it, exit 1, and nothing is made."""
    binaries = path_with(*(["uv"] if tools == "uv" else []), folder=tmp_path / "bin")
    nowhere = "http://127.0.0.1:9/simple"
    offline = {"PIP_INDEX_URL": nowhere, "UV_DEFAULT_INDEX": nowhere, "PIP_RETRIES": "0"}
    offline |= {"UV_HTTP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1"}
    offline |= {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    words = ("new", "a/refund-desk", "--no-server", "--verify")
    done = create_agent(*words, cwd=tmp_path, PATH=binaries, check=False, **offline)
    assert (1, "") == (done.returncode, done.stdout)
    assert "error: the new project could not be installed:\n" in done.stderr
    assert "127.0.0.1:9" in done.stderr or "hatchling" in done.stderr
    assert ["bin"] == [path.name for path in tmp_path.iterdir()]


FAILING = adding("tests/test_more.py", "def test_more() -> None:\n    assert 1 == 2\n")


def test_verify_makes_nothing_of_a_project_whose_tests_fail(tmp_path: Path) -> None:
    """A failing test is shown, exit 1, and nothing is made."""
    here = {
        **faults(FAILING, tmp_path / "faults"),
        "PATH": path_with("uv", folder=tmp_path / "bin"),
    }
    words = ("new", "a/refund-desk", "--no-server", "--verify")
    done = create_agent(*words, cwd=tmp_path, check=False, **here)
    assert (1, "") == (done.returncode, done.stdout)
    assert "error: the new project's own tests failed:\n" in done.stderr
    assert "assert 1 == 2" in done.stderr
    assert "1 failed, " in done.stderr
    assert ["bin", "faults"] == sorted(path.name for path in tmp_path.iterdir())


def test_an_interrupt_while_verifying_leaves_nothing(tmp_path: Path) -> None:
    """Neither the project, nor the environment, nor the installer are there afterwards."""
    binaries = path_with(folder=tmp_path / "bin")
    process = start("new", "refund-desk", "--no-server", "--verify", cwd=tmp_path, PATH=binaries)
    assert process.stderr
    while "installing" not in process.stderr.readline():
        pass
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert "interrupted; nothing was made\n" == process.stderr.read()
    assert 130 == process.wait(60)
    assert ["bin"] == [path.name for path in tmp_path.iterdir()]
    left = [" ".join(each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    assert [] == [words for words in left if str(tmp_path) in words]


def test_try_installs_the_project_and_asks_it(tmp_path: Path) -> None:
    """--try leaves an installed project, with the steps on stderr and the answer on stdout."""
    binaries = path_with("uv", folder=tmp_path / "bin")
    words = ("new", "refund-desk", "--try", "add 3 and 4")
    done = create_agent(*words, cwd=tmp_path, PATH=binaries, PYTHONPATH="/nowhere")
    assert "\n7\n" in done.stdout
    for step in ("installing the project with", "asking it: add 3 and 4", "→ add(a=3, b=4)"):
        assert step in done.stderr
    project = tmp_path / "refund-desk"
    assert "" == run("git", "status", "--porcelain", cwd=project).stdout
    assert "pip install" not in done.stdout
    answer = run(project / ".venv/bin/refund-desk", "ask", "add 1 and 1", cwd=tmp_path)
    assert "2\n" == answer.stdout


def test_try_that_waits_for_a_person_ends_as_the_agent_does(tmp_path: Path) -> None:
    """A refund waits: exit 3, in the receipt, too, and the waiting thread is the project's."""
    message = "please refund order A-17, the blender for $12.50 arrived broken"
    words = ("new", "refund-desk", "--no-server", "--json", "--try", message)
    # Without DATABASE_URL, so that the thread is where a user would have it.
    path = path_with("uv", folder=tmp_path / "bin")
    done = create_agent(*words, cwd=tmp_path, check=False, DATABASE_URL="", PATH=path)
    tried = json.loads(done.stdout)["tried"]
    assert (3, {"message": message, "exit_code": 3, "answer": ""}) == (done.returncode, tried)
    threads = agent(tmp_path / "refund-desk", "threads", DATABASE_URL="")
    assert "waiting" in threads.stdout


def test_try_without_a_registry_keeps_the_project(tmp_path: Path) -> None:
    """It was made before it was tried: exit 1, and the message says where it is."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
    nowhere |= {"PIP_NO_CACHE_DIR": "1", "PIP_CONFIG_FILE": os.devnull}
    binaries = path_with(folder=tmp_path / "bin")
    words = ("new", "refund-desk", "--no-server", "--json", "--try", "add 3 and 4")
    done = create_agent(*words, cwd=tmp_path, check=False, PATH=binaries, **nowhere)
    assert 1 == done.returncode
    assert f"error: the project is in {tmp_path}/refund-desk, but the new project" in done.stderr
    assert json.loads(done.stdout)["tried"] is None
    assert "7\n" == agent(tmp_path / "refund-desk", "ask", "add 3 and 4").stdout


def test_an_interrupt_while_trying_keeps_the_project(tmp_path: Path) -> None:
    """Exit 130, and the message says where the project is."""
    process = start("new", "refund-desk", "--no-server", "--try", "add 3 and 4", cwd=tmp_path)
    assert process.stderr
    while "installing" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert 130 == process.returncode
    assert f"interrupted; the project is in {tmp_path}/refund-desk\n" == said
    assert "7\n" == agent(tmp_path / "refund-desk", "ask", "add 3 and 4").stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--dry-run", "--verify"), "--dry-run makes nothing that --verify could run"),
        (("--dry-run", "--try", "hello"), "--dry-run makes nothing that --try could run"),
        (("--try", " "), "the message of --try is empty"),
        (("--provider", "opneai"), "no provider is called 'opneai'; there are: offline, openai"),
        (("--nonsense",), "No such option: --nonsense"),
        (("another",), "unexpected extra argument"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    words: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """Exit 2 with the reason, and nothing is made."""
    done = create_agent("new", "refund-desk", *words, cwd=tmp_path, check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert reason in done.stderr
    assert [] == list(tmp_path.iterdir())


def interview(
    folder: Path, *words: str, typed: list[bytes], **changes: str
) -> tuple[int, str, str]:
    """Run `new -i` at a terminal and type; returns the exit code, stdout, and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "create_agent", "new", "-i", *words],
        cwd=folder,
        env=environment(**changes),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    for line in typed:
        while not shown.endswith(b": "):
            shown += os.read(ours, 1000)
        shown += b"\n"
        os.write(ours, line)
    out, _ = process.communicate(timeout=60)
    try:
        while more := os.read(ours, 1000):
            shown += more
    except OSError:  # what a terminal says when nobody holds its other end
        pass
    os.close(ours)
    return process.returncode, out, shown.decode(errors="replace")


def test_interactive_asks_and_checks_each_answer(tmp_path: Path) -> None:
    """-i asks for what is not given, and again where an answer would not do."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    wrong_and_right = [b"\n", b"file\n", b"My Desk\n", b"json\n", b"\n"]
    wrong_and_right += [b"wether\n", b"calculator\n", b"opneai\n", b"ollama\n"]
    code, out, shown = interview(tmp_path, typed=wrong_and_right)
    assert 0 == code
    for reason in ("is empty", "is a file", "'json' is a module", "'wether'", "'opneai'"):
        assert 1 == shown.count(reason), shown
    answers = yaml.safe_load((tmp_path / "My Desk/.create-agent.yml").read_text(encoding="utf-8"))
    assert ("my-desk", ["human", "calculator"]) == (answers["project_name"], answers["tools"])
    assert "AGENT_CLIENT=ollama" in (tmp_path / "My Desk/.env").read_text(encoding="utf-8")
    assert "By default" not in out


def test_interactive_takes_defaults_for_empty_lines(tmp_path: Path) -> None:
    """What was given is not asked, an empty line is the default shown, and --json stays JSON."""
    code, out, shown = interview(tmp_path, "desk", "--json", typed=[b"\n", b"\n", b"\n"])
    assert (0, "desk") == (code, json.loads(out)["name"])
    assert "Folder" not in shown
    assert "Name [desk]: " in shown


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [(b"\x04", 1, "nothing was made"), (b"desk\n\x04", 1, "nothing was made")],
)
def test_interactive_ends_when_the_answers_do(
    typed: bytes, code: int, said: str, tmp_path: Path
) -> None:
    """Ctrl-D is no answer: an error, and nothing is made."""
    found = interview(tmp_path, typed=[typed])
    assert (code, "") == found[:2]
    assert said in found[2]
    assert [] == list(tmp_path.iterdir())


def test_interactive_checks_what_was_given_before_it_asks(tmp_path: Path) -> None:
    """A wrong option is said at once, not after the questions."""
    code, _, shown = interview(tmp_path, "--tools", "wether", typed=[])
    assert 2 == code
    assert "Folder" not in shown


def test_try_keeps_an_environment_that_is_there(tmp_path: Path) -> None:
    """A .venv in the target is somebody's: refused before anything is written."""
    (tmp_path / "refund-desk/.venv").mkdir(parents=True)
    words = ("new", "refund-desk", "--try", "add 3 and 4")
    done = create_agent(*words, cwd=tmp_path, check=False)
    assert 2 == done.returncode
    assert "refund-desk already holds .venv;" in done.stderr
    assert ["refund-desk", "refund-desk/.venv"] == sorted(everything(tmp_path))


def test_interactive_refuses_a_given_name_at_once(tmp_path: Path) -> None:
    """A name that no folder can put right is not asked about."""
    code, _, shown = interview(tmp_path, "--name", "json", typed=[])
    assert 2 == code
    assert "'json' is a module" in shown
    assert "Folder" not in shown


@pytest.mark.parametrize(
    ("typed", "locale", "folder"),
    [
        ("thé".encode(), {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "thé"),
        ("café".encode(), {"PYTHONIOENCODING": "latin-1"}, "café"),
        (b"a\xffb", {}, "a\udcffb"),
    ],
)
def test_interactive_reads_a_path_as_the_system_writes_it(
    typed: bytes, locale: dict[str, str], folder: str, tmp_path: Path
) -> None:
    """Whatever the locale: the folder has the name that was typed."""
    answers = [typed + b"\n", b"desk\n", b"\n", b"\n"]
    code, _, shown = interview(tmp_path, typed=answers, **locale)
    assert 0 == code, shown
    assert [folder] == [path.name for path in tmp_path.iterdir()]


def test_interactive_asks_again_after_a_path_that_cannot_be(tmp_path: Path) -> None:
    """A NUL, and an endless name, are refused at the question."""
    raw = [b"a\x16\x00b\n", b"y" * 300 + b"\n", b"desk\n", b"\n", b"\n", b"\n"]
    code, _, shown = interview(tmp_path, typed=raw)
    assert 0 == code, shown
    assert "cannot be a path" in shown
    assert "File name too long" in shown


FOREIGN = {
    "PIP_PYTHON": "{other}/bin/python",
    "PIP_USER": "1",
    "PIP_TARGET": "{other}/target",
    "PIP_ROOT": "{other}/root",
    "PIP_DRY_RUN": "1",
    "PIP_NO_DEPS": "1",
    "UV_WORKING_DIR": "{other}/project",
    "UV_PROJECT_ENVIRONMENT": "{other}",
    "UV_SYSTEM_PYTHON": "1",
    "UV_PYTHON": "{other}/bin/python",
    "PYTHONOPTIMIZE": "2",
    "FORCE_COLOR": "1",
    "PY_COLORS": "1",
}


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_verify_touches_no_other_environment(installer: str, tmp_path: Path) -> None:
    """Settings that name another environment, or a user's options, are not followed, by neither of
    the programs that can install a project.
    """
    other = tmp_path / "other"
    run(sys.executable, "-m", "venv", "--without-pip", other, cwd=tmp_path)
    (other / "project").mkdir()
    (other / "project/pyproject.toml").write_text("[project]\nname='x'\nversion='1'\n")
    before = everything(other)
    binaries = path_with(*(["uv"] if installer == "uv" else []), folder=tmp_path / "bin")
    foreign = {name: value.format(other=other) for name, value in FOREIGN.items()}
    words = ("new", "desk", "--no-server", "--verify", "--json", "--try", "add 3 and 4")
    done = create_agent(*words, cwd=tmp_path, PATH=binaries, **foreign)
    receipt = json.loads(done.stdout)
    assert receipt["verified"].split()[1] == "passed"
    assert "7\n" == receipt["tried"]["answer"]
    assert 2 == done.stderr.count(f"installing the project with {installer} ...\n")
    assert before == everything(other)


def test_a_configuration_that_installs_elsewhere_is_named(tmp_path: Path) -> None:
    """A file that sends uv elsewhere is no success, and no riddle."""
    (tmp_path / "uv.toml").write_text(f'[pip]\ntarget = "{tmp_path}/elsewhere"\n')
    here = {"PATH": path_with("uv", folder=tmp_path / "bin")}
    here |= {"UV_CONFIG_FILE": str(tmp_path / "uv.toml")}
    done = create_agent("new", "desk", "--no-server", "--verify", cwd=tmp_path, check=False, **here)
    assert (1, "") == (done.returncode, done.stdout)
    assert "its configuration has uv install elsewhere than into the environment" in done.stderr
    assert not (tmp_path / "desk").exists()


def test_a_uv_beside_us_may_be_named_by_a_relative_path(tmp_path: Path) -> None:
    """PATH may hold `bin`."""
    path_with("uv", folder=tmp_path / "bin")
    done = create_agent("new", "desk", "--no-server", "--verify", cwd=tmp_path, PATH="bin")
    assert "installing the project with uv" in done.stderr
    assert (tmp_path / "desk/.git").is_dir()


@pytest.mark.parametrize(("folder", "held"), [("a:b", "':'"), ("a\nb", "a line break")])
def test_a_folder_that_takes_no_environment_is_named(
    folder: str, held: str, tmp_path: Path
) -> None:
    """The project is made with a note, and --try and --verify are refused."""
    above = tmp_path / folder
    above.mkdir()
    reason = f"no virtual environment works below a folder whose name holds {held}"
    done = create_agent("new", "desk", cwd=above)
    assert f"Note: {reason}; move the project" in done.stdout
    for words in (("--verify",), ("--try", "hello")):
        done = create_agent("new", "other", *words, cwd=above, check=False)
        assert (2, 1) == (done.returncode, done.stderr.count("\n"))
        assert reason in done.stderr
    assert ["desk"] == [path.name for path in above.iterdir()]


def test_a_printed_cd_leads_to_the_project(tmp_path: Path) -> None:
    """Also from a folder that a link led to, with CDPATH, and from one that is gone."""
    (tmp_path / "real/sub").mkdir(parents=True)
    (tmp_path / "elsewhere/desk").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/sub")
    new = f"'{sys.executable}' -m create_agent new --no-git"
    shell = f'cd link && eval "$({new} ../desk | grep " cd ")" && test -f pyproject.toml'
    run("/bin/sh", "-c", shell, cwd=tmp_path)
    shell = f'eval "$({new} desk | grep " cd ")" && test -f pyproject.toml'
    run("/bin/sh", "-c", shell, cwd=tmp_path, CDPATH=str(tmp_path / "elsewhere"))
    shell = f"mkdir gone && cd gone && rmdir ../gone && {new} {tmp_path}/new/desk"
    done = run("/bin/sh", "-c", shell, cwd=tmp_path)
    assert f"  cd {tmp_path}/new/desk\n" in done.stdout
