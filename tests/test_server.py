"""The HTTP API, over real sockets: what is asked is done once, in the background, and nothing else
is done. Payments go to a stand-in over HTTP that counts them.
"""

import http.client
import json
import shutil
import signal
import socket
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import pytest
from payments import REFUND, Provider, is_legal, wait_for
from serving import Api, at_once, serving, start_server, stop_server
from support import Response, agent, compatible, http_server, model_server, new_store, sql

QUESTION = "can you do some math for me?"
DONE = json.dumps({"intent": "done_for_now", "message": "done"})


@dataclass
class Desk:
    """A server that refunds are asked of. changes: its settings."""

    api: Api
    provider: Provider
    changes: dict[str, str]

    def sql(self, statement: str, *values: Any) -> None:
        """Reach into the database."""
        sql(self.changes["DATABASE_URL"], statement, *values)

    def waiting(self, order: str) -> Any:
        """A thread in which a refund waits."""
        return self.api.rests(self.api.launch(REFUND.format(order)), "waiting")


@pytest.fixture(scope="module")
def desk(paying: Path) -> Iterator[Desk]:
    """A server that all tests of this module share; each has threads of its own."""
    provider = Provider()
    with http_server(provider.respond) as url:
        changes = {"PAY_URL": url, "DATABASE_URL": new_store()}
        with serving(paying, **changes) as api:
            yield Desk(api, provider, changes)


@pytest.fixture
def api(desk: Desk) -> Api:
    """The client of the server."""
    return desk.api


def types_of(thread: Any) -> list[str]:
    """The types of a thread's events."""
    return [event["type"] for event in thread["events"]]


def texts_of(thread: Any) -> list[str]:
    """What a person said in a thread."""
    return [event["data"]["text"] for event in thread["events"] if "text" in event["data"]]


# What can be asked for


def test_a_message_starts_a_thread_and_is_answered_at_once(api: Api) -> None:
    """201 with the running thread and where it is; the run goes on by itself."""
    told = api.post("/threads", {"message": "add 3 and 4"})
    assert (201, "running") == (told.status, told.json["status"])
    thread_id = told.json["id"]
    assert f"/threads/{thread_id}" == told.headers["location"]
    thread = api.rests(thread_id)
    assert ("done", "7") == (thread["status"], thread["answer"])
    assert ["user_input", "tool_call", "tool_response", "tool_call"] == types_of(thread)


def test_http_and_the_command_line_have_one_shape(desk: Desk, paying: Path) -> None:
    """`show --json`, `threads --json` and the API say the same of a thread."""
    thread = desk.waiting("S-1")
    shown = agent(paying, "show", thread["id"], "--json", **desk.changes).stdout
    assert json.loads(shown) == thread == desk.api.thread(thread["id"])
    listed = json.loads(agent(paying, "threads", "--json", **desk.changes).stdout)
    summary = {name: value for name, value in thread.items() if name != "events"}
    assert summary in listed
    assert summary in desk.api.get("/threads?limit=1000").json


def test_threads_are_listed_in_parts(api: Api) -> None:
    """Newest first, by status, a number at a time, and those before one."""
    ids = [api.launch(QUESTION) for _ in range(3)]
    for each in ids:
        api.rests(each, "waiting")
    newest = api.get("/threads?status=waiting&limit=2").json
    assert ids[:0:-1] == [each["id"] for each in newest]
    older = api.get(f"/threads?limit=1&before={ids[1]}").json
    assert [ids[0]] == [each["id"] for each in older]
    assert {"waiting"} == {each["status"] for each in newest}
    assert 404 == api.get(f"/threads?before={'0' * 32}").status
    assert 422 == api.get("/threads?status=asleep").status
    assert 422 == api.get("/threads?limit=0").status


