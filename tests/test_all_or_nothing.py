"""`create-agent new` makes all of a project or nothing: at every step, for every kind of target."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support import create_agent, environment, everything, faults, run, start, tree

FAULTS = str(Path(__file__).with_name("faults"))
BOUNDARIES = [
    "aside.Workshop.open before",
    "aside.Workshop.open after",
    "render.Template.render after",
    "new._write_env after",
    "codegen.generate after",
    "repository.start after",
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
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_step_that_fails_leaves_what_was_there(
    boundary: str, what: str, kind: str, tmp_path: Path
) -> None:
    """Between any two steps, a full disk and a signal leave the folder as it was."""
    target = target_of_kind(kind, tmp_path)
    before = everything(tmp_path)
    fault = {"PYTHONPATH": FAULTS, "FAULT": f"{boundary} 1 {what}"}
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


@pytest.mark.parametrize("kind", ["missing", "empty"])
@pytest.mark.parametrize("moment", [0.0, 0.05, 0.2, 0.4])
def test_a_folder_that_is_moved_meanwhile_is_left_as_it_was(
    moment: float, kind: str, tmp_path: Path, project: Path
) -> None:
    """A parent or a target that gets another name is not made anew, nor left with our files."""
    target = target_of_kind(kind, tmp_path)
    watched = target if kind == "empty" else target.parent
    process = start("new", str(target), cwd=tmp_path)
    while not (watched.is_dir() and list(watched.glob(".new-*"))) and process.poll() is None:
        time.sleep(0.002)
    time.sleep(moment)
    moved = tmp_path / "moved"
    watched.rename(moved)
    _, said = process.communicate(timeout=60)
    assert not watched.exists()
    if process.returncode == 0:  # it was finished by then
        assert_whole(moved if kind == "empty" else moved / target.name, project)
        return
    message = f"error: {watched} was moved or removed meanwhile; the project was not made"
    assert (1, 1) == (process.returncode, said.count("\n"))
    assert said.startswith(message)
    assert ("which was made for it, was moved" in said) == (kind == "missing")
    assert [] == list(moved.iterdir())


def test_a_folder_that_takes_the_place_of_a_parent_is_kept(tmp_path: Path) -> None:
    """After a failure an empty folder of somebody else's stays, though it has our parent's name."""
    process = start("new", "a/b/refund-desk", cwd=tmp_path)
    while not list(tmp_path.glob("a/b/.new-*")):
        time.sleep(0.002)
    (tmp_path / "a").rename(tmp_path / "moved")
    (tmp_path / "a/b").mkdir(parents=True)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert 130 == process.returncode
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert {"a", "a/b", "moved", "moved/b"} == left


def run_limited(limit: str, target: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run new in a shell that limits itself first."""
    new = f"'{sys.executable}' -m create_agent new \"$0\" {' '.join(words)}"
    return run("/bin/sh", "-c", f"{limit} && {new}", target, cwd=target.parents[1], check=False)


