"""Connections, before there is a request: bounded in number, in time, and in what they may send.

uvicorn leaves this to a proxy; here it holds without one. A body has to say its length: one that
comes in pieces of a byte would take seconds to take apart, whoever sends it.
"""

import asyncio
import json
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .access import HEADERS

MOST = 2000  # of one process; fewer where it may open fewer files
BACKLOG = 128  # connections that are taken at once, before any is refused
SPARE = BACKLOG + 100  # files that are no connections, or will not be for long
PATIENCE = 10.0  # seconds in which a request has to begin, and its head to end
SLICE = 4096  # bytes that are looked at together

log = logging.getLogger(__name__)


def most_connections() -> int:
    """How many connections this process can bear, after it has allowed itself what it may."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + SPARE if hard == resource.RLIM_INFINITY else min(hard, MOST + SPARE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft - SPARE))


class Connection(H11Protocol):
    """A connection that is closed when it keeps the server waiting."""

    most = MOST
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, if there is room for it."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Look at what comes, and not at the rest of what will be refused."""
        for start in range(0, len(data), SLICE):
            if self.transport.is_closing() or self._is_in_pieces():
                return
            super().data_received(data[start : start + SLICE])
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as everything else is refused."""
        body = json.dumps({"error": msg}).encode()
        headers = {**HEADERS, "content-type": "application/json", "connection": "close"}
        fields = [(name.encode(), value.encode()) for name, value in headers.items()]
        response = h11.Response(status_code=400, headers=fields, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_in_pieces(self) -> bool:
        return any(name == b"transfer-encoding" for name, _ in self.headers or [])

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        """Wait for a request, from now on and not for ever."""
        if self._timer and not self._is_idle():
            self._timer.cancel()
            self._timer = None
        elif self._is_idle() and not self._timer:
            self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self._is_idle():
            self.transport.close()
