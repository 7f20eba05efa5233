"""What a provider's answer says: its one text, or why there is none.

BAML hands on the first text of an answer. Here it is seen whether there is more, in the shapes that
the providers document: several texts, a native tool call, a refusal, a bad end. What BAML calls a
provider is a key of SHAPES; one that is not there is left to BAML and the guard.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import Refused

Block = dict[str, Any]

# How an answer ends that is not whole, in the words of providers and of compatible servers.
_BAD_END = re.compile(
    r"length|max|limit|filter|safety|recit|block|refus|tool|func|call|error|abort|cancel|incomplete"
    r"|resource|pause|malformed|prohibited|spii|trunc|time|preempt|other|exceed|context",
    re.IGNORECASE,
)


def read_text(provider: str, answer: Any) -> str | None:
    """The text of a model's answer; None where the provider's shape is not known here.

    answer: the body, from JSON. Raises Refused, to be told to the model, where it is no one whole
    text, and ValueError where it is no model's answer at all.
    """
    if provider not in SHAPES:
        return None
    try:
        end, blocks = SHAPES[provider](answer)
        texts = [text for block in blocks if (text := _text_of(block))]
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError("not a model's answer") from error
    if end and _BAD_END.search(str(end)):
        raise Refused(f"the reply is not whole ({str(end)[:40]}); write one short JSON object")
    if len(texts) > 1:
        raise Refused("the reply has several texts; write one JSON object and nothing else")
    if not texts:
        raise Refused("the reply holds no text; write one JSON object as text")
    return texts[0]


def http_problem(status: int) -> str:
    """What an HTTP status says, and what to look at."""
    hint = {401: "; check its key", 403: "; check its key", 404: "; check its model and base URL"}
    return f"answered HTTP {status}{hint.get(status, '')}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a provider asks to wait; its header is a number or a date (RFC 9110)."""
    text = headers.get("retry-after", "").strip()
    try:
        if re.fullmatch(r"[0-9]{1,300}(\.[0-9]{1,9})?", text):
            return float(text)
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


# Each shape gives how the answer ended, and the blocks that it consists of.


def _chat(answer: Any) -> tuple[Any, list[Block]]:
    """OpenAI's chat completions, and whoever speaks them."""
    blocks: list[Block] = []
    choice = _only(answer["choices"])
    message = choice["message"]
    content = message.get("content")
    blocks += content if isinstance(content, list) else [{"type": "text", "text": content}]
    if message.get("refusal"):
        blocks.append({"type": "refusal"})
    if message.get("tool_calls") or message.get("function_call"):
        blocks.append({"type": "tool_call"})
    if choice.get("error"):
        blocks.append({"type": "error"})
    return choice.get("finish_reason"), blocks


def _only(answers: list[Any]) -> Any:
    """The one answer of several that a request might get."""
    if len(answers) > 1:
        raise Refused("the reply has several texts; write one JSON object and nothing else")
    return answers[0] if answers else {"message": {}}


def _anthropic(answer: Any) -> tuple[Any, list[Block]]:
    return answer.get("stop_reason"), list(answer["content"])


def _google(answer: Any) -> tuple[Any, list[Block]]:
    """Gemini's answers; the parts of one candidate are one text, cut anywhere."""
    if blocked := (answer.get("promptFeedback") or {}).get("blockReason"):
        return f"refused: {blocked}", []
    candidate = _only(answer["candidates"])
    parts = (candidate.get("content") or {}).get("parts") or []
    said = [part for part in parts if not part.get("thought") and set(part) != {"thoughtSignature"}]
    others: list[Block] = [{"type": "part"} for part in said if "text" not in part]
    text = "".join(part["text"] for part in said if "text" in part)
    return candidate.get("finishReason"), [*others, {"type": "text", "text": text}]


def _responses(answer: Any) -> tuple[Any, list[Block]]:
    """OpenAI's responses."""
    blocks: list[Block] = []
    for item in answer["output"]:
        blocks += item["content"] if item["type"] == "message" else [item]
    return answer.get("status"), blocks


def _bedrock(answer: Any) -> tuple[Any, list[Block]]:
    """Bedrock's converse, whose blocks have no type but one key."""
    kinds = {"text": "text", "reasoningContent": "reasoning"}
    content = answer["output"]["message"]["content"]
    blocks = [
        {"type": kinds.get(key, key), "text": each} for b in content for key, each in b.items()
    ]
    return answer.get("stopReason"), blocks


SHAPES: dict[str, Callable[[Any], tuple[Any, list[Block]]]] = {
    "openai": _chat,
    "azure-openai": _chat,
    "openai-generic": _chat,
    "openrouter": _chat,
    "ollama": _chat,
    "anthropic": _anthropic,
    "google-ai": _google,
    "vertex-ai": _google,
    "openai-responses": _responses,
    "aws-bedrock": _bedrock,
}
_TEXTS = {"text", "output_text"}
_REASONING = {"thinking", "redacted_thinking", "reasoning"}


def _text_of(block: Block) -> str:
    """The text of a block; "" for reasoning. Raises Refused for a block of any other kind."""
    kind = block["type"]
    if kind in _TEXTS:
        return str.strip(block["text"] or "")  # a TypeError for what is no text
    if kind in _REASONING:
        return ""
    raise Refused(f"the reply is more than text ({str(kind)[:40]}); write one JSON object as text")
