"""Finds a model server on this machine, for when no client is chosen and no key is set.

Add a server by the address that it usually has. They are asked for their models, all at once.
"""

import http.client
import json
import re
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

WITHIN = 0.3  # seconds; a server on this machine answers in a few milliseconds
LONGEST_LIST = 1_000_000  # bytes
OLLAMA = "http://127.0.0.1:11434/v1"
COMPATIBLE = {
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama-server": "http://127.0.0.1:8080/v1",
}

# What is raised where nobody answers, or something else than a server of models.
_NO_SERVER = (
    *(OSError, http.client.HTTPException),
    *(ValueError, LookupError, TypeError, AttributeError, RecursionError),
)

# Models that do not chat, by their usual names.
_NO_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|minilm|\bbge\b|\bgte\b|\be5\b", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """A model server. client: its name in AGENT_CLIENT. variables: how that client reaches it."""

    server: str
    client: str
    address: str
    variables: dict[str, str]


def find(ollama: str = "") -> Found | None:
    """The first server of the list that answers in time and offers a model to chat with.

    ollama: where Ollama is, if not at its usual address.
    """
    addresses = {"Ollama": ollama or OLLAMA, **COMPATIBLE}
    models: dict[str, str] = {}
    asking = [
        threading.Thread(target=_ask, args=(address, server, models), daemon=True)
        for server, address in addresses.items()
    ]
    deadline = time.monotonic() + WITHIN
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(max(0.0, deadline - time.monotonic()))
    server = next((name for name in addresses if name in models), None)
    if server is None:
        return None
    model, address = models[server], addresses[server]
    if server == "Ollama":
        variables = {"OLLAMA_MODEL": model, "OLLAMA_BASE_URL": address}
        return Found(server, "ollama", address, variables)
    variables = {"COMPATIBLE_MODEL": model, "COMPATIBLE_BASE_URL": address}
    return Found(server, "compatible", address, {**variables, "COMPATIBLE_API_KEY": "none"})


def _ask(address: str, server: str, models: dict[str, str]) -> None:
    """Note the first model that chats, if the server names one."""
    try:
        url = urlsplit(address)
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=WITHIN)
        connection.request("GET", f"{url.path}/models")
        answer = connection.getresponse()
        listed = json.loads(answer.read(LONGEST_LIST))["data"]
        names = [model["id"] for model in listed if model.get("object") == "model"]
        chats = [
            name
            for name in names
            if name.strip() and name.isprintable() and not _NO_CHAT.search(name)
        ]
        if answer.status == 200 and url.scheme == "http" and chats:
            models[server] = chats[0]
    except _NO_SERVER:
        return
