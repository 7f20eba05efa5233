"""What the durable thread costs: a conversation beside a bare BAML loop, and many and long threads.

    .venv/bin/python bench/store.py

makes a project in a temporary folder and runs it against a model server on loopback. Times are
ratios within this run, and milliseconds for orientation.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from support import agent, create_agent, environment, new_store, package_of  # noqa: E402

MANY = """
import sys, time
from {package}.runtime.store import open_store
from {package}.runtime.thread import Thread
store = open_store()
thread = Thread.create(store)
def spent(times):
    started = time.perf_counter()
    for _ in range(times):
        thread.add_user_input("and another thing " * 4)
    return (time.perf_counter() - started) * 1000 / times
first = min(spent(100) for _ in range(3))
while len(thread.events) < 10_000:
    spent(100)
last = min(spent(100) for _ in range(3))
for _ in range(10_000 - 1):
    Thread.create(store).add_user_input("hello")
store.database.change("UPDATE threads SET status = 'done'")
print(first, last, thread.id)
"""
TIMED = """
import sys, time
from {package}.runtime.cli import main
started = time.perf_counter()
main(sys.argv[1:])
print((time.perf_counter() - started) * 1000, file=sys.stderr)
"""


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        create_agent("new", "refund-desk", cwd=Path(folder))
        project = Path(folder) / "refund-desk"
        print_conversation(project)
        print_many(project)


def print_conversation(project: Path) -> None:
    """A conversation of four requests, with guard and store and without."""
    worker = Path(__file__).with_name("store_worker.py")
    env = environment(PYTHONPATH=str(project / "src"))
    words = [sys.executable, str(worker), package_of(project), "30", "20"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print("\n| four requests over HTTP | CPU ms | wall ms |\n|---|---|---|")
    for name in ("bare", "durable"):
        print(f"| {name} | {found[name][0]:.2f} | {found[name][1]:.2f} |")
    print(f"| ratio, median of rounds | {found['ratio'][0]:.2f} | {found['ratio'][1]:.2f} |")


def print_many(project: Path) -> None:
    """10,000 events in one thread, and 10,000 threads."""
    package, url = package_of(project), new_store()
    env = environment(PYTHONPATH=str(project / "src"), DATABASE_URL=url)
    words = [sys.executable, "-c", MANY.format(package=package)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    first, last, thread_id = done.stdout.split()
    print("\n| one of 10,000 | ms |\n|---|---|")
    print(f"| append to a short thread | {float(first):.2f} |")
    print(f"| append to a thread of 10,000 events | {float(last):.2f} |")
    timed = TIMED.format(package=package)
    for words in (["threads"], ["threads", "--json"], ["show", thread_id]):
        times = []
        for _ in range(3):
            code = [sys.executable, "-c", timed, *words]
            done = subprocess.run(code, env=env, capture_output=True, text=True, check=True)
            times.append(float(done.stderr.splitlines()[-1]))
        print(f"| {' '.join(words[:2])[:14]} | {min(times):.0f} |")
    assert agent(project, "threads", DATABASE_URL=url).returncode == 0


if __name__ == "__main__":
    main()
