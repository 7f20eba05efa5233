"""Folders for a project: which are taken, which are refused, and that what is there stays."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import create_agent, everything, run, tree

Prepare = Callable[[Path], object]


def write(path: str, text: str = "mine") -> Prepare:
    """A file below the target, with the folders above it."""

    def prepare(target: Path) -> None:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")

    return prepare


def several(*steps: Prepare) -> Prepare:
    """One after the other."""

    def prepare(target: Path) -> None:
        for step in steps:
            step(target)

    return prepare


def folder(path: str = ".") -> Prepare:
    """An empty folder below the target."""
    return lambda target: (target / path).mkdir(parents=True, exist_ok=True)


def link(path: str, to: str) -> Prepare:
    """A symbolic link below the target, or in its place."""

    def prepare(target: Path) -> None:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).symlink_to(to)

    return prepare


def in_its_place(to: str) -> Prepare:
    """A symbolic link where the target is to be."""

    def prepare(target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(to)

    return prepare


def repository(target: Path) -> None:
    """A git repository with one commit."""
    target.mkdir(parents=True)
    run("git", "init", "-q", cwd=target)
    run("git", "commit", "-q", "--allow-empty", "-m", "first", cwd=target)


def worktree(target: Path) -> None:
    """A linked work tree, whose .git is a file."""
    repository(target.parent / "main")
    run("git", "worktree", "add", "-q", target, cwd=target.parent / "main")


def linked_folder(target: Path) -> None:
    """A link to an empty folder."""
    (target.parent / "real").mkdir(parents=True)
    target.symlink_to("real")


ACCEPTED: dict[str, Prepare] = {
    "nothing": lambda target: None,
    "an empty folder": folder(),
    "a link to an empty folder": linked_folder,
    "a new repository": lambda target: (folder()(target), run("git", "init", "-q", cwd=target)),
    "a repository": repository,
    "a work tree": worktree,
    "a .git that git cannot read": write(".git", "gitdir: nowhere\n"),
    "an empty .git": folder(".git"),
    "a licence": write("LICENSE"),
    "a file without read permission": several(
        write("secret"), lambda target: (target / "secret").chmod(0)
    ),
    "a folder of documents": write("docs/index.md"),
    "a folder that we use, with others in it": write("src/other/__init__.py"),
    "empty folders that we fill": several(folder("baml_src"), folder("src/refund_desk/runtime")),
    "a link that is not ours": link("latest", "nowhere"),
    "a workflow of its own": write(".github/workflows/release.yml"),
    "a deep folder of tests": write("tests/unit/test_mine.py"),
    "a file with a name of any bytes": lambda target: (
        folder()(target),
        open(os.fsencode(target) + b"/\xff\n[x]", "wb").close(),
    ),
}

REFUSED: dict[str, tuple[Prepare, str]] = {
    "a file": (lambda target: write(target.name)(target.parent), "is a file; choose another path"),
    "a file above": (
        lambda target: write(target.parent.name)(target.parent.parent),
        "is a file; choose another path",
    ),
    "a link to nowhere": (in_its_place("nowhere"), "No such file or directory; choose another"),
    "a link to itself": (in_its_place("refund-desk"), "symbolic links; choose another path"),
    "a file of ours": (write("README.md"), "already holds README.md; choose another path"),
    "an empty file of ours": (write(".env", ""), "already holds .env;"),
    "a folder that is a file of ours": (folder("pyproject.toml"), "already holds pyproject.toml;"),
    "a file that is a folder of ours": (write("src"), "already holds src;"),
    "a link in the place of a folder": (
        several(folder("elsewhere"), link("tests", "elsewhere")),
        "already holds tests;",
    ),
    "a link in the place of a file": (link(".gitignore", "nowhere"), "already holds .gitignore;"),
    "schemas": (write("baml_src/mine.baml"), "already holds baml_src;"),
    "a package of that name": (write("src/refund_desk/x.py"), "already holds src/refund_desk;"),
    "a test of that name": (write("tests/test_agent.py"), "already holds tests/test_agent.py;"),
    "two of ours": (
        several(write("README.md"), write("AGENTS.md"), write("notes.txt")),
        "already holds AGENTS.md, README.md;",
    ),
    "ours in a repository": (several(repository, write("README.md")), "already holds README.md;"),
    "a project": (
        lambda target: create_agent("new", target, cwd=target.parents[1]),
        "AGENTS.md, Dockerfile, README.md, ",
    ),
    "a workflow of that name": (
        write(".github/workflows/ci.yml"),
        "already holds .github/workflows/ci.yml;",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_target_that_holds_nothing_of_ours_is_taken(
    name: str, tmp_path: Path, project: Path
) -> None:
    """The whole project is there afterwards, and so is everything that was there before."""
    target = tmp_path / "home/refund-desk"
    ACCEPTED[name](target)
    before = without_git_and_folders(tmp_path)
    done = create_agent("new", target, cwd=tmp_path)
    assert f"Created {target} " in done.stdout
    after = without_git_and_folders(tmp_path)
    assert before.items() <= after.items()
    assert set(tree(project)) <= set(tree(target.resolve()))
    assert not list(tmp_path.rglob(".new-*"))


@pytest.mark.parametrize("name", REFUSED)
def test_a_target_that_would_be_written_over_is_refused(name: str, tmp_path: Path) -> None:
    """One line names what is in the way, exit 2, and nothing is touched."""
    prepare, reason = REFUSED[name]
    target = tmp_path / "home/refund-desk"
    prepare(target)
    before = everything(tmp_path)
    for option in ("--no-git", "--dry-run"):
        done = create_agent("new", option, target, cwd=tmp_path, check=False)
        assert (2, "") == (done.returncode, done.stdout)
        assert reason in done.stderr
        assert 1 == done.stderr.count("\n")
        assert before == everything(tmp_path)


def without_git_and_folders(above: Path) -> dict[str, object]:
    """Every file and link that a person put there."""
    return {
        name: found
        for name, found in everything(above).items()
        if "/.git" not in name and found[1] is not None
    }


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("refund-desk", "refund-desk"),
        ("refund-desk/", "refund-desk"),
        ("refund-desk///", "refund-desk"),
        ("./refund-desk/.", "refund-desk"),
        ("a/../refund-desk", "refund-desk"),
        ("far/away/refund-desk/", "far/away/refund-desk"),
        ("{above}/refund-desk", "refund-desk"),
        ("~/refund-desk", "~/refund-desk"),
    ],
)
def test_a_path_may_be_written_in_any_way(words: str, place: str, tmp_path: Path) -> None:
    """Slashes, points and missing parents: the project is where the path leads."""
    words = words.format(above=tmp_path)
    create_agent("new", "--no-git", words, cwd=tmp_path)
    assert (tmp_path / place / "src/refund_desk/agent.py").is_file()
    assert [place.partition("/")[0]] == [path.name for path in tmp_path.iterdir()]


def test_the_folder_we_stand_in_is_filled_and_stays(tmp_path: Path) -> None:
    """`new .` takes the folder's name, and a shell that stands there sees the project."""
    here = tmp_path / "refund-desk"
    here.mkdir()
    before = here.stat().st_ino
    done = create_agent("new", ".", cwd=here)
    assert before == here.stat().st_ino
    assert (here / "src/refund_desk/agent.py").is_file()
    assert "\n  cd " not in done.stdout


