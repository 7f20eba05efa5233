"""What `new` and `--help` cost, beside what they cannot do without.

    .venv/bin/python bench/new.py

runs whole processes in pairs, A B A B …, and prints the median of the ratios, of CPU and of wall
time, and milliseconds for orientation. `new --no-git` stands beside `copier copy` of the same
composed template, `baml-cli generate` and one import of the client; `--help` beside the import of
Typer.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from support import compose, environment  # noqa: E402

from create_agent import new  # noqa: E402

PAIRS = 11
BINARIES = Path(sys.executable).parent
Commands = list[list[str]]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compose(folder / "template")
        answers = new.plan(str(folder / "refund-desk")).answers
        (folder / "answers.json").write_text(json.dumps(asdict(answers)), encoding="utf-8")
        print("| | CPU ms | wall ms | ratio of CPU | ratio of wall |\n|---|---|---|---|---|")
        create = [[str(BINARIES / "create-agent"), "new", "--no-git", "{out}"]]
        print_pair("new --no-git", create, by_hand(folder), folder)
        help_ = [[str(BINARIES / "create-agent"), "--help"]]
        print_pair("--help", help_, [[sys.executable, "-c", "import typer"]], folder)


def by_hand(folder: Path) -> Commands:
    """The three commands that make the same files."""
    copy = ["copier", "copy", "--defaults", "--quiet", "--data-file", f"{folder}/answers.json"]
    generate = [str(BINARIES / "baml-cli"), "generate", "--from", "{out}/baml_src"]
    load = "import sys; sys.path.insert(0, sys.argv[1]); import refund_desk.baml_client"
    return [
        [str(BINARIES / copy[0]), *copy[1:], f"{folder}/template", "{out}"],
        generate,
        [sys.executable, "-c", load, "{out}/src"],
    ]


def print_pair(title: str, ours: Commands, theirs: Commands, folder: Path) -> None:
    """Run both in turn and print a line for each."""
    spent: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for i in range(PAIRS + 1):
        pair = tuple(
            run_all(each, folder / f"{n}-{title}-{i}/refund-desk")
            for n, each in (("a", ours), ("b", theirs))
        )
        if i:  # the first pair fills the caches
            spent.append((pair[0], pair[1]))
    cpu, wall = (median(a[k] / b[k] for a, b in spent) for k in (0, 1))
    for name, which in ((title, 0), ("beside it", 1)):
        ms = [median(pair[which][k] for pair in spent) * 1000 for k in (0, 1)]
        ratios = f"{cpu:.2f} | {wall:.2f}" if which == 0 else "1 | 1"
        print(f"| {name} | {ms[0]:.0f} | {ms[1]:.0f} | {ratios} |")


def run_all(commands: Commands, out: Path) -> tuple[float, float]:
    """Run commands one after the other; returns seconds of CPU, with their children's, and wall."""
    out.parent.mkdir(parents=True)
    cpu, wall = os.times(), time.perf_counter()
    for words in commands:
        filled = [word.replace("{out}", str(out)) for word in words]
        subprocess.run(
            filled,
            env=environment(BAML_LOG="off"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
        )
    now = os.times()
    used = now.children_user + now.children_system - cpu.children_user - cpu.children_system
    return used, time.perf_counter() - wall


if __name__ == "__main__":
    main()
