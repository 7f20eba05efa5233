"""Threads outlive their processes: killed, stopped, raced or copied, no refund is paid twice and
none without a person's approval. Payments go to a stand-in over HTTP that counts them.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from payments import REFUND, Provider, is_legal, wait_for
from support import (
    Done,
    agent,
    compatible,
    environment,
    http_server,
    model_server,
    new_store,
    package_of,
    run,
    sql,
)

GOLDEN = Path(__file__).with_name("golden")
WORKER = Path(__file__).with_name("durable_worker.py")
BREAKS_FIRST = '''

_pay = send_refund
_begun: list[str] = []


def send_refund(order_id: str, amount: Decimal, reason: str, key: str) -> None:
    """Break off after the first try of each process."""
    _pay(order_id, amount, reason, key)
    _begun.append(key)
    if len(_begun) == 1 and "decide" in __import__("sys").argv:
        raise ConnectionError("the line is down")
'''


@dataclass
class Desk:
    """A project whose refunds are paid over HTTP, with a store of its own."""

    project: Path
    provider: Provider
    changes: dict[str, str]
    workers: list["subprocess.Popen[str]"] = field(default_factory=list)

    def agent(self, *words: str, check: bool = False, **changes: str) -> Done:
        """Run the project's command."""
        return agent(self.project, *words, check=check, **{**self.changes, **changes})

    def threads(self) -> list[dict[str, Any]]:
        """The threads, newest first."""
        found: list[dict[str, Any]] = json.loads(self.agent("threads", "--json").stdout)
        return found

    def ask(self, message: str) -> str:
        """Give the agent a message; the id of its thread."""
        self.agent("ask", message)
        return str(self.threads()[0]["id"])

    def show(self, thread_id: str) -> dict[str, Any]:
        """A thread as JSON."""
        shape: dict[str, Any] = json.loads(self.agent("show", thread_id, "--json").stdout)
        return shape

    def types(self, thread_id: str) -> list[str]:
        """The types of a thread's events."""
        return [event["type"] for event in self.show(thread_id)["events"]]

    def worker(self, do: str, lease: float = 15) -> "subprocess.Popen[str]":
        """A process that works on the threads; it is up when this returns."""
        words = [sys.executable, str(WORKER), package_of(self.project), str(lease), do]
        env = environment(PYTHONPATH=str(self.project / "src"), **self.changes)
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, env=env, stdin=pipe, stdout=pipe, text=True)
        self.workers.append(process)
        assert process.stdout
        assert "up\n" == process.stdout.readline()
        return process

    def paying(self, thread_id: str, lease: float = 15) -> "subprocess.Popen[str]":
        """A process that has approved what waits in a thread, and is in the middle of paying."""
        process = self.worker("decide", lease)
        assert process.stdin
        print(thread_id, file=process.stdin, flush=True)
        wait_for(lambda: self.provider.requests)
        return process

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """Reach into the database."""
        return sql(self.changes["DATABASE_URL"], statement, *values)


@contextmanager
def open_desk(project: Path) -> Iterator[Desk]:
    provider = Provider()
    with http_server(provider.respond) as url:
        desk = Desk(project, provider, {"PAY_URL": url, "DATABASE_URL": new_store()})
        try:
            yield desk
        finally:
            for process in desk.workers:
                process.kill()
                process.communicate()


@pytest.fixture
def desk(paying: Path) -> Iterator[Desk]:
    """A desk whose refunds have a key."""
    with open_desk(paying) as found:
        yield found


@pytest.fixture
def unkeyed_desk(paying: Path, tmp_path: Path) -> Iterator[Desk]:
    """A desk whose refunds must not be repeated: a person says what became of one."""
    copy = tmp_path / paying.name
    shutil.copytree(paying, copy)
    policy = copy / "src/refund_desk/policy.py"
    source = policy.read_text(encoding="utf-8")
    changed = source.replace('Policy("idempotent", approval', 'Policy("ask_human", approval')
    assert changed != source
    policy.write_text(changed, encoding="utf-8")
    with open_desk(copy) as found:
        yield found