def test_a_message_is_the_answer_where_a_question_waits(api: Api) -> None:
    """It is the human_response, and after that a message is a user_input again."""
    thread_id = api.launch(QUESTION)
    assert "question" == api.rests(thread_id)["pending"]["kind"]
    told = api.post(f"/threads/{thread_id}/messages", {"message": "3 plus 4"})
    assert (200, "human_response") == (told.status, told.json["events"][-1]["type"])
    assert "7" == api.rests(thread_id)["answer"]
    told = api.post(f"/threads/{thread_id}/messages", {"message": "add 1 and 1"})
    assert (200, "user_input") == (told.status, told.json["events"][-1]["type"])
    assert "2" == api.rests(thread_id)["answer"]


def test_an_approved_refund_is_paid_once(desk: Desk) -> None:
    """The call that was shown runs, with its key."""
    thread = desk.waiting("P-1")
    pending = thread["pending"]
    assert "P-1" not in desk.provider.requests
    assert (
        'process_refund(order_id="P-1", amount=12.5, reason="it arrived broken")' == pending["text"]
    )
    assert pending["expires"] > thread["at"]
    told = desk.api.approve(thread, comment="as agreed")
    assert (200, "running") == (told.status, told.json["status"])
    after = desk.api.rests(thread["id"])
    assert "done" == after["status"]
    assert {"approved": True, "by": "a person over HTTP", "comment": "as agreed"}.items() <= (
        after["events"][2]["data"].items()
    )
    assert 1 == desk.provider.requests.count("P-1")


def test_a_refused_refund_is_not_paid(desk: Desk) -> None:
    """The model learns why."""
    thread = desk.waiting("P-2")
    assert 200 == desk.api.approve(thread, approved=False, comment="too late").status
    after = desk.api.rests(thread["id"])
    assert "too late" == after["events"][2]["data"]["comment"]
    assert "P-2" not in desk.provider.requests


def test_an_outcome_is_settled_once(desk: Desk) -> None:
    """What a person found out ends the doubt; a second word about it is a conflict."""
    thread = desk.waiting("P-3")
    key = f"{thread['id']}:1"
    assert 404 == desk.api.post(f"/effects/{key}", {"happened": True}).status
    desk.provider.broken.add("P-3")
    desk.api.approve(thread)
    pending = desk.api.rests(thread["id"])["pending"]
    assert ("outcome", key) == (pending["kind"], pending["effect_key"])
    body = {"happened": True, "result": "paid, says the bank"}
    words = [lambda: desk.api.post(f"/effects/{key}", body)] * 4
    assert [200, 409, 409, 409] == sorted(told.status for told in at_once(words))
    after = desk.api.rests(thread["id"])
    assert "done" == after["status"]
    assert "paid, says the bank" == after["events"][3]["data"]["result"]


def test_a_failed_thread_is_resumed(paying: Path) -> None:
    """By `resume`, or by a message; a thread that needs neither is a conflict."""
    replies = ["?", "?", "?", DONE, "?", "?", "?", DONE]
    with (
        model_server(lambda messages: replies.pop(0)) as model,
        serving(paying, **compatible(model.url)) as api,
    ):
        thread_id = api.launch("hello")
        assert "failed" == api.rests(thread_id)["status"]
        assert 200 == api.post(f"/threads/{thread_id}/resume").status
        assert "done" == api.rests(thread_id)["status"]
        assert 409 == api.post(f"/threads/{thread_id}/resume", {}).status
        api.post(f"/threads/{thread_id}/messages", {"message": "again"})
        assert "failed" == api.rests(thread_id)["status"]
        api.post(f"/threads/{thread_id}/messages", {"message": "again"})
        assert "done" == api.rests(thread_id)["status"]


# What is asked twice, or at once


