"""Who may ask the server, from where, and with what: everything else is refused with one line of
JSON, and changes nothing.
"""

import asyncio
import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from payments import REFUND, wait_for
from serving import Api, serving
from support import agent, importing, new_store, package_of, sql

TOKEN = "a-token-that-nobody-should-see"


@pytest.fixture(scope="module")
def api(project: Path) -> Iterator[Api]:
    """A server on 127.0.0.1, without a token, that knows one other name."""
    with serving(project, AGENT_ALLOWED_HOSTS="agent.example.com, other.example:8443") as found:
        yield found


@pytest.fixture(scope="module")
def guarded(project: Path) -> Iterator[Api]:
    """A server with a token. The client sends it by itself."""
    with serving(project, AGENT_API_TOKEN=TOKEN) as found:
        yield found


@pytest.fixture(scope="module")
def waiting(api: Api) -> Any:
    """A thread in which a refund waits."""
    return api.rests(api.launch(REFUND.format("A-1")), "waiting")


# Where it is served


@pytest.mark.parametrize(
    ("words", "changes", "named"),
    [
        (["--host", "0.0.0.0"], {}, "AGENT_API_TOKEN"),
        (["--host", "::"], {}, "AGENT_API_TOKEN"),
        (["--host", "0.0.0.0"], {"AGENT_API_TOKEN": "  "}, "AGENT_API_TOKEN"),
        (["--host", "192.0.2.1"], {"AGENT_API_TOKEN": TOKEN}, "192.0.2.1"),
        (["--host", "no such host"], {}, "no such host"),
        (["--host", "\x1b[2J"], {}, "\\x1b"),
        ([], {"AGENT_API_TOKEN": "two words"}, "AGENT_API_TOKEN"),
        ([], {"AGENT_API_TOKEN": "schlüssel"}, "AGENT_API_TOKEN"),
        ([], {"AGENT_ALLOWED_HOSTS": "http://agent.example.com/"}, "AGENT_ALLOWED_HOSTS"),
        ([], {"AGENT_ALLOWED_HOSTS": "*"}, "AGENT_ALLOWED_HOSTS"),
        ([], {"DATABASE_URL": "sqlite:///:memory:"}, "DATABASE_URL"),
        ([], {"DATABASE_URL": "sqlite:////dev/null/x.db"}, "/dev/null"),
        ([], {"AGENT_CLIENT": "openai"}, "OPENAI_API_KEY"),
        ([], {"AGENT_MAX_STEPS": "many"}, "AGENT_MAX_STEPS"),
    ],
)
def test_what_is_not_safe_or_cannot_work_is_not_served(
    words: list[str], changes: dict[str, str], named: str, project: Path
) -> None:
    """The server ends at once with one line that names what is to be changed, and no secret."""
    done = agent(project, "serve", "--port", "0", *words, check=False, **changes)
    assert (1, "") == (done.returncode, done.stdout)
    assert named in done.stderr
    assert 1 == done.stderr.count("\n")
    assert not {"two words", "schlüssel", TOKEN} & set(done.stderr.split(" is "))


@pytest.mark.parametrize("words", [["--port", "65536"], ["--port", "x"], ["--workers", "0"]])
def test_numbers_that_are_none_are_wrong_usage(words: list[str], project: Path) -> None:
    """Exit code 2."""
    assert 2 == agent(project, "serve", *words, check=False).returncode


def test_a_port_that_is_taken_is_one_line(api: Api, project: Path) -> None:
    """It says so, and how to choose another."""
    port = str(urlsplit(api.url).port)
    done = agent(project, "serve", "--port", port, check=False)
    assert 1 == done.returncode
    assert f"127.0.0.1 port {port}" in done.stderr
    assert "--port" in done.stderr
    assert 1 == done.stderr.count("\n")


def test_another_address_is_served_with_a_token(project: Path) -> None:
    """Then the token is asked for, on every way into the machine."""
    with serving(project, "--host", "0.0.0.0", AGENT_API_TOKEN=TOKEN) as api:
        assert "http://127.0.0.1:" in api.url
        assert 200 == api.get("/threads").status
        api.headers.clear()
        assert 401 == api.get("/threads").status


