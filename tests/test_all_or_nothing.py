"""`create-agent new` makes all of a project or nothing: at every step, for every kind of target."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support import create_agent, environment, everything, run, tree

FAULTS = str(Path(__file__).with_name("faults"))
STEPS = [
    "aside.Workshop.open",
    "render.Template.render",
    "new._write_env",
    "codegen.generate",
    "repository.start",
]
KINDS = ["missing", "empty", "used"]


def target_of_kind(kind: str, folder: Path) -> Path:
    """A target: with missing parents, an empty folder, or one that holds other things."""
    target = folder / "some where/refund-desk"
    if kind == "missing":
        return target
    target.mkdir(parents=True)
    if kind == "used":
        (target / ".git").write_text("gitdir: nowhere\n", encoding="utf-8")
        (target / "notes.txt").write_text("mine", encoding="utf-8")
        (target / "src/other").mkdir(parents=True)
        (target / "src/other/__init__.py").write_bytes(b"\r\n\xff")
        (target / "tests").mkdir(mode=0o700)
        (target / "link").symlink_to("nowhere")
    return target


def assert_whole(target: Path, project: Path) -> None:
    """The target holds what any project of that name holds, and what it held before."""
    others = {"notes.txt", "src/other/__init__.py"}
    found = {name: data for name, data in tree(target).items() if name not in others}
    found.pop(".git", None)  # the file of the used target
    assert tree(project) == found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["ENOSPC", "SIGINT", "SIGTERM"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_leaves_what_was_there(
    step: str, moment: str, what: str, kind: str, tmp_path: Path
) -> None:
    """Before and after every step, a full disk and a signal leave the folder as it was."""
    target = target_of_kind(kind, tmp_path)
    before = everything(tmp_path)
    fault = {"PYTHONPATH": FAULTS, "FAULT": f"{step} {moment} 1 {what}"}
    done = create_agent("new", target, cwd=tmp_path, check=False, **fault)
    assert before == everything(tmp_path)
    assert "" == done.stdout
    if what == "ENOSPC":
        assert done.returncode in (1, 2)
        assert "No space left on device" in done.stderr
        assert 1 == done.stderr.count("\n")
    else:
        assert (130, "interrupted; nothing was made\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize("kind", ["empty", "used"])
@pytest.mark.parametrize("turn", ["1", "5", "9"])
def test_a_disk_that_is_full_while_placing_leaves_what_was_there(
    turn: str, kind: str, tmp_path: Path
) -> None:
    """What was moved into an existing folder is moved out again."""
    target = target_of_kind(kind, tmp_path)
    before = everything(tmp_path)
    fault = {"PYTHONPATH": FAULTS, "FAULT": f"placing._place before {turn} ENOSPC"}
    done = create_agent("new", target, cwd=tmp_path, check=False, **fault)
    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert "No space left on device" in done.stderr
    assert before == everything(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_placing_comes_too_late(
    what: str, kind: str, tmp_path: Path, project: Path
) -> None:
    """From the first move on the project is finished, and told as made."""
    target = target_of_kind(kind, tmp_path)
    step = "placing.become before 1" if kind == "missing" else "placing._place before 4"
    fault = {"PYTHONPATH": FAULTS, "FAULT": f"{step} {what}"}
    done = create_agent("new", target, cwd=tmp_path, **fault)
    assert f"Created {target} " in done.stdout
    assert_whole(target, project)


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_a_random_time_leaves_all_or_nothing(
    kind: str, tmp_path: Path, project: Path
) -> None:
    """17 times for each kind of target, from the start to the end of a run."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    chance = random.Random(kind)
    outcomes = []
    for i in range(17):
        folder = tmp_path / f"{i}"
        folder.mkdir()
        target = target_of_kind(kind, folder)
        before = everything(folder)
        process = start("new", str(target), cwd=folder, TMPDIR=str(temporary))
        time.sleep(0.1 + chance.random() * 1.5)
        process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
        _, said = process.communicate(timeout=60)
        outcomes.append(process.returncode)
        if process.returncode == 0:
            assert_whole(target, project)
        else:
            assert before == everything(folder)
            if process.returncode > 0 and "KeyboardInterrupt" not in said:  # Python was running
                assert (130, "interrupted; nothing was made\n") == (process.returncode, said)
    assert [] == list(temporary.iterdir())
    assert 130 in outcomes