def test_a_redelivered_request_has_one_effect_and_one_answer(desk: Desk) -> None:
    """The same key gives the very same answer, whatever happened since, also many at once."""
    key = "delivery-1"
    body = {"message": REFUND.format("K-1")}
    launches = [lambda: desk.api.post("/threads", body, Idempotency_Key=key)] * 6
    told = at_once(launches)
    assert {201} == {each.status for each in told}
    assert 1 == len({each.body for each in told})
    thread_id = told[0].json["id"]
    thread = desk.api.rests(thread_id, "waiting")
    assert desk.api.post("/threads", body, Idempotency_Key=key).body == told[0].body
    pending = thread["pending"]
    decision = {"approved": True, "call_hash": pending["call_hash"]}
    path = f"/approvals/{pending['approval_id']}"
    decisions = [lambda: desk.api.post(path, decision, Idempotency_Key="decision-1")] * 6
    told = at_once(decisions)
    assert {200} == {each.status for each in told}
    assert 1 == len({each.body for each in told})
    says = [
        lambda: desk.api.post(
            f"/threads/{thread_id}/messages", {"message": "thanks"}, Idempotency_Key="word-1"
        )
    ] * 6
    assert 1 == len({each.body for each in at_once(says)})
    after = desk.api.rests(thread_id)
    assert 1 == types_of(after).count("approval")
    assert [REFUND.format("K-1"), "thanks"] == texts_of(after)
    assert 1 == desk.provider.requests.count("K-1")


def test_a_refusal_is_redelivered_too(desk: Desk) -> None:
    """A request that lost keeps its answer, and one key stands for one request."""
    thread = desk.waiting("K-2")
    path = f"/approvals/{thread['pending']['approval_id']}"
    wrong = {"approved": True, "call_hash": "0" * 64}
    first = desk.api.post(path, wrong, Idempotency_Key="decision-2")
    assert 409 == first.status
    assert first.body == desk.api.post(path, wrong, Idempotency_Key="decision-2").body
    right = {"approved": True, "call_hash": thread["pending"]["call_hash"]}
    other = desk.api.post(path, right, Idempotency_Key="decision-2")
    assert (422, True) == (other.status, "another request" in other.json["error"])
    assert thread == desk.api.thread(thread["id"])
    for key in ("", "k" * 201):
        assert 422 == desk.api.post(path, right, Idempotency_Key=key).status


def test_of_many_decisions_one_counts(desk: Desk) -> None:
    """Approvals and refusals at once: one is 200, the others are 409, and at most one is paid."""
    for number in range(5):
        thread = desk.waiting(f"M-{number}")
        choices = [lambda t=thread, n=n: desk.api.approve(t, approved=n % 2 == 0) for n in range(8)]
        told = at_once(choices)
        assert [200] + [409] * 7 == sorted(each.status for each in told)
        assert all("already, by" in each.json["error"] for each in told if each.status == 409)
        after = desk.api.rests(thread["id"])
        assert 1 == types_of(after).count("approval")
        assert int(after["events"][2]["data"]["approved"]) == desk.provider.requests.count(
            f"M-{number}"
        )
        assert is_legal(after["events"])


def test_messages_at_once_are_recorded_once_and_in_order(api: Api) -> None:
    """Each is there once; the log is in order, and the thread ends."""
    thread_id = api.launch(QUESTION)
    api.rests(thread_id, "waiting")
    said = [f"add {number} and 1" for number in range(8)]
    path = f"/threads/{thread_id}/messages"
    told = at_once([lambda text=text: api.post(path, {"message": text}) for text in said])
    assert {200} == {each.status for each in told}
    after = api.rests(thread_id)
    assert sorted([QUESTION, *said]) == sorted(texts_of(after))
    assert list(range(len(after["events"]))) == [event["seq"] for event in after["events"]]
    assert 1 == types_of(after).count("human_response")


