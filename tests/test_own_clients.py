"""Clients that an owner adds to clients.baml and names in one table work like those that are there.

The first is the example of the project's README, as it stands there.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from markdown import blocks
from providers import answer
from support import Request, Response, generate, http_server, one_step

DONE = {"intent": "done_for_now", "message": "Hello!"}
TEXT = json.dumps(DONE)

CLIENTS = """
client<llm> Bedrock {
  provider aws-bedrock
  options {
    model env.BEDROCK_MODEL
    region "us-east-1"
    access_key_id env.BEDROCK_KEY_ID
    secret_access_key env.BEDROCK_API_KEY
    endpoint_url env.BEDROCK_BASE_URL
    finish_reason_allow_list ["end_turn", "stop_sequence"]
  }
}
client<llm> Vertex {
  provider vertex-ai
  options {
    model env.VERTEX_MODEL
    project_id "some-project"
    base_url env.VERTEX_BASE_URL
    credentials env.VERTEX_CREDENTIALS
    finish_reason_allow_list ["STOP"]
  }
}
client<llm> Responses {
  provider openai-responses
  options {
    model env.OPENAI_MODEL
    api_key env.OPENAI_API_KEY
    base_url env.OPENAI_BASE_URL
    finish_reason_allow_list ["completed"]
  }
}
client<llm> Either {
  provider fallback
  options {
    strategy [Openai, Anthropic]
  }
}
client<llm> InTurn {
  provider round-robin
  options {
    strategy [Openai, Anthropic]
  }
}
"""
BOTH = "OPENAI_API_KEY OPENAI_MODEL OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_MODEL"
TABLE = {
    "bedrock": ("Bedrock", "BEDROCK_MODEL BEDROCK_KEY_ID BEDROCK_API_KEY BEDROCK_BASE_URL"),
    "vertex": ("Vertex", "VERTEX_MODEL VERTEX_BASE_URL VERTEX_CREDENTIALS"),
    "responses": ("Responses", "OPENAI_API_KEY OPENAI_MODEL OPENAI_BASE_URL"),
    "either": ("Either", f"{BOTH} ANTHROPIC_BASE_URL"),
    "in-turn": ("InTurn", f"{BOTH} ANTHROPIC_BASE_URL"),
}
OWN = ["azure", "bedrock", "vertex", "responses"]
CALLED = {"bedrock": {"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}}


@pytest.fixture(scope="module")
def project(project_with: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with these clients added the way its README says."""
    copy: Path = tmp_path_factory.mktemp("own") / "refund-desk"
    shutil.copytree(project_with(), copy)
    readme = (copy / "README.md").read_text(encoding="utf-8")
    (azure,) = (b.text for b in blocks(readme, "baml") if b.text.startswith("client<llm> Azure"))
    (row,) = (b.text for b in blocks(readme, "python") if b.text.startswith('    "azure": Client'))
    with (copy / "baml_src/clients.baml").open("a", encoding="utf-8") as clients:
        clients.write(azure + CLIENTS)
    rows = [row.rstrip()]
    for name, (client, variables) in TABLE.items():
        needs = {variable: "set it" for variable in variables.split()}
        rows.append(f"    {name!r}: Client({client!r}, {needs!r}),")
    models = copy / "src/refund_desk/runtime/models.py"
    source = models.read_text(encoding="utf-8")
    beginning = re.search(r"^CLIENTS = \{.*\n", source, re.MULTILINE)
    assert beginning
    added = "\n".join(rows) + "\n"
    models.write_text(source.replace(beginning[0], beginning[0] + added), encoding="utf-8")
    generate(copy)
    return copy