def test_an_interrupt_ends_what_was_started(tmp_path: Path) -> None:
    """No process of a run goes on after it, also none that git or BAML started."""
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin/git"
    git.write_text(f"#!/bin/sh\nsleep 1000 & echo $! > {tmp_path}/child\nwait\n", encoding="utf-8")
    git.chmod(0o755)
    path = f"{git.parent}{os.pathsep}{os.environ['PATH']}"
    process = start("new", "refund-desk", cwd=tmp_path, PATH=path)
    while not (tmp_path / "child").is_file() or not (tmp_path / "child").read_text():
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert 130 == process.returncode
    assert not is_running(int((tmp_path / "child").read_text()))
    assert {"bin", "child"} == {path.name for path in tmp_path.iterdir()}


def is_running(number: int) -> bool:
    """Whether a process of this number is there, and no zombie."""
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def start(*words: str, cwd: Path, **changes: str) -> "subprocess.Popen[str]":
    """Start create-agent and go on."""
    return subprocess.Popen(
        [sys.executable, "-m", "create_agent", *words],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def limit_files_to(size: int) -> Callable[[], None]:
    """What makes a process unable to write more than so many bytes into a file."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 1000, 8000, 14_000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_takes_no_more_is_a_short_error(size: int, kind: str, tmp_path: Path) -> None:
    """Wherever writing ends, in Python or, with the largest size, in BAML, nothing is left."""
    target = target_of_kind(kind, tmp_path)
    before = everything(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "create_agent", "new", "--no-git", str(target)],
        cwd=tmp_path,
        env=environment(),
        preexec_fn=limit_files_to(size),
        capture_output=True,
        text=True,
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert before == everything(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_runs_on_one_target_one_wins(kind: str, tmp_path: Path, project: Path) -> None:
    """The winner's project is whole, the loser touches nothing and says so."""
    for i in range(3):
        folder = tmp_path / str(i)
        folder.mkdir()
        target = target_of_kind(kind, folder)
        runs = [start("new", str(target), cwd=folder) for _ in range(2)]
        said = [run.communicate(timeout=60)[1] for run in runs]
        codes = sorted(run.returncode for run in runs)
        assert codes in ([0, 1], [0, 2]), said  # refused at the end, or already at the start
        assert all(text.count("\n") <= 1 for text in said), said
        assert ["some where"] == [path.name for path in folder.iterdir()]
        assert [target] == list(target.parent.iterdir())
        assert_whole(target, project)
        if kind != "used":
            assert "" == run("git", "status", "--porcelain", cwd=target).stdout


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    """Whatever is put into an empty target while the project is made stays, and alone."""
    target = tmp_path / "myproj"
    target.mkdir()
    process = start("new", "myproj", cwd=tmp_path)
    while not list(target.iterdir()) and process.poll() is None:
        time.sleep(0.01)
    (target / "tests").mkdir()
    (target / "tests/mine.txt").write_text("mine", encoding="utf-8")
    (target / "README.md").write_text("mine", encoding="utf-8")
    _, said = process.communicate(timeout=60)
    assert 2 == process.returncode
    assert 1 == said.count("\n")
    assert {"README.md": b"mine", "tests/mine.txt": b"mine"} == tree(target)
    assert [target] == list(tmp_path.iterdir())


def test_a_parent_that_somebody_uses_meanwhile_is_kept(tmp_path: Path) -> None:
    """A parent that this run made is removed after a failure only while it is empty."""
    process = start("new", "a/b/myproj", cwd=tmp_path)
    while not (tmp_path / "a/b").is_dir():
        time.sleep(0.005)
    (tmp_path / "a/mine.txt").write_text("mine", encoding="utf-8")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert 130 == process.returncode
    assert {"a/mine.txt": b"mine"} == tree(tmp_path)
    assert ["mine.txt"] == [path.name for path in (tmp_path / "a").iterdir()]
