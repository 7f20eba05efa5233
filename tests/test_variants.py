"""Every project that can be rendered passes its own tests, linter, formatter and type checkers."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import package_of, run

VARIANTS = [
    ("human", "refund-desk"),
    ("human,calculator", "refund-desk"),
    ("human,customer-support", "refund-desk"),
    ("human,calculator,customer-support", "refund-desk"),
    ("human,calculator,customer-support", "a" * 40),
    ("human,calculator,customer-support", "z"),
]
CHECKS = [
    ("pytest", "-q", "-p", "no:cacheprovider"),
    ("ruff", "check", "--no-cache", "."),
    ("ruff", "format", "--no-cache", "--check", "."),
    ("mypy", "--cache-dir", "/dev/null"),
    ("pyright", "--pythonpath", sys.executable),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda words: "-".join(words[:2]))
@pytest.mark.parametrize(("tools", "name"), VARIANTS)
def test_a_variant_passes(
    tools: str, name: str, check: tuple[str, ...], project_with: Callable[..., Path]
) -> None:
    """The check succeeds in the project as it was rendered."""
    done = run(sys.executable, "-m", *check, cwd=project_with(tools, name))
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_tool_without_an_arm_is_a_type_error(checker: str, tmp_path: Path, project: Path) -> None:
    """Both type checkers name the class that handle_next_step forgot."""
    copy = tmp_path / project.name
    run("cp", "-r", project, copy, cwd=tmp_path)
    agent = copy / "src" / package_of(project) / "agent.py"
    text = agent.read_text(encoding="utf-8")
    without, count = re.subn(r"        case types.AddTool\(\):\n.*\n", "", text)
    assert 1 == count
    agent.write_text(without, encoding="utf-8")
    words = next(words for words in CHECKS if words[0] == checker)
    done = run(sys.executable, "-m", *words, cwd=copy, check=False)
    assert 1 == done.returncode
    assert "AddTool" in done.stdout
