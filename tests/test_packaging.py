"""The distribution: a wheel from the sdist holds what git holds, and makes the same project."""

import shutil
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from support import REPOSITORY, create_agent, run, tree

PLACES = {  # where each folder of the repository goes in the wheel
    "src/create_agent/": "create_agent/",
    "template/": "create_agent/_template/",
    "baml_src/": "create_agent/_baml_src/",
}


def files_of_git() -> list[str]:
    """Every file that git tracks, or would: without what it ignores."""
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = run(*words, cwd=REPOSITORY).stdout.split("\0")[:-1]
    return [name for name in names if (REPOSITORY / name).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built through the sdist, from a checkout with junk lying about."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in files_of_git():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, checkout / name)
    for junk in ("template/.env", "template/__pycache__/a.pyc", "baml_src/baml_client/a.py"):
        (checkout / junk).parent.mkdir(exist_ok=True)
        (checkout / junk).write_text("junk", encoding="utf-8")
    run(sys.executable, "-m", "build", "-o", "dist", cwd=checkout)
    (built,) = (checkout / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_what_git_holds(wheel: Path) -> None:
    """Apart from its own metadata, the wheel's list of files is git's."""
    expected = {
        there + name.removeprefix(here)
        for name in files_of_git()
        for here, there in PLACES.items()
        if name.startswith(here)
    }
    names = zipfile.ZipFile(wheel).namelist()
    assert expected == {name for name in names if ".dist-info/" not in name}


def test_the_wheel_makes_the_same_project(wheel: Path, tmp_path: Path) -> None:
    """Installed somewhere else, both commands make what the checkout makes."""
    python = tmp_path / "env/bin/python"
    pinned = f"baml-py=={version('baml-py')}"  # each side writes the version that it has
    run(sys.executable, "-m", "venv", "env", cwd=tmp_path)
    run(python, "-m", "pip", "install", "-q", wheel, pinned, cwd=tmp_path)
    (tmp_path / "checkout").mkdir()
    create_agent("new", "refund-desk", cwd=tmp_path / "checkout")
    expected = tree(tmp_path / "checkout")
    for command in ("create-agent", "create-baml-agent"):
        folder = tmp_path / command
        folder.mkdir()
        run(tmp_path / "env/bin" / command, "new", "refund-desk", cwd=folder)
        assert expected.keys() == tree(folder).keys()
        assert expected == tree(folder)
