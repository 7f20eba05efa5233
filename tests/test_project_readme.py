"""The README of a project says what is true: its commands run, its files are there, its steps lead
to a tool. Its example of a client is tried by test_own_clients.py.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from docker_stand_in import tag
from markdown import Block, blocks, codes, rows, sections
from payments import wait_for
from providers import answer, key_of, settings
from right_replies import reply_to
from support import Done, Request, Response, agent, environment, http_server, model_server, run

PORT = "8000"
"""The port of the README; here each copy of a project has one of its own."""

Project = Copy = Callable[..., Path]


@pytest.fixture
def copy_of(project_with: Project, tmp_path: Path) -> Copy:
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
    """The variables of a shell in a project, with folders that come first in PATH.

    What a test would set to keep threads apart is not set: the project has a store of its own.
    """
    path = os.pathsep.join([*map(str, paths), str(Path(sys.executable).parent), os.environ["PATH"]])
    uv = {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    env = environment(PATH=path, **uv, **changes)
    del env["DATABASE_URL"]
    return {**env, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


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
    """Run a block that serves, within the context, and then press Ctrl-C; yields its address.

    Some shells then end by the signal too, others with the code of their command.
    """
    log = project.parent / "serving.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            ["sh", "-e", "-c", text], cwd=project, env=env, stderr=stderr, start_new_session=True
        )

    def address() -> Any:
        assert process.poll() is None, log.read_text(encoding="utf-8")
        return re.search(r" at (http://\S+)/ ", log.read_text(encoding="utf-8"))

    try:
        yield wait_for(address)[1]
    finally:
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(timeout=30)
    assert code in {130, -signal.SIGINT}, log.read_text(encoding="utf-8")


def executable(path: Path, python: str) -> Path:
    """A command of Python's, in a new folder; returns the folder."""
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\n{python}\n", encoding="utf-8")
    path.chmod(0o755)
    return path.parent


def command_of(project: Path) -> Path:
    """A folder with the project's command, as an installation of the project puts one there."""
    code = f"""
import sys
sys.path.insert(0, {str(project / "src")!r})
from refund_desk.runtime.cli import main
sys.exit(main())
"""
    return executable(project.parent / "bin/refund-desk", code)


def test_every_section_with_commands_is_run_here(project: Path) -> None:
    """A section whose commands no test here runs is noticed."""
    found = {name for name, text in sections(readme(project)).items() if blocks(text, "sh")}
    run_here = {"Run it", "Reach it from anywhere", "Add a tool", "Test it", "Deploy it"}
    assert run_here == found


@pytest.mark.parametrize("tools", ["human", "human,calculator", "human,customer-support"])
def test_other_readmes_have_no_other_commands(
    tools: str, project: Path, project_with: Project
) -> None:
    """What is run of the README with everything is all that is in one with less."""

    def lines(path: Path) -> set[str]:
        return {line for block in blocks(readme(path), "sh") for line in block.text.splitlines()}

    less = lines(project_with(tools, "refund-desk", False))
    assert less
    assert less < lines(project)


def test_it_is_installed_and_asked(copy_of: Copy) -> None:
    """uv and pip lead to the same command, which answers, waits where it should, and says how to
    go on in a way that can be typed there.
    """
    project = copy_of()
    with_uv, with_pip, calculated, refunded = commands(project, "Run it")
    env = variables(project)
    assert "I am a set of rules" in shell(with_uv, project, env).stdout
    shutil.rmtree(project / ".venv")
    assert "I am a set of rules" in shell(with_pip, project, env).stdout
    env = variables(project, project / ".venv/bin")
    assert "24\n" == shell(calculated, project, env).stdout
    assert "approve process_refund" in shell(refunded, project, env, expected=3).stderr
    assert (project / "data/threads.db").is_file()
    for before in ("", ".venv/bin/", "uv run "):
        env = variables(project, *([] if before else [project / ".venv/bin"]))
        words = before + refunded.replace("A-17", f"B-{len(before)}")
        waiting = shell(words, project, env, expected=3).stderr
        (printed,) = re.findall(r"go on with: (.*), or ", waiting)
        assert printed.startswith(f"{before}refund-desk approve ")
        assert "processed" in shell(printed, project, env).stdout