def test_a_path_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    """Too long, empty, above the root, a folder that is gone or takes no files: exit 2."""
    for target in ("x" * 300 + "/myproj", "", " ", "/", "/proc/nothing/myproj", "/dev/null/myproj"):
        done = create_agent("new", target, cwd=tmp_path, check=False)
        assert (2, 1) == (done.returncode, done.stderr.count("\n")), done.stderr
    gone = "mkdir gone && cd gone && rmdir ../gone && exec $0 -m create_agent new myproj"
    done = run("/bin/sh", "-c", gone, sys.executable, cwd=tmp_path, check=False)
    assert (2, 1) == (done.returncode, done.stderr.count("\n")), done.stderr
    assert [] == list(tmp_path.iterdir())


def without_rights() -> tuple[str, ...]:
    """What makes a command of root's respect the modes of files, as anybody's does."""
    rights = "-dac_override,-dac_read_search"
    return () if os.geteuid() else ("setpriv", "--bounding-set", rights)


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path: Path) -> None:
    """Read-only above or in its place: exit 2, and nothing is touched."""
    (tmp_path / "closed/refund-desk").mkdir(parents=True)
    for path in ("closed/refund-desk", "closed"):
        (tmp_path / path).chmod(0o555)
    before = everything(tmp_path)
    for target in ("closed/refund-desk", "closed/new", "closed/a/b/new"):
        words = (*without_rights(), sys.executable, "-m", "create_agent", "new", target)
        done = run(*words, cwd=tmp_path, check=False)
        assert (2, 1) == (done.returncode, done.stderr.count("\n")), done.stderr
        assert "Permission denied" in done.stderr
        assert before == everything(tmp_path)