def test_one_of_many_deciders_wins(desk: Desk) -> None:
    """8 at once, in 4 processes, 20 times: one approval, one payment, and the others are told."""
    seed(desk, [f"A-{number}" for number in range(20)])
    desk.agent("ask", "add 3 and 4")  # finds the others, and runs them until they wait
    deciders = [desk.worker("decide") for _ in range(4)]
    said: Counter[str] = Counter()
    waiting = [shape for shape in desk.threads() if shape["status"] == "waiting"]
    for shape in waiting:
        for process in deciders:
            assert process.stdin
            print(shape["pending"]["approval_id"], file=process.stdin, flush=True)
        lines: Counter[str] = Counter()
        for process in deciders:
            assert process.stdout
            while (line := process.stdout.readline().strip()) != "next":
                lines[line] += 1
        assert {"won": 1, "lost": 7} == lines
        said += lines
    assert 20 == said["won"]
    assert 20 == len(desk.provider.requests) == len(desk.provider.effects)
    assert {"done"} == {shape["status"] for shape in desk.threads()}
    assert all(map(is_legal, logs(desk).values()))


def test_a_lost_decision_is_one_line(desk: Desk) -> None:
    """Of several `approve` and `refuse` at once one is recorded; the others say so and exit 1."""
    thread_id = desk.ask(REFUND.format("A-1"))
    approval_id = desk.show(thread_id)["pending"]["approval_id"]
    words = [sys.executable, "-m", "refund_desk"]
    env = environment(PYTHONPATH=str(desk.project / "src"), **desk.changes)
    pipe = subprocess.PIPE
    deciders = [
        subprocess.Popen([*words, do, approval_id], env=env, stdout=pipe, stderr=pipe, text=True)
        for do in ("approve", "refuse", "approve")
    ]
    said = [process.communicate(timeout=60) for process in deciders]
    losers = [err for process, (_, err) in zip(deciders, said, strict=True) if process.returncode]
    assert 2 == len(losers)
    for err in losers:
        assert 1 == err.count("\n")
        assert "already, by" in err
    assert 1 == desk.types(thread_id).count("approval")
    assert len(desk.provider.requests) <= 1
    again = desk.agent("approve", approval_id)
    assert (1, 1) == (again.returncode, again.stderr.count("\n"))


def test_threads_survive_kills_anywhere(desk: Desk) -> None:
    """100 threads, workers killed at random: all end, with legal logs and one payment each."""
    desk.provider.seconds = 0.3
    orders = [f"A-{number}" for number in range(100)]
    seed(desk, orders)
    chance = random.Random(4)
    kills = 0
    workers = [desk.worker("work", lease=0.5) for _ in range(2)]
    until = time.monotonic() + 240
    while any(process.poll() is None for process in workers):
        assert time.monotonic() < until, "they never end"
        time.sleep(chance.uniform(0.0, 0.3))
        at = chance.randrange(2)
        if kills < 40 and workers[at].poll() is None:
            workers[at].kill()
            workers[at].communicate()
            kills += 1
            workers[at] = desk.worker("work", lease=0.5)
    assert kills > 20
    assert Counter(orders) == Counter(desk.provider.effects.values())
    for shape in desk.threads():
        assert "done" == shape["status"]
    for rows in logs(desk).values():
        assert is_legal(rows)
        kinds = ["user_input", "tool_call", "approval", "tool_response", "tool_call"]
        assert kinds == [event["type"] for event in rows]


def seed(desk: Desk, orders: list[str]) -> None:
    """Threads that nobody has run yet, as if their processes had been killed at once."""
    code = (
        "import sys\n"
        "from refund_desk.runtime.store import open_store\n"
        "from refund_desk.runtime.thread import Thread\n"
        "store = open_store()\n"
        "for line in sys.stdin:\n"
        "    Thread.create(store).add_user_input(line.strip())\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=str(desk.project / "src"), **desk.changes),
        input="\n".join(REFUND.format(order) for order in orders),
        text=True,
        check=True,
        timeout=60,
    )


def logs(desk: Desk) -> dict[str, list[dict[str, Any]]]:
    """The events of every thread."""
    found: dict[str, list[dict[str, Any]]] = {}
    rows = desk.sql("SELECT thread_id, seq, type, data FROM events ORDER BY thread_id, seq")
    for thread_id, seq, kind, data in rows:
        event = {"seq": seq, "type": kind, "data": json.loads(data)}
        found.setdefault(thread_id, []).append(event)
    return found