def test_it_is_reached_from_anywhere(copy_of: Copy) -> None:
    """The server answers curl at the address of the README, and elsewhere with a token only."""
    project = copy_of()
    env = variables(project, command_of(project))
    serve, ask, serve_all = commands(project, "Reach it from anywhere")
    with in_background(serve, project, env) as address:
        assert f"<{address}/>" in readme(project)
        thread = json.loads(shell(ask, project, env).stdout)
        assert {"id", "status"} <= set(thread)
    with in_background(serve_all, project, env):
        assert "token" in shell(ask, project, env).stdout


def test_the_commands_over_threads(project: Path, tmp_path: Path) -> None:
    """Each line of the table can be typed as it stands there, with an id and a text put in."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    tool = copy / "src/refund_desk/tools/customer_support.py"
    with tool.open("a", encoding="utf-8") as file:
        file.write("\n\ndef send_refund(*payment: object) -> None:\n    raise OSError('cut off')\n")
    policy = copy / "src/refund_desk/policy.py"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace('"idempotent", ', '"ask_human", '), encoding="utf-8")
    waits, stops = "refund order {}, $5, it arrived broken", {"AGENT_MAX_STEPS": "1"}

    def started(message: str, **changes: str) -> str:
        done = agent(copy, "ask", message, "--json", check=False, **STORE, **changes)
        return str(json.loads(done.stdout)["id"])

    def unknown(order: str) -> str:
        thread = started(waits.format(order))
        agent(copy, "approve", thread, check=False, **STORE)
        return thread

    STORE = {"DATABASE_URL": f"sqlite:///{tmp_path}/threads.db"}
    prepared: dict[str, tuple[Callable[[], str], str, int]] = {
        "ask MESSAGE": (lambda: "", "7", 0),
        "ask --thread ID MESSAGE": (lambda: started("hello!"), "7", 0),
        "threads": (lambda: started("hello!"), "hello!", 0),
        "show ID": (lambda: started("hello!"), "hello!", 0),
        "answer ID TEXT": (lambda: started("please refund order A-5"), "", 3),
        "approve ID": (lambda: started(waits.format("A-1")), "", 3),
        "refuse ID --comment WHY": (lambda: started(waits.format("A-2")), "add 3 and 4", 0),
        "settle ID --happened TEXT": (lambda: unknown("A-3"), "add 3 and 4", 0),
        "settle ID --did-not-happen": (lambda: unknown("A-4"), "", 0),
        "resume ID": (lambda: started("add 1 and 2, then add 4", **stops), "7", 0),
        "prompt MESSAGE": (lambda: "", "add 3 and 4", 0),
        "tools": (lambda: "", "process_refund", 0),
        "export ID": (lambda: started("add 3 and 4"), "@@assert", 0),
    }
    table = [codes(cell) for cell, _ in rows(sections(readme(project))["Run it"])]
    assert sorted(prepared) == sorted(command for cell in table for command in cell)
    for command, (prepare, expected, code) in prepared.items():
        filled = command.replace("ID", prepare())
        filled = re.sub(r"MESSAGE|TEXT|WHY", "'add 3 and 4'", filled)
        done = agent(copy, *shlex.split(filled), check=False, **STORE)
        assert code == done.returncode, f"{filled}\n{done.stdout}{done.stderr}"
        assert expected in done.stdout, filled


def test_a_tool_is_added_in_four_steps(copy_of: Copy) -> None:
    """Where a step is missing the checks say so, and after the last one they and the tool work."""
    project = copy_of()
    env = variables(project, command_of(project))
    generate, check = commands(project, "Add a tool")
    steps = re.split(r"^\*\*\d\. ", sections(readme(project))["Add a tool"], flags=re.MULTILINE)[1:]
    said, did, *decided, tested = (
        [b for b in blocks(step) if b.language != "sh"] for step in steps
    )
    imported, arm, policy = decided[0]
    for block in said:
        insert(project, block)
    shell(generate, project, env)
    assert "OrderStatus" in shell(check, project, env, expected=1).stdout  # mypy
    for block in (*did, imported, arm, *tested):
        insert(project, block)
    assert "order_status" in shell(check, project, env, expected=1).stdout  # test_contract.py
    insert(project, policy)
    assert " passed" in shell(check, project, env).stdout
    table = shell("refund-desk tools", project, env).stdout
    assert re.search("^order_status +pure +none +order_id ", table, re.MULTILINE)


def insert(project: Path, block: Block) -> None:
    """Put a block of the README where the line before it says."""
    package = project / "src/refund_desk"
    if block.before.endswith("a new file:"):
        path, old, new = project / codes(block.before)[0], "", block.text
        path.touch(exist_ok=False)
    elif block.before.startswith("At the end of"):
        path, old, new = project / codes(block.before)[0], "", block.text
    elif block.before.endswith("with the other imports:"):
        path, old = package / "agent.py", "from .tools import calculator"
        new = block.text + old
    elif block.before == "and above the last arm, `case _`:":
        path, old = package / "agent.py", "        case _:"
        new = block.text + old
    else:
        assert block.before.endswith("until somebody has decided otherwise:")
        path, old = package / "policy.py", "POLICIES = {\n"
        new = old + block.text
    text = path.read_text(encoding="utf-8")
    assert not old or 1 == text.count(old)
    path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")


def test_a_model_is_chosen_in_env(project: Path, tmp_path: Path) -> None:
    """The two lines of the README, and a provider is asked with that key."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    (chosen,) = blocks(sections(readme(project))["Choose a model"], "ini")
    (copy / ".env").write_text(chosen.text, encoding="utf-8")
    keys: list[str | None] = []

    def respond(request: Request) -> Response:
        keys.append(key_of("anthropic", request.headers))
        return Response(answer("anthropic", '{"intent": "done_for_now", "message": "Hello!"}'))

    with http_server(respond) as url:
        base = settings("anthropic", url)["ANTHROPIC_BASE_URL"]
        done = agent(copy, "ask", "hello", AGENT_CLIENT="", ANTHROPIC_BASE_URL=base)
    assert ("Hello!\n", ["your-key"]) == (done.stdout, keys)


