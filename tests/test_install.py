"""A project as its owner installs it: with uv, with an old pip, from a clone, as a wheel."""

import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import QUESTION, create_agent, environment, run

UV = (sys.executable, "-m", "uv")


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A new project that a test may change."""
    create_agent("new", "refund-desk", cwd=tmp_path)
    return tmp_path / "refund-desk"


def test_pip_23_2_installs_runs_and_tests(fresh: Path) -> None:
    """pip install -e '.[dev]' with pip 23.2 gives the command and its tests."""
    run(sys.executable, "-m", "venv", ".venv", cwd=fresh)
    python = fresh / ".venv/bin/python"
    run(python, "-m", "pip", "install", "-q", "pip==23.2.1", cwd=fresh)
    run(python, "-m", "pip", "install", "-q", "-e", ".[dev]", cwd=fresh)
    done = run(fresh / ".venv/bin/refund-desk", "ask", QUESTION, cwd=fresh)
    assert "18\n" == done.stdout
    assert " passed" in run(fresh / ".venv/bin/pytest", cwd=fresh).stdout
    run(fresh / ".venv/bin/mypy", cwd=fresh)


def test_uv_runs_and_tests(fresh: Path) -> None:
    """uv run needs no step before it, and finds the development tools too."""
    uv = {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    done = run(*UV, "run", "refund-desk", "ask", QUESTION, cwd=fresh, **uv)
    assert "18\n" == done.stdout
    assert " passed" in run(*UV, "run", "pytest", "-q", cwd=fresh, **uv).stdout


def test_a_clone_says_how_to_get_its_client(fresh: Path, tmp_path: Path) -> None:
    """Without the generated client there is one line with a command, which then helps."""
    clone = tmp_path / "clone"
    run("git", "clone", "-q", fresh, clone, cwd=tmp_path)
    source = {"PYTHONPATH": str(clone / "src")}
    ask = (sys.executable, "-m", "refund_desk", "ask", QUESTION)
    done = run(*ask, cwd=tmp_path, check=False, **source)
    assert (1, "") == (done.returncode, done.stdout)
    assert 1 == done.stderr.count("\n")
    tests = run(sys.executable, "-m", "pytest", cwd=clone, check=False)
    assert 0 != tests.returncode
    command = done.stderr.partition("run: ")[2].strip()
    assert command in tests.stdout + tests.stderr
    subprocess.run(shlex.split(command), cwd=tmp_path, env=environment(), check=True)
    assert "18\n" == run(*ask, cwd=tmp_path, **source).stdout


def test_the_wheel_holds_the_client(fresh: Path, tmp_path: Path) -> None:
    """A wheel of the project runs where there is no baml_src, and is ignored by no .gitignore."""
    run(sys.executable, "-m", "build", "-w", "-o", tmp_path / "dist", cwd=fresh)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert "refund_desk/baml_client/async_client.py" in zipfile.ZipFile(wheel).namelist()
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    ask = (sys.executable, "-m", "refund_desk", "ask", QUESTION)
    done = run(*ask, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert "18\n" == done.stdout
