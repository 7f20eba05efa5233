"""Every project that can be rendered passes its own tests, linter, formatter and type checkers."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import agent, package_of, run, tree

ALL = "human,calculator,customer-support"
SETS = ["human", "human,calculator", "human,customer-support", ALL]
NAMES = ["z", "a" * 40, "refund-desk", "refund-desk"]
VARIANTS = [
    (tools, name, server)
    for tools, name in zip(SETS, NAMES, strict=True)
    for server in (True, False)
]
CHECKS = [
    ("pytest", "-q", "-p", "no:cacheprovider"),
    ("ruff", "check", "--no-cache", "."),
    ("ruff", "format", "--no-cache", "--check", "."),
    ("mypy",),
    ("pyright", "--pythonpath", sys.executable),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy found out about libraries, which is the same for every project."""
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.parametrize("check", CHECKS, ids=lambda words: "-".join(words[:2]))
@pytest.mark.parametrize(("tools", "name", "server"), VARIANTS)
def test_a_variant_passes(
    tools: str,
    name: str,
    server: bool,
    check: tuple[str, ...],
    project_with: Callable[..., Path],
    cache: Path,
) -> None:
    """The check succeeds in the project as it was rendered."""
    project = project_with(tools, name, server)
    done = run(sys.executable, "-m", *check, cwd=project, MYPY_CACHE_DIR=str(cache))
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("check", CHECKS[1:3], ids=lambda words: "-".join(words[:2]))
@pytest.mark.parametrize("name", ["z", "a" * 40])
def test_a_name_moves_no_line(
    name: str, check: tuple[str, ...], project_with: Callable[..., Path]
) -> None:
    """With the shortest name and the longest, imports are where ruff wants them."""
    run(sys.executable, "-m", *check, cwd=project_with(ALL, name))


def test_without_a_server_there_is_none(project_with: Callable[..., Path]) -> None:
    """Neither its files nor its dependencies are there, and no command serves."""
    project = project_with(ALL, "refund-desk", False)
    assert [] == [path for path in tree(project) if "/server" in path or "/web/" in path]
    for name in ("pyproject.toml", "README.md", ".env.example", ".env", "AGENTS.md"):
        text = (project / name).read_text(encoding="utf-8").lower()
        assert not re.search(r"fastapi|uvicorn|\bserve\b|agent_api_token|inbox", text), name
    done = agent(project, "serve", check=False)
    assert (2, True) == (done.returncode, "invalid choice: 'serve'" in done.stderr)
    assert "serve" not in agent(project, "--help").stdout
    assert "7\n" == agent(project, "ask", "add 3 and 4").stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_tool_without_an_arm_is_a_type_error(
    checker: str, tmp_path: Path, project: Path, cache: Path
) -> None:
    """Both type checkers name the class that handle_next_step forgot."""
    copy = tmp_path / project.name
    run("cp", "-r", project, copy, cwd=tmp_path)
    agent = copy / "src" / package_of(project) / "agent.py"
    text = agent.read_text(encoding="utf-8")
    without, count = re.subn(r"        case types.AddTool\(\):\n.*\n", "", text)
    assert 1 == count
    agent.write_text(without, encoding="utf-8")
    words = next(words for words in CHECKS if words[0] == checker)
    done = run(sys.executable, "-m", *words, cwd=copy, check=False, MYPY_CACHE_DIR=str(cache))
    assert 1 == done.returncode
    assert "AddTool" in done.stdout
