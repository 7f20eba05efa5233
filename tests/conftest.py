"""Projects to test, each rendered once."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hostile_replies import add_owners_tools
from payments import OVER_HTTP
from support import create_agent


@pytest.fixture(scope="session")
def project_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A project with these tool sets, made by the command. Tests must not change it."""

    @cache
    def make(
        tools: str = "human,calculator,customer-support",
        name: str = "refund-desk",
        server: bool = True,
    ) -> Path:
        folder = tmp_path_factory.mktemp("project")
        without = () if server else ("--no-server",)
        create_agent("new", name, "--tools", tools, *without, cwd=folder)
        return folder / name

    return make


@pytest.fixture(scope="session")
def project(project_with: Callable[..., Path]) -> Path:
    """A project with every tool set. Tests must not change it."""
    return project_with()


@pytest.fixture(scope="session")
def paying(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose `send_refund` is replaced, in its one place, by a call over HTTP to PAY_URL.
    Tests must not change it.
    """
    copy = tmp_path_factory.mktemp("paying") / project.name
    shutil.copytree(project, copy)
    with (copy / "src/refund_desk/tools/customer_support.py").open("a") as tools:
        tools.write(OVER_HTTP)
    return copy


@pytest.fixture(scope="session")
def owners_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose owner added the tools of hostile/owner.baml. Tests must not change it."""
    project = tmp_path_factory.mktemp("owner") / "owner-desk"
    create_agent("new", project.name, cwd=project.parent)
    add_owners_tools(project)
    return project