def test_it_is_tested_with_and_without_a_model(copy_of: Copy) -> None:
    """pytest needs none, and baml-cli test asks the one whose variables .env holds."""
    project = copy_of()
    env = variables(project, command_of(project))
    with_pytest, with_model = commands(project, "Test it")
    assert " passed" in shell(with_pytest, project, env).stdout
    with model_server(reply_to) as server:
        names = {"BASE_URL": server.url, "API_KEY": "none", "MODEL": "m"}
        lines = [f"COMPATIBLE_{name}={value}" for name, value in names.items()]
        (project / ".env").write_text("\n".join(lines), encoding="utf-8")
        shell(with_model, project, env)
    assert server.requests


PRIVATE = [
    *(".env", ".env.local", "config/.env", "src/refund_desk/.env", "key.pem", "keys/id_rsa"),
    *(
        "data/threads.db",
        "threads.db",
        "threads.db-wal",
        "src/refund_desk/x.db",
        "old/data/threads.db",
    ),
    *(
        ".git/config",
        "src/vendored/.git/config",
        ".venv/bin/python",
        "venv/x",
        "prod.env",
        "notes.txt",
    ),
    "src/refund_desk/baml_client/stale.py",
]


@pytest.mark.parametrize("server", [True, False])
def test_it_is_deployed(server: bool, copy_of: Copy) -> None:
    """The image of a clone serves, or does one command; it holds no secret, and the threads in the
    volume outlive it.
    """
    project = copy_of(server=server)
    made = project.parent / "images/refund-desk"
    clone = project.parent / "clone"
    run("git", "add", "-A", cwd=project)
    run("git", "-c", "commit.gpgsign=false", "commit", "-qm", "x", cwd=project)
    run("git", "clone", "-q", project, clone, cwd=project)
    for name in PRIVATE:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        with (clone / name).open("a", encoding="utf-8") as file:
            file.write("# s3cret\n")
    stand_in = Path(__file__).with_name("docker_stand_in.py")
    docker = executable(project.parent / "docker/docker", f"exec(open({str(stand_in)!r}).read())")
    token = "t" * 40
    env = variables(project, docker, DOCKER_ROOT=str(made.parent), AGENT_API_TOKEN=token)
    build, *serve, ask = commands(project, "Deploy it")
    (copied,) = [c for c in codes(sections(readme(project))["Deploy it"]) if c.startswith("cp ")]
    shell(copied, clone, env)
    (clone / ".env").write_text("AGENT_CLIENT=offline\n", encoding="utf-8")
    del env["AGENT_CLIENT"]
    shell(build, clone, env)
    inside = [path for path in (made / "app").rglob("*") if path.is_file()]
    assert [] == [path for path in inside if b"s3cret" in path.read_bytes()]
    config = json.loads((made / "config.json").read_text(encoding="utf-8"))
    assert config["user"].isdecimal()
    assert 0 < int(config["user"])
    assert 0o1777 == (made / "app/data").stat().st_mode & 0o7777
    assert (["serve", "--host", "0.0.0.0"] if server else ["--help"]) == config["cmd"]
    for block in serve:
        proxy = {**config["env"], "http_proxy": "http://127.0.0.1:9"}  # which some machines have
        with in_background(block, clone, env) as address:
            assert 0 == subprocess.run(config["healthcheck"], env=proxy).returncode
            shell(f"curl -sf {address}/threads -H 'Authorization: Bearer {token}'", clone, env)
            shell(f"curl -sf {address}/threads", clone, env, expected=22)
        assert 0 != subprocess.run(config["healthcheck"], env=proxy).returncode
    for _ in range(2):
        done = shell(ask, clone, env)
        assert "I am a set of rules" in done.stdout
        assert done.stderr.startswith("offline: answers")  # AGENT_CLIENT is set, in .env
    threads = shell(ask.replace('ask "hello!"', "threads --json"), clone, env).stdout
    assert 2 == len(json.loads(threads))
    assert (made.parent / "volumes/refund-desk-data/threads.db").is_file()
    assert len(serve) == server