def test_decisions_that_do_not_fit_change_nothing(desk: Desk) -> None:
    """A wrong or foreign hash, and an approval that is decided, expired or replaced, are 409; one
    that there is not, 404.
    """
    one, other = desk.waiting("D-1"), desk.waiting("D-2")
    approvals = [thread["pending"]["approval_id"] for thread in (one, other)]
    wrong = [
        desk.api.approve(one, call_hash=other["pending"]["call_hash"]),
        desk.api.approve(one, call_hash=""),
        desk.api.approve(one, call_hash="é" * 64),
    ]
    assert [409] * 3 == [told.status for told in wrong]
    body = {"approved": True, "call_hash": one["pending"]["call_hash"]}
    for unknown in ("0" * 32, one["id"], "x", "..", "%00", "' OR 1=1", "é", "a" * 5000):
        assert 404 == desk.api.post(f"/approvals/{quote(unknown, safe='%')}", body).status, unknown
    assert one == desk.api.thread(one["id"])
    desk.sql("UPDATE approvals SET expires = 1 WHERE id = ?", approvals[0])
    told = desk.api.approve(one)
    assert (409, True) == (told.status, "the time to approve is over" in told.json["error"])
    anew = desk.api.post(f"/threads/{one['id']}/resume")
    assert 200 == anew.status
    assert approvals[0] != anew.json["pending"]["approval_id"]
    assert 409 == desk.api.approve(one).status
    assert 409 == desk.api.post(f"/threads/{other['id']}/resume").status
    assert 200 == desk.api.approve(other, approved=False).status
    assert 409 == desk.api.approve(other).status
    assert not {"D-1", "D-2"} & set(desk.provider.requests)


# In the background


def test_runs_and_reads_hold_each_other_up_in_nothing(paying: Path) -> None:
    """Three runs with a model that takes 4 s take 4 s, and reads answer meanwhile."""
    with (
        http_server(slow_model(4)) as url,
        serving(paying, **compatible(f"{url}/v1")) as api,
    ):
        started = time.monotonic()
        ids = [api.launch("hello") for _ in range(3)]
        slowest = 0.0
        while "running" in {api.thread(each)["status"] for each in ids}:
            before = time.monotonic()
            assert 200 == api.get("/health").status == api.get("/threads").status
            slowest = max(slowest, time.monotonic() - before)
            time.sleep(0.05)
        taken = time.monotonic() - started
    assert 4 <= taken < 8
    assert slowest < 1


def slow_model(seconds: float) -> Any:
    """A model that ends every conversation, and thinks first."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": DONE},
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    body = {"id": "1", "created": 1, "model": "m", "object": "chat.completion", "usage": usage}
    return lambda request: Response({**body, "choices": [choice]}, delay=seconds)


def test_a_run_goes_on_without_its_client(desk: Desk) -> None:
    """A client that leaves in the middle of its request, or of its stream, takes nothing along."""
    place = urlsplit(desk.api.url)
    body = json.dumps({"message": REFUND.format("L-1")}).encode()
    head = f"POST /threads HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((place.hostname, place.port)) as leaving:
        leaving.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    found = wait_for(
        lambda: [
            each for each in desk.api.get("/threads?status=waiting").json if "L-1" in each["title"]
        ]
    )
    with follow(desk.api, found[0]["id"]) as stream:
        stream.readline()
    desk.api.approve(found[0])
    assert "done" == desk.api.rests(found[0]["id"])["status"]
    assert 1 == desk.provider.requests.count("L-1")


def follow(api: Api, thread_id: str, **headers: str) -> Any:
    """The stream of a thread's events."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(
        f"{api.url}/threads/{thread_id}/events", headers={**api.headers, **named}
    )
    return urllib.request.urlopen(request, timeout=20)


def items(stream: Any) -> Iterator[dict[str, str]]:
    """The items of a stream, by the names of their fields."""
    found: dict[str, str] = {}
    for line in stream:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            found[name] = value
        elif found:
            yield found
            found = {}


def until_thread(stream: Iterator[dict[str, str]], status: str) -> list[dict[str, Any]]:
    """The events until the thread has a status."""
    events = []
    for item in stream:
        if item.get("event") == "thread":
            if json.loads(item["data"])["status"] == status:
                return events
        elif "id" in item:
            event = json.loads(item["data"])
            assert item["id"] == str(event["seq"])
            events.append(event)
    raise AssertionError("the stream ended")


