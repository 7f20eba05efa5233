"""Which model answers: the one that AGENT_CLIENT names. Add a client of clients.baml to CLIENTS."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from . import offline
from .errors import SettingsError
from .llm import Ask, baml_model
from .settings import Settings


@dataclass(frozen=True)
class Client:
    """A client of baml_src/clients.baml: its name there, and its variables with what to set."""

    baml_client: str
    variables: dict[str, str]


OFFLINE = "offline"
CLIENTS = {
    "compatible": Client(
        "Compatible",
        {
            "COMPATIBLE_BASE_URL": "set the server's address, such as http://127.0.0.1:8080/v1",
            "COMPATIBLE_API_KEY": "set the server's key, or any word for a server without keys",
            "COMPATIBLE_MODEL": "set the model's name at that server",
        },
    ),
}


def client_name(settings: Settings) -> str:
    """The name in AGENT_CLIENT, `offline` where it is not set. SettingsError if there is none."""
    name = settings.get("AGENT_CLIENT", OFFLINE)
    if name != OFFLINE and name not in CLIENTS:
        known = ", ".join([OFFLINE, *CLIENTS])
        raise SettingsError(f"AGENT_CLIENT is {name!r}; use one of: {known}")
    return name


def choose_model(settings: Settings) -> Ask:
    """The model to ask. Raises SettingsError for a variable that is missing; nothing is sent."""
    name = client_name(settings)
    if name == OFFLINE:
        return offline.ask
    client = CLIENTS[name]
    env = {name: settings.require(name, hint) for name, hint in client.variables.items()}
    for variable, value in env.items():
        if variable.endswith("_BASE_URL") and not _is_url(value):
            raise SettingsError(f"{variable} is {value!r}; set an address as http://host:port/v1")
        if variable.endswith("_API_KEY") and not (value.isascii() and value.isprintable()):
            raise SettingsError(f"{variable} holds a character that no key has; set it again")
    return baml_model(name, client.baml_client, env)


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        has_host = bool(url.hostname) and url.port != 0  # port raises ValueError beyond 65535
    except ValueError:
        return False
    return url.scheme in {"http", "https"} and has_host and text.isprintable() and " " not in text
