"""Which model answers: the one that AGENT_CLIENT names, or else the first that can be found.

A client of your own in baml_src/clients.baml needs a line in CLIENTS. The defaults of the others
are there too, and may be changed.
"""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from . import local_servers, offline
from .baml import baml_model, tools
from .errors import SettingsError
from .json_schema import step_schema
from .llm import first_to_answer, patiently
from .reply import Ask
from .settings import Settings


@dataclass(frozen=True)
class Client:
    """A client of baml_src/clients.baml.

    baml_client: its name there. needs: the variables that have to be set, and what to set them to.
    defaults: the variables that need not be set. BAML is given all of them and no others.
    """

    baml_client: str
    needs: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """A model, and the line that a person should read about it, if any."""

    ask: Ask
    note: str | None


OFFLINE = "offline"
_RULES = "answers come from a few rules, not from a language model; .env.example names the models"
_OTHERWISE = "AGENT_CLIENT in .env chooses another"
# It does not show the value, which may hold a password.
_NO_URL = "is no address such as http://host:port/v1, without a user and a ?query"
CLIENTS = {  # in the order in which they are looked for where AGENT_CLIENT is not set
    "openai": Client(
        "Openai",
        {"OPENAI_API_KEY": "set your key"},
        {"OPENAI_MODEL": "gpt-5.4-mini", "OPENAI_BASE_URL": "https://api.openai.com/v1"},
    ),
    "anthropic": Client(
        "Anthropic",
        {"ANTHROPIC_API_KEY": "set your key"},
        {"ANTHROPIC_MODEL": "claude-sonnet-5", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"},
    ),
    "google": Client(
        "Google",
        {"GOOGLE_API_KEY": "set your key"},
        {
            "GOOGLE_MODEL": "gemini-flash-latest",
            "GOOGLE_BASE_URL": "https://generativelanguage.googleapis.com/v1beta",
        },
    ),
    "compatible": Client(
        "Compatible",
        {
            "COMPATIBLE_API_KEY": "set the server's key, or any word if it wants none,",
            "COMPATIBLE_BASE_URL": "set the server's address, such as http://127.0.0.1:8080/v1,",
            "COMPATIBLE_MODEL": "set the model's name at that server",
        },
        {"COMPATIBLE_JSON": "off"},
    ),
    "ollama": Client(
        "Ollama",
        {},
        {"OLLAMA_MODEL": "llama3.2", "OLLAMA_BASE_URL": "http://127.0.0.1:11434/v1"},
    ),
}


def choose_model(settings: Settings) -> Choice:
    """The model to ask. Raises SettingsError for a variable that is missing; nothing is sent."""
    if names := settings.get("AGENT_CLIENT"):
        ask = _named(names, settings)
        return Choice(ask, f"{OFFLINE}: {_RULES}" if ask is offline.ask else None)
    for name, client in CLIENTS.items():
        for variable in client.needs:
            if variable.endswith("_API_KEY") and settings.get(variable):
                return Choice(_model(name, settings), f"{name}: {variable} is set; {_OTHERWISE}")
    ollama = settings.get("OLLAMA_BASE_URL")
    if ollama and not _is_url(ollama):
        raise SettingsError(f"OLLAMA_BASE_URL {_NO_URL}")
    if found := local_servers.find(ollama):
        variables = dict(found.variables)
        if model := settings.get("OLLAMA_MODEL"):
            variables["OLLAMA_MODEL"] = model
        ask = _model(found.client, settings.replaced(variables))
        return Choice(ask, f"{found.client}: {found.server} is at {found.address}; {_OTHERWISE}")
    return Choice(offline.ask, f"{OFFLINE}: no key is set, no local server runs; {_RULES}")


def _named(names: str, settings: Settings) -> Ask:
    """The model of AGENT_CLIENT: one name, or several that are asked in this order."""
    wanted = [name.strip() for name in names.split(",")]
    known = ", ".join([OFFLINE, *CLIENTS])
    for name in wanted:
        if name not in {OFFLINE, *CLIENTS}:
            # A name, or something that was pasted here and should not be shown.
            shown = repr(names) if len(names) <= 30 else "no list of clients"
            raise SettingsError(f"AGENT_CLIENT is {shown}; use one of: {known}")
    if wanted == [OFFLINE]:
        return offline.ask
    if OFFLINE in wanted:  # rules are no replacement for a model that fails
        raise SettingsError(f"AGENT_CLIENT is {names!r}; offline stands alone")
    models = [_model(name, settings) for name in dict.fromkeys(wanted)]
    return models[0] if len(models) == 1 else first_to_answer(models)


def _model(name: str, settings: Settings) -> Ask:
    client = CLIENTS[name]
    where = "in the environment or in .env; AGENT_CLIENT=offline needs none"
    env = {each: settings.require(each, f"{hint} {where}") for each, hint in client.needs.items()}
    env |= {each: settings.get(each, default) for each, default in client.defaults.items()}
    for variable, value in env.items():
        if variable.endswith("_BASE_URL") and not _is_url(value):
            raise SettingsError(f"{variable} {_NO_URL}")
        if variable.endswith("_API_KEY") and not (value.isascii() and value.isprintable()):
            raise SettingsError(f"{variable} holds a character that no key has; set it again")
    json_format = _json_format(env.pop("COMPATIBLE_JSON", "off"))
    return patiently(baml_model(name, client.baml_client, env, json_format))


def _json_format(choice: str) -> dict[str, object] | None:
    """What COMPATIBLE_JSON asks a server for, as `response_format` of chat completions."""
    match choice:
        case "off":
            return None
        case "object":
            return {"type": "json_object"}
        case "schema":
            schema = {
                "name": "next_step",
                "schema": step_schema(tools().classes.values(), tools().names),
            }
            return {"type": "json_schema", "json_schema": schema}
    raise SettingsError(f"COMPATIBLE_JSON is {choice!r}; use one of: off, object, schema")


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        has_host = bool(url.hostname) and url.port != 0  # port raises ValueError beyond 65535
    except ValueError:
        return False
    plain = text.isprintable() and not set(text) & set(" ?#@")
    return url.scheme in {"http", "https"} and has_host and plain
