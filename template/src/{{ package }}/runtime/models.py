"""Which model answers: the one that AGENT_CLIENT names. Add a client of clients.baml to CLIENTS."""

from dataclasses import dataclass

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
        if variable.endswith("_BASE_URL") and not value.startswith(("http://", "https://")):
            raise SettingsError(f"{variable} is {value!r}; it starts with http:// or https://")
    return baml_model(name, client.baml_client, env)