def test_events_arrive_as_they_happen_and_from_where_one_left(desk: Desk) -> None:
    """Each once and in order, also what another process does; Last-Event-ID is where to go on."""
    thread = desk.waiting("E-1")
    with follow(desk.api, thread["id"]) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = items(response)
        assert ["user_input", "tool_call"] == [e["type"] for e in until_thread(stream, "waiting")]
        desk.api.approve(thread)
        seen = until_thread(stream, "done")
        assert ["approval", "tool_response", "tool_call"] == [event["type"] for event in seen]
        assert ["decision", "result", "agent"] == [event["whose"] for event in seen]
    with follow(desk.api, thread["id"], Last_Event_ID="2") as response:
        assert [3, 4] == [event["seq"] for event in until_thread(items(response), "done")]
    with follow(desk.api, thread["id"], Last_Event_ID="99") as response:
        assert [] == until_thread(items(response), "done")
    for wrong in ("x", "-2", "1.5", str(2**70)):
        told = desk.api.get(f"/threads/{thread['id']}/events", Last_Event_ID=wrong)
        assert 422 == told.status
    assert 404 == desk.api.get(f"/threads/{'0' * 32}/events").status


def test_the_stream_shows_what_another_process_does(desk: Desk, paying: Path) -> None:
    """A decision on the command line is seen, and what it let run."""
    thread = desk.waiting("E-2")
    with follow(desk.api, thread["id"]) as response:
        stream = items(response)
        until_thread(stream, "waiting")
        agent(paying, "approve", thread["id"], **desk.changes)
        seen = until_thread(stream, "done")
    assert ["approval", "tool_response", "tool_call"] == [event["type"] for event in seen]


# Restarts, and several processes


def test_threads_outlive_their_server(paying: Path) -> None:
    """Killed while the model thinks and while it pays: the next server finishes both, once."""
    provider = Provider(seconds=1)
    with http_server(provider.respond) as url:
        changes = {"PAY_URL": url, "DATABASE_URL": new_store()}
        api = start_server(paying, **changes)
        paid = api.rests(api.launch(REFUND.format("R-1")), "waiting")
        waits = api.rests(api.launch(REFUND.format("R-2")), "waiting")
        api.approve(paid)
        wait_for(lambda: provider.requests)
        stop_server(api, signal.SIGKILL)
        sql(changes["DATABASE_URL"], "UPDATE threads SET lease_until = 1")  # as 15 seconds later
        with serving(paying, **changes) as after:
            assert "done" == after.rests(paid["id"])["status"]
            assert waits == after.thread(waits["id"])
            assert 200 == after.approve(waits).status
            assert "done" == after.rests(waits["id"])["status"]
    assert ["R-1", "R-2"] == sorted(provider.effects.values())


def test_a_server_that_is_stopped_lets_a_payment_end(paying: Path) -> None:
    """SIGTERM waits for the tool and keeps its result; a model is not waited for; streams end."""
    provider = Provider(seconds=1)
    with http_server(provider.respond) as url, http_server(slow_model(20)) as slow:
        changes = {"PAY_URL": url, "DATABASE_URL": new_store()}
        api = start_server(paying, **changes)
        thread = api.rests(api.launch(REFUND.format("T-1")), "waiting")
        with follow(api, thread["id"]) as stream:
            api.approve(thread)
            wait_for(lambda: provider.requests)
            started = time.monotonic()
            stop_server(api)
            assert time.monotonic() - started < 6
            stream.read()
        assert "T-1" in agent(paying, "show", thread["id"], **changes).stdout.split("= ")[1]
        api = start_server(paying, **{**changes, **compatible(f"{slow}/v1")})
        thinking = api.launch("hello")
        time.sleep(0.5)
        started = time.monotonic()
        stop_server(api, signal.SIGINT)
        assert time.monotonic() - started < 6
        assert [] == [line for line in api.log if "Traceback" in line or "ERROR" in line]
        with serving(paying, **changes) as after:
            assert "done" == after.rests(thinking)["status"]
            assert "done" == after.rests(thread["id"])["status"]
    assert ["T-1"] == provider.requests