def kill_in_the_effect(desk: Desk) -> str:
    """A thread whose process was killed after the payment and before it was written down."""
    desk.provider.seconds = 1.0
    thread_id = desk.ask(REFUND.format("A-1"))
    worker = desk.paying(thread_id, lease=0.5)
    worker.kill()
    worker.communicate()
    desk.provider.seconds = 0
    time.sleep(0.6)  # until its lease is over
    return thread_id


def test_a_payment_that_was_cut_off_has_its_key_again(desk: Desk) -> None:
    """The next run finds the thread and finishes it: two requests, one payment."""
    thread_id = kill_in_the_effect(desk)
    done = desk.agent("ask", "add 3 and 4")
    assert (0, "7\n") == (done.returncode, done.stdout)
    assert f"thread {thread_id} was interrupted and goes on" in done.stderr
    assert "done" == desk.show(thread_id)["status"]
    assert (2, 1) == (len(desk.provider.requests), len(desk.provider.effects))


@pytest.mark.parametrize(
    ("words", "event"),
    [(["--happened", "paid as r-1"], "tool_response"), (["--did-not-happen"], "error")],
)
def test_a_payment_without_a_key_is_put_to_a_person(
    words: list[str], event: str, unkeyed_desk: Desk
) -> None:
    """Nobody knows what happened, so a person says it; it is not paid again."""
    desk = unkeyed_desk
    thread_id = kill_in_the_effect(desk)
    resumed = desk.agent("resume", thread_id)
    assert 3 == resumed.returncode
    assert "settle" in resumed.stderr
    pending = desk.show(thread_id)["pending"]
    assert ("outcome", f"{thread_id}:1") == (pending["kind"], pending["effect_key"])
    assert "it was cut off" == pending["problem"]
    settled = desk.agent("settle", thread_id, *words)
    assert 0 == settled.returncode, settled.stderr
    assert event == desk.types(thread_id)[3]
    assert 1 == desk.agent("settle", f"{thread_id}:1", *words).returncode
    assert 1 == len(desk.provider.requests)


def test_a_process_that_slept_past_its_lease_writes_nothing(desk: Desk) -> None:
    """Stopped, overtaken and woken, it is told: the log has one result, and one payment is made."""
    desk.provider.seconds = 1.5
    thread_id = desk.ask(REFUND.format("A-1"))
    sleeper = desk.paying(thread_id, lease=0.5)
    assert sleeper.stdout
    sleeper.send_signal(signal.SIGSTOP)
    time.sleep(0.7)
    assert 0 == desk.agent("resume", thread_id).returncode
    before = desk.show(thread_id)
    sleeper.send_signal(signal.SIGCONT)
    said = [sleeper.stdout.readline().strip() for _ in range(4)]
    assert ["won", "fenced", "lost", "next"] == sorted(
        said, key=["won", "fenced", "lost", "next"].index
    )
    assert before == desk.show(thread_id)
    assert 1 == desk.types(thread_id).count("tool_response")
    assert 1 == len(desk.provider.effects)


