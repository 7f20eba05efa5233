"""The providers as a model server has to play them: settings, and answers in documented shapes.

A reply is written once, as a list of parts, and comes back in the shape of each provider.
"""

from typing import Any

Part = dict[str, str]
"""{"text": …}, {"thinking": …}, {"call": NAME} or {"refusal": …}"""

PROVIDERS = ["openai", "anthropic", "google", "ollama", "compatible"]
CHAT = ["openai", "ollama", "compatible"]  # they share OpenAI's shape

# What each provider says of an answer that is whole, cut off, filtered, refused, or a tool call.
FINISH = {
    "whole": {"anthropic": "end_turn", "google": "STOP", "chat": "stop"},
    "cut": {"anthropic": "max_tokens", "google": "MAX_TOKENS", "chat": "length"},
    "filtered": {"anthropic": "refusal", "google": "SAFETY", "chat": "content_filter"},
    "called": {"anthropic": "tool_use", "google": "MALFORMED_FUNCTION_CALL", "chat": "tool_calls"},
}


def settings(provider: str, url: str) -> dict[str, str]:
    """The variables with which an agent asks this provider at an address without a path."""
    prefix = provider.upper()
    base = url if provider in {"anthropic", "google"} else f"{url}/v1"
    return {
        "AGENT_CLIENT": provider,
        f"{prefix}_BASE_URL": base,
        f"{prefix}_API_KEY": "secret-key",
        f"{prefix}_MODEL": "some-model",
    }


def key_of(provider: str, headers: dict[str, str]) -> str | None:
    """The key that a request carries, where the provider expects it."""
    name = {"anthropic": "x-api-key", "google": "x-goog-api-key"}.get(provider, "authorization")
    return headers.get(name, "").removeprefix("Bearer ") or None


def answer(provider: str, parts: list[Part] | str, finish: str = "whole") -> dict[str, Any]:
    """The body of an answer. finish: a key of FINISH. parts: a text, or what it consists of."""
    parts = [{"text": parts}] if isinstance(parts, str) else parts
    reason = FINISH[finish]["chat" if provider in CHAT else provider]
    shape = {"anthropic": _anthropic, "google": _google}.get(provider, _chat)
    return shape(parts, reason)


def _chat(parts: list[Part], reason: str) -> dict[str, Any]:
    texts = [part["text"] for part in parts if "text" in part]
    message: dict[str, Any] = {"role": "assistant", "content": texts[0] if texts else None}
    choices = [{"index": i, "message": {**message, "content": t}} for i, t in enumerate(texts)]
    choices = choices or [{"index": 0, "message": message}]
    first = choices[0]["message"]
    assert isinstance(first, dict)
    for part in parts:
        if "thinking" in part:
            first["reasoning_content"] = part["thinking"]
        if "refusal" in part:
            first["refusal"] = part["refusal"]
        if "call" in part:
            function = {"name": part["call"], "arguments": "{}"}
            first["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [{**choice, "finish_reason": reason, "logprobs": None} for choice in choices],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def _anthropic(parts: list[Part], reason: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if "text" in part:
            blocks.append({"type": "text", "text": part["text"]})
        elif "thinking" in part:
            blocks.append({"type": "thinking", "thinking": part["thinking"], "signature": "s"})
        elif "call" in part:
            blocks.append({"type": "tool_use", "id": "toolu_1", "name": part["call"], "input": {}})
        else:
            reason = "refusal"
            blocks.append({"type": "text", "text": part["refusal"]})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


def _google(parts: list[Part], reason: str) -> dict[str, Any]:
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
    if any("refusal" in part for part in parts):
        feedback = {"blockReason": "PROHIBITED_CONTENT"}
        return {"promptFeedback": feedback, "usageMetadata": usage, "modelVersion": "some-model"}
    said: list[dict[str, Any]] = []
    for part in parts:
        if "text" in part:
            said.append({"text": part["text"]})
        elif "thinking" in part:
            said.append({"text": part["thinking"], "thought": True})
        else:
            said.append({"functionCall": {"name": part["call"], "args": {}}})
    content = {"role": "model", "parts": said}
    candidate = {"content": content, "finishReason": reason, "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "some-model"}