def test_several_workers_are_one_server(paying: Path) -> None:
    """Whichever process is asked, a thread is run by one and a decision counts once; a process that
    is killed is replaced.
    """
    provider = Provider()
    with http_server(provider.respond) as url:
        changes = {"PAY_URL": url, "DATABASE_URL": new_store()}
        with serving(paying, "--workers", "3", **changes) as api:
            ids = [
                told.json["id"]
                for told in at_once(
                    [
                        lambda n=n: api.post("/threads", {"message": REFUND.format(f"W-{n}")})
                        for n in range(12)
                    ]
                )
            ]
            threads = [api.rests(each, "waiting") for each in ids]
            for thread in threads:
                told = at_once([lambda t=thread: api.approve(t)] * 4)
                assert [200, 409, 409, 409] == sorted(each.status for each in told)
            after = [api.rests(each) for each in ids]
            assert {"done"} == {each["status"] for each in after}
            assert all(is_legal(each["events"]) for each in after)
            kill_one_child(api)
            for _ in range(20):
                assert "done" == api.rests(api.launch("add 1 and 2"))["status"]
    assert sorted(provider.requests) == sorted(f"W-{number}" for number in range(12))


def kill_one_child(api: Api) -> None:
    """Kill a worker, not the process that starts them."""
    assert api.process
    children = psutil.Process(api.process.pid).children()
    workers = [each for each in children if "spawn_main" in " ".join(each.cmdline())]
    assert 3 == len(workers)
    workers[0].kill()


def test_workers_end_with_the_process_that_started_them(paying: Path) -> None:
    """Killed outright, it leaves nobody behind, and the port is free."""
    url = new_store()
    api = start_server(paying, "--workers", "2", DATABASE_URL=url)
    assert api.process
    children = psutil.Process(api.process.pid).children()
    assert "done" == api.rests(api.launch("add 1 and 1"))["status"]
    stop_server(api, signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=20)
    assert [] == alive
    port = str(urlsplit(api.url).port)
    with serving(paying, "--port", port, DATABASE_URL=url) as after:
        assert 200 == after.get("/health").status


def test_an_answer_is_for_the_question_that_was_meant(api: Api) -> None:
    """One that comes late, when another question waits or none, is a conflict and not a message."""
    thread_id = api.launch(QUESTION)
    first = api.rests(thread_id, "waiting")["pending"]
    path = f"/threads/{thread_id}/messages"
    assert 200 == api.post(path, {"message": "math", "answers": first["seq"]}).status
    second = api.rests(thread_id, "waiting")["pending"]
    assert first["seq"] != second["seq"]
    before = api.thread(thread_id)
    assert 409 == api.post(path, {"message": "3 plus 4", "answers": first["seq"]}).status
    assert before == api.thread(thread_id)
    assert 200 == api.post(path, {"message": "3 plus 4", "answers": second["seq"]}).status
    assert "7" == api.rests(thread_id)["answer"]
    assert 409 == api.post(path, {"message": "x", "answers": second["seq"]}).status


ODD_TOOL = '''

def send_refund(order_id: str, amount: Decimal, reason: str, key: str) -> None:
    """Go wrong in the way that the order names."""
    import os
    import threading

    class Rude(Exception):
        def __str__(self) -> str:
            raise SystemExit(1)

    way = {
        "Z-1": KeyboardInterrupt(),
        "Z-2": Rude(),
        "Z-3": ValueError("half \\ud800 a character"),
        "Z-4": SystemExit(2),
    }
    if order_id in way:
        raise way[order_id]
    if order_id == "Z-9":
        os._exit(1)
'''


