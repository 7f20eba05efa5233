"""`serve`: the HTTP API and the inbox, at an address where that is safe.

What is served is in web/. web/app.py makes an ASGI application like any other, for a server of your
own; what it refuses does not depend on who runs it.
"""

import argparse
import os
import socket
from ipaddress import ip_address
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from .database import IN_MEMORY, database_path
from .errors import SettingsError
from .models import choose_model
from .settings import PACKAGE, load_settings
from .show import note
from .store import open_store
from .web.access import HOSTS, TOKEN, hosts_of, token_of
from .web.connections import BACKLOG, Connection

PATIENCE = 5  # seconds for answers that are under way when the server is stopped

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
"""What goes wrong, on stderr. Requests are not logged: what people did is in their threads."""


def serve(args: argparse.Namespace) -> int:
    """Serve until a signal ends it. Raises SettingsError where that would not be safe."""
    settings = load_settings()
    family, address = _resolve(args.host, args.port)
    token = token_of(settings)
    if not ip_address(address[0]).is_loopback and not token:
        where = f"{args.host} can be reached from other machines"
        raise SettingsError(f"{where}; set {TOKEN}, or leave --host out")
    if database_path(settings) == IN_MEMORY:
        raise SettingsError("DATABASE_URL keeps the threads in memory; serve needs a file")
    open_store(settings).database.close()
    chosen, _ = choose_model(settings), settings.limits  # which say now what is wrong with them
    listening = _listen(family, address, args)
    # In the environment, where the processes of --workers find it.
    own = _in_url(args.host.partition("%")[0])  # without the zone of an IPv6 address
    os.environ[HOSTS] = ",".join([*hosts_of(settings), own])
    if chosen.note:
        note(chosen.note)
    seen_at = "127.0.0.1" if ip_address(address[0]).is_unspecified else args.host
    port = listening.getsockname()[1]
    note(f"the inbox is at http://{_in_url(seen_at)}:{port}/ (Ctrl-C ends it)")
    config = uvicorn.Config(
        f"{PACKAGE}.runtime.web.app:create_app",
        factory=True,
        workers=args.workers,
        log_config=LOGGING,
        log_level="error",
        access_log=False,
        proxy_headers=False,  # who asks is who is connected, whatever a header says
        server_header=False,
        http=Connection,
        ws="none",
        backlog=BACKLOG,
        timeout_graceful_shutdown=PATIENCE,
    )
    if args.workers == 1:
        uvicorn.Server(config).run(sockets=[listening])
    else:
        _Workers(config, sockets=[listening]).run()
    return 0


class _Workers(Multiprocess):
    """Processes that end with their terminal, which uvicorn would let begin anew."""

    def handle_hup(self) -> None:
        """End."""
        self.should_exit.set()


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """The address that a host is. Raises SettingsError where it is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise SettingsError(f"--host {host!r} is no address of this machine") from None
    return found[0][0], found[0][4]


def _listen(family: socket.AddressFamily, address: Any, args: argparse.Namespace) -> socket.socket:
    """A socket at which connections can wait from now on."""
    # asyncio sends small answers at once only where the protocol is named.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        place = f"{args.host} port {args.port}"
        raise SettingsError(f"{place}: {error.strerror}; choose another with --port") from None
    return listening


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
