"""`create-agent new` and `tools`: what they make, what they refuse, what they leave behind."""

import os
import stat
from pathlib import Path

import pytest
import yaml
from support import create_agent, run, tree

ALL = ["human", "calculator", "customer-support"]


def log(project: Path) -> list[str]:
    """The subjects of a repository's commits."""
    return run("git", "log", "--format=%s", cwd=project).stdout.splitlines()


def test_new_makes_a_project_with_its_client(tmp_path: Path) -> None:
    """One command makes the schemas, the client and the agent, and prints the next commands."""
    done = create_agent("new", "refund-desk", cwd=tmp_path)
    project = tmp_path / "refund-desk"
    assert (project / "baml_src/agent.baml").is_file()
    assert (project / "src/refund_desk/baml_client/async_client.py").is_file()
    assert "  cd refund-desk\n" in done.stdout
    assert "refund-desk ask" in done.stdout
    assert "" == done.stderr


def test_the_answers_are_recorded_without_a_path(project: Path) -> None:
    """.create-agent.yml holds each answer and the version, and nothing of this machine."""
    text = (project / ".create-agent.yml").read_text(encoding="utf-8")
    answers = {"project_name", "package", "tools", "server", "provider", "baml_version"}
    assert {*answers, "template_version"} == set(yaml.safe_load(text))
    assert ALL == yaml.safe_load(text)["tools"]
    assert str(project.parent) not in text


def test_the_first_commit_holds_everything_but_keys_and_client(tmp_path: Path) -> None:
    """The repository is clean after new, and .env and baml_client are not in it."""
    create_agent("new", "myproj", cwd=tmp_path)
    project = tmp_path / "myproj"
    assert ["Start from create-agent"] == log(project)
    assert "" == run("git", "status", "--porcelain", cwd=project).stdout
    tracked = run("git", "ls-files", cwd=project).stdout.splitlines()
    ignored = {name for name in tree(project) if name == ".env" or "/baml_client/" in name}
    assert set(tree(project)) - ignored == set(tracked)
    assert 10 < len(ignored)


def test_env_is_for_its_owner_alone(project: Path) -> None:
    """.env equals .env.example and no one else can read it."""
    assert 0o600 == stat.S_IMODE((project / ".env").stat().st_mode)
    assert (project / ".env.example").read_bytes() == (project / ".env").read_bytes()


def test_files_are_text_as_git_likes_it(project: Path) -> None:
    """Every file is UTF-8, ends with one line break and has no blank at a line's end."""
    for name, data in tree(project).items():
        text = data.decode("utf-8")
        if "/baml_client/" in name or not text:
            continue
        assert text.endswith("\n"), name
        assert not text.endswith("\n\n"), name
        assert "\r" not in text, name
        assert not [line for line in text.split("\n") if line != line.rstrip()], name


def test_inside_a_work_tree_git_is_left_alone(tmp_path: Path) -> None:
    """A project inside a repository becomes part of it: no init, no commit."""
    run("git", "init", "-q", cwd=tmp_path)
    create_agent("new", "myproj", cwd=tmp_path)
    assert not (tmp_path / "myproj/.git").exists()
    assert 0 != run("git", "log", cwd=tmp_path, check=False).returncode


def test_without_git_there_is_a_note(tmp_path: Path) -> None:
    """A machine without git gets the project all the same."""
    (tmp_path / "bin").mkdir()
    done = create_agent("new", "myproj", cwd=tmp_path, PATH=str(tmp_path / "bin"))
    assert "Note: git is not installed" in done.stdout
    assert (tmp_path / "myproj/pyproject.toml").is_file()


