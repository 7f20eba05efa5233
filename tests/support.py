"""What the tests share: running commands as a user would, and a model server on loopback."""

import atexit
import json
import os
import shutil
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from create_agent.render import template_files

REPOSITORY = Path(__file__).parents[1]
QUESTION = "can you multiply 3 and 4, then divide the result by 2 and then add 12 to that result?"

_DECIDE = (
    *("AGENT_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "OLLAMA_", "COMPATIBLE_", "BAML_"),
    *("GIT_", "PYTHON", "VIRTUAL_ENV", "AWS_"),
)

_STORES = Path(tempfile.mkdtemp(prefix="stores-"))
atexit.register(shutil.rmtree, _STORES, ignore_errors=True)

Done = subprocess.CompletedProcess[str]


def environment(**changes: str) -> dict[str, str]:
    """This machine's environment without what would decide a test's outcome.

    changes: variables to set on top of it.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DECIDE)}
    identity = {
        "GIT_AUTHOR_NAME": "A Tester",
        "GIT_AUTHOR_EMAIL": "tester@example.org",
        "GIT_COMMITTER_NAME": "A Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.org",
    }
    usual = {"PYTHONDONTWRITEBYTECODE": "1", "AGENT_CLIENT": "offline", "DATABASE_URL": new_store()}
    return {**kept, **identity, **usual, **changes}


def new_store() -> str:
    """The DATABASE_URL of a store of its own, so that no test meets the threads of another."""
    return f"sqlite:///{_STORES / uuid.uuid4().hex}.db"


def sql(url: str, statement: str, *values: Any) -> list[Any]:
    """Reach into the store at a DATABASE_URL; the rows that are found."""
    path = url.removeprefix("sqlite:///")
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def run(*words: str | Path, cwd: Path, check: bool = True, **changes: str) -> Done:
    """Run a command without a terminal and return what it said; fail the test if it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert not check or done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


def create_agent(*words: str | Path, cwd: Path, check: bool = True, **changes: str) -> Done:
    """Run create-agent in a folder."""
    return run(sys.executable, "-m", "create_agent", *words, cwd=cwd, check=check, **changes)


def start(*words: str, cwd: Path, **changes: str) -> subprocess.Popen[str]:
    """Start create-agent in a folder and go on."""
    return subprocess.Popen(
        [sys.executable, "-m", "create_agent", *words],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def path_with(*programs: str, folder: Path) -> str:
    """A PATH on which there are git and these programs, and no other of create-agent's.

    folder: a new one, for them. With uv an installation takes a quarter of the time.
    """
    folder.mkdir()
    for program in ("git", *programs):
        found = shutil.which(program) or Path(sys.executable).with_name(program)
        (folder / program).symlink_to(found)
    return f"{folder}"


def faults(code: str, folder: Path) -> dict[str, str]:
    """The variables with which create-agent, and no process that it starts, meets this code first.

    folder: a new one, for the code.
    """
    folder.mkdir()
    ours = "import sys\nif 'create_agent' in sys.orig_argv:\n"
    (folder / "sitecustomize.py").write_text(f"{ours}    exec({code!r})\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


def adding(name: str, text: str) -> str:
    """Code for `faults` that adds a text to a file of each project while it is made."""
    return f"""
from create_agent import new
real = new._write_env
def write_env(project):
    real(project)
    with open(project / {name!r}, "a", encoding="utf-8") as file:
        file.write({text!r})
new._write_env = write_env
"""


def agent(project: Path, *words: str, check: bool = True, **changes: str) -> Done:
    """Run a project's own command, from its source, with this environment's packages."""
    package = package_of(project)
    source = str(project / "src")
    command = (sys.executable, "-m", package, *words)
    return run(*command, cwd=project, check=check, PYTHONPATH=source, **changes)


def compatible(url: str) -> dict[str, str]:
    """The settings with which an agent asks the model server at this address."""
    return {
        "AGENT_CLIENT": "compatible",
        "COMPATIBLE_BASE_URL": url,
        "COMPATIBLE_API_KEY": "secret-key",
        "COMPATIBLE_MODEL": "some-model",
    }


def generate(project: Path) -> None:
    """Generate the client of a project anew."""
    code = "import sys; from baml_py import invoke_runtime_cli as cli; sys.exit(cli())"
    run(sys.executable, "-c", code, "generate", "--from", "baml_src", cwd=project, BAML_LOG="off")


def one_step(
    project: Path,
    cases: list[dict[str, Any]],
    quick: bool = True,
    in_turn: bool = False,
    timeout: float = 300,
) -> list[dict[str, Any]]:
    """What the agent of a project makes of each case; see one_step.py.

    quick: do not wait long before a second attempt. in_turn: one case after the other.
    """
    words = [sys.executable, str(Path(__file__).with_name("one_step.py")), package_of(project)]
    done = subprocess.run(
        [*words, *(["--quick"] if quick else []), *(["--in-turn"] if in_turn else [])],
        env=environment(PYTHONPATH=str(project / "src")),
        input="\n".join(json.dumps(case) for case in cases),
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == len(outcomes)
    return outcomes


@contextmanager
def importing(project: Path) -> Iterator[None]:
    """Let a project's package be imported into this process, within the block."""
    sys.path.insert(0, str(project / "src"))
    try:
        yield
    finally:
        sys.path.remove(str(project / "src"))


def compose(into: Path) -> None:
    """Lay the template out in a new folder, as a Copier template of its own."""
    for path, source in template_files().items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, into / path)


def package_of(project: Path) -> str:
    """The name of a project's Python package."""
    return project.name.replace("-", "_")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but git's, by its path, with its bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    relative = {path.relative_to(folder): path for path in files}
    return {
        str(name): path.read_bytes()
        for name, path in sorted(relative.items())
        if not {".git", "__pycache__"} & set(name.parts)
    }


def everything(folder: Path) -> dict[str, tuple[int, object]]:
    """Every path below a folder with its mode, and its bytes or where it points."""
    found: dict[str, tuple[int, object]] = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        inside: object = os.readlink(path) if path.is_symlink() else None
        if inside is None and path.is_file():
            inside = path.read_bytes()
        found[str(path.relative_to(folder))] = (mode, inside)
    return found


@dataclass(frozen=True)
class Request:
    """What a server was sent. headers: by their names in small letters."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, from JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    """What a server answers. body: a text, or what becomes JSON. delay: before it, in seconds."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@contextmanager
def http_server(respond: Callable[[Request], Response]) -> Iterator[str]:
    """Serve on loopback until the block ends; yields the address, without a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            answer = respond(Request(self.path, headers, body))
            time.sleep(answer.delay)
            data = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            encoded = data.encode()
            kind = {"content-type": "application/json", "content-length": str(len(encoded))}
            with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has left
                self.send_response(answer.status)
                for name, value in {**kind, **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(encoded)

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 100

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


Answer = Callable[[list[dict[str, Any]]], str | dict[str, Any] | int]


class ModelServer:
    """An OpenAI-compatible server. requests: the bodies it was sent, in order."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []


@contextmanager
def model_server(answer: Answer) -> Iterator[ModelServer]:
    """Serve chat completions on loopback until the block ends.

    answer: from the messages to the reply's text; or to the fields that replace a choice's, such
    as finish_reason; or to an HTTP status.
    """
    said = ModelServer()

    def respond(request: Request) -> Response:
        body = request.json
        said.requests.append(body)
        said.keys.append(request.headers.get("authorization"))
        reply = answer(body["messages"])
        if isinstance(reply, int):
            return Response({"error": {"message": "no"}}, reply)
        changes = {"message": {"role": "assistant", "content": reply}}
        changes = reply if isinstance(reply, dict) else changes
        choice = {"index": 0, "finish_reason": "stop", **changes}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        common = {"id": "1", "created": 1, "model": "m", "usage": usage}
        if not body.get("stream"):
            return Response({"object": "chat.completion", "choices": [choice], **common})
        choice["delta"] = choice.pop("message")
        chunk = {"object": "chat.completion.chunk", "choices": [choice], **common}
        data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        return Response(data, headers={"content-type": "text/event-stream"})

    with http_server(respond) as url:
        said.url = f"{url}/v1"
        yield said


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """Answer every connection on loopback with these bytes and close it; yields the address."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 20)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()