def test_a_tool_that_goes_wrong_in_any_way_asks_a_person(project: Path, tmp_path: Path) -> None:
    """Nobody knows what such a call did: a person is asked, and the other runs go on."""
    copy = odd_project(project, tmp_path)
    with serving(copy) as api:
        for order in ("Z-1", "Z-2", "Z-3", "Z-4"):
            thread = api.rests(api.launch(REFUND.format(order)), "waiting")
            api.approve(thread)
            assert "outcome" == api.rests(thread["id"])["pending"]["kind"], order
            assert "done" == api.rests(api.launch("add 1 and 1"))["status"]
        assert 200 == api.get("/health").status


def odd_project(project: Path, folder: Path) -> Path:
    """A copy of a project whose refunds go wrong."""
    copy = folder / project.name
    shutil.copytree(project, copy)
    with (copy / "src/refund_desk/tools/customer_support.py").open("a") as tools:
        tools.write(ODD_TOOL)
    return copy


def test_a_call_that_ends_its_process_is_not_tried_for_ever(project: Path, tmp_path: Path) -> None:
    """After some tries, by whichever process, a person is asked what became of it."""
    copy = odd_project(project, tmp_path)
    url = new_store()
    api = start_server(copy, DATABASE_URL=url)
    thread = api.rests(api.launch(REFUND.format("Z-9")), "waiting")
    with suppress(OSError, http.client.HTTPException):
        api.approve(thread)
    for _ in range(12):
        assert api.process
        api.process.wait(30)
        with sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30) as connection:
            connection.execute("UPDATE threads SET lease_until = 1 WHERE lease_until > 0")
            ((tries,),) = connection.execute("SELECT tries FROM effects").fetchall()
        connection.close()
        api = start_server(copy, DATABASE_URL=url)
        with suppress(OSError, http.client.HTTPException):
            found = api.rests(thread["id"])
            break
    stop_server(api)
    assert 9 == tries
    assert ("outcome", True) == (found["pending"]["kind"], "9 times" in found["pending"]["problem"])


def test_workers_end_with_their_terminal(paying: Path) -> None:
    """SIGHUP ends the server and all of its processes, as SIGTERM does."""
    for words in ([], ["--workers", "2"]):
        api = start_server(paying, *words)
        assert api.process
        children = psutil.Process(api.process.pid).children()
        assert "done" == api.rests(api.launch("add 1 and 1"))["status"]
        stop_server(api, signal.SIGHUP)
        _, alive = psutil.wait_procs(children, timeout=20)
        assert [] == alive
        assert [] == [line for line in api.log if "Traceback" in line]


WILD_TOOL = '''

async def add(a: float, b: float) -> float:
    """Do to the event loop what no tool should."""
    import asyncio
    import sys

    async def leave() -> None:
        raise SystemExit(3)

    loop = asyncio.get_running_loop()
    match a:
        case 90:
            await asyncio.gather(leave())
        case 91:
            asyncio.create_task(leave())
        case 92:
            loop.call_soon(sys.exit, 1)
        case 93:
            loop.stop()
        case 94:
            for task in asyncio.all_tasks():
                task.cancel()
        case 95:
            task = asyncio.current_task()
            assert task
            task.cancel()
    await asyncio.sleep(0.05)
    return a + b
'''


def test_no_tool_ends_the_runs_of_others(project: Path, tmp_path: Path) -> None:
    """Whatever it does to the event loop: its thread ends, and others go on."""
    copy = tmp_path / project.name
    shutil.copytree(project, copy)
    with (copy / "src/refund_desk/tools/calculator.py").open("a") as tools:
        tools.write(WILD_TOOL)
    with serving(copy) as api:
        for number in range(90, 96):
            thread = api.rests(api.launch(f"add {number} and 1"))
            assert thread["status"] in {"done", "failed"}
            assert "12" == api.rests(api.launch("multiply 3 and 4"))["answer"], number
        assert 200 == api.get("/health").status