def test_without_a_token_only_this_machine_may_ask(project: Path) -> None:
    """Also where somebody else than `serve` runs the application, at another address."""
    with importing(project):
        access = import_module(f"{package_of(project)}.runtime.web.access")

    async def ask(client: str, token: str = "") -> int:
        sent: list[dict[str, Any]] = []

        async def application(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
        scope = {"type": "http", "method": "GET", "path": "/threads", "headers": headers}
        await access.Access(application, [], token)({**scope, "client": (client, 1)}, receive, send)
        return int(sent[0]["status"])

    assert [200, 200, 403, 403, 200] == [
        asyncio.run(ask("127.0.0.1")),
        asyncio.run(ask("::1")),
        asyncio.run(ask("10.0.0.7")),
        asyncio.run(ask("2001:db8::1")),
        asyncio.run(ask("10.0.0.7", TOKEN)),
    ]


# Who may ask


PATHS = [
    ("GET", "/threads"),
    ("POST", "/threads"),
    ("GET", f"/threads/{'0' * 32}"),
    ("GET", f"/threads/{'0' * 32}/events"),
    ("POST", f"/threads/{'0' * 32}/messages"),
    ("POST", f"/approvals/{'0' * 32}"),
    ("POST", "/effects/x:1"),
    ("GET", "/no-such-path"),
    ("GET", "/health/"),
    ("GET", "//threads"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN],
)
def test_without_the_token_nothing_is_answered(
    method: str, path: str, header: str, guarded: Api
) -> None:
    """401, whatever is asked for, and the answer says what to send."""
    plain = Api(guarded.url, headers={"authorization": header} if header else {})
    told = plain.send(method, path, {"message": "x"} if method == "POST" else None)
    assert (401, "Bearer") == (told.status, told.headers["www-authenticate"])
    assert "Bearer TOKEN" in told.json["error"]


def test_the_token_opens_and_is_never_shown(guarded: Api) -> None:
    """The scheme may be written in any case; pages and health need no token; no log shows it."""
    assert 200 == Api(guarded.url).get("/threads", Authorization=f"bearer {TOKEN}").status
    for path in ("/", "/inbox.css", "/inbox.js", "/client.js", "/docs", "/openapi.json", "/health"):
        told = Api(guarded.url).get(path)
        assert 200 == told.status
        assert TOKEN.encode() not in told.body
    guarded.post("/threads", {"message": ""})
    guarded.get("/threads/x")
    assert [] == [line for line in guarded.log if TOKEN in line]


HOSTS = [
    ("localhost", True),
    ("LOCALHOST:1", True),
    ("127.0.0.1", True),
    ("[::1]:80", True),
    ("agent.example.com", True),
    ("agent.example.com:443", True),
    ("other.example:8443", True),
    ("other.example", False),
    ("evil.example", False),
    ("localhost.evil.example", False),
    ("evil.example:80@localhost", False),
    ("localhost@evil.example", False),
    ("localhost evil.example", False),
    ("localhost, evil.example", False),
    ("127.0.0.1.nip.io", False),
    ("0.0.0.0", False),
    ("127.1", False),
    ("2130706433", False),
    ("localhost.", False),
    ("localhost:", False),
    ("", False),
]


@pytest.mark.parametrize(("host", "is_own"), HOSTS)
def test_only_our_names_are_answered(host: str, is_own: bool, api: Api) -> None:
    """A name that was made to lead here, as in DNS rebinding, is refused for every path."""
    for path in ("/threads", "/", "/health"):
        told = api.get(path, Host=host)
        assert (200 if is_own else 403) == told.status, told.body
        if not is_own:
            assert "AGENT_ALLOWED_HOSTS" in told.json["error"]


@pytest.mark.parametrize("hosts", [[], ["localhost", "evil.example"], ["localhost", "localhost"]])
def test_one_host_is_sent(hosts: list[str], api: Api) -> None:
    """None, or several, is refused."""
    place = urlsplit(api.url)
    lines = "".join(f"Host: {host}\r\n" for host in hosts)
    version = "1.1" if hosts else "1.0"
    with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
        raw.sendall(f"GET /threads HTTP/{version}\r\n{lines}\r\n".encode())
        status = raw.recv(100).split(b" ")[1]
    assert status in {b"400", b"403"}


ORIGINS = [
    ({}, True),
    ({"Origin": "{own}"}, True),
    ({"Origin": "http://agent.example.com"}, True),
    ({"Origin": "https://other.example:8443"}, True),
    ({"Origin": "null"}, False),
    ({"Origin": ""}, False),
    ({"Origin": "http://evil.example"}, False),
    ({"Origin": "http://localhost:1"}, False),
    ({"Origin": "http://localhost"}, False),
    ({"Origin": "http://other.example"}, False),
    ({"Origin": "file://"}, False),
    ({"Origin": "{own}.evil.example"}, False),
    ({"Origin": "{own}, http://evil.example"}, False),
    ({"Sec-Fetch-Site": "same-origin"}, True),
    ({"Sec-Fetch-Site": "none"}, True),
    ({"Sec-Fetch-Site": "same-site"}, False),
    ({"Sec-Fetch-Site": "cross-site"}, False),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, False),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "{own}"}, False),
]