def test_a_folder_with_a_very_long_name_is_filled(tmp_path: Path) -> None:
    """Whatever the file system takes as a folder's name serves, with another for the project."""
    create_agent("new", "x" * 255, "--name", "refund-desk", cwd=tmp_path)
    assert (tmp_path / ("x" * 255) / "src/refund_desk/agent.py").is_file()


def test_two_points_after_a_link_mean_what_the_system_means(tmp_path: Path) -> None:
    """`link/../desk` stands beside what the link leads to."""
    (tmp_path / "real/sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/sub")
    create_agent("new", "--no-git", "link/../desk", cwd=tmp_path)
    assert (tmp_path / "real/desk/pyproject.toml").is_file()
    assert {"real", "link"} == {path.name for path in tmp_path.iterdir()}


def test_a_name_that_is_too_long_for_a_folder_is_refused_before_anything(tmp_path: Path) -> None:
    """Exit 2, also in a dry run."""
    for option in ("--no-git", "--dry-run"):
        words = ("new", option, "x" * 256, "--name", "desk")
        done = create_agent(*words, cwd=tmp_path, check=False)
        assert (2, "") == (done.returncode, done.stdout)
        assert "File name too long; choose another path" in done.stderr


def test_a_parent_that_we_may_not_list_is_no_obstacle(tmp_path: Path) -> None:
    """Writing into it is all that a project needs of it."""
    (tmp_path / "closed").mkdir(mode=0o300)
    words = (sys.executable, "-m", "create_agent", "new", tmp_path / "closed/refund-desk")
    run(*without_rights(), *words, cwd=tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert ["refund-desk"] == [path.name for path in (tmp_path / "closed").iterdir()]


def test_a_folder_that_we_may_not_look_into_counts_as_filled(tmp_path: Path) -> None:
    """What is there cannot be known, so it is left alone."""
    target = tmp_path / "refund-desk"
    (target / "baml_src").mkdir(parents=True)
    (target / "baml_src").chmod(0o300)
    words = (sys.executable, "-m", "create_agent", "new", target)
    done = run(*without_rights(), *words, cwd=tmp_path, check=False)
    assert (2, 1) == (done.returncode, done.stderr.count("\n"))
    assert "already holds baml_src;" in done.stderr


def test_a_message_with_a_path_is_one_line_and_steers_no_terminal(tmp_path: Path) -> None:
    """Line breaks and escapes in a path are spelled out."""
    folder = tmp_path / "a\n\x1b[31mb"
    folder.mkdir()
    (folder / "README.md").write_text("mine", encoding="utf-8")
    done = create_agent("new", folder, "--name", "desk", cwd=tmp_path, check=False)
    assert (2, 1) == (done.returncode, done.stderr.count("\n"))
    assert "a\\n\\x1b[31mb already holds README.md" in done.stderr
    done = create_agent("new", folder / "desk", cwd=tmp_path)
    assert f"Created {tmp_path}/a\\n\\x1b[31mb/desk with" in done.stdout
