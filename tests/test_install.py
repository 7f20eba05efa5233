"""A project as it is installed in CI, from a clone, and as a wheel; test_project_readme.py
installs it with uv and pip.
"""

import os
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from support import QUESTION, create_agent, environment, run


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A new project that a test may change."""
    create_agent("new", "refund-desk", cwd=tmp_path)
    return tmp_path / "refund-desk"


def test_the_workflow_passes_with_an_old_pip(fresh: Path, tmp_path: Path) -> None:
    """The steps of .github/workflows/ci.yml, in order, in a clone; pip is one of 2023."""
    clone = tmp_path / "clone"
    run("git", "clone", "-q", fresh, clone, cwd=tmp_path)
    workflow = yaml.safe_load((clone / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert {"push", "pull_request"} == set(workflow[True])  # YAML 1.1 reads `on` as true
    assert {"contents": "read"} == workflow["permissions"]
    used = [step["uses"] for step in job["steps"] if "uses" in step]  # a clone, an environment
    assert ["actions/checkout@v5", "actions/setup-python@v6"] == used
    run(sys.executable, "-m", "venv", "environment", cwd=tmp_path)
    binaries = tmp_path / "environment/bin"
    run(binaries / "pip", "install", "-q", "pip==23.2.1", cwd=tmp_path)
    path = f"{binaries}:{os.environ['PATH']}"
    steps = [step["run"] for step in job["steps"] if "run" in step]
    said = [run("bash", "-e", "-c", step, cwd=clone, PATH=path).stdout for step in steps]
    checks = ["ruff check .", "ruff format --check .", "mypy", "pytest"]
    assert ["pip install -e '.[dev]'", "baml-cli generate", *checks] == steps
    assert " passed" in said[-1]
    assert "18\n" == run(binaries / "refund-desk", "ask", QUESTION, cwd=clone).stdout


def test_the_workflow_tries_the_pythons_that_are_promised(fresh: Path) -> None:
    """The oldest that pyproject.toml allows, and the one in the image."""
    workflow = yaml.safe_load((fresh / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    pythons = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((fresh / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    image = (fresh / "Dockerfile").read_text(encoding="utf-8")
    assert f">={pythons[0]}" == project["requires-python"]
    assert f"FROM python:{pythons[-1]}-slim\n" in image


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