@pytest.mark.parametrize(("headers", "is_own"), ORIGINS)
def test_other_sites_may_ask_nothing(headers: dict[str, str], is_own: bool, api: Api) -> None:
    """Reading and writing from another site is refused, and no header lets its script read."""
    named = {name.replace("-", "_"): value.format(own=api.url) for name, value in headers.items()}
    before = len(api.get("/threads?limit=1000").json)
    told = api.post("/threads", {"message": "hello"}, **named)
    assert (201 if is_own else 403) == told.status
    assert before + is_own == len(api.get("/threads?limit=1000").json)
    told = api.get("/threads", **named)
    assert (200 if is_own else 403) == told.status
    assert not [name for name in told.headers if name.startswith("access-control-")]


def test_a_link_to_the_page_may_be_anywhere(api: Api) -> None:
    """A person who follows one from another site sees the page, and nothing else is answered so."""
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert 200 == api.get("/", **link).status
    assert 403 == api.get("/threads", **link).status
    assert 403 == api.send("POST", "/", {}, **link).status
    assert 403 == api.get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status


def test_every_answer_keeps_browsers_strict(api: Api) -> None:
    """No framing, no sniffing, no cache, no outside resource; on errors, too."""
    for told in (api.get("/"), api.get("/threads"), api.get("/x"), api.get("/", Host="evil")):
        policy = told.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "nosniff" == told.headers["x-content-type-options"]
        assert "no-store" == told.headers["cache-control"]
        assert "server" not in told.headers


# With what


BODIES = [
    b"",
    b"null",
    b"[]",
    b'"message"',
    b"{}",
    b'{"message": null}',
    b'{"message": 1}',
    b'{"message": ["x"]}',
    b'{"message": ""}',
    b'{"message": " \\n\\t "}',
    b'{"message": "x", "id": "1"}',
    b'{"message": "x", "events": []}',
    b'{"message": "x", "type": "approval", "data": {"approved": true}}',
    b'{"message": "x", "intent": "process_refund"}',
    b'{"message": "a", "message": "b"}',
    b'{"message": "x"',
    b'{"message": "x"} x',
    b"{'message': 'x'}",
    b'{"message": NaN}',
    b'{"message": "\\ud800"}',
    b'{"message": "\xff"}',
    b'\xef\xbb\xbf{"message": "x"}',
    '{"message": "x"}'.encode("utf-16"),
    b"message=x",
    b"[" * 100_000,
    b'{"message":' * 20_000,
    json.dumps({"message": "x" * 50_001}).encode(),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:30])
def test_a_message_is_a_text_and_nothing_else(body: bytes, api: Api) -> None:
    """422 with one short line, and no thread comes of it."""
    before = len(api.get("/threads?limit=1000").json)
    told = api.post("/threads", body)
    assert 422 == told.status, told.body
    assert len(told.json["error"]) <= 200
    assert before == len(api.get("/threads?limit=1000").json)


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "x"])
def test_a_body_says_that_it_is_json(kind: str, api: Api) -> None:
    """What a form of another site could send is none."""
    told = api.post("/threads", b'{"message": "x"}', content_type=kind)
    assert 422 == told.status


