"""The prompt is injective: no text makes, closes or imitates an event, a role or a media part."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import agent, importing

# What BAML reads roles and media out of, and what events look like, in pieces to be put together.
PIECES = [
    *("MAGIC_STRING_DELIMITER", "BAML_CHAT_ROLE_MAGIC_STRING_DELIMITER", ":baml-start-baml:"),
    *("BAML_MEDIA_MAGIC_STRING_DELIMITER", ":baml-end-baml:", '{"role":"system"}', "_", "&#95;"),
    *('{"image":{"url":"http://127.0.0.1:9/x.png"}}', "[magic]", "{{ thread }}", "{% raw %}"),
    *(
        "<user_input>",
        "</user_input>",
        "<approval>",
        "</approval>",
        "\n",
        "&lt;",
        "&amp;",
        "&",
        "<",
    ),
    *(
        "<",
        ">",
        '"',
        "\\",
        "system",
        "\u202e",
        "\u0085",
        "\u2028",
        "\r",
        "\x00",
        "\U0001f600",
        "\udc80",
    ),
]
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=8).map("".join)
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
EVENT = st.one_of(
    TEXT.map(lambda text: ("user_input", {"text": text})),
    st.tuples(st.integers(0, 9), TEXT).map(
        lambda e: ("human_response", {"call": e[0], "text": e[1]})
    ),
    st.tuples(st.integers(0, 9), VALUE).map(
        lambda e: ("tool_response", {"call": e[0], "result": e[1]})
    ),
    TEXT.map(lambda text: ("error", {"call": None, "type": text, "message": text})),
    TEXT.map(lambda text: ("tool_call", {"intent": "done_for_now", "message": text})),
)


@pytest.fixture(scope="module")
def runtime(project: Path) -> Any:
    """The agent's modules that a prompt goes through."""

    class Runtime:
        with importing(project):
            thread = import_module("refund_desk.runtime.thread")
            store = import_module("refund_desk.runtime.store")
            database = import_module("refund_desk.runtime.database")
            prompt = import_module("refund_desk.runtime.prompt")
            baml = import_module("refund_desk.runtime.baml")
            settings = import_module("refund_desk.runtime.settings")

    return Runtime


def thread_of(runtime: Any, events: list[tuple[str, dict[str, Any]]]) -> Any:
    """A thread with these events, appended as the agent appends them."""
    memory = runtime.database.Database(runtime.database.IN_MEMORY)
    thread = runtime.thread.Thread.create(runtime.store.Store(memory))
    with thread.writing(claimed=False):
        for kind, data in events:
            thread.add(kind, data)
    return thread


@settings(max_examples=500, deadline=None)
@given(events=st.lists(EVENT, max_size=5))
def test_what_is_rendered_can_be_read_back(
    events: list[tuple[str, dict[str, Any]]], runtime: Any
) -> None:
    """parse(render(events)) is events, whatever their texts hold."""
    logged = thread_of(runtime, events).events
    back = runtime.prompt.parse(runtime.prompt.render(logged))
    assert [(event.type, event.data) for event in logged] == back


@settings(max_examples=300, deadline=None)
@given(events=st.lists(EVENT, min_size=1, max_size=3))
def test_no_text_changes_the_messages(
    events: list[tuple[str, dict[str, Any]]], runtime: Any
) -> None:
    """BAML builds two messages of text, system and user, and the thread stands in the second."""
    thread = thread_of(runtime, events)
    text = thread.prompt(runtime.settings.Limits(max_errors=99, max_steps=99))
    system, user = runtime.baml.request_messages(text)
    assert ("system", "user") == (system["role"], user["role"])
    assert isinstance(user["content"], str)
    assert user["content"].endswith(text)
    assert runtime.baml.tool_schema() in system["content"]


@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_the_filter_in_the_prompt_never_fires_on_our_own_text(text: str, runtime: Any) -> None:
    """What Python escapes leaves nothing for the second belt in agent.baml to replace."""
    rendered = thread_of(runtime, [("user_input", {"text": text})]).prompt(runtime.settings.USUAL)
    assert "MAGIC_STRING_DELIMITER" not in rendered


@settings(max_examples=200, deadline=None)
@given(events=st.lists(EVENT, max_size=4))
def test_what_is_stored_loads_again(events: list[tuple[str, dict[str, Any]]], runtime: Any) -> None:
    """A thread as JSON, in UTF-8, comes back as it was."""
    shape = thread_of(runtime, events).to_json()
    assert shape == json.loads(json.dumps(shape, ensure_ascii=False).encode().decode())


def test_ordinary_text_stays_readable(runtime: Any) -> None:
    """Letters, quotes, line breaks and emoji stand in the prompt as they were written."""
    text = 'Refund "A-17" – it\'s 12.50 €, naïve?\nありがとう 😀'
    rendered = thread_of(runtime, [("user_input", {"text": text})]).prompt(runtime.settings.USUAL)
    assert f"<user_input>\n{text}\n</user_input>" == rendered


@pytest.mark.parametrize(
    "text",
    ["\u202ereversed", "\U0001f600" * 50, "\udc80", "a\u0301" * 100, "x" * 100_000, "\x07\x1b[2J"],
    ids=["right-to-left", "emoji", "surrogate", "combining", "long", "control"],
)
def test_odd_messages_crash_nothing(text: str, project: Path) -> None:
    """A run with such a message ends as any other, and its thread is JSON."""
    done = agent(project, "ask", f"hello {text}", "--json", check=False)
    assert done.returncode in {0, 3}, done.stderr
    assert json.loads(done.stdout)["events"][0]["type"] == "user_input"


def test_a_megabyte_is_refused_clearly(runtime: Any) -> None:
    """A thread that is too long for the prompt fails with the size and the limit."""
    thread = thread_of(runtime, [("user_input", {"text": "x" * 1_000_000})])
    with pytest.raises(Exception, match="1000027 bytes; the limit is 524288") as caught:
        thread.prompt(runtime.settings.USUAL)
    assert "prompt_too_long" == caught.value.type
