"""A project's server in a process of its own, and a client over real sockets."""

import atexit
import http.client
import json
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from payments import wait_for
from support import environment, package_of

JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Told:
    """An answer. headers: by their names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, from JSON."""
        return json.loads(self.body)


@dataclass
class Api:
    """A server, by its address. log: the lines it wrote on stderr. headers: sent with all."""

    url: str
    process: "subprocess.Popen[str] | None" = None
    log: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self, method: str, path: str, body: Any = None, timeout: float = 30, **headers: str
    ) -> Told:
        """One request. body: bytes as they are, or what becomes JSON. headers: with _ for -."""
        place = urlsplit(self.url)
        assert place.hostname
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=timeout)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body)
        try:
            kind = {} if data is None else JSON
            connection.request(method, path, data, {**kind, **self.headers, **named})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Told(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Told:
        """Read something."""
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Told:
        """Send something."""
        return self.send("POST", path, body, **headers)

    def launch(self, message: str) -> str:
        """The id of a new thread."""
        told = self.post("/threads", {"message": message})
        assert 201 == told.status, told.body
        return str(told.json["id"])

    def thread(self, thread_id: str) -> Any:
        """A thread."""
        return self.get(f"/threads/{thread_id}").json

    def rests(self, thread_id: str, status: str = "", seconds: float = 30) -> Any:
        """The thread, once it does not run any more, or has this status."""

        def look() -> Any:
            found = self.thread(thread_id)
            is_there = found["status"] == status if status else found["status"] != "running"
            return found if is_there else None

        return wait_for(look, seconds)

    def approve(self, thread: Any, approved: bool = True, **changes: Any) -> Told:
        """Decide on what waits in a thread."""
        pending = thread["pending"]
        body = {"approved": approved, "call_hash": pending["call_hash"], **changes}
        return self.post(f"/approvals/{pending['approval_id']}", body)


def at_once(works: list[Callable[[], Told]]) -> list[Told]:
    """What several requests are told that are sent at the same moment."""
    ready = threading.Barrier(len(works))

    def go(work: Callable[[], Told]) -> Told:
        ready.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(go, works))


def start_server(project: Path, *words: str, files: int = 0, **changes: str) -> Api:
    """Start `serve` at a free port; it takes requests when this returns.

    files: how many it may open.
    """

    def limit() -> None:
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    process = subprocess.Popen(
        [sys.executable, "-m", package_of(project), "serve", "--port", "0", *words],
        env=environment(PYTHONPATH=str(project / "src"), **changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )
    atexit.register(process.kill)  # nothing happens where a test has ended it
    api = Api("", process)
    assert process.stderr
    for line in process.stderr:
        api.log.append(line)
        if found := re.search(r"http://\S+(?=/ )", line):
            api.url = found[0]
            break
    assert api.url, api.log
    threading.Thread(target=lambda: api.log.extend(process.stderr or []), daemon=True).start()
    if token := changes.get("AGENT_API_TOKEN"):
        api.headers["authorization"] = f"Bearer {token}"
    return api


def stop_server(api: Api, number: int = signal.SIGTERM) -> int:
    """End a server, and return its exit code."""
    assert api.process
    if api.process.poll() is None:
        api.process.send_signal(number)
    try:
        return api.process.wait(30)
    finally:
        if api.process.poll() is None:
            api.process.kill()
            api.process.wait()


@contextmanager
def serving(project: Path, *words: str, files: int = 0, **changes: str) -> Iterator[Api]:
    """A server of a project, until the block ends."""
    api = start_server(project, *words, files=files, **changes)
    try:
        yield api
    finally:
        stop_server(api)
