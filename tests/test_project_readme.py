"""The README of a project says what is true: its commands run, its files exist, its steps lead on."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from markdown import Block, blocks, codes, rows, sections
from payments import wait_for
from right_replies import reply_to
from support import Done, agent, environment, http_server, model_server, run, Response

PORT = "8000"
"""The port of the README; here each copy of a project has one of its own."""

Project = Callable[..., Path]


@pytest.fixture
def copy_of(project_with: Project, tmp_path: Path) -> Callable[..., Path]:
    """Copies of projects as they are when they are new, but served at a free port."""

    def make(**variant: Any) -> Path:
        original = project_with(**variant)
        copy = tmp_path / original.name
        shutil.copytree(original, copy, symlinks=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        for path in (
            copy / "README.md",
            copy / "Dockerfile",
            copy / "src/refund_desk/runtime/cli.py",
        ):
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(rf"\b{PORT}\b", port, text), encoding="utf-8")
        return copy

    return make


def readme(project: Path) -> str:
    """A project's README."""
    return (project / "README.md").read_text(encoding="utf-8")


def commands(project: Path, heading: str) -> list[str]:
    """The blocks of commands below a heading."""
    return [block.text for block in blocks(sections(readme(project))[heading], "sh")]


def variables(project: Path, *paths: Path, **changes: str) -> dict[str, str]:
    """A shell's variables in a project; with folders that come first in PATH, and no settings."""
    folders = [*paths, Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    uv = {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    env = environment(PATH=path, **uv, **changes)
    return {name: value for name, value in env.items() if value}


def shell(text: str, project: Path, env: dict[str, str], expected: int = 0) -> Done:
    """Run a block as somebody would who pastes it, and expect an exit code."""
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert expected == done.returncode, f"{text}\n{done.stdout}\n{done.stderr}"
    return done


@contextmanager
def in_background(text: str, project: Path, env: dict[str, str]) -> Iterator[str]:
    """Run a block that serves, within the context, and interrupt it; yields the server's address."""
    log = project.parent / "serving.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            ["sh", "-e", "-c", text], cwd=project, env=env, stderr=stderr, start_new_session=True
        )
    try:
        found = wait_for(lambda: re.search(r"at (http://\S+)/ ", log.read_text(encoding="utf-8")))
        assert process.poll() is None
        yield found[1]
    finally:
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(timeout=30)
    assert 130 == code, log.read_text(encoding="utf-8")


def installed_command(project: Path, folder: Path) -> Path:
    """A folder with the project's command, as an installation of it puts one there."""
    folder.mkdir()
    command = folder / "refund-desk"
    start = f"from refund_desk.runtime.cli import main; raise SystemExit(main())"
    lines = (f"#!{sys.executable}", "import sys", f"sys.path.insert(0, {str(project / 'src')!r})")
    command.write_text("\n".join([*lines, start, ""]), encoding="utf-8")
    command.chmod(0o755)
    return folder


def test_every_section_with_commands_is_run_here(project: Path) -> None:
    """A section that is added to the README has to be added to these tests."""
    found = {name for name, text in sections(readme(project)).items() if blocks(text, "sh")}
    assert {
        "Run it",
        "Reach it from anywhere",
        "Add a tool",
        "Test it",
        "Deploy it",
    } == found


@pytest.mark.parametrize("tools", ["human", "human,calculator", "human,customer-support"])
def test_other_readmes_have_no_other_commands(
    tools: str, project: Path, project_with: Project
) -> None:
    """What is run of the README with everything is all that is in one with less."""
    without = project_with(tools, "refund-desk", False)
    lines = {line for block in blocks(readme(without), "sh") for line in block.text.splitlines()}
    assert lines <= {
        line for block in blocks(readme(project), "sh") for line in block.text.splitlines()
    }
    assert lines


def test_it_is_installed_and_asked(copy_of: Callable[..., Path]) -> None:
    """uv, and pip: both ways lead to the same command."""
    project = copy_of()
    with_uv, with_pip, *questions = commands(project, "Run it")
    env = variables(project)
    assert "How can I help" in shell(with_uv, project, env).stdout
    shutil.rmtree(project / ".venv")
    assert "How can I help" in shell(with_pip, project, env).stdout
    env = variables(project, project / ".venv/bin")
    calculated, refunded = questions
    assert "24\n" == shell(calculated, project, env).stdout
    done = shell(refunded, project, env, expected=3)
    assert "process_refund" in done.stderr
    assert "passed" in shell(commands(project, "Test it")[0], project, env).stdout