DECISIONS = [
    {"approved": "true"},
    {"approved": "false"},
    {"approved": 1},
    {"approved": None},
    {"approved": []},
    {"call_hash": None},
    {"call_hash": 1},
    {"comment": None},
    {"comment": 1},
    {"comment": "x" * 2001},
    {"by": "the manager"},
    {"call": {"intent": "process_refund", "amount": 1}},
    {"amount": 1},
    {"result": "paid"},
]


@pytest.mark.parametrize("change", DECISIONS, ids=str)
def test_a_decision_is_exact(change: dict[str, Any], api: Api, waiting: Any) -> None:
    """Anything that is not as it has to be is 422, and the call waits as before."""
    assert 422 == api.approve(waiting, **change).status
    assert waiting == api.thread(waiting["id"])


@pytest.mark.parametrize("missing", ["approved", "call_hash"])
def test_a_decision_is_whole(missing: str, api: Api, waiting: Any) -> None:
    """Nothing is taken for granted."""
    pending = waiting["pending"]
    body = {"approved": True, "call_hash": pending["call_hash"]}
    del body[missing]
    assert 422 == api.post(f"/approvals/{pending['approval_id']}", body).status
    assert waiting == api.thread(waiting["id"])


def test_bodies_are_bounded(api: Api) -> None:
    """413 for one that is too long, and 411 for one that does not say how long it is."""
    large = json.dumps({"message": "x" * 1_100_000}).encode()
    told = api.post("/threads", large)
    assert (413, True) == (told.status, "at most 1048576 bytes" in told.json["error"])
    place = urlsplit(api.url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
        head = (
            f"POST /threads HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        )
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            for _ in range(130):
                raw.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert b" 411 " in raw.recv(100)
    assert 200 == api.get("/health").status


IDS = [
    "x",
    "0" * 31,
    "0" * 33,
    "G" * 32,
    "0" * 31 + "%0a",
    "%2e%2e",
    "a%00b",
    "%F0%9F%92%B0",
    "-1",
    "1" * 5000,
]


@pytest.mark.parametrize("wrong", IDS, ids=lambda text: text[:12])
def test_an_id_that_is_none_is_not_found(wrong: str, api: Api, waiting: Any) -> None:
    """404 for every kind of id, and for one of another kind."""
    told = [
        api.get(f"/threads/{wrong}"),
        api.get(f"/threads/{waiting['pending']['approval_id']}"),
        api.get(f"/threads/{wrong}/events"),
        api.post(f"/threads/{wrong}/messages", {"message": "x"}),
        api.post(f"/threads/{wrong}/resume"),
        api.post(f"/approvals/{wrong}", {"approved": True, "call_hash": "x"}),
        api.post(f"/effects/{wrong}", {"happened": True}),
    ]
    assert {404} == {each.status for each in told}
    assert all(each.json["error"] for each in told)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/threads/", 404),
        ("PUT", "/threads", 405),
        ("DELETE", "/threads", 405),
        ("GET", "/inbox.py", 404),
        ("GET", "/../pyproject.toml", 404),
        ("GET", "/%2e%2e/api.py", 404),
    ],
)
def test_every_error_is_json(method: str, path: str, status: int, api: Api) -> None:
    """Also where nothing is."""
    told = api.send(method, path)
    assert (status, "application/json") == (told.status, told.headers["content-type"])
    assert isinstance(told.json["error"], str)


def test_a_store_that_cannot_be_read_is_503(project: Path, tmp_path: Path) -> None:
    """One thread that is damaged is named; the others go on, and the server stays up."""
    url = new_store()
    with serving(project, DATABASE_URL=url) as api:
        damaged, whole = (api.rests(api.launch("add 3 and 4")) for _ in range(2))
        sql(url, "UPDATE events SET data = '{' WHERE thread_id = ?", damaged["id"])
        told = api.get(f"/threads/{damaged['id']}")
        assert (503, True) == (told.status, "damaged" in told.json["error"])
        assert 503 == api.get(f"/threads/{damaged['id']}/events").status
        assert 503 == api.post(f"/threads/{damaged['id']}/messages", {"message": "x"}).status
        assert whole == api.thread(whole["id"])
        assert "done" == api.rests(api.launch("add 1 and 1"))["status"]
        assert 200 == api.get("/health").status


