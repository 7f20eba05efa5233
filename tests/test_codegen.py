"""The typed client: made by this environment's BAML and no other, and its errors are readable."""

import os
from pathlib import Path

import pytest
from support import adding, create_agent, faults, tree

WRONG_SCHEMA = adding("baml_src/human.baml", "class Broken {\n  name strin\n}\n")
WRONG_PACKAGE = adding("src/refund_desk/__init__.py", "import nothing_of_that_name\n")


def test_programs_on_the_path_are_not_asked(tmp_path: Path, project: Path) -> None:
    """A baml-cli, a python or a baml_py that lie about are never run."""
    (tmp_path / "bin").mkdir()
    for name in ("baml-cli", "baml", "python", "python3", "copier"):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n")
        (tmp_path / "bin" / name).chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    for name in ("baml_py.py", "jinja2.py", "yaml.py", "sitecustomize.py"):
        (here / name).write_text(f"open({str(tmp_path / 'asked')!r}, 'w')\nraise SystemExit(1)\n")
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    create_agent("new", "refund-desk", cwd=here, PATH=path, PYTHONSAFEPATH="1")
    assert not (tmp_path / "asked").exists()
    assert tree(project) == tree(here / "refund-desk")


@pytest.mark.parametrize("backtrace", ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"])
def test_a_schema_error_is_bamls_own_words(backtrace: str, tmp_path: Path) -> None:
    """File, line and reason, without a backtrace, also where one is asked for; nothing is made."""
    here = {**faults(WRONG_SCHEMA, tmp_path / "faults"), backtrace: "full"}
    done = create_agent("new", "a/refund-desk", cwd=tmp_path, check=False, **here)
    assert (1, "") == (done.returncode, done.stdout)
    assert "strin" in done.stderr
    assert "human.baml:" in done.stderr
    for noise in ("stack backtrace", "Traceback", "rustc", " at /", "0x"):
        assert noise not in done.stderr.lower()
    assert ["faults"] == [path.name for path in tmp_path.iterdir()]


def test_a_client_that_cannot_be_imported_is_one_line(tmp_path: Path) -> None:
    """The reason without a traceback, and nothing is made."""
    here = faults(WRONG_PACKAGE, tmp_path / "faults")
    done = create_agent("new", "a/refund-desk", cwd=tmp_path, check=False, **here)
    assert 1 == done.returncode
    assert done.stderr.splitlines() == [
        "error: the typed client could not be generated:",
        "ModuleNotFoundError: No module named 'nothing_of_that_name'",
    ]
    assert ["faults"] == [path.name for path in tmp_path.iterdir()]


def test_a_panic_of_bamls_is_no_traceback(tmp_path: Path) -> None:
    """What ends BAML is named, and nothing is made."""
    done = create_agent("new", "desk", cwd=tmp_path, check=False, TOKIO_WORKER_THREADS="0")
    assert (1, "") == (done.returncode, done.stdout)
    assert "the typed client could not be generated" in done.stderr
    assert "Traceback" not in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_signal_that_ends_baml_is_named(tmp_path: Path) -> None:
    """A process that dies without a word has its signal told."""
    done = create_agent("new", "desk", cwd=tmp_path, check=False, RUST_MIN_STACK="1")
    assert (1, "") == (done.returncode, done.stdout)
    assert "BAML was ended by signal" in done.stderr
    assert [] == list(tmp_path.iterdir())
