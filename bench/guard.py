"""What the guard costs and what it prevents, beside BAML alone. Prints three tables.

    .venv/bin/python bench/guard.py

makes a project in a temporary folder and runs it against the corpus of tests/hostile/ and against
a model server on loopback. Times are ratios within this run, and milliseconds for orientation.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from hostile_replies import corpus  # noqa: E402
from support import create_agent, environment, generate, package_of  # noqa: E402

WORKER = Path(__file__).with_name("guard_worker.py")
PATIENCE = 5.0  # seconds that BAML alone gets for one reply
BOOK = 'class Book {\n  intent "book"\n  seats int @check(some, {{ this > 0 }})\n}\n'
MEMORY = 2 * 1024**3  # bytes that it gets


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        create_agent("new", "refund-desk", cwd=Path(folder))
        project = Path(folder) / "refund-desk"
        for table in (print_mistakes, print_worst, print_costs):
            table(project)


def print_mistakes(project: Path) -> None:
    """How many replies of the corpus BAML alone gets wrong, and how many the guard."""
    cases = [c for c in corpus("replies") if "reply" in c and "finish" not in c]
    accepted = [c for c in cases if "step" in c]
    refused = [c for c in cases if "step" not in c]
    print(f"\nOf {len(cases)} replies, {len(accepted)} say a step and {len(refused)} say none.\n")
    print("| | BAML alone | with the guard |\n|---|---|---|")
    plain = {id(c): outcome for c, outcome in zip(cases, plainly(project, cases), strict=True)}
    texts = [{"do": "guard", "reply": c["reply"]} for c in cases]
    outcomes = zip(cases, worker(project, texts), strict=True)
    guarded = {id(c): outcome for c, outcome in outcomes}

    def count(chosen: list[Any], wrong: Any) -> str:
        return " | ".join(str(sum(wrong(c, by[id(c)]) for c in chosen)) for by in (plain, guarded))

    def is_other(case: Any, outcome: Any) -> bool:
        return "step" in outcome and not same(outcome["step"], case["step"])

    print("| says none, and becomes a step |", count(refused, lambda c, o: "step" in o), "|")
    print("| says a step, and becomes another |", count(accepted, is_other), "|")
    print("| says a step, and is refused |", count(accepted, lambda c, o: "refused" in o), "|")
    died = count(cases, lambda c, o: "died" in o)
    print(f"| takes more than {PATIENCE:.0f} s, or the process with it | {died} |")


def same(one: Any, other: Any) -> bool:
    """Whether two steps are equal, with 3 and 3.0 the same number and True and 1 not."""
    texts = [
        json.dumps(json.loads(json.dumps(x), parse_int=float), sort_keys=True) for x in (one, other)
    ]
    return texts[0] == texts[1]


def plainly(project: Path, cases: list[Any]) -> list[dict[str, Any]]:
    """What `b.parse` makes of each reply, in a process that may be lost over one."""
    outcomes: list[dict[str, Any]] = []
    while len(outcomes) < len(cases):
        process = start(project)
        assert process.stdin
        assert process.stdout
        for case in cases[len(outcomes) :]:
            request = {"do": "parse", "reply": case["reply"], "seconds": PATIENCE}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            outcomes.append(json.loads(line) if line else {"died": True})
            if not line:
                break
        process.kill()
        process.wait()
    return outcomes


def print_worst(project: Path) -> None:
    """The replies that take longest to be refused or accepted, within every limit."""
    add = '{"intent": "add", "a": 1, "b": '
    worst = {
        "100,000 opening brackets": "[" * 100_000,
        "an object of 99,999 brackets": "{" + "[" * 99_998,
        "one string of 99,000 quotes": add + '"' + '\\"' * 49_500 + '"}',
        "500 strings for a number": add + "[" + ",".join(['"y"'] * 490) + "]}",
        "500 numbers for a number": add + "[" + ",".join(["1"] * 490) + "]}",
        "500 fields": "{" + ",".join(f'"k{i}": "y"' for i in range(490)) + ', "intent": "add"}',
        "500 long fields": "{" + ",".join(f'"{i:190}": 1' for i in range(490)) + "}",
        "98,000 characters of text": json.dumps(
            {"intent": "done_for_now", "message": "x " * 49_000}
        ),
        "98,000 closing brackets": '{"intent": "add"}' + "]" * 98_000,
        "12,000 ends of reasoning": "x" + "</think>" * 12_000,
        "12,000 beginnings of reasoning": "<think>" * 12_000,
        "a number of 90,000 digits": add + "9" * 90_000 + "}",
        "90,000 backslashes": '{"intent": "' + "\\" * 90_000,
        "45,000 spaces before and behind": " " * 45_000 + add + "2}" + " " * 45_000,
    }
    print("\n| the worst replies | ms |\n|---|---|")
    for name, reply in worst.items():
        outcomes = worker(project, [{"do": "guard", "reply": reply}] * 6)
        print(f"| {name} | {min(o['milliseconds'] for o in outcomes[1:]):.1f} |")


def print_costs(project: Path) -> None:
    """A step over HTTP with guard and checks, and plain `b.DetermineNextStep`, in turns.

    First with the schema of a new project, then with one more tool that has a @check.
    """
    print("\n| a step over HTTP | CPU ms | wall ms |\n|---|---|---|")
    print_cost(project, "")
    with_rules = project.with_name("rules") / project.name
    shutil.copytree(project, with_rules)
    (with_rules / "baml_src/book.baml").write_text(BOOK, encoding="utf-8")
    with (with_rules / "baml_src/tools.baml").open("a", encoding="utf-8") as tools:
        tools.write("  | Book\n")
    generate(with_rules)
    print_cost(with_rules, ", a schema with a rule")


def print_cost(project: Path, what: str) -> None:
    """Three lines of the table."""
    (costs,) = worker(project, [{"do": "costs", "rounds": 60, "steps": 100}])
    for name in ("plain", "guarded"):
        print(f"| {name}{what} | {costs[name]['cpu']:.3f} | {costs[name]['wall']:.3f} |")
    print(f"| ratio, median of rounds | {costs['cpu ratio']:.2f} | {costs['wall ratio']:.2f} |")


def start(project: Path) -> "subprocess.Popen[str]":
    """A worker that imports the project."""
    limit = (MEMORY, MEMORY)
    return subprocess.Popen(
        [sys.executable, str(WORKER), package_of(project)],
        env=environment(PYTHONPATH=str(project / "src")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )


def worker(project: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a fresh worker answers to these requests."""
    process = start(project)
    out, _ = process.communicate("".join(json.dumps(each) + "\n" for each in requests))
    return [json.loads(line) for line in out.splitlines()]


if __name__ == "__main__":
    main()