def test_what_does_not_fit_is_refused_and_changes_nothing(desk: Desk) -> None:
    """An approval that is changed, stale, unknown, foreign, expired or decided: exit 1, a line."""
    first, second = (desk.ask(REFUND.format(order)) for order in ("A-1", "A-2"))
    approval = desk.show(first)["pending"]["approval_id"]
    foreign = desk.show(second)["pending"]["approval_id"]

    def refused(*words: str) -> str:
        before = desk.sql("SELECT * FROM events"), desk.sql("SELECT * FROM effects")
        done = desk.agent(*words)
        assert (1, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n")), done
        assert before == (desk.sql("SELECT * FROM events"), desk.sql("SELECT * FROM effects"))
        return done.stderr

    assert "no thread or approval" in refused("approve", "0" * 32)
    for text in ("", "'; DROP TABLE events; --", "A-1", "../" * 9, approval.upper(), approval[:-1]):
        assert "is no id" in refused("approve", text)
    assert "something else waits" in refused("answer", first, "approved")
    assert "something else waits" in refused("settle", first, "--did-not-happen")
    assert "nothing waits under this key" in refused("settle", f"{first}:1", "--did-not-happen")

    call, changed = (
        json.dumps(
            {
                "intent": "process_refund",
                "order_id": "A-1",
                "amount": amount,
                "reason": "it arrived broken",
            }
        )
        for amount in (12.5, 9999)
    )
    edit = "UPDATE events SET data = ? WHERE thread_id = ? AND seq = 1"
    desk.sql(edit, changed, first)
    assert "not the call that was shown" in refused("approve", approval)
    desk.sql(edit, call, first)

    desk.sql("UPDATE approvals SET expires = 0 WHERE id = ?", approval)
    assert "the time to approve is over" in refused("approve", approval)
    assert 3 == desk.agent("resume", first).returncode
    assert "does not wait any more" in refused("approve", approval)
    approval = desk.show(first)["pending"]["approval_id"]

    assert 0 == desk.agent("refuse", approval, "--comment", "too late").returncode
    for words in (["approve", approval], ["refuse", approval], ["approve", first]):
        refused(*words)
    assert ["user_input", "tool_call", "approval", "tool_call"] == desk.types(first)
    assert foreign == desk.show(second)["pending"]["approval_id"]
    assert [] == desk.provider.requests


def test_nothing_but_an_approval_runs_a_call(desk: Desk) -> None:
    """Not a restart, a message, a rerun, an answer, nor a copy of the database."""
    thread_id = desk.ask(REFUND.format("A-1"))
    for words in (
        ["resume", thread_id],
        ["ask", "--thread", thread_id, "approved, go on"],
        ["ask", "--thread", thread_id, "--", "-y"],
        ["answer", thread_id, "yes"],
        ["ask", "add 3 and 4"],
    ):
        desk.agent(*words)
    pending = desk.show(thread_id)["pending"]
    path = Path(desk.changes["DATABASE_URL"].removeprefix("sqlite:///"))
    copy = path.with_name("copy.db")
    desk.sql("VACUUM INTO ?", str(copy))
    other = {"DATABASE_URL": f"sqlite:///{copy}"}
    assert 3 == desk.agent("resume", thread_id, **other).returncode
    assert pending == desk.show(thread_id)["pending"]
    assert [] == desk.provider.requests
    assert 0 == desk.agent("approve", pending["approval_id"]).returncode
    assert ["A-1"] == desk.provider.requests


def test_a_damaged_thread_stops_no_other(desk: Desk) -> None:
    """It is named and kept; the others are listed, shown and finished."""
    seed(desk, ["A-1", "A-2", "A-3", "A-4"])
    ids = [shape["id"] for shape in desk.threads()]
    edit = "UPDATE events SET {} WHERE thread_id = ?"
    desk.sql(edit.format("type = 'dream'"), ids[0])
    desk.sql(edit.format("version = 99"), ids[1])
    desk.sql(edit.format("data = '{'"), ids[2])
    desk.sql("UPDATE threads SET summary = '{' WHERE id = ?", ids[2])
    done = desk.agent("ask", "add 3 and 4")
    assert (0, "7\n") == (done.returncode, done.stdout)
    for thread_id, problem in zip(ids, ("'dream'", "version 99", "is damaged"), strict=False):
        assert problem in done.stderr
        shown = desk.agent("show", thread_id)
        assert (1, 1) == (shown.returncode, shown.stderr.count("\n"))
    assert "waiting" == desk.show(ids[3])["status"]
    assert 5 == len(desk.threads())


def test_ctrl_c_leaves_a_thread_that_goes_on(desk: Desk) -> None:
    """The interrupted thread is no longer claimed, and `resume` finishes it at once."""
    desk.provider.seconds = 3
    thread_id = desk.ask(REFUND.format("A-1"))
    words = [sys.executable, "-m", "refund_desk", "approve", thread_id]
    env = environment(PYTHONPATH=str(desk.project / "src"), **desk.changes)
    process = subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: desk.provider.requests)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=2)
    assert 130 == process.returncode
    assert f"resume {thread_id}" in said
    desk.provider.seconds = 0
    done = desk.agent("resume", thread_id)
    assert (0, False) == (done.returncode, "waiting for it" in done.stderr)
    assert 1 == len(desk.provider.effects)


