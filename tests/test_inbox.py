"""The inbox in a real browser: what people see, and that what they press is what happens.

Screenshots are written to test-output/ in the checkout, to be looked at.
"""

import json
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from payments import REFUND, Provider, wait_for
from playwright.sync_api import Browser, Page, expect, sync_playwright
from serving import Api, serving, start_server, stop_server
from support import REPOSITORY, agent, compatible, http_server, model_server, new_store, sql

OUTPUT = REPOSITORY / "test-output"
QUESTION = "can you do some math for me?"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)><b>bold</b>"
# A browser of a test needs no network but this machine's, and says nothing to its maker.
FOCUSED = "(e => e.matches('body') ? '' : (e.labels?.[0] ?? e).textContent)(document.activeElement)"
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no chromium was found; scripts/packages installs it"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def provider() -> Provider:
    """What the refunds of the desk are paid by."""
    return Provider()


@pytest.fixture(scope="module")
def settings(provider: Provider) -> Iterator[dict[str, str]]:
    """The settings of the server."""
    with http_server(provider.respond) as url:
        yield {"PAY_URL": url, "DATABASE_URL": new_store()}


@pytest.fixture(scope="module")
def api(paying: Path, settings: dict[str, str]) -> Iterator[Api]:
    """A server that the tests share; each has threads of its own."""
    with serving(paying, **settings) as found:
        yield found


@pytest.fixture
def page(browser: Browser, api: Api) -> Iterator[Page]:
    """The inbox, on a screen of its own, in which nothing may go wrong."""
    with watched(browser) as found:
        found.goto(api.url)
        yield found