def test_without_an_identity_the_commit_is_the_users(tmp_path: Path) -> None:
    """Without user.name git is started and staged, and the commit command is printed."""
    nobody = {f"GIT_{w}_{k}": "" for w in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    nobody |= {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "EMAIL": ""}
    nobody |= {"XDG_CONFIG_HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": os.devnull}
    done = create_agent("new", "myproj", cwd=tmp_path, **nobody)
    assert 'git commit -m "Start from create-agent"' in done.stdout
    staged = run("git", "diff", "--cached", "--name-only", cwd=tmp_path / "myproj").stdout
    assert "pyproject.toml" in staged
    assert 0 != run("git", "log", cwd=tmp_path / "myproj", check=False).returncode


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("calculator", ["human", "calculator"]),
        ("customer-support, calculator", ALL),
        ("human", ["human"]),
        ("", ["human"]),
    ],
)
def test_tools_chooses_sets(tools: str, expected: list[str], tmp_path: Path) -> None:
    """--tools takes any subset in any order; human is always there."""
    create_agent("new", "myproj", "--tools", tools, cwd=tmp_path)
    answers = (tmp_path / "myproj/.create-agent.yml").read_text(encoding="utf-8")
    assert expected == yaml.safe_load(answers)["tools"]
    names = {path.stem for path in (tmp_path / "myproj/baml_src").glob("*.baml")}
    fixed = {"agent", "clients", "generators", "tools"}
    assert {name.replace("-", "_") for name in expected} == names - fixed


def test_an_unknown_set_lists_the_valid_ones(tmp_path: Path) -> None:
    """A name that is no set is refused before anything is written."""
    done = create_agent("new", "myproj", "--tools", "calculator,wether", cwd=tmp_path, check=False)
    assert 2 == done.returncode
    assert "'wether'; there are: human, calculator, customer-support\n" in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    """When a step fails, the project, the folder beside it and new parents are gone again."""
    block = tmp_path / "sitecustomize.py"
    block.write_text("import sys\nsys.modules['baml_py'] = None\n", encoding="utf-8")
    done = create_agent("new", "a/b/myproj", cwd=tmp_path, check=False, PYTHONPATH=str(tmp_path))
    assert 1 == done.returncode
    assert "the typed client could not be generated" in done.stderr
    assert [block] == list(tmp_path.iterdir())


def test_tools_lists_the_sets(tmp_path: Path) -> None:
    """create-agent tools names each set and its intents."""
    lines = create_agent("tools", cwd=tmp_path).stdout.splitlines()
    assert ALL == [line.partition(":")[0] for line in lines[::2]]
    assert "  add, subtract, multiply, divide" == lines[3]


def test_help_and_version_answer_without_the_heavy_imports(tmp_path: Path) -> None:
    """--help and --version work where copier and baml_py cannot be imported."""
    block = "import sys\nsys.modules.update(copier=None, baml_py=None, jinja2=None, yaml=None)\n"
    (tmp_path / "sitecustomize.py").write_text(block, encoding="utf-8")
    for word in ("--help", "--version"):
        assert create_agent(word, cwd=tmp_path, PYTHONPATH=str(tmp_path)).stdout


def test_a_date_that_git_refuses_is_a_note(tmp_path: Path) -> None:
    """The reason and the command that remains; the project is there, staged."""
    done = create_agent("new", "myproj", cwd=tmp_path, GIT_AUTHOR_DATE="not today")
    assert "git cannot tell who commits (fatal: invalid date format: not today);" in done.stdout
    assert "A  pyproject.toml" in run("git", "status", "-s", cwd=tmp_path / "myproj").stdout


def test_nobodys_hooks_are_run(tmp_path: Path) -> None:
    """A hook that refuses, or that goes on in the background, has no part in the first commit."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/run\nsleep 100 &\nexit 1\n")
        (hooks / name).chmod(0o755)
    (tmp_path / "config").write_text(f"[core]\nhooksPath = {hooks}\n", encoding="utf-8")
    create_agent("new", "myproj", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(tmp_path / "config"))
    assert ["Start from create-agent"] == log(tmp_path / "myproj")
    assert not (tmp_path / "run").exists()


def test_files_that_git_will_not_add_are_a_note(tmp_path: Path) -> None:
    """A filter that fails is named, with the commands that remain; the project is there."""
    (tmp_path / "attributes").write_text("*.md filter=no\n", encoding="utf-8")
    lines = f'[core]\nattributesFile = {tmp_path}/attributes\n[filter "no"]\nclean = false\n'
    (tmp_path / "config").write_text(lines + "required = true\n", encoding="utf-8")
    done = create_agent("new", "myproj", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(tmp_path / "config"))
    assert "Note: git could not add the files (" in done.stdout
    assert "when it can: git add --all && git commit -m " in done.stdout
    assert ".new-" not in done.stdout


def test_a_repository_that_git_may_not_read_is_left_alone(tmp_path: Path) -> None:
    """Where git refuses to look at a repository, no other one is started in it."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / ".git").write_text("gitdir: nowhere\n", encoding="utf-8")
    done = create_agent("new", "myproj", cwd=broken)
    assert "Note: git cannot tell whether this is in a repository (" in done.stdout
    assert not (broken / "myproj/.git").exists()