def test_resume_waits_for_whoever_runs_the_thread(desk: Desk) -> None:
    """It says so, and shows how the thread ended; a lease is renewed while a tool runs."""
    desk.provider.seconds = 3
    thread_id = desk.ask(REFUND.format("A-1"))
    desk.paying(thread_id, lease=0.9)
    done = desk.agent("resume", thread_id)
    assert (0, 1) == (done.returncode, len(desk.provider.requests))
    assert f"another process runs thread {thread_id}; waiting for it" in done.stderr
    assert "refund 12.5 for order A-1 processed\n" == done.stdout


@pytest.mark.parametrize("order", ['A"#1', 'A"#####1', "A}}1", "A{%1{{", "A\\\"1'\n\\"])
def test_an_exported_step_is_a_test(order: str, desk: Desk) -> None:
    """baml-cli runs it against a model: the recorded reply passes, another one fails."""
    refund = {"intent": "process_refund", "order_id": order, "amount": 12.5, "reason": order}
    with model_server(lambda messages: json.dumps(refund)) as server:
        desk.agent("ask", f"refund order {order}", **compatible(server.url))
    thread_id = desk.threads()[0]["id"]
    exported = desk.agent("export", thread_id).stdout
    (desk.project / "baml_src/tests/recorded.baml").write_text(exported, encoding="utf-8")
    words = ("test", "--from", "baml_src", "-i", f"DetermineNextStep::Thread_{thread_id[:8]}")
    code = "import sys; from baml_py import invoke_runtime_cli as cli; sys.exit(cli())"
    for reply, expected in ((refund, 0), ({**refund, "reason": "other"}, 2)):
        text = json.dumps(reply)
        with model_server(lambda messages, text=text: text) as server:  # type: ignore[misc]
            env = compatible(server.url)
            done = run(sys.executable, "-c", code, *words, cwd=desk.project, check=False, **env)
        assert expected == done.returncode, done.stdout


def test_a_thread_id_approves_what_waits_and_says_it(desk: Desk) -> None:
    """What is printed to go on with is the id of the very call, which no later one answers to."""
    thread_id = desk.ask(REFUND.format("A-1"))
    hint = desk.agent("resume", thread_id).stderr
    old = desk.show(thread_id)["pending"]["approval_id"]
    assert f"approve {old}" in hint
    desk.agent("refuse", thread_id)
    desk.agent("ask", "--thread", thread_id, REFUND.format("B-18"))
    assert 1 == desk.agent("approve", old).returncode
    assert [] == desk.provider.requests
    done = desk.agent("approve", thread_id)
    assert 'approved: process_refund(order_id="B-18"' in done.stderr
    assert ["B-18"] == desk.provider.requests


def test_first_runs_at_once_make_one_store(desk: Desk) -> None:
    """Whoever comes first makes the tables; the others use them."""
    words = [sys.executable, "-m", "refund_desk", "ask", "add 3 and 4"]
    for _ in range(3):
        env = environment(PYTHONPATH=str(desk.project / "src"), DATABASE_URL=new_store())
        pipe = subprocess.PIPE
        runs = [subprocess.Popen(words, env=env, stdout=pipe, stderr=pipe) for _ in range(5)]
        said = [process.communicate(timeout=60) for process in runs]
        assert {b"7\n"} == {out for out, _ in said}, said


def test_a_lease_of_a_clock_that_was_set_back_does_not_count(desk: Desk) -> None:
    """A claim that lasts for longer than any claim does is over."""
    seed(desk, ["A-1"])
    desk.sql("UPDATE threads SET lease_until = ?", time.time() + 3600)
    desk.agent("ask", "add 3 and 4")
    assert "waiting" == desk.threads()[1]["status"]


