"""Names of projects: which are refused, before anything is written, and that the others work."""

import re
import string
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support import Done, agent, create_agent, run, tree

from create_agent.errors import UserError
from create_agent.names import derive

REFUSED: dict[str, list[str]] = {
    "it may hold the letters a to z, digits": [
        *("my project", "退款", "désk", "-x", "_x", "x_", "x-", ".x", "x.", "a..-", "a/b", "a\\b"),
        *(
            "a:b",
            "a\n",
            "\t",
            "a\x1b[31m",
            "$(id)",
            "",
            " ",
            "{{ package }}",
            "%s",
            "[bold]",
            "a,b",
        ),
        "\udcff",
    ],
    "it has more than 40 characters": ["a" * 41, "a-" * 200 + "a"],
    "Python cannot import": ["1st", "3", "2-fast", "0.1"],
    "is a word of Python": ["class", "None", "none", "true", "Async", "lambda"],
    "is a module of Python's standard library": [
        *("json", "JSON", "asyncio", "this", "distutils", "cgi", "compression", "annotationlib"),
    ],
    "it would hide a package or a command that the project needs": [
        *("pydantic", "Baml_Py", "baml.py", "baml-client", "baml_client", "baml-cli", "dotenv"),
        *(
            "create-agent",
            "create_agent",
            "Create.Baml--Agent",
            "pytest",
            "py.test",
            "ruff",
            "mypy",
        ),
        *("hatchling", "pip3", "python3.11", "setuptools", "uv", "git", "test", "tests", "src"),
        *("docker", "curl", "cd", "export", "LS"),
        *("conftest", "sitecustomize", "activate", "activate.fish", "fastapi", "uvicorn"),
        *("starlette", "anyio", "psycopg", "psycopg_pool", "procrastinate", "croniter", "yaml"),
        *("attr", "dateutil"),
    ],
    "Windows cannot have a folder of that name": ["con", "AUX", "com1", "nul.agent"],
    "the project's tests are called so": ["test-agent", "Test_x"],
}
ACCEPTED = {
    "refund-desk": "refund_desk",
    "RefundDesk": "refunddesk",
    "my.proj": "my_proj",
    "a--b..c": "a_b_c",
    "x": "x",
    "a" * 40: "a" * 40,
    "no": "no",
    "on": "on",
    "e1": "e1",
    "match": "match",
    "agent": "agent",
    "runtime": "runtime",
    "tools": "tools",
    "policy": "policy",
    "baml-desk": "baml_desk",
    "user_input": "user_input",
}


def new(name: str, folder: Path) -> Done:
    """Try to make a project of that name in a folder of another."""
    return create_agent("new", "--no-git", "--name", name, "folder", cwd=folder, check=False)


@pytest.mark.parametrize(
    ("name", "reason"), [(name, reason) for reason, names in REFUSED.items() for name in names]
)
def test_a_name_that_would_break_the_project_is_refused(
    name: str, reason: str, tmp_path: Path
) -> None:
    """One line with the reason and another name, exit 2, and nothing is written."""
    done = new(name, tmp_path)
    assert (2, "") == (done.returncode, done.stdout)
    assert reason in done.stderr
    assert 1 == done.stderr.count("\n")
    assert [] == list(tmp_path.iterdir())
    suggestion = re.fullmatch(r".*; try (\S+)\n", done.stderr)
    assert suggestion
    assert derive(tmp_path, suggestion[1])


@pytest.mark.parametrize(("name", "package"), ACCEPTED.items())
def test_a_name_gives_the_names_of_command_and_package(
    name: str, package: str, tmp_path: Path
) -> None:
    """The command has the project's name, the package one that Python can import, and both run."""
    create_agent("new", name, cwd=tmp_path)
    project = tmp_path / name
    found = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (name, {name: f"{package}.runtime.cli:main"}) == (found["name"], found["scripts"])
    source = {"PYTHONPATH": str(project / "src")}
    done = run(sys.executable, "-m", package, "ask", "add 3 and 4", cwd=tmp_path, **source)
    assert "7\n" == done.stdout