class watched:
    """A page whose faults, and requests to other places than this machine, fail the test."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.wrong: list[str] = []
        usual = {"viewport": {"width": 1100, "height": 800}}
        self.context = browser.new_context(**{**usual, **options})
        self.context.set_default_timeout(10_000)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("console", self._listen)
        self.page.on("request", lambda request: self._look(request.url))

    def _listen(self, message: Any) -> None:
        # An answer that is an error is one for the console, too; the page handles it.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.wrong.append(message.text)

    def _look(self, url: str) -> None:
        if urlsplit(url).hostname != "127.0.0.1" and urlsplit(url).scheme != "data":
            self.wrong.append(url)

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.context.close()
        assert kind or not self.wrong, self.wrong


def keep(page: Page, name: str) -> None:
    """A picture of all of the page."""
    OUTPUT.mkdir(exist_ok=True)
    page.screenshot(path=OUTPUT / f"{name}.png", full_page=True)


def start(page: Page, message: str) -> str:
    """Begin a conversation as a person does, and the id of its thread."""
    page.get_by_role("link", name="New conversation").click()
    page.get_by_label("Message").fill(message)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile("#[0-9a-f]{32}$"))
    return urlsplit(page.url).fragment


def status(page: Page) -> Any:
    """Where the status of the thread on the right stands."""
    return page.locator("#status")


def test_a_refund_is_started_shown_approved_and_done(
    page: Page, api: Api, provider: Provider
) -> None:
    """A person sees exactly what will run, approves it, and sees what came of it."""
    thread_id = start(page, REFUND.format("B-1"))
    expect(status(page)).to_have_text("waits for you")
    call = 'process_refund(order_id="B-1", amount=12.5, reason="it arrived broken")'
    expect(page.locator("#pending pre")).to_have_text(call)
    expect(page.locator("#threads li a").first).to_contain_text("waits for you")
    keep(page, "refund-waits")
    assert "B-1" not in provider.requests
    page.get_by_label("Comment").fill("as agreed")
    page.get_by_role("button", name="Approve").click()
    expect(status(page)).to_have_text("done")
    expect(page.locator("#timeline")).to_contain_text("approved by a person over HTTP: as agreed")
    expect(page.locator("#timeline li")).to_have_count(5)
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.locator("#notice")).to_have_text("Approved.")
    keep(page, "refund-done")
    assert ["B-1"] == [order for order in provider.requests if order == "B-1"]
    assert "as agreed" == api.thread(thread_id)["events"][2]["data"]["comment"]


def test_a_refund_is_refused(page: Page, provider: Provider) -> None:
    """With a comment that the agent reads; nothing is paid."""
    start(page, REFUND.format("B-2"))
    page.get_by_label("Comment").fill("too late")
    page.get_by_label("Comment").press("Enter")
    expect(status(page)).to_have_text("waits for you")
    page.get_by_role("button", name="Refuse").click()
    expect(status(page)).to_have_text("done")
    expect(page.locator("#timeline")).to_contain_text("refused by a person over HTTP: too late")
    assert "B-2" not in provider.requests


def test_a_question_is_answered(page: Page) -> None:
    """The box is for the answer where a question waits, and for a message afterwards."""
    start(page, QUESTION)
    answer = page.get_by_label("Your answer")
    expect(page.locator("#timeline li.agent")).to_contain_text("Which numbers")
    keep(page, "question")
    answer.fill("3 plus 4")
    answer.press("Enter")
    expect(status(page)).to_have_text("done")
    expect(page.locator("#timeline li.agent").last).to_contain_text("7")
    expect(page.get_by_label("Message")).to_be_empty()
    page.get_by_label("Message").fill("add 1 and 1")
    page.get_by_label("Message").press("Enter")
    expect(page.locator("#timeline li.agent").last).to_contain_text("2")


def test_markup_is_text(page: Page, api: Api) -> None:
    """Wherever it comes from, and wherever it is shown: nothing of it becomes an element."""
    thread_id = start(page, f"{REFUND.format('B-3')} {MARKUP}")
    for place in ("#title", "#timeline .person", "#timeline .call", "#pending pre"):
        expect(page.locator(place)).to_contain_text("<script>")
    expect(page.locator(f"a[href='#{thread_id}']")).to_contain_text("<script>")
    page.get_by_label("Comment").fill(MARKUP)
    page.get_by_role("button", name="Refuse").click()
    expect(page.locator("#timeline .decision")).to_contain_text(MARKUP)
    made = page.locator("#timeline, #pending, #title, #threads").locator("script, img, b")
    expect(made).to_have_count(0)
    assert page.title().endswith("Inbox")
    keep(page, "markup")


def test_what_nobody_sees_is_spelled_out(page: Page, paying: Path) -> None:
    """Letters that turn the direction of writing, or show nothing, are visible in a call."""
    step = {
        "intent": "process_refund",
        "order_id": "A\u202e71-",
        "amount": 12.5,
        "reason": "a\u200bb",
    }
    with (
        model_server(lambda messages: json.dumps(step)) as model,
        serving(paying, **compatible(model.url)) as api,
    ):
        page.goto(f"{api.url}/#{api.rests(api.launch('refund'))['id']}")
        expect(page.locator("#pending pre")).to_contain_text("A\\u202e71-")
        expect(page.locator("#pending pre")).to_contain_text("a\\u200bb")


def test_the_keyboard_is_enough(page: Page, provider: Provider) -> None:
    """From the first key to the approval, and every stop can be seen."""

    def tab_to(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = page.evaluate(FOCUSED)
            if name in focused:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none"
                return
        raise AssertionError(f"no tab leads to {name}")

    tab_to("New conversation")
    page.keyboard.press("Enter")
    tab_to("Message")
    page.keyboard.type(REFUND.format("B-4"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    tab_to("B-4")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    tab_to("Comment")
    page.keyboard.type("by keyboard")
    tab_to("Approve")
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("done")
    expect(page.locator("#main")).to_be_focused()
    assert 1 == provider.requests.count("B-4")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything(scheme: str, browser: Browser, api: Api) -> None:
    """Nothing is wider than the screen; the list leads to a thread, and back."""
    long = "x" * 300
    options = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme, "has_touch": True}
    with watched(browser, **options) as page:
        page.goto(api.url)
        thread_id = start(page, f"{REFUND.format(f'B-{len(scheme)}0')} {long}")
        expect(page.get_by_role("button", name="Approve")).to_be_enabled()
        keep(page, f"phone-thread-{scheme}")
        wide = "document.documentElement.scrollWidth > window.innerWidth"
        assert not page.evaluate(wide)
        for name in ("Approve", "Refuse", "Send"):
            box = page.get_by_role("button", name=name).bounding_box()
            assert box
            assert box["height"] >= 44
        expect(page.locator("nav")).to_be_hidden()
        page.get_by_role("link", name="All threads").click()
        expect(page.locator("main")).to_be_hidden()
        assert not page.evaluate(wide)
        keep(page, f"phone-list-{scheme}")
        page.locator(f"a[href='#{thread_id}']").tap()
        expect(page.get_by_role("button", name="Refuse")).to_be_visible()


def test_what_is_done_elsewhere_appears(page: Page, paying: Path, settings: dict[str, str]) -> None:
    """A decision on the command line, and a thread that another process began."""
    thread_id = start(page, REFUND.format("B-5"))
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    agent(paying, "approve", thread_id, **settings)
    expect(status(page)).to_have_text("done")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    agent(paying, "ask", "refund order B-6, $3, from elsewhere", check=False, **settings)
    expect(page.locator("#threads")).to_contain_text("from elsewhere")


def freeze(page: Page, thread: Any) -> None:
    """Let the page see a thread as it is now and no further, as over a slow line."""
    lines = [
        f"id: {e['seq']}\ndata: {json.dumps({**e, 'whose': 'x', 'text': 'x'})}\n\n"
        for e in thread["events"]
    ]
    lines.append(f"event: thread\ndata: {json.dumps({**thread, 'events': None})}\n\n")
    page.route(
        f"**/threads/{thread['id']}/events",
        lambda route: route.fulfill(body="".join(lines), content_type="text/event-stream"),
    )


def test_a_lost_race_says_so(page: Page, api: Api, provider: Provider) -> None:
    """Who decides after somebody else is told that it was not recorded, and why."""
    thread = api.rests(api.launch(REFUND.format("B-7")), "waiting")
    freeze(page, thread)
    page.goto(f"{api.url}/#{thread['id']}")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    api.approve(thread, approved=False)
    page.get_by_role("button", name="Approve").click()
    told = "Not recorded: this call was refused already, by a person over HTTP"
    expect(page.locator("#notice")).to_have_text(told)
    keep(page, "lost-race")
    assert "B-7" not in provider.requests


def test_a_second_click_approves_no_other_call(page: Page, paying: Path) -> None:
    """A card that has just appeared takes no click that was meant for the one before."""
    steps = [
        {"intent": "process_refund", "order_id": f"C-{n}", "amount": 1, "reason": "r"}
        for n in (1, 2)
    ]
    with (
        model_server(lambda messages: json.dumps(steps.pop(0))) as model,
        http_server(Provider().respond) as url,
        serving(paying, PAY_URL=url, **compatible(model.url)) as api,
    ):
        thread = api.rests(api.launch("refund both"))
        page.goto(f"{api.url}/#{thread['id']}")
        card = page.locator("#pending")
        expect(card).to_contain_text("C-1")
        page.get_by_role("button", name="Approve").click(click_count=1)
        place = card.bounding_box()
        assert place
        expect(card).to_contain_text("C-2")
        page.get_by_role("button", name="Approve").dispatch_event("click")
        approve = page.get_by_role("button", name="Approve").bounding_box()
        assert approve
        page.mouse.click(approve["x"] + 5, approve["y"] + 5)
        time.sleep(0.5)
        assert "C-2" == api.thread(thread["id"])["pending"]["call"]["order_id"]
        expect(page.get_by_role("button", name="Approve")).to_be_enabled()


def test_an_unknown_outcome_asks_what_happened(page: Page, api: Api, provider: Provider) -> None:
    """The person sees the call and what is known, and says what came of it."""
    provider.broken.add("B-8")
    start(page, REFUND.format("B-8"))
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Did this happen?")).to_be_visible()
    expect(page.locator("#pending")).to_contain_text("Nobody knows: HTTPError")
    keep(page, "outcome")
    page.get_by_label("What it gave").fill("paid, says the bank")
    page.get_by_role("button", name="It happened").click()
    expect(page.locator("#timeline .result")).to_contain_text("paid, says the bank")
    expect(status(page)).to_have_text("done")


def test_a_failed_run_can_be_tried_again(page: Page, paying: Path) -> None:
    """The reason is shown, and one button lets it go on."""
    replies = ["?", "?", "?", '{"intent": "done_for_now", "message": "mended"}']
    with (
        model_server(lambda messages: replies.pop(0)) as model,
        serving(paying, **compatible(model.url)) as api,
    ):
        page.goto(f"{api.url}/#{api.rests(api.launch('hello'))['id']}")
        expect(page.locator("#pending")).to_contain_text("too_many_errors")
        keep(page, "failed")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#timeline li").last).to_contain_text("mended")


def test_an_expired_approval_is_asked_anew(
    page: Page, api: Api, settings: dict[str, str], provider: Provider
) -> None:
    """The time is over, so no button approves; one asks again."""
    thread = api.rests(api.launch(REFUND.format("B-9")), "waiting")
    sql(
        settings["DATABASE_URL"],
        "UPDATE approvals SET expires = 1 WHERE thread_id = ?",
        thread["id"],
    )
    page.goto(f"{api.url}/#{thread['id']}")
    expect(page.locator("#pending")).to_contain_text("The time to decide is over.")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    page.get_by_role("button", name="Ask anew").click()
    page.get_by_role("button", name="Approve").click()
    expect(status(page)).to_have_text("done")
    assert 1 == provider.requests.count("B-9")


def test_the_token_is_asked_for_once(browser: Browser, project: Path) -> None:
    """A wrong one is told; the right one lasts as long as the tab, and stands in no address."""
    token = "a-token-of-this-test"
    with (
        serving(project, AGENT_API_TOKEN=token) as api,
        watched(browser) as page,
    ):
        page.goto(api.url)
        field = page.get_by_label("AGENT_API_TOKEN")
        field.fill("wrong")
        field.press("Enter")
        expect(page.get_by_text("That was not the token.")).to_be_visible()
        keep(page, "token")
        field.fill(token)
        field.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()
        thread_id = start(page, "add 3 and 4")
        expect(status(page)).to_have_text("done")
        page.reload()
        expect(status(page)).to_have_text("done")
        expect(page.get_by_role("dialog")).to_be_hidden()
        assert f"{api.url}/#{thread_id}" == page.url
        assert {"length": 0} == page.evaluate("({length: localStorage.length})")
        other = page.context.browser.new_page()  # type: ignore[union-attr]
        other.goto(api.url)
        expect(other.get_by_role("dialog")).to_be_visible()
        other.close()


def test_a_server_that_comes_back_is_found_again(browser: Browser, project: Path) -> None:
    """The page says that nobody answers, keeps what was typed, and goes on where it was."""
    url = new_store()
    api = start_server(project, DATABASE_URL=url)
    try:
        port = str(urlsplit(api.url).port)
        with watched(browser) as page:
            page.goto(api.url)
            start(page, QUESTION)
            answer = page.get_by_label("Your answer")
            answer.fill("3 plus 4")
            stop_server(api)
            expect(page.locator("#connection")).to_contain_text("does not answer")
            answer.press("Enter")
            expect(answer).to_have_value("3 plus 4")
            api = start_server(project, "--port", port, DATABASE_URL=url)
            expect(page.locator("#connection")).to_be_empty()
            answer.press("Enter")
            expect(status(page)).to_have_text("done")
            expect(page.locator("#timeline li.person")).to_have_count(2)
    finally:
        stop_server(api)


def test_a_long_thread_is_shown_whole(page: Page, api: Api) -> None:
    """Each event once, in order, and the box for the next message is in view."""
    thread_id = start(page, "add 0 and 1")
    for number in range(1, 12):
        expect(status(page)).to_have_text("done")
        api.post(f"/threads/{thread_id}/messages", {"message": f"add {number} and 1"})
        api.rests(thread_id, "done")
    page.reload()
    expect(page.locator("#timeline li")).to_have_count(48)
    said = page.locator("#timeline li.person .text").all_text_contents()
    assert [f"add {number} and 1" for number in range(12)] == said
    expect(page.get_by_label("Message")).to_be_in_viewport()


def test_the_docs_name_every_operation(page: Page, api: Api) -> None:
    """Without a script, and without anything from elsewhere."""
    page.goto(f"{api.url}/docs")
    paths = api.get("/openapi.json").json["paths"]
    headings = page.locator("h2").all_text_contents()
    named = [f"{m.upper()} {path}" for path, methods in paths.items() for m in methods]
    assert sorted(named) == sorted(headings)
    keep(page, "docs")


def test_the_skip_link_leaves_the_thread_open(page: Page) -> None:
    """It moves the focus, and nothing else."""
    start(page, REFUND.format("B-61"))
    page.get_by_label("Comment").fill("half a word")
    before = page.url
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    assert before == page.url
    expect(page.get_by_label("Comment")).to_have_value("half a word")


def test_a_page_that_nobody_sees_holds_no_connection(page: Page, api: Api) -> None:
    """A browser has few of them for all of its tabs; when it is seen again it goes on."""
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    hide = """is => {
        Object.defineProperty(document, "hidden", {value: is, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    thread_id = start(page, REFUND.format("B-62"))
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    page.evaluate(hide, True)
    wait_for(lambda: (page.wait_for_timeout(50), ended)[1])
    assert [f"{api.url}/threads/{thread_id}/events"] == ended
    api.approve(api.thread(thread_id), approved=False)
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.evaluate(hide, False)
    expect(status(page)).to_have_text("done")
    expect(page.locator("#timeline li")).to_have_count(4)


def test_what_is_typed_stays_with_its_thread(page: Page) -> None:
    """A draft is there again when its thread is, and is sent to no other."""
    one = start(page, REFUND.format("B-63"))
    page.get_by_label("Message").fill("for the first")
    other = start(page, REFUND.format("B-64"))
    expect(page.get_by_label("Message")).to_be_empty()
    page.get_by_label("Message").fill("for the second")
    page.goto(f"{page.url.partition('#')[0]}#{one}")
    expect(page.get_by_label("Message")).to_have_value("for the first")
    page.goto(f"{page.url.partition('#')[0]}#{other}")
    expect(page.get_by_label("Message")).to_have_value("for the second")


@pytest.mark.parametrize("lost", ["request", "answer"])
def test_a_decision_whose_answer_is_lost_counts_once(
    lost: str, page: Page, api: Api, provider: Provider
) -> None:
    """The person is told that nobody knows, tries again, and is not told of a lost race."""
    order = f"B-65{len(lost)}"
    thread = api.rests(api.launch(REFUND.format(order)), "waiting")
    freeze(page, thread)

    def lose(route: Any) -> None:
        if lost == "answer":
            route.fetch()
        route.abort()

    page.route("**/approvals/*", lose)
    page.goto(f"{api.url}/#{thread['id']}")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#notice")).to_contain_text("nobody knows whether that was recorded")
    page.unroute("**/approvals/*")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#notice")).to_have_text("Approved.")
    after = api.rests(thread["id"], "done")
    assert 1 == [event["type"] for event in after["events"]].count("approval")
    assert 1 == provider.requests.count(order)


def test_an_approval_that_expires_while_it_is_seen_is_asked_anew(
    page: Page, paying: Path, tmp_path: Path
) -> None:
    """By the server's clock, whatever the browser's says."""
    copy = tmp_path / paying.name
    shutil.copytree(paying, copy)
    call = copy / "src/refund_desk/runtime/call.py"
    text = call.read_text(encoding="utf-8")
    quick = text.replace("APPROVAL_LASTS = 7 * 24 * 3600.0", "APPROVAL_LASTS = 5.0")
    assert quick != text
    call.write_text(quick, encoding="utf-8")
    page.add_init_script("const real = Date.now; Date.now = () => real() + 8 * 864e5;")
    with serving(copy) as api:
        page.goto(f"{api.url}/#{api.launch(REFUND.format('B-66'))}")
        expect(page.get_by_role("button", name="Approve")).to_be_enabled()
        expect(page.get_by_role("button", name="Ask anew")).to_be_enabled(timeout=15_000)
        page.get_by_role("button", name="Ask anew").click()
        expect(page.get_by_role("button", name="Approve")).to_be_enabled()


def test_a_word_about_one_thread_is_said_in_no_other(page: Page, provider: Provider) -> None:
    """An answer that comes late belongs to the thread that was left."""
    other = start(page, QUESTION)
    start(page, REFUND.format("B-67"))
    held: list[Any] = []
    page.route("**/approvals/*", lambda route: held.append(route))
    page.get_by_role("button", name="Approve").click()
    wait_for(lambda: (page.wait_for_timeout(50), held)[1])
    page.locator(f"a[href='#{other}']").click()
    expect(page.get_by_label("Your answer")).to_be_visible()
    held[0].continue_()
    wait_for(lambda: (page.wait_for_timeout(50), "B-67" in provider.requests)[1])
    page.wait_for_timeout(300)
    expect(page.locator("#notice")).to_be_empty()


def test_a_comment_on_what_was_settled_elsewhere_is_not_lost_in_silence(
    page: Page, api: Api
) -> None:
    """The card goes, and the page says why."""
    thread_id = start(page, REFUND.format("B-68"))
    page.get_by_label("Comment").fill("I was about to")
    api.approve(api.thread(thread_id), approved=False)
    expect(page.locator("#notice")).to_contain_text("settled elsewhere")


def test_a_thread_that_is_damaged_says_so(page: Page, api: Api, settings: dict[str, str]) -> None:
    """The page shows what the server says, and does not take it for silence."""
    thread = api.rests(api.launch("add 3 and 4"))
    sql(settings["DATABASE_URL"], "UPDATE events SET data = '{' WHERE thread_id = ?", thread["id"])
    page.goto(f"{api.url}/#{thread['id']}")
    expect(page.locator("#notice")).to_contain_text("is damaged")
    expect(page.locator("#connection")).to_be_empty()


def test_everything_that_waits_is_listed(page: Page, project: Path) -> None:
    """However much that is; older threads come a hundred at a time."""
    url = new_store()
    with serving(project, DATABASE_URL=url) as api:
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            for number in range(2300):
                state = "waiting" if number < 1203 else "done"
                values = (f"{number:032x}", state, f'{{"status": "{state}"}}', f"number {number}")
                sql = "INSERT INTO threads VALUES (?, ?, ?, ?, 0, 0, ?)"
                connection.execute(sql, (*values, 1_700_000_000 + number))
        connection.close()
        page.goto(api.url)
        expect(page).to_have_title("(1203) Inbox")
        expect(page.locator("#threads li")).to_have_count(1303)
        page.get_by_role("button", name="Show older threads").click()
        expect(page.locator("#threads li")).to_have_count(1403)


def test_a_token_that_cannot_be_sent_is_asked_for_again(browser: Browser, project: Path) -> None:
    """A character that no header carries does not lock the tab out."""
    token = "a-token-of-this-test"
    with serving(project, AGENT_API_TOKEN=token) as api, watched(browser) as page:
        page.goto(api.url)
        field = page.get_by_label("AGENT_API_TOKEN")
        field.fill("abc…")
        field.press("Enter")
        expect(page.get_by_text("That was not the token.")).to_be_visible()
        field.fill(token)
        field.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator("#none")).to_be_visible()


def test_an_answer_is_sent_for_the_question_it_was_typed_for(page: Page, api: Api) -> None:
    """Where another has come meanwhile the person is told, and may send it all the same."""
    thread_id = start(page, QUESTION)
    expect(page.get_by_label("Your answer")).to_be_visible()
    page.get_by_label("Your answer").fill("3 plus 4")
    api.post(f"/threads/{thread_id}/messages", {"message": "math"})
    expect(page.locator("#timeline li")).to_have_count(4)
    page.get_by_label("Your answer").press("Enter")
    expect(page.locator("#notice")).to_contain_text("Not recorded: this question does not wait")
    expect(page.get_by_label("Your answer")).to_have_value("3 plus 4")
    page.get_by_label("Your answer").press("Enter")
    expect(status(page)).to_have_text("done")
    expect(page.locator("#notice")).to_be_empty()


def test_trying_again_after_a_lost_answer_is_not_taken_for_the_last_time(
    page: Page, paying: Path
) -> None:
    """Once the thread has moved on, the same button means something new."""
    replies = ["?"] * 6 + ['{"intent": "done_for_now", "message": "mended"}']
    with (
        model_server(lambda messages: replies.pop(0)) as model,
        serving(paying, **compatible(model.url)) as api,
    ):
        thread_id = api.rests(api.launch("hello"))["id"]
        page.goto(f"{api.url}/#{thread_id}")

        def lose(route: Any) -> None:
            route.fetch()
            route.abort()

        page.route("**/resume", lose)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#timeline li")).to_have_count(10)  # it went on, and failed again
        page.unroute("**/resume")
        page.get_by_role("button", name="Try again").click()
        expect(status(page)).to_have_text("done")