@pytest.fixture(scope="module")
def private_key() -> str:
    """A key such as a service account has, made for this run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return pem.decode()


def body_of(name: str, text: str, finish: str = "whole", calls: bool = False) -> dict[str, Any]:
    """An answer in the shape that the provider behind a client documents."""
    cut = finish == "cut"
    if name == "bedrock":
        blocks: list[Any] = [{"text": text}, *([CALLED[name]] if calls else [])]
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": "max_tokens" if cut else "end_turn",
            "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
            "metrics": {"latencyMs": 1},
        }
    if name == "responses":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        said = {"type": "message", "id": "m", "role": "assistant", "content": content}
        call = {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{}"}
        status = "incomplete" if cut else "completed"
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": "some-model",
            "output": [{"type": "reasoning", "id": "r", "summary": []}, {**said, "status": status}]
            + ([call] if calls else []),
            "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
        }
    shape = {"azure": "openai", "vertex": "google"}[name]
    return answer(shape, [{"text": text}, *([{"call": "f"}] if calls else [])], finish)


def variables(name: str, url: str, private_key: str) -> dict[str, str]:
    """The settings with which a client asks the server at this address."""
    account = {
        "type": "service_account",
        "project_id": "some-project",
        "private_key_id": "1",
        "private_key": private_key,
        "client_email": "agent@some-project.example",
        "client_id": "1",
        "token_uri": f"{url}/token",
    }
    found = {"AGENT_CLIENT": name, "VERTEX_CREDENTIALS": json.dumps(account)}
    for prefix in ("AZURE", "BEDROCK", "VERTEX", "OPENAI", "ANTHROPIC"):
        found |= {f"{prefix}_API_KEY": "secret-key", f"{prefix}_MODEL": "some-model"}
        found |= {f"{prefix}_BASE_URL": f"{url}/v1", f"{prefix}_KEY_ID": "some-id"}
    return found


@pytest.fixture
def ask(project: Path, private_key: str) -> Any:
    """A function from a client's name and the answers to the outcomes of that many steps."""

    def outcomes(name: str, *answers: Response, steps: int = 1) -> list[dict[str, Any]]:
        left = list(answers)

        def respond(request: Request) -> Response:
            if request.path == "/token":
                return Response({"access_token": "t", "expires_in": 3600, "token_type": "Bearer"})
            if len(answers) == 2 and steps == 2:  # by who is asked, not by when
                return answers["/messages" in request.path]
            return left.pop(0) if len(left) > 1 else left[0]

        with http_server(respond) as url:
            case = {"env": variables(name, url, private_key), "text": "hello"}
            return one_step(project, [case] * steps, in_turn=True)  # as BAML takes turns

    return outcomes


@pytest.mark.parametrize("name", OWN)
def test_a_whole_reply_is_a_step(name: str, ask: Any) -> None:
    """The client answers, and meta holds its name and the tokens."""
    (outcome,) = ask(name, Response(body_of(name, TEXT)))
    assert DONE == outcome["step"]
    meta = outcome["meta"]
    assert (name, {"input": 7, "output": 3}) == (meta["client"], meta["tokens"])


@pytest.mark.parametrize("name", OWN)
def test_what_is_not_whole_is_refused(name: str, ask: Any) -> None:
    """A cut answer, and one with a native tool call beside its text, are told to the model."""
    (outcome,) = ask(name, Response(body_of(name, TEXT, "cut")))
    assert "not whole" in outcome["refused"]
    (outcome,) = ask(name, Response(body_of(name, TEXT, calls=True)))
    assert "more than text" in outcome["refused"]
    (outcome,) = ask(name, Response(body_of(name, "I will not.")))
    assert "begins with" in outcome["refused"]


@pytest.mark.parametrize("name", OWN)
def test_a_busy_provider_is_asked_again(name: str, ask: Any) -> None:
    """429 and 500 are asked again, 401 is not."""
    busy = [Response({"message": "no"}, 429), Response({"message": "no"}, 500)]
    (outcome,) = ask(name, *busy, Response(body_of(name, TEXT)))
    assert DONE == outcome["step"]
    (outcome,) = ask(name, Response({"message": "no"}, 401), Response(body_of(name, TEXT)))
    assert f"{name} answered HTTP 401" in outcome["unavailable"]


def test_a_fallback_says_who_answered(ask: Any) -> None:
    """BAML's fallback client moves on by itself, and meta names the one that answered."""
    (outcome,) = ask("either", Response("", 500), Response(answer("anthropic", TEXT)))
    assert DONE == outcome["step"]
    assert "either: Anthropic" == outcome["meta"]["client"]


def test_a_round_robin_takes_turns(ask: Any) -> None:
    """Of two steps each client answers one."""
    answers = [Response(answer(name, TEXT)) for name in ("openai", "anthropic")]
    outcomes = ask("in-turn", *answers, steps=2)
    assert [DONE] * 2 == [outcome["step"] for outcome in outcomes]
    who = {outcome["meta"]["client"] for outcome in outcomes}
    assert {"in-turn: Openai", "in-turn: Anthropic"} == who
