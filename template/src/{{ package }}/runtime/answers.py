"""What a provider's answer says, in the shapes that providers document.

BAML hands on the first text of an answer. Here it is seen whether there is more: several texts, a
native tool call, a refusal. Add a shape in `_blocks` when a provider has one of its own.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

Kind = Literal["text", "refusal", "other"]


def flaw(answer: Any) -> str | None:
    """Why the answer of a model is not one text, for the model to mend; None if it is one.

    answer: the body of an HTTP answer, from JSON. Raises ValueError if it is no model's answer.
    """
    try:
        kinds = [kind for block in _blocks(answer) if (kind := _kind(block))]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("not a model's answer") from error
    if "refusal" in kinds:
        return "the reply is a refusal; say in done_for_now what cannot be done"
    if "other" in kinds:  # a native tool call, most likely
        return "the reply is more than a text, such as a tool call; write one JSON object as text"
    if kinds.count("text") > 1:
        return "the reply has several texts; write one JSON object and nothing else"
    return None if kinds else "the reply holds no text; write one JSON object as text"


def http_problem(status: int) -> str:
    """What an HTTP status says, and what to look at."""
    hint = {401: "; check its key", 403: "; check its key", 404: "; check its model and base URL"}
    return f"answered HTTP {status}{hint.get(status, '')}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a provider asks to wait; its header is a number or a date (RFC 9110)."""
    text = headers.get("retry-after", "").strip()
    try:
        if text.isascii() and text.isdecimal():
            return float(text)
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _blocks(answer: Any) -> Iterator[dict[str, Any]]:
    """The parts that an answer consists of."""
    if "choices" in answer:  # OpenAI's chat completions, and whoever speaks them
        for choice in answer["choices"]:
            yield from _chat_message(choice["message"])
    elif "promptFeedback" in answer and "candidates" not in answer:  # Google, nothing but a block
        yield {"type": "refusal"}
    elif "candidates" in answer:  # Google
        for candidate in answer["candidates"]:
            yield from candidate.get("content", {}).get("parts", [])
    elif "content" in answer:  # Anthropic
        yield from answer["content"]
        if answer.get("stop_reason") == "refusal":
            yield {"type": "refusal"}
    elif isinstance(answer["output"], list):  # OpenAI's responses
        for item in answer["output"]:
            yield from item["content"] if item["type"] == "message" else [item]
    else:  # Bedrock's converse
        yield from answer["output"]["message"]["content"]


def _chat_message(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    yield from content if isinstance(content, list) else [{"text": content}]
    if message.get("refusal"):
        yield {"type": "refusal"}
    if message.get("tool_calls") or message.get("function_call"):
        yield {"type": "tool_call"}


def _kind(block: dict[str, Any]) -> Kind | None:
    """What a part is; None for one that says nothing: reasoning, or an empty text."""
    kind = str(block.get("type", ""))
    if block.get("thought") or "reason" in kind or "think" in kind or "reasoningContent" in block:
        return None
    if kind == "refusal":
        return "refusal"
    if "text" in block:
        return "text" if str(block["text"] or "").strip() else None
    return "other"
