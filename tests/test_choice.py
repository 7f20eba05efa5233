"""Which model answers: what is chosen, what is found, and how it is said."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from providers import PROVIDERS, answer, settings
from support import Done, Request, Response, agent, create_agent, generate, http_server, importing

DONE = json.dumps({"intent": "done_for_now", "message": "Hello!"})
NOWHERE = "http://127.0.0.1:9"
QUIET = {"AGENT_CLIENT": "", "OLLAMA_BASE_URL": NOWHERE}  # nothing chosen, no Ollama


def ask(project: Path, **changes: str) -> Done:
    """Say hello to the project's agent."""
    return agent(project, "ask", "hello", "--json", check=False, **changes)


def client_of(done: Done) -> str:
    """Who answered."""
    return str(json.loads(done.stdout)["events"][1]["meta"]["client"])


@pytest.fixture
def local_servers(project: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that looks for servers, without any that this machine may have."""
    with importing(project):
        module = import_module("refund_desk.runtime.local_servers")
    monkeypatch.setattr(module, "OLLAMA", NOWHERE)
    monkeypatch.setattr(module, "COMPATIBLE", {})
    return module


@pytest.fixture
def serving() -> Iterator[Any]:
    """A function that serves an answer to every GET, and gives the address."""
    with ExitStack() as stack:

        def serve(body: Any, status: int = 200, delay: float = 0.0) -> str:
            response = Response(body, status, delay=delay)
            return stack.enter_context(http_server(lambda request: response)) + "/v1"

        yield serve


def models(*names: str) -> dict[str, Any]:
    """The list of models that a server offers."""
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "compatible"])
def test_a_key_that_is_set_chooses_its_provider(provider: str, project: Path) -> None:
    """Without AGENT_CLIENT the provider whose key is there answers, and one line says so."""
    with http_server(lambda request: Response(answer(provider, DONE))) as url:
        done = ask(project, **{**settings(provider, url), **QUIET})
    assert provider == client_of(done)
    first, *rest = done.stderr.splitlines()
    assert first.startswith(f"{provider}: {provider.upper()}_API_KEY is set; AGENT_CLIENT")
    assert [] == rest


def test_of_several_keys_the_first_in_order_counts(project: Path) -> None:
    """openai, anthropic, google, compatible: the one that comes first here answers."""
    with http_server(lambda request: Response(answer("anthropic", DONE))) as url:
        keys = {"GOOGLE_API_KEY": "k", **settings("anthropic", url), "COMPATIBLE_API_KEY": "k"}
        assert "anthropic" == client_of(ask(project, **{**keys, **QUIET}))


def test_an_empty_key_is_no_key(project: Path) -> None:
    """A blank variable chooses nothing."""
    done = ask(project, OPENAI_API_KEY="  ", **QUIET)
    assert "offline" == client_of(done)
    assert "offline: no key is set" in done.stderr
    assert "not from a language model" in done.stderr


def test_a_server_on_this_machine_is_found(project: Path) -> None:
    """Ollama answers with its first model that chats, and one line says so."""
    asked: list[Request] = []

    def respond(request: Request) -> Response:
        asked.append(request)
        if request.path.endswith("/models"):
            return Response(models("nomic-embed-text:latest", "qwen3:8b", "llama3.2"))
        return Response(answer("ollama", DONE))

    with http_server(respond) as url:
        done = ask(project, AGENT_CLIENT="", OLLAMA_BASE_URL=f"{url}/v1")
        assert "ollama" == client_of(done)
        assert done.stderr.startswith(f"ollama: Ollama is at {url}/v1; ")
        assert "qwen3:8b" == asked[-1].json["model"]
        ask(project, AGENT_CLIENT="", OLLAMA_BASE_URL=f"{url}/v1", OLLAMA_MODEL="llama3.2")
        assert "llama3.2" == asked[-1].json["model"]


def test_the_server_that_is_found_is_the_one_that_is_asked(
    project: Path, tmp_path: Path, serving: Any
) -> None:
    """An address or model left over in the settings does not send the message elsewhere."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    asked: list[Request] = []

    def respond(request: Request) -> Response:
        asked.append(request)
        listed = request.path.endswith("/models")
        return Response(models("local") if listed else answer("compatible", DONE))

    with http_server(respond) as url:
        module = copy / "src/refund_desk/runtime/local_servers.py"
        source = module.read_text(encoding="utf-8").replace("http://127.0.0.1:1234", url)
        module.write_text(source, encoding="utf-8")
        left_over = {"COMPATIBLE_BASE_URL": NOWHERE, "COMPATIBLE_MODEL": "remote"}
        done = ask(copy, **left_over, **QUIET)
    assert "compatible" == client_of(done)
    assert f"LM Studio is at {url}/v1" in done.stderr
    assert "local" == asked[-1].json["model"]


def test_a_compatible_server_on_this_machine_is_found(
    local_servers: ModuleType, serving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LM Studio or llama-server become `compatible` with their address and model."""
    address = serving(models("text-embedding-x", "some-chat"))
    monkeypatch.setattr(local_servers, "COMPATIBLE", {"LM Studio": address})
    found = local_servers.find()
    assert ("LM Studio", "compatible") == (found.server, found.client)
    assert (address, "some-chat") == tuple(
        found.variables[name] for name in ("COMPATIBLE_BASE_URL", "COMPATIBLE_MODEL")
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (models(), 200),
        (models("nomic-embed-text", "bge-m3", "all-minilm:l6", "whisper-1"), 200),
        (models("chat"), 404),
        ("<html>a web server</html>", 200),
        ("[]", 200),
        ('{"data": 5}', 200),
        ('{"data": [{"name": "x"}]}', 200),
        ('{"data": [{"id": "17", "type": "users"}]}', 200),
        ('{"data": [{"id": "", "object": "model"}, {"id": 5, "object": "model"}]}', 200),
        ('{"data": [{"id": "a\\ud800", "object": "model"}]}', 200),
        ('{"data": ["x", null]}', 200),
        ("[" * 100_000, 200),
        ("", 200),
    ],
)
def test_a_server_that_offers_no_chat_is_passed_over(
    body: Any, status: int, local_servers: ModuleType, serving: Any
) -> None:
    """Whatever else answers on the port is no model server."""
    assert None is local_servers.find(serving(body, status))


def test_nobody_is_waited_for(local_servers: ModuleType, serving: Any) -> None:
    """A server that takes a second is passed over after a third of it."""
    slow = serving(models("chat"), delay=1.0)
    started = time.monotonic()
    assert None is local_servers.find(slow)
    assert time.monotonic() - started < 0.9


def test_an_address_that_is_none_is_named(project: Path) -> None:
    """A wrong OLLAMA_BASE_URL is an error, also where nothing is chosen."""
    done = ask(project, AGENT_CLIENT="", OLLAMA_BASE_URL="http://[")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("error: OLLAMA_BASE_URL is no address")


def test_the_next_client_answers_where_the_first_cannot(project: Path) -> None:
    """AGENT_CLIENT=openai,anthropic moves on after the attempts, and meta says who answered."""
    asked: list[str] = []

    def respond(request: Request) -> Response:
        asked.append(request.path)
        if "/messages" in request.path:
            return Response(answer("anthropic", DONE))
        return Response({"error": {"message": "no"}}, 500)

    with http_server(respond) as url:
        both = {**settings("openai", url), **settings("anthropic", url)}
        done = ask(project, **{**both, "AGENT_CLIENT": "openai, anthropic"})
        assert "anthropic" == client_of(done)
        assert ["/v1/chat/completions"] * 3 + ["/v1/messages"] == asked
        asked.clear()
        done = ask(project, **{**both, "AGENT_CLIENT": "anthropic,openai"})
        assert ("anthropic", 1) == (client_of(done), len(asked))


def test_a_refused_reply_does_not_move_on(project: Path) -> None:
    """A reply that is no step goes back to the model that wrote it."""
    asked: list[str] = []

    def respond(request: Request) -> Response:
        asked.append(request.path)
        return Response(answer("openai", "no step" if len(asked) == 1 else DONE))

    with http_server(respond) as url:
        both = {**settings("openai", url), **settings("anthropic", url)}
        done = ask(project, **{**both, "AGENT_CLIENT": "openai,anthropic"})
    assert ["/v1/chat/completions"] * 2 == asked
    assert 0 == done.returncode


def test_where_none_answers_each_is_named(project: Path) -> None:
    """The failure says what became of every client of the list."""
    both = {**settings("openai", NOWHERE), **settings("anthropic", NOWHERE)}
    done = ask(project, **{**both, "AGENT_CLIENT": "openai,anthropic"})
    failure = json.loads(done.stdout)["failure"]
    assert (1, "model_unreachable") == (done.returncode, failure["type"])
    assert re.search(r"openai cannot be reached.*; anthropic cannot", failure["message"])


@pytest.mark.parametrize(
    "names", ["opnai", "openai,", "openai,offline", ",", "OpenAI", "openai;google"]
)
def test_a_name_that_makes_no_sense_is_refused(names: str, project: Path) -> None:
    """One line that names AGENT_CLIENT, nothing sent."""
    done = ask(project, AGENT_CLIENT=names, OPENAI_API_KEY="k")
    assert (1, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert done.stderr.startswith("error: AGENT_CLIENT is ")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "compatible"])
def test_a_provider_without_its_key_says_how_to_go_on(provider: str, project: Path) -> None:
    """The variable is named, and so is the way to do without."""
    done = ask(project, AGENT_CLIENT=provider)
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"error: {provider.upper()}_API_KEY is not set; ")
    assert "AGENT_CLIENT=offline" in done.stderr


@pytest.mark.parametrize(
    ("choice", "kind"),
    [("", None), ("off", None), ("object", "json_object"), ("schema", "json_schema")],
)
def test_a_compatible_server_is_asked_for_json_as_set(
    choice: str, kind: str | None, project: Path
) -> None:
    """COMPATIBLE_JSON decides: nothing, some JSON, or the schema of a step, fields in order."""
    bodies: list[dict[str, Any]] = []

    def respond(request: Request) -> Response:
        bodies.append(request.json)
        return Response(answer("compatible", DONE))

    with http_server(respond) as url:
        done = ask(project, **settings("compatible", url), COMPATIBLE_JSON=choice)
    assert "compatible" == client_of(done)
    asked_for = bodies[0].get("response_format")
    assert kind == (asked_for and asked_for["type"])
    assert "some-model" == bodies[0]["model"]
    if kind == "json_schema":
        schema = asked_for["json_schema"]["schema"]
        first = {each["properties"]["intent"]["enum"][0]: each for each in schema["anyOf"]}
        assert ["intent", "a", "b"] == list(first["add"]["properties"])
        assert ["intent", "order_id", "amount", "reason"] == first["process_refund"]["required"]


@pytest.mark.parametrize(("choice", "hint"), [("schema", True), ("object", True), ("off", False)])
def test_a_server_that_takes_no_such_request_is_explained(
    choice: str, hint: bool, project: Path
) -> None:
    """Where a server answers 400 to a response_format, the line says what may help."""
    with http_server(lambda request: Response({"error": "unknown field"}, 400)) as url:
        done = ask(project, **settings("compatible", url), COMPATIBLE_JSON=choice)
    assert "compatible answered HTTP 400" in done.stderr
    assert hint == ("COMPATIBLE_JSON=off asks it for less" in done.stderr)


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls"])
def test_json_mode_refuses_what_is_not_whole_too(reason: str, project: Path) -> None:
    """With COMPATIBLE_JSON set, cut and filtered replies are refused as without."""
    turns = iter([reason, "stop"])

    def respond(request: Request) -> Response:
        body = answer("compatible", DONE)
        body["choices"][0]["finish_reason"] = next(turns)
        return Response(body)

    with http_server(respond) as url:
        done = ask(project, **settings("compatible", url), COMPATIBLE_JSON="object")
    events = json.loads(done.stdout)["events"]
    assert ["user_input", "error", "tool_call"] == [event["type"] for event in events]


def test_json_mode_has_the_timeouts_of_the_client(project: Path) -> None:
    """The client that is made at run time waits as long as the one in clients.baml."""
    schema = (project / "baml_src/clients.baml").read_text(encoding="utf-8")
    block = schema[schema.index("client<llm> Compatible") :]
    made = (project / "src/refund_desk/runtime/baml.py").read_text(encoding="utf-8")
    assert 3 == len(re.findall(r"_timeout_ms", block))
    assert re.findall(r"(\w+_timeout_ms) (\d+)", block) == re.findall(
        r'"(\w+_timeout_ms)": (\d+)', made
    )


def test_a_wrong_json_mode_is_named(project: Path) -> None:
    """COMPATIBLE_JSON is one of three words."""
    done = ask(project, **settings("compatible", NOWHERE), COMPATIBLE_JSON="strict")
    assert done.stderr.startswith("error: COMPATIBLE_JSON is 'strict'; use one of: off, object")


@pytest.mark.parametrize("provider", [*PROVIDERS, "offline"])
def test_a_project_can_be_made_for_a_provider(provider: str, tmp_path: Path) -> None:
    """--provider is AGENT_CLIENT in .env and .env.example, and what it needs is said."""
    done = create_agent("new", "myproj", "--provider", provider, cwd=tmp_path)
    for name in (".env", ".env.example"):
        text = (tmp_path / "myproj" / name).read_text(encoding="utf-8")
        assert [provider] == re.findall(r"^AGENT_CLIENT=(.*)", text, re.MULTILINE)
    asked = agent(tmp_path / "myproj", "ask", "hello", check=False, AGENT_CLIENT="")
    needs = re.search(r"needs (\w+_API_KEY)", done.stdout)
    if needs:
        assert asked.stderr.startswith(f"error: {needs[1]} is not set")
    assert bool(needs) == (provider not in {"offline", "ollama"})


def test_a_provider_that_is_none_is_refused(tmp_path: Path) -> None:
    """Exit 2, the names, nothing made."""
    done = create_agent("new", "myproj", "--provider", "gemini", cwd=tmp_path, check=False)
    assert (2, []) == (done.returncode, list(tmp_path.iterdir()))
    assert "'gemini'" in done.stderr
    assert "openai, anthropic, google, ollama, compatible" in done.stderr


def test_the_settings_that_are_shown_are_the_defaults(project: Path) -> None:
    """.env.example, commented out, says of every variable what holds without it."""
    shown = dict(re.findall(r"^#(\w+)=(.*)", (project / ".env.example").read_text("utf-8"), re.M))
    with importing(project):
        clients = import_module("refund_desk.runtime.models").CLIENTS
        usual = vars(import_module("refund_desk.runtime.settings").USUAL)
    defaults = {name: value for each in clients.values() for name, value in each.defaults.items()}
    limits = {f"AGENT_{name.upper()}": str(value) for name, value in usual.items()}
    assert {**defaults, **limits}.items() <= shown.items()
    needed = {name for client in clients.values() for name in client.needs}
    others = {"AGENT_CLIENT", "AGENT_DRY_RUN", "DATABASE_URL"}
    others |= {"AGENT_API_TOKEN", "AGENT_ALLOWED_HOSTS"}
    assert set(shown) == {*defaults, *limits, *needed, *others}


def test_create_agent_and_a_project_name_the_same_providers(project: Path) -> None:
    """The choices of --provider, and what each needs, are those of the project's table."""
    from create_agent.providers import PROVIDERS as chosen

    with importing(project):
        clients = import_module("refund_desk.runtime.models").CLIENTS
    assert {"offline", *clients} == set(chosen)
    assert all(set(chosen[name]) == set(client.needs) for name, client in clients.items())


def test_timeouts_end_a_request(project: Path, tmp_path: Path) -> None:
    """With shorter times in clients.baml, a silent and a dripping server are failures in time."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    clients = copy / "baml_src/clients.baml"
    text = clients.read_text(encoding="utf-8")
    assert 5 == text.count("request_timeout_ms 120000") == text.count("connect_timeout_ms 5000")
    clients.write_text(text.replace("request_timeout_ms 120000", "request_timeout_ms 600"), "utf-8")
    generate(copy)
    llm = copy / "src/refund_desk/runtime/llm.py"
    source = llm.read_text(encoding="utf-8")
    assert "ATTEMPTS = 3" in source
    llm.write_text(source.replace("ATTEMPTS = 3", "ATTEMPTS = 1"), encoding="utf-8")
    with http_server(lambda request: Response(answer("openai", DONE), delay=3)) as url:
        started = time.monotonic()
        done = ask(copy, **settings("openai", url))
    assert time.monotonic() - started < 2.9
    assert "openai did not answer in time" in done.stderr
