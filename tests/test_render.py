"""The renderer: it makes of the template what Copier makes of it."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path, PurePosixPath

import pytest
from support import compose, everything

from create_agent.errors import UserError
from create_agent.providers import PROVIDERS
from create_agent.render import Answers, Template, template_files

COPY = """
import json, sys
import copier
template, into, answers = sys.argv[1:]
copier.run_copy(template, into, data=json.loads(answers), defaults=True, quiet=True,
    settings=copier.Settings(), skip_tasks=True)
"""
SETS = [
    ["human"],
    ["human", "calculator"],
    ["human", "customer-support"],
    ["human", "calculator", "customer-support"],
]


def answers(tools: list[str], provider: str = "", server: bool = True) -> Answers:
    """Answers for a project."""
    return Answers("refund.desk", "refund_desk", tools, server, provider, "0.226.3", "0.1.0")


@pytest.mark.parametrize("server", [True, False])
@pytest.mark.parametrize("tools", SETS, ids=lambda tools: "-".join(tools))
def test_what_is_rendered_is_what_copier_renders(
    tools: list[str], server: bool, tmp_path: Path
) -> None:
    """Every path, mode and byte, for every choice of tool sets, with a server and without."""
    template = tmp_path / "template"
    compose(template)
    for provider in ("", *PROVIDERS) if len(tools) == 1 else ("",):
        given = answers(tools, provider, server)
        ours, theirs = (tmp_path / f"{who}-{provider}" for who in ("ours", "theirs"))
        words = [sys.executable, "-c", COPY, str(template), str(theirs), json.dumps(asdict(given))]
        subprocess.run(words, check=True)
        Template(template_files()).render(given, ours)
        assert everything(theirs) == everything(ours)


def own_template(folder: Path, **files: str) -> Template:
    """A template of these files, by their names with __ for a dot."""
    found = {}
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(text.encode())
        found[PurePosixPath(path.name)] = path
    settings = folder / "copier.yml"
    settings.write_text("_envops: {keep_trailing_newline: true}\n_exclude: [copier.yml]\n")
    return Template({**found, PurePosixPath("copier.yml"): settings})


def test_executable_bits_survive(tmp_path: Path) -> None:
    """A script can be run by whoever can read it, and nothing else of a source's mode counts."""
    template = own_template(tmp_path, run__jinja="#!/bin/sh\n", plain="text\n", also="#!/bin/sh\n")
    (tmp_path / "run.jinja").chmod(0o755)
    (tmp_path / "also").chmod(0o555)  # as where create-agent was installed read-only
    (tmp_path / "plain").chmod(0o400)
    before = os.umask(0o027)
    try:
        template.render(answers(["human"]), tmp_path / "project")
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "project").iterdir()}
    assert {"run": 0o750, "also": 0o750, "plain": 0o640} == modes


@pytest.mark.parametrize("text", ["{{ nobody }}", "{% if %}", "{{"])
def test_a_template_that_is_wrong_names_its_file(text: str, tmp_path: Path) -> None:
    """A name that does not exist and a tag that is none are errors, not empty texts."""
    template = own_template(tmp_path, wrong__txt__jinja=text)
    with pytest.raises(UserError, match=r"^the template could not be rendered: wrong\.txt: "):
        template.render(answers(["human"]), tmp_path / "project")