@pytest.mark.parametrize("kind", ["folder", "not executable", "not a program", "failing"])
def test_a_git_that_does_not_work_is_a_note(kind: str, tmp_path: Path) -> None:
    """Nothing about git stops a project from being made."""
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin/git"
    if kind == "folder":
        git.mkdir()
    else:
        git.write_text("#!/bin/sh\nexit 1\n" if kind == "failing" else "?", encoding="utf-8")
        git.chmod(0o644 if kind == "not executable" else 0o755)
    done = create_agent("new", "myproj", cwd=tmp_path, PATH=str(tmp_path / "bin"))
    assert "Note: git" in done.stdout
    assert (tmp_path / "myproj/pyproject.toml").is_file()


def test_what_a_user_ignores_elsewhere_is_committed_all_the_same(tmp_path: Path) -> None:
    """The first commit holds the project, whatever a general ignore file or a template says."""
    (tmp_path / "ignore").write_text("*.md\ntests/\n", encoding="utf-8")
    (tmp_path / "template/info").mkdir(parents=True)
    (tmp_path / "template/info/exclude").write_text("*\n", encoding="utf-8")
    lines = f"[core]\nexcludesFile = {tmp_path}/ignore\n[init]\ntemplateDir={tmp_path}/template\n"
    (tmp_path / "config").write_text(lines, encoding="utf-8")
    create_agent("new", "myproj", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(tmp_path / "config"))
    tracked = run("git", "ls-files", cwd=tmp_path / "myproj").stdout.splitlines()
    wanted = set(tree(tmp_path / "myproj")) - {".env"}
    assert {name for name in wanted if "/baml_client/" not in name} == set(tracked)


def test_a_commit_that_fails_is_a_note(tmp_path: Path) -> None:
    """The reason and the command that remains; the project is there, staged."""
    (tmp_path / "template/refs/heads").mkdir(parents=True)
    (tmp_path / "template/refs/heads/main.lock").touch()  # as if somebody were writing the branch
    lines = f"[init]\ndefaultBranch = main\ntemplateDir = {tmp_path}/template\n"
    (tmp_path / "config").write_text(lines, encoding="utf-8")
    done = create_agent("new", "myproj", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(tmp_path / "config"))
    assert "Note: git could not commit (" in done.stdout
    assert 'when it can: git commit -m "Start from create-agent"' in done.stdout
    assert ".new-" not in done.stdout
    assert "A  pyproject.toml" in run("git", "status", "-s", cwd=tmp_path / "myproj").stdout


@pytest.mark.parametrize("pattern", ["myproj", "myproj/"])
def test_a_repository_that_ignores_the_project_is_a_note(pattern: str, tmp_path: Path) -> None:
    """Git around it would never hold it, and says nothing of its own accord."""
    run("git", "init", "-q", cwd=tmp_path)
    (tmp_path / ".gitignore").write_text(f"{pattern}\n", encoding="utf-8")
    done = create_agent("new", "myproj", cwd=tmp_path)
    assert "Note: the repository around the project ignores this folder" in done.stdout


def test_a_repository_that_cannot_be_started_leaves_no_half_of_it(tmp_path: Path) -> None:
    """The reason is git's, and there is no .git."""
    (tmp_path / "config").write_text("[init]\ndefaultBranch = bad branch..\n", encoding="utf-8")
    done = create_agent("new", "myproj", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(tmp_path / "config"))
    assert "Note: git could not start a repository: fatal: " in done.stdout
    assert not (tmp_path / "myproj/.git").exists()


def test_variables_that_change_how_git_reads_paths_do_no_harm(tmp_path: Path) -> None:
    """The first commit is made whatever they say."""
    create_agent("new", "myproj", cwd=tmp_path, GIT_GLOB_PATHSPECS="1", GIT_ICASE_PATHSPECS="1")
    assert ["Start from create-agent"] == log(tmp_path / "myproj")