@pytest.mark.parametrize("files", [6, 7, 8, 9, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_few_open_files_leave_nothing_behind(files: int, kind: str, tmp_path: Path) -> None:
    """Where Python or BAML may open no more files, what was made is removed all the same."""
    target = target_of_kind(kind, tmp_path)
    before = everything(tmp_path)
    done = run_limited(f"ulimit -n {files}", target)
    assert 0 != done.returncode
    assert before == everything(tmp_path)


def test_a_umask_that_closes_our_own_folders_leaves_nothing_behind(tmp_path: Path) -> None:
    """Folders that their owner cannot read are removed, too."""
    target = target_of_kind("empty", tmp_path)
    before = everything(tmp_path)
    bound = "" if os.geteuid() else "exec setpriv --bounding-set -dac_override,-dac_read_search "
    new = f"umask 400; {bound}'{sys.executable}' -m create_agent new --no-git \"$0\""
    done = run("/bin/sh", "-c", new, target, cwd=tmp_path, check=False)
    assert 1 == done.returncode
    assert before == everything(tmp_path)


def test_what_cannot_be_removed_is_named(tmp_path: Path) -> None:
    """A message never says that nothing is left when something is."""
    code = "from create_agent import aside, codegen\naside._empty = lambda _: False\n"
    code += "codegen.generate = lambda *_: open('/nowhere/at all')\n"
    here = faults(code, tmp_path / "faults")
    done = create_agent("new", "refund-desk", cwd=tmp_path, check=False, **here)
    (left,) = tmp_path.glob(".new-*")
    assert 1 == done.returncode
    assert f"; {left} could not be removed and is left\n" in done.stderr


@pytest.mark.parametrize("wait", [0.3, 0.6, 0.9])
def test_two_signals_at_once_are_one_interrupt(wait: float, tmp_path: Path) -> None:
    """One line, one exit code, and nothing left."""
    process = start("new", "a/refund-desk", cwd=tmp_path)
    time.sleep(wait)
    process.send_signal(signal.SIGSTOP)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    if process.returncode:
        assert (130, "interrupted; nothing was made\n") == (process.returncode, said)
        assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["empty", "used"])
def test_a_folder_on_another_file_system_is_filled(
    kind: str, tmp_path: Path, project: Path
) -> None:
    """Where a folder of ours cannot be renamed into the target, its files are put there singly."""
    target = target_of_kind(kind, tmp_path)
    fault = {"PYTHONPATH": FAULTS, "FAULT": "placing.Path.rename before 1 EXDEV"}
    create_agent("new", target, cwd=tmp_path, **fault)
    assert_whole(target, project)


@pytest.mark.parametrize("session", ["", "setsid "])
def test_a_process_that_git_leaves_behind_holds_nothing_up(
    session: str, tmp_path: Path, project: Path
) -> None:
    """It is ended, unless it has hidden in a session of its own, and the project is there."""
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin/git"
    script = f"#!/bin/sh\n{session}sleep 1000 & echo $! >> {tmp_path}/left\necho true\n"
    git.write_text(script, encoding="utf-8")
    git.chmod(0o755)
    path = f"{git.parent}{os.pathsep}{os.environ['PATH']}"
    create_agent("new", "refund-desk", cwd=tmp_path, PATH=path)
    assert tree(project) == tree(tmp_path / "refund-desk")
    numbers = [int(number) for number in (tmp_path / "left").read_text().split()]
    assert numbers
    if session:
        for number in numbers:
            os.kill(number, signal.SIGKILL)
    else:
        assert not any(is_running(number) for number in numbers)


SLOW_GIT = "#!/bin/sh\ntouch {folder}/waiting; sleep 3; exit 1\n"


def wait_for_git(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start new with a git that takes its time; returns once it runs, with the workshop."""
    (folder / "bin").mkdir()
    (folder / "bin/git").write_text(SLOW_GIT.format(folder=folder), encoding="utf-8")
    (folder / "bin/git").chmod(0o755)
    (folder / "here").mkdir()
    path = f"{folder}/bin{os.pathsep}{os.environ['PATH']}"
    process = start("new", "refund-desk", cwd=folder / "here", PATH=path)
    while not (folder / "waiting").exists():
        time.sleep(0.01)
    (workshop,) = (folder / "here").glob(".new-*")
    return process, workshop


@pytest.mark.parametrize("number", [signal.SIGTERM, None])
@pytest.mark.parametrize("kind", ["link", "folder", "nothing"])
def test_what_has_the_name_of_our_folder_is_not_touched(
    kind: str, number: signal.Signals | None, tmp_path: Path
) -> None:
    """Where our own folder was moved, and something else is in its place, only ours is emptied."""
    process, workshop = wait_for_git(tmp_path)
    precious = tmp_path / "precious"
    (precious / "sub").mkdir(parents=True)
    (precious / "sub/a").write_text("mine", encoding="utf-8")
    workshop.rename(tmp_path / "moved")
    if kind == "link":
        workshop.symlink_to(precious)
    elif kind == "folder":
        precious.rename(workshop)
        precious = workshop
    before = everything(precious)
    if number:
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (130 if number else 1) == process.returncode
    assert f"{workshop} was moved meanwhile and is left, empty\n" in said
    assert [] == list((tmp_path / "moved").iterdir())
    assert before == everything(precious)


def test_a_folder_of_ours_that_is_removed_is_no_riddle(tmp_path: Path) -> None:
    """Somebody cleans up while we work: one line, soon, and nothing is said to be left."""
    process, workshop = wait_for_git(tmp_path)
    shutil.rmtree(workshop)
    _, said = process.communicate(timeout=60)
    message = f"error: {workshop} was moved or removed meanwhile; the project was not made\n"
    assert (1, message) == (process.returncode, said)
    assert [] == list((tmp_path / "here").iterdir())


def test_a_copy_that_fails_leaves_no_part_of_it(tmp_path: Path) -> None:
    """On a file system that takes no more, the file that was being copied goes, too."""
    code = """
import errno, os, shutil
from create_agent import placing
def link(*_):
    raise OSError(errno.EXDEV, "another file system")
def copymode(source, destination):
    if os.path.basename(destination) == "README.md":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
placing.os.link, placing.shutil.copymode = link, copymode
"""
    target = target_of_kind("used", tmp_path / "there")
    before = everything(tmp_path / "there")
    here = faults(code, tmp_path / "faults")
    done = create_agent("new", target, cwd=tmp_path, check=False, **here)
    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert before == everything(tmp_path / "there")


def test_what_is_put_into_a_placed_folder_survives_the_undoing(tmp_path: Path) -> None:
    """A file that somebody writes beside ours is theirs, and stays when ours are taken back."""
    code = f"""
import errno, os
from create_agent import placing
real = placing._place
def place(source, destination, placed):
    if source.name == "src":
        for name in ("baml_src/mine.txt", "baml_src/tests/mine.txt"):
            open({str(tmp_path)!r} + "/there/some where/refund-desk/" + name, "w").write("mine")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    real(source, destination, placed)
placing._place = place
"""
    target = target_of_kind("empty", tmp_path / "there")
    here = faults(code, tmp_path / "faults")
    done = create_agent("new", target, cwd=tmp_path, check=False, **here)
    assert 1 == done.returncode
    assert {"baml_src/mine.txt": b"mine", "baml_src/tests/mine.txt": b"mine"} == tree(target)
    assert ["baml_src"] == [path.name for path in target.iterdir()]


def test_exit_codes_of_children_count_where_their_end_is_ignored(tmp_path: Path) -> None:
    """Some supervisors start a process with SIGCHLD ignored, and then every child seems well."""
    done = subprocess.run(
        [sys.executable, "-m", "create_agent", "new", "refund-desk"],
        cwd=tmp_path,
        env=environment(TOKIO_WORKER_THREADS="0"),
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        capture_output=True,
        text=True,
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert [] == list(tmp_path.iterdir())


def test_a_signal_after_the_last_word_changes_no_exit_code(tmp_path: Path) -> None:
    """What was told as made is exit 0, whenever a signal comes."""
    for i in range(4):
        process = start("new", f"desk-{i}", "--json", cwd=tmp_path)
        assert process.stdout
        while process.stdout.readline() != "}\n":
            pass
        time.sleep(0.01 * i)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert 0 == process.returncode