@pytest.mark.parametrize("name", ["X", "A.B-C", "a..b", "a_.b", "a___b", "a-.-b", "z9"])
def test_any_name_gives_an_image_that_docker_can_have(name: str, project_with: Project) -> None:
    """The tag in the README is one, whatever is allowed in a project's name."""
    build, *_ = commands(project_with("human", name), "Deploy it")
    assert ["docker", "build", "-t"] == build.split()[:3]
    assert tag(build.split()[3])


def test_git_ignores_what_is_private(project: Path) -> None:
    """Keys and threads are not committed by accident either."""
    ignored = "\n".join(
        [".env", ".env.local", "config/.env", "data/x", "a.db", "a.db-wal", "venv/x"]
    )
    done = run("sh", "-c", f"printf '{ignored}\n' | git check-ignore --stdin", cwd=project)
    assert ignored == done.stdout.strip()
    assert ".env.example" in run("git", "ls-files", cwd=project).stdout


def test_what_the_readme_names_is_known(project: Path) -> None:
    """Variables are settings, routes are the API's, and exit codes those of the program."""
    text = readme(project)
    sources = [project / ".env.example", *(project / "src/refund_desk/runtime").rglob("*.py")]
    known = "".join(path.read_text(encoding="utf-8") for path in sources)
    variables = set(re.findall(r"\b(?:AGENT|COMPATIBLE|OLLAMA|DATABASE|ANTHROPIC)_[A-Z_]+\b", text))
    assert len(variables) > 8
    assert [] == [name for name in variables if not re.search(rf"\b{name}\b", known)]
    values = re.findall(r"`(\w+)=(\w+)`", text) + re.findall(
        r"`(OLLAMA_MODEL)` if it is not `(.+?)`", text
    )
    assert [] == [pair for pair in values if pair[1] not in known]
    routes = set(re.findall(r"`(?:GET|POST) (/[\w/]+)`", text))
    assert len(routes) > 5
    api = (project / "src/refund_desk/runtime/web/api.py").read_text(encoding="utf-8")
    assert [] == [
        r for r in routes if re.sub(r"ID|KEY", "{}", r) not in re.sub(r"{\w+}", "{}", api)
    ]
    codes_of = re.search(
        r"Exit codes: (.*?)\n", (project / "src/refund_desk/runtime/cli.py").read_text()
    )
    assert codes_of
    assert codes_of[1] in re.sub(r"\s+", " ", text)
    assert "Idempotency-Key" in text


@pytest.mark.parametrize("server", [True, False])
def test_every_file_that_is_named_is_there(server: bool, project_with: Project) -> None:
    """A path in the README is one of the project's, or one that the README makes."""
    project = project_with("human,calculator,customer-support", "refund-desk", server)
    text = readme(project)
    made = {codes(b.before)[0] for b in blocks(text) if b.before.endswith("a new file:")}
    made |= {"data/threads.db", ".venv/bin/"}
    in_blocks = re.findall(r"# ([\w./]+\.py), ([\w/]+/)", text) + re.findall(r"# (\S+\.py)$", text)
    names = [*codes(text), *(name for pair in in_blocks for name in pair)]
    paths = {
        name for name in names if re.fullmatch(r"[\w.*/-]+(/|\.(py|baml|db|html|css|js|yml))", name)
    }
    assert {"baml_src/tools.baml", "src/refund_desk/agent.py", "Dockerfile"} & paths
    folders = [project, project / "src/refund_desk", project / "src/refund_desk/runtime/web"]
    for path in paths - made:
        assert any(list(folder.glob(path.rstrip("/"))) for folder in folders), path
