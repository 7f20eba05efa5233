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
PATIENCE = 10.0  # seconds in which a client has to ask for something, or to read a part of it
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
    _answered: Any = None  # the request that was the last one at the last look
    _unsent = 0  # bytes, at the last look
    _has_read = False  # the client, since the last look

    def connection_made(self, transport: Any) -> None:
        """Take a connection, if there is room for it."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._timer = self.loop.call_later(PATIENCE, self._look)

    def data_received(self, data: bytes) -> None:
        """Look at what comes, and not at the rest of what will be refused."""
        for start in range(0, len(data), SLICE):
            if self.transport.is_closing() or self._is_in_pieces():
                return
            super().data_received(data[start : start + SLICE])

    def resume_writing(self) -> None:
        """Go on with an answer, of which the client has read a part."""
        self._has_read = True
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as everything else is refused."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # it was begun to be answered
            return
        body = json.dumps({"error": msg}).encode()
        headers = {**HEADERS, "content-type": "application/json", "connection": "close"}
        fields = [(name.encode(), value.encode()) for name, value in headers.items()]
        response = h11.Response(status_code=400, headers=fields, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_in_pieces(self) -> bool:
        return any(name == b"transfer-encoding" for name, _ in self.headers or [])

    def _look(self) -> None:
        """Give up a client that has neither asked nor read since the last look."""
        unsent = self.transport.get_write_buffer_size()
        is_idle = self.cycle is None or self.cycle.response_complete
        asks_nothing = is_idle and self.cycle is self._answered
        is_stuck = self.flow.write_paused and not self._has_read
        if asks_nothing or is_stuck or (unsent and unsent == self._unsent):
            self.transport.abort()
            return
        self._answered, self._unsent, self._has_read = self.cycle, unsent, False
        self._timer = self.loop.call_later(PATIENCE, self._look)