FAULTS = {
    "KeyError: 'x'": "{}['x']",
    "SystemExit: 1": "raise SystemExit(1)",
    "KeyboardInterrupt: no message": "raise KeyboardInterrupt",
    "CancelledError: no message": "raise __import__('asyncio').CancelledError",
}


def test_a_fault_in_the_code_ends_one_run(project: Path, tmp_path: Path) -> None:
    """Whatever the owner's code raises: the thread fails with the reason, the server goes on."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    policy = copy / "src" / package_of(project) / "policy.py"
    text = policy.read_text(encoding="utf-8")
    match = "    match step:\n"
    arms = "".join(
        f"        case types.AddTool() if step.a == {number}:\n            {fault}\n"
        for number, fault in enumerate(FAULTS.values(), 90)
    )
    broken = text.replace(match, match + arms, 1)
    assert broken != text
    policy.write_text(broken, encoding="utf-8")
    with serving(copy) as api:
        for number, told in enumerate(FAULTS, 90):
            thread = api.rests(api.launch(f"add {number} and 4"))
            assert {"type": "broken", "message": told} == thread["failure"]
            assert any(told.split(":")[0] in line for line in api.log)
            assert "done" == api.rests(api.launch("multiply 3 and 4"))["status"]
        assert 200 == api.get("/health").status


ODD_ROWS = {
    "a time that is none": "created = 9e18",
    "a time that is no number": "created = 'soon'",
    "half a character": """summary = '{"status": "done", "title": "\\ud800"}'""",
    "no number": """summary = '{"status": "done", "x": NaN}'""",
    "no object": "summary = '[]'",
    "no JSON": "summary = '{'",
    "another status": """summary = '{"status": "asleep"}'""",
    "a blob for an id": "id = x'00ff', status = 'running'",
    "a blob for a title": "title = x'00ff'",
}


@pytest.mark.parametrize("change", ODD_ROWS.values(), ids=ODD_ROWS)
def test_one_odd_row_spoils_no_list(change: str, project: Path) -> None:
    """The other threads are listed, and the command line lists them, too."""
    url = new_store()
    with serving(project, DATABASE_URL=url) as api:
        odd, whole = (api.rests(api.launch("add 3 and 4")) for _ in range(2))
        sql(url, f"UPDATE threads SET {change} WHERE id = ?", odd["id"])
        listed = api.get("/threads")
        assert 200 == listed.status
        assert 2 == len(listed.json)
        assert whole["id"] in [each["id"] for each in listed.json]
        assert "done" == api.rests(api.launch("add 1 and 1"))["status"]
        assert [] == [line for line in api.log if "Traceback" in line]
    assert whole["id"] in agent(project, "threads", DATABASE_URL=url).stdout


def test_a_number_in_a_log_that_is_none_is_damage(project: Path) -> None:
    """What JSON cannot say is not sent as JSON."""
    url = new_store()
    with serving(project, DATABASE_URL=url) as api:
        thread = api.rests(api.launch("add 3 and 4"))
        nan = '{"call": 1, "result": NaN}'
        sql(url, "UPDATE events SET data = ? WHERE type = 'tool_response'", nan)
        told = api.get(f"/threads/{thread['id']}")
        assert (503, True) == (told.status, "damaged" in told.json["error"])


def test_a_damaged_delivery_is_one_line(project: Path) -> None:
    """Its key is used up, and another works."""
    url = new_store()
    with serving(project, DATABASE_URL=url) as api:
        body = {"message": "add 3 and 4"}
        api.post("/threads", body, Idempotency_Key="k")
        sql(url, "UPDATE deliveries SET answer = '{'")
        assert 503 == api.post("/threads", body, Idempotency_Key="k").status
        assert 201 == api.post("/threads", body, Idempotency_Key="l").status


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_database_that_is_gone_is_not_written_to(
    what: str, project: Path, tmp_path: Path
) -> None:
    """What nobody would find again is refused, and health says so."""
    folder = tmp_path / "data"
    with serving(project, DATABASE_URL=f"sqlite:///{folder}/threads.db") as api:
        api.rests(api.launch("add 3 and 4"))
        for path in list(folder.iterdir()):
            path.unlink()
        if what == "folder":
            folder.rmdir()
        assert 503 == api.get("/health").status
        told = api.post("/threads", {"message": "add 3 and 4"})
        assert (503, False) == (told.status, str(tmp_path) in told.json["error"])
        assert 503 == api.get("/threads").status


def test_who_keeps_the_server_waiting_is_let_go(project: Path) -> None:
    """Many connections that never ask, where few files may be open: the server answers again when
    their time is over, and its log stays short.
    """
    with serving(project, files=400) as api:
        place = urlsplit(api.url)
        held = []
        for _ in range(600):
            raw = socket.create_connection((place.hostname, place.port), timeout=10)
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX")
            held.append(raw)
        wait_for(lambda: is_answered(api), 30)
        assert len(api.log) < 500  # asyncio says once a second that there are no files left
        held[0].settimeout(20)
        assert b"" == held[0].recv(100)
        for raw in held:
            raw.close()


def is_answered(api: Api) -> bool:
    """Whether the server takes a request."""
    try:
        return api.get("/health").status == 200
    except OSError:
        return False


def test_the_rest_of_a_refused_body_is_not_looked_at(guarded: Api) -> None:
    """A body in pieces is refused at its beginning, and what is no HTTP gets JSON, too."""
    place = urlsplit(guarded.url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
        head = (
            f"POST /threads HTTP/1.1\r\nHost: {place.netloc}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        raw.sendall(head.encode() + b"1\r\n \r\n" * 20_000)
        told = all_of(raw)
        assert b" 401 " in told.split(b"\r\n")[0]
        assert b"connection: close" in told
    with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01 what is this\r\n\r\n")
        head, _, body = all_of(raw).partition(b"\r\n\r\n")
        assert b" 400 " in head
        assert {"error"} == set(json.loads(body))
        assert b"default-src 'none'" in head
    assert 200 == guarded.get("/threads").status


def all_of(raw: socket.socket) -> bytes:
    """What comes until the connection is closed."""
    told = b""
    with suppress(ConnectionResetError):
        while more := raw.recv(10_000):
            told += more
    return told


def test_small_things_about_requests(api: Api) -> None:
    """Two keys are no key, a number is a number, `Allow` is one header, and HEAD is understood."""
    place = urlsplit(api.url)
    body = b'{"message": "add 1 and 1"}'
    with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
        head = f"POST /threads HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/json\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n"
        raw.sendall(head.encode() + body)
        assert b" 422 " in raw.recv(100)
    for wrong in ("1_0", "1.0", "+1", "٣"):
        assert 422 == api.get(f"/threads?limit={quote(wrong)}").status
    assert "GET, POST" == api.send("PUT", "/threads").headers["allow"]
    assert 200 == api.send("HEAD", "/").status == api.send("HEAD", "/health").status
    assert 404 == api.get("/threads%0A").status
    assert 422 == api.post("/threads", {"message": "\u200b\u2800"}).status
    assert 422 == api.post(f"/threads/{'0' * 32}/resume", b"null").status


def test_who_does_not_read_is_let_go(project: Path) -> None:
    """Clients that ask for more than they take hold their places for a while, not for ever."""
    with serving(project, files=238) as api:
        place = urlsplit(api.url)
        held = []
        for _ in range(12):
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.connect((place.hostname, place.port))
            raw.setblocking(False)
            with suppress(OSError):
                raw.send(b"GET /inbox.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 800)
            held.append(raw)
        wait_for(lambda: is_answered(api), 60)
        for raw in held:
            raw.close()


def test_a_body_that_is_no_http_leaves_no_traceback(api: Api) -> None:
    """What a stranger sends is not worth a line of the log for each of its bytes."""
    place = urlsplit(api.url)
    before = len(api.log)
    for _ in range(5):
        with socket.create_connection((place.hostname, place.port), timeout=10) as raw:
            head = f"POST /threads HTTP/1.1\r\nHost: {place.netloc}\r\n"
            raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\nZZZ\r\nabc".encode())
            all_of(raw)
    assert 200 == api.get("/health").status
    assert before == len(api.log)