BROKEN = {
    "a blob": "UPDATE threads SET title = x'ff00'",
    "no text": "UPDATE threads SET title = CAST(x'ff41' AS TEXT)",
    "another status": """UPDATE threads SET summary = '{"status": "\\u001b[31m"}'""",
    "no object": "UPDATE threads SET summary = '[]'",
    "deep": "UPDATE threads SET summary = '" + "[" * 100_000 + "'",
    "no message": """UPDATE events SET data = '{"intent": "done_for_now"}' WHERE seq = 3""",
    "half a character": r"""UPDATE events SET data = '{"text": "\ud800"}' WHERE seq = 0""",
    "no tokens": """UPDATE events SET meta = '{"tokens": 5}' WHERE seq = 1""",
    "deep data": "UPDATE events SET data = '" + "[" * 100_000 + "' WHERE seq = 1",
    "a blob for a time": "UPDATE events SET at = x'ff'",
    "no time": "UPDATE approvals SET expires = 'soon'",
}


@pytest.mark.parametrize("damage", BROKEN)
def test_no_damage_is_a_traceback(damage: str, desk: Desk) -> None:
    """Whatever stands in a row, at most a line says that it is damaged."""
    thread_id = desk.ask(REFUND.format("A-1"))
    desk.agent("refuse", thread_id)
    desk.sql(BROKEN[damage])
    desk.sql("UPDATE threads SET status = 'running'")
    for words in (["threads"], ["show", thread_id], ["resume", thread_id], ["ask", "add 3 and 4"]):
        done = desk.agent(*words)
        assert "Traceback" not in done.stderr, words
        assert "\x1b" not in done.stdout + done.stderr
    assert (0, "7\n") == (done.returncode, done.stdout)


def test_ctrl_c_is_heard_while_another_process_writes(desk: Desk) -> None:
    """Who waits for the database can be interrupted at once."""
    desk.agent("ask", "add 3 and 4")
    path = desk.changes["DATABASE_URL"].removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    words = [sys.executable, "-m", "refund_desk", "ask", "add 3 and 4"]
    env = environment(PYTHONPATH=str(desk.project / "src"), **desk.changes)
    process = subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=2)
    other.close()
    assert 130 == process.returncode


@pytest.mark.parametrize("value", ["1", "yes", "1\udca0"])
def test_a_dry_run_is_one_however_it_is_written(value: str, desk: Desk) -> None:
    """Also where the variable is no UTF-8 text; nothing is paid."""
    thread_id = desk.ask(REFUND.format("A-1"))
    assert 0 == desk.agent("approve", thread_id, AGENT_DRY_RUN=value).returncode
    assert [] == desk.provider.requests


def test_a_dry_run_says_nothing_of_what_was_begun_before(desk: Desk) -> None:
    """A call that was cut off is neither done nor undone by it: a person is asked."""
    thread_id = kill_in_the_effect(desk)
    assert 3 == desk.agent("resume", thread_id, AGENT_DRY_RUN="1").returncode
    assert "outcome" == desk.show(thread_id)["pending"]["kind"]
    assert 1 == len(desk.provider.requests)


def test_a_policy_that_became_pure_repeats_no_effect(unkeyed_desk: Desk) -> None:
    """What was begun under another policy is put to a person."""
    desk = unkeyed_desk
    thread_id = kill_in_the_effect(desk)
    policy = desk.project / "src/refund_desk/policy.py"
    source = policy.read_text(encoding="utf-8")
    policy.write_text(source.replace('Policy("ask_human", approval', 'Policy("pure", approval'))
    assert 3 == desk.agent("resume", thread_id).returncode
    assert 1 == len(desk.provider.requests)


def test_a_mistake_in_one_thread_stops_no_other(desk: Desk, tmp_path: Path) -> None:
    """Whatever an owner's code raises for a thread, the next run ends as it should."""
    copy = tmp_path / desk.project.name
    shutil.copytree(desk.project, copy)
    with (copy / "src/refund_desk/policy.py").open("a") as policy:
        policy.write(
            "\n\ndef check(step):\n    if step.intent == 'process_refund':\n        1 / 0\n"
        )
    seed(desk, ["A-1"])
    done = agent(copy, "ask", "add 3 and 4", check=False, **desk.changes)
    assert (0, "7\n") == (done.returncode, done.stdout)
    assert "does not go on: division by zero" in done.stderr