def test_a_folder_whose_name_will_not_do_gets_another_name(tmp_path: Path) -> None:
    """The message offers a name, which then serves for the folder as it is."""
    done = create_agent("new", "My Desk", cwd=tmp_path, check=False)
    assert done.stderr.endswith("; try my-desk, or keep the folder with --name my-desk\n")
    create_agent("new", "My Desk", "--name", "my-desk", cwd=tmp_path)
    assert (tmp_path / "My Desk/src/my_desk/agent.py").is_file()


def test_folders_above_may_have_any_name(tmp_path: Path) -> None:
    """Blanks, quotes, letters of any script, tags and line breaks above the project do no harm."""
    for above in ("über mir", "退款 '\"", "{{ x }}", "[bold]", "-x", "a\nb", "%s$HOME"):
        folder = tmp_path / above
        folder.mkdir()
        create_agent("new", "refund-desk", cwd=folder)
        done = agent(folder / "refund-desk", "ask", "add 3 and 4")
        assert "7\n" == done.stdout


def test_every_name_of_an_installed_project_is_refused(tmp_path: Path, project: Path) -> None:
    """No distribution, module or command that a project installs, now or with the parts that can
    be added to it, is a name for a project.
    """
    parts = ["fastapi", "uvicorn[standard]", "psycopg[binary,pool]", "procrastinate", "hatchling"]
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "-q", "--seed", "environment", cwd=tmp_path)
    put = (*uv, "pip", "install", "-q", "--python", "environment/bin/python")
    # What is released later is no reason for this test to fail, but one to look again.
    run(*put, "--exclude-newer", "2026-11-30", f"{project}[dev]", *parts, cwd=tmp_path)
    listed = run(tmp_path / "environment/bin/python", "-c", LIST, cwd=tmp_path).stdout.splitlines()
    commands = [path.name for path in (tmp_path / "environment/bin").iterdir()]
    own = {"refund-desk", "refund_desk"}
    names = {name for name in [*listed, *commands] if re.fullmatch(r"[A-Za-z][\w.-]+", name)} - own
    assert {"psycopg-pool", "dateutil", "uvicorn", "stubgen"} <= names
    accepted = sorted(name for name in names if is_accepted(name))
    assert not accepted, accepted


LIST = """
from importlib.metadata import distributions, packages_distributions
print(*(each.metadata["Name"] for each in distributions()), *packages_distributions(), sep="\\n")
"""


def is_accepted(name: str) -> bool:
    """Whether a project may have this name."""
    try:
        derive(Path("folder"), name)
    except UserError:
        return False
    return True


names = st.one_of(
    st.text(
        st.sampled_from(string.ascii_letters + string.digits + "-_. "), min_size=1, max_size=45
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=20),
    st.from_regex(r"[a-zA-Z][a-zA-Z0-9]{0,8}([-_.]{1,2}[a-z0-9]{1,6}){0,3}", fullmatch=True),
).filter(lambda name: name not in (".", ".."))  # the folder itself, and the one above


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=names)
@example(name="yes")
@example(name="null")
@example(name="typing-extensions2")
def test_any_name_is_refused_or_makes_a_project(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the folder is called: nothing is written, or a project that imports its own code."""
    folder = tmp_path_factory.mktemp("any")
    done = create_agent("new", "--no-git", "--", f"./{name}", cwd=folder, check=False)
    if done.returncode == 2:
        assert 1 == done.stderr.count("\n")
        assert [] == list(folder.iterdir())
        return
    assert (0, "") == (done.returncode, done.stderr)
    (project,) = folder.iterdir()
    package = re.sub(r"[-.]+", "_", project.name).lower()
    where = f"import {package} as p; from {package} import agent, policy; print(p.__file__)"
    found = run(sys.executable, "-c", where, cwd=folder, PYTHONPATH=str(project / "src"))
    assert f"{project}/src/{package}/__init__.py\n" == found.stdout
    assert f"src/{package}/agent.py" in tree(project)
