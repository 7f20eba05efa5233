"""Projects to test, each rendered once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from support import create_agent


@pytest.fixture(scope="session")
def project_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A project with these tool sets, made by the command. Tests must not change it."""

    @cache
    def make(tools: str = "human,calculator,customer-support", name: str = "refund-desk") -> Path:
        folder = tmp_path_factory.mktemp("project")
        create_agent("new", name, "--tools", tools, cwd=folder)
        return folder / name

    return make


@pytest.fixture(scope="session")
def project(project_with: Callable[..., Path]) -> Path:
    """A project with every tool set. Tests must not change it."""
    return project_with()
