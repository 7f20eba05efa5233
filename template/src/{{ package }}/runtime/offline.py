"""The model that needs no key: rules, not a language model. It reads English arithmetic and refund
requests, and asks rather than guesses. It sees the thread's text and nothing else.

Choose a real model with AGENT_CLIENT; then nothing here is used.
"""

import json
import re
from typing import Any

from .llm import Reply
from .offline_arithmetic import OPERATIONS, Unclear, json_number, plan
from .prompt import parse
from .thread import DONE, QUESTIONS

CLIENT = "offline"
LONGEST = 1000  # characters; nobody types a longer sum or refund
ABILITIES = (
    "I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add"
    " 12. And refunds, as in: refund order A-17, $12.50, it arrived broken."
)
KNOWN = {*OPERATIONS, "process_refund", DONE} | QUESTIONS

Events = list[tuple[str, dict[str, Any]]]

_REFUND = re.compile(
    r"\brefund|\bmoney back|[$€£]\s?\d[\d.,]* back|\d (?:dollars|euros|pounds|usd|bucks) back"
    r"|\bcharged (?:twice|double)|\border\b.* back\b|\bback\b.* order\b"
)
_NO_REFUND = re.compile(r"(?:\bnot|n't|\bnever|\bno|\bstop|\bcancel)(?: \w+){0,3} refund")
_ORDER = re.compile(
    r"\border(?: number| no\.?| id)?[ :]*#?\s*([a-z]{0,5}-?\d[\w-]*)"
    r"|#([a-z]*-?\d[\w-]*)|\b([a-z]{1,5}-\d[\w-]*)",
    re.IGNORECASE,
)
# With commas only between thousands: "12,50" may be one price or two.
_AMOUNT = r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?(?![\w-]|[.,]\d)"
_MONEY = re.compile(
    rf"[$€£]\s?({_AMOUNT})"
    rf"|({_AMOUNT})\s?(?:[$€£]|(?:dollars?|euros?|pounds?|usd|eur|bucks)\b)",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|since|due to|reason:?)\s+([^\n]+)", re.IGNORECASE)
_NO_REASON = set(
    "a all an and are back bucks can could do dollars euros extra for get give hello hey hi i i'd"
    " id in is it like me money my need number of on order please pounds refund refunded refunds"
    " some that the their this to usd want with would yes you your".split()
)


async def ask(thread: str) -> Reply:
    """The next step by the rules: an `Ask` like any other (llm.py)."""
    return Reply(json.dumps(next_step(parse(thread)), ensure_ascii=False), CLIENT)


def next_step(events: Events) -> dict[str, Any]:
    """The next step for a thread's events, each its type and data."""
    kind, last = events[-1]
    if kind == "error":
        return _end(f"That did not work: {last['message'].rstrip('.')}.")
    if kind == "approval" and not last["approved"]:
        return _end("It was not approved" + (f": {last['comment']}" if last["comment"] else "."))
    start = _start(events)
    now = events[start:]
    intents = [data["intent"] for kind, data in now if kind == "tool_call"]
    if unknown := [intent for intent in intents if intent not in KNOWN]:
        return _end(f"I do not know the tool {unknown[-1]}, so I cannot go on. {ABILITIES}")
    said = [data["text"] for kind, data in now if kind == "user_input"]
    answered = [data["text"] for kind, data in now if kind == "human_response"]
    results = _results(now)
    words = " ".join([*said, *answered]).lower().replace("’", "'")
    if len(words) > LONGEST:
        return _end(f"That is more text than I can read. {ABILITIES}")
    if _REFUND.search(words):
        if results:
            return _end(str(results[-1]))
        if _NO_REFUND.search(words):
            return _end("Nothing is refunded.")
        return _refund("\n".join([*said, *answered]))
    try:
        steps = plan(" ".join(said), answered, (_results(events[:start]) or [None])[-1])
    except Unclear as question:
        return _question(str(question))
    if steps is None:
        return _small_talk(words)
    if len(results) == len(steps):
        return _end(str(results[-1]))
    intent, *operands = steps[len(results)]
    a, b = (results[x[1]] if isinstance(x, tuple) else x for x in operands)
    return {"intent": intent, "a": a, "b": b}


def _start(events: Events) -> int:
    """Where the current request begins: at a message, but not one sent while a call was open."""
    start = 0
    for i, (kind, _) in enumerate(events[1:], 1):
        before, data = events[i - 1]
        if kind == "user_input" and (before != "tool_call" or data["intent"] == DONE):
            start = i
    return start


def _results(events: Events) -> list[Any]:
    return [data["result"] for kind, data in events if kind == "tool_response"]


def _refund(text: str) -> dict[str, Any]:
    order = _ORDER.search(text)
    rest = text.replace(order[0], " ", 1) if order else text
    amounts = {a or b for a, b in _MONEY.findall(rest)} or set(re.findall(_AMOUNT, rest))
    amount = amounts.pop().replace(",", "") if len(amounts) == 1 else None
    reason = _reason(rest)
    if order and amount and reason:
        return {
            "intent": "process_refund",
            "order_id": next(filter(None, order.groups())),
            "amount": json_number(amount),
            "reason": reason,
        }
    needed = {"the order number": order, "the amount, as $12.50": amount, "the reason": reason}
    missing = [name for name, found in needed.items() if not found]
    return _question(f"For the refund I still need {', '.join(missing)}.")


def _reason(text: str) -> str:
    """The part of the text that says most beyond the request itself, or nothing."""
    if given := _BECAUSE.search(text):
        return given[1].strip(" .!?")
    parts = [part.strip(" .!?") for part in re.split(r"[,;:?!\n]|\.(?!\d)", text)]
    part = max(parts, key=lambda part: len(_content(part)))
    if len(_content(part)) < 2:
        return ""
    return " ".join(_content(part)) if "refund" in part.lower() else part


def _content(part: str) -> list[str]:
    words = [word for word in part.split() if not re.search(r"\d", word)]
    return [word for word in words if word.lower() not in _NO_REASON]


def _small_talk(words: str) -> dict[str, Any]:
    if re.search(r"\bthank|\bbye\b|that's all", words):
        return _end("You are welcome.")
    if re.search(r"\bmath|\bcalculat|\bcompute|\bnumbers?\b", words):
        return _question("Which numbers, and should I add, subtract, multiply or divide them?")
    if re.search(r"\b(?:hello|hi|hey|good (?:morning|day|evening)|who are you|what can)\b", words):
        return _end(f"Hello! {ABILITIES}")
    return _end(f"I cannot answer that. {ABILITIES}")


def _end(message: str) -> dict[str, Any]:
    return {"intent": DONE, "message": message}


def _question(message: str) -> dict[str, Any]:
    return {"intent": "request_more_information", "message": message}