def test_who_was_overtaken_does_not_try_again(desk: Desk) -> None:
    """Stopped between two tries, and woken after a person settled the call, it pays nothing."""
    copy_of_pay = desk.project / "src/refund_desk/tools/customer_support.py"
    source = copy_of_pay.read_text(encoding="utf-8")
    try:
        copy_of_pay.write_text(source + BREAKS_FIRST, encoding="utf-8")
        thread_id = desk.ask(REFUND.format("A-1"))
        sleeper = desk.paying(thread_id, lease=0.5)
        assert sleeper.stdout
        time.sleep(0.1)
        sleeper.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        done = desk.agent("resume", thread_id)
        assert 0 == done.returncode, done.stderr
        paid = len(desk.provider.requests)
        sleeper.send_signal(signal.SIGCONT)
        said = [sleeper.stdout.readline().strip() for _ in range(4)]
        assert "fenced" in said
        assert paid == len(desk.provider.requests)
    finally:
        copy_of_pay.write_text(source, encoding="utf-8")


def test_what_is_shown_steers_no_terminal_and_passes_for_no_event(desk: Desk) -> None:
    """Control characters are spelled out, and the lines of a text are indented."""
    thread_id = desk.ask("hello\x1b[2J\n2026-01-01T00:00:00Z  approved by root")
    for words in (["show", thread_id], ["threads"]):
        shown = desk.agent(*words).stdout
        assert "\x1b" not in shown
        assert "hello\\x1b[2J" in shown
    shown = desk.agent("show", thread_id).stdout
    assert 1 == shown.count("\n2026-01-01T") + shown.count("  2026-01-01T")
    assert "\n2026-01-01T" not in shown


def test_an_error_steers_no_terminal(desk: Desk) -> None:
    """What an error quotes, such as the name of who decided, is spelled out."""
    approval_id = desk.show(desk.ask(REFUND.format("A-1")))["pending"]["approval_id"]
    for words in (["refuse", approval_id], ["approve", approval_id], ["ask", "a", "\x1b]0;x"]):
        done = desk.agent(*words, LOGNAME="ev\x1b[31mil")
        assert "\\x1b" in done.stderr
        assert "\x1b" not in done.stderr


def is_kept(old: Any, new: Any) -> bool:
    """Whether all that was there is there, as it was; members may have been added."""
    if isinstance(old, dict):
        return all(name in new and is_kept(value, new[name]) for name, value in old.items())
    if isinstance(old, list):
        return len(old) == len(new) and all(map(is_kept, old, new))
    return bool(old == new)


@pytest.mark.parametrize("version", ["1", "2"])
def test_stored_threads_are_read_for_ever(version: str, desk: Desk) -> None:
    """What a release has kept every later one reads as it was, and goes on with."""
    path = Path(desk.changes["DATABASE_URL"].removeprefix("sqlite:///"))
    script = (GOLDEN / f"threads-{version}.sql").read_text(encoding="utf-8")
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    expected = json.loads((GOLDEN / f"threads-{version}.json").read_text(encoding="utf-8"))
    summaries = [{k: v for k, v in s.items() if k != "events"} for s in expected]
    assert is_kept(summaries, desk.threads())
    for shape in expected:
        assert is_kept(shape, desk.show(shape["id"]))
        code = {"done": 0, "waiting": 3, "failed": 0}[shape["status"]]
        assert code == desk.agent("resume", shape["id"]).returncode
    assert [] == desk.provider.requests


def test_a_store_of_another_user_is_refused_and_left_as_it_was(project: Path) -> None:
    """Who may not write it may not read it either: SQLite would put files of theirs beside it."""
    script = """
import os, sys
from refund_desk.runtime.database import Database
from refund_desk.runtime.errors import StoreError
path = sys.argv[1]
if os.geteuid() == 0:
    os.setuid(10001)
else:
    os.chmod(path, 0o444)
try:
    Database(path)
except StoreError as error:
    print(error)
"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        path = Path(folder) / "threads.db"
        changes = {"DATABASE_URL": f"sqlite:///{path}"}
        agent(project, "ask", "add 3 and 4", **changes)
        os.chmod(path, 0o644)
        source = str(project / "src")
        done = run(sys.executable, "-c", script, path, cwd=project, PYTHONPATH=source)
        assert f"the database {path}: this user may not write it; run as" in done.stdout
        assert [path] == list(Path(folder).iterdir())
