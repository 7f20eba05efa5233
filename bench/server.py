"""What the server bears: many threads in flight, with a slow model, and reads meanwhile.

    .venv/bin/python bench/server.py [THREADS]

makes a project in a temporary folder and serves it on loopback, with a model that takes a second
for each of three answers. The server, the model, and the clients of this process share the machine.
"""

import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import psutil
from model_server import model_server

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from serving import Api, serving  # noqa: E402
from support import create_agent  # noqa: E402

THINKS = 1.0  # seconds
STEPS = [
    {"intent": "add", "a": 3, "b": 4},
    {"intent": "add", "a": 7, "b": 4},
    {"intent": "done_for_now", "message": "11"},
]
READERS = 4


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        create_agent("new", "desk", cwd=Path(folder))
        with (
            model_server(STEPS, THINKS) as model,
            serving(Path(folder) / "desk", AGENT_CLIENT="compatible", **model) as api,
        ):
            print_load(api, count)


def print_load(api: Api, count: int) -> None:
    """Launch threads as fast as 16 clients can, and read until all of them are done."""
    reads: list[float] = []
    errors: list[int] = []
    ids: list[str] = []
    over = threading.Event()

    def launch(number: int) -> float:
        started = time.perf_counter()
        told = api.post("/threads", {"message": f"add 3 and 4, then 4, number {number}"})
        if told.status == 201:
            ids.append(told.json["id"])
        else:
            errors.append(told.status)
        return time.perf_counter() - started

    def read(number: int) -> None:
        while not over.is_set():
            path = ("/health", "/threads?limit=50", f"/threads/{ids[-1]}")[number % 3]
            number += 1
            started = time.perf_counter()
            told = api.get(path)
            reads.append(time.perf_counter() - started)
            if told.status != 200:
                errors.append(told.status)
            time.sleep(0.02)

    assert api.process
    cpu = psutil.Process(api.process.pid).cpu_times
    before = cpu()
    started = time.perf_counter()
    launch(0)
    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for each in readers:
        each.start()
    with ThreadPoolExecutor(16) as pool:
        launches = list(pool.map(launch, range(1, count)))
    launched = time.perf_counter() - started
    while running := len(api.get("/threads?status=running&limit=1000").json):
        print(f"{running} running", file=sys.stderr)
        time.sleep(0.5)
    taken = time.perf_counter() - started
    over.set()
    for each in readers:
        each.join()
    after = cpu()
    done = api.get("/threads?status=done&limit=1000").json
    assert count == len(done), (count, len(done))
    spent = after.user + after.system - before.user - before.system
    print(f"\n| {count} threads, three answers of {THINKS:.0f} s each | |\n|---|---|")
    print(f"| launched within | {launched:.1f} s |")
    print(f"| all done within | {taken:.1f} s |")
    for name, times in (("launch", launches), ("read", reads)):
        p95 = quantiles(times, n=20)[-1]
        middle, most = median(times), max(times)
        shown = " / ".join(f"{each * 1000:.0f}" for each in (middle, p95, most))
        print(f"| {name}: median / p95 / most, of {len(times)} | {shown} ms |")
    print(f"| CPU of the server for each thread | {spent / count * 1000:.1f} ms |")
    print(f"| errors | {len(errors)} |")


if __name__ == "__main__":
    main()
