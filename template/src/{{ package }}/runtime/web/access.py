"""Who may ask, from where, and how much at once; before anything else looks at a request.

Three things are kept out: other sites that a person's browser is on (Origin, Sec-Fetch-Site),
names that lead to this machine without being its own (Host), and whoever does not know the token.
"""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import SettingsError
from ..settings import Settings
from .pages import PATHS

LARGEST_BODY = 1024 * 1024  # bytes; more than the longest text takes, however it is written
PATIENCE = 30.0  # seconds in which a body has to arrive
OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]")
# What a browser has to load before it can ask for the token; none of it says anything of a thread.
OPEN = {*PATHS, "/health"}
TOKEN = "AGENT_API_TOKEN"
HOSTS = "AGENT_ALLOWED_HOSTS"

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?")
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
HEADERS = {
    "content-security-policy": _POLICY + "img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def token_of(settings: Settings) -> str:
    """The token that is asked for; "" for none. Raises SettingsError where it cannot be sent."""
    token = settings.get(TOKEN)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(f"{TOKEN} holds a character that no header carries; set it again")
    return token


def hosts_of(settings: Settings) -> list[str]:
    """The names that people may use for this server. Raises SettingsError for what is none."""
    names = [name.strip().lower() for name in settings.get(HOSTS).split(",") if name.strip()]
    for name in names:
        if not _HOST.fullmatch(name):
            hint = "write names as they stand in an address, such as agent.example.com,10.0.0.5"
            raise SettingsError(f"{HOSTS} has {name[:40]!r}; {hint}")
    return names


class Access:
    """An ASGI application that lets pass what may. hosts: names beside OWN_HOSTS, each perhaps with
    a port. token: "" where none is asked for.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str) -> None:
        self._app = app
        self._others = set(hosts)
        self._token = _digest(token.encode()) if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, _with_headers(send))

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        status, problem = self._problem(scope, headers)
        if not status and "transfer-encoding" in headers:
            status, problem = 411, "the body has to say its length; send Content-Length"
        if not status:
            try:
                body = await asyncio.wait_for(_read(receive, headers), PATIENCE)
            except TimeoutError:
                status, problem = 408, "the body took too long"
            except _TooLarge:
                status, problem = 413, f"the body is too large; send at most {LARGEST_BODY} bytes"
            except _Gone:
                return
            else:
                return await self._app(scope, _replaying(body, receive), send)
        await _refuse(send, status, problem, is_last="transfer-encoding" in headers)

    def _problem(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str]:
        """Why a request is refused; status 0 if it is not."""
        if not scope["path"].isprintable():
            return 404, "Not Found"
        hosts = [host.lower() for host in headers.get("host", [])]
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return 403, "this is no name of this server; AGENT_ALLOWED_HOSTS names others"
        if not (_comes_from_here(scope, headers) and self._has_own_origin(headers, hosts[0])):
            return 403, "requests from other sites are refused"
        if self._token is None:
            client = scope.get("client")
            if client and not ip_address(client[0]).is_loopback:
                return 403, "without AGENT_API_TOKEN only this machine may ask"
        elif scope["path"] not in OPEN and not self._is_token(headers.get("authorization", [])):
            return 401, "the token is missing or wrong; send Authorization: Bearer TOKEN"
        return 0, ""

    def _is_own(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and not {host, found[1]}.isdisjoint({*OWN_HOSTS, *self._others})

    def _has_own_origin(self, headers: dict[str, list[str]], host: str) -> bool:
        for origin in headers.get("origin", []):
            scheme, _, place = origin.lower().partition("://")
            # A proxy may have changed Host, and then AGENT_ALLOWED_HOSTS names what people see.
            if scheme not in {"http", "https"} or place not in {host, *self._others}:
                return False
        return True

    def _is_token(self, given: list[str]) -> bool:
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        same = hmac.compare_digest(_digest(token.strip().encode("latin-1")), self._token or b"")
        return scheme.lower() == "bearer" and same


def _digest(token: bytes) -> bytes:
    """So that a comparison takes the same time for tokens of any length."""
    return hashlib.sha256(token).digest()


def _comes_from_here(scope: Scope, headers: dict[str, list[str]]) -> bool:
    """Whether a browser says that no other site sent this; a link to the page may be anywhere."""
    sites = set(headers.get("sec-fetch-site", [])) - {"same-origin", "none"}
    is_link = headers.get("sec-fetch-mode") == ["navigate"] and scope["method"] == "GET"
    return not sites or (is_link and scope["path"] in PATHS)


class _TooLarge(Exception):
    pass


class _Gone(Exception):
    """The client has left."""


async def _read(receive: Receive, headers: dict[str, list[str]]) -> bytes:
    """The whole body. Raises _TooLarge, before it was read where its length is said, and _Gone."""
    for length in headers.get("content-length", []):
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            raise _TooLarge
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise _TooLarge
    return body


def _replaying(body: bytes, receive: Receive) -> Receive:
    """What gives the body that was read, and then what the client does next."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *extra]
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, problem: str, is_last: bool) -> None:
    """Answer with a problem. is_last: the connection ends, since its body will not be looked at."""
    body = json.dumps({"error": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if is_last:
        headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
