"""The model that needs no key: rules, not a language model. It reads English arithmetic and refund
requests, says so when it cannot, and asks rather than guesses: a number it has not understood is a
question. It reads the thread's text and nothing else. Choose a real model with AGENT_CLIENT.
"""

import json
import re
from typing import Any

from .llm import Reply
from .offline_arithmetic import Unclear, plan
from .prompt import parse

CLIENT = "offline"
ABILITIES = (
    "I am a set of rules, not a language model: I do arithmetic (multiply 3 and 4, then add 12)"
    " and refunds (refund order A-17, $12.50, it arrived broken)."
)
KNOWN = {"request_more_information", "request_approval_from_manager", "process_refund"} | {
    "add",
    "subtract",
    "multiply",
    "divide",
}

_WANTS_REFUND = re.compile(
    r"\brefund|\bmoney back|[$€£]\s?\d[\d.,]* back|\d (?:dollars|euros|pounds|usd|bucks) back"
    r"|\bcharged (?:twice|double)|\border\b.* back\b|\bback\b.* order\b"
)
_NO_REFUND = re.compile(r"(?:\bnot|n't|\bnever|\bno|\bstop|\bcancel)(?: \w+){0,3} refund")
_ORDER = re.compile(
    r"\border(?: number| no\.?| id)?[ :]*#?\s*([a-z]{0,5}-?\d[\w-]*)|#([a-z]*-?\d[\w-]*)|\b([a-z]{1,5}-\d[\w-]*)",
    re.IGNORECASE,
)
# An amount is digits, with commas only between thousands: "12,50" might be two prices.
_DIGITS = r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?(?![\w-]|[.,]\d)"
_MONEY = re.compile(
    rf"[$€£]\s?({_DIGITS})|({_DIGITS})\s?(?:[$€£]|(?:dollars?|euros?|pounds?|usd|eur|bucks)\b)",
    re.IGNORECASE,
)
_NO_REASON = set(
    "a an and are back can could do for get give hello hey hi i i'd in is it like me money my need of"
    " on order please refund refunded refunds some that the their this to usd want would you dollars"
    " euros pounds bucks order's id number extra all".split()
)


async def ask(thread: str) -> Reply:
    """The next step that the rules choose, as an `Ask` of llm.py."""
    return Reply(json.dumps(next_step(parse(thread)), ensure_ascii=False), CLIENT)


def next_step(events: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The next step for a thread's events, each its type and data."""
    now = events[_start(events) :]
    before = events[: _start(events)]
    kind, last = events[-1]
    strangers = [d["intent"] for k, d in now if k == "tool_call" and d["intent"] not in KNOWN]
    if kind == "error":
        return _end(f"That did not work: {last['message']}.")
    if kind == "approval" and not last["approved"]:
        return _end("It was not approved" + (f": {last['comment']}" if last["comment"] else "."))
    if strangers:
        return _end(f"I do not know the tool {strangers[-1]} and cannot go on from it. {ABILITIES}")
    said = [d["text"] for k, d in now if k == "user_input"]
    answered = [d["text"] for k, d in now if k == "human_response"]
    words = " ".join([*said, *answered]).lower().replace("’", "'")
    results = [d["result"] for k, d in now if k == "tool_response"]
    if _WANTS_REFUND.search(words):
        if results:
            return _end(str(results[-1]))
        return _end("Nothing is refunded.") if _NO_REFUND.search(words) else _refund([*said, *answered])
    earlier = [d["result"] for k, d in before if k == "tool_response"]
    try:
        steps = plan(" ".join(said), answered, earlier[-1] if earlier else None)
    except Unclear as question:
        return _question(str(question))
    if steps is None:
        return _small_talk(words)
    if len(results) < len(steps):
        intent, *operands = steps[len(results)]
        a, b = (results[x[1]] if isinstance(x, tuple) else x for x in operands)
        return {"intent": intent, "a": a, "b": b}
    return _end(str(results[-1]))


def _start(events: list[tuple[str, dict[str, Any]]]) -> int:
    """Where the current request begins: at a message, but not one sent while a call was open."""
    start = 0
    for i, (kind, _) in enumerate(events[1:], 1):
        before, data = events[i - 1]
        over = before in ("error", "tool_response", "approval") or data.get("intent") == "done_for_now"
        if kind == "user_input" and over:
            start = i
    return start


def _refund(texts: list[str]) -> dict[str, Any]:
    text = "\n".join(texts)
    order = _ORDER.search(text)
    rest = text.replace(order[0], " ", 1) if order else text
    amounts = [a or b for a, b in _MONEY.findall(rest)] or re.findall(_DIGITS, rest)
    amount = amounts[0].replace(",", "") if len(set(amounts)) == 1 else None
    reason = _reason(rest)
    if order and amount and reason:
        money = float(amount) if "." in amount else int(amount)
        order_id = next(filter(None, order.groups()))
        return {"intent": "process_refund", "order_id": order_id, "amount": money, "reason": reason}
    needed = {"the order number": order, "the amount, such as $12.50": amount, "the reason": reason}
    return _question(f"For the refund I still need {', '.join(n for n, found in needed.items() if not found)}.")


def _reason(text: str) -> str:
    """The part of the text that says most beyond the request itself, or nothing."""
    if given := re.search(r"\b(?:because|since|due to|reason:?)\s+([^\n]+)", text, re.IGNORECASE):
        return given[1].strip(" .!?")
    parts = [part.strip(" .!?") for part in re.split(r"[,;:?!\n]|\.(?!\d)", text)]
    best = max(parts, key=lambda part: len(_content(part)))
    if len(_content(best)) < 2:
        return ""
    return " ".join(_content(best)) if "refund" in best.lower() else best


def _content(part: str) -> list[str]:
    return [word for word in part.split() if word.lower() not in _NO_REASON and not re.search(r"\d", word)]


def _small_talk(words: str) -> dict[str, Any]:
    if re.search(r"\bthank|\bbye\b|that's all", words):
        return _end("You are welcome.")
    if re.search(r"\bmath|\bcalculat|\bcompute|\bnumbers?\b", words):
        return _question("Which numbers, and should I add, subtract, multiply or divide them?")
    if re.search(r"\bhello|\bhi\b|\bhey\b|\bgood (?:morning|day|evening)|\bwho are you|what can you", words):
        return _end(f"Hello! {ABILITIES}")
    return _end(f"I cannot answer that. {ABILITIES} For anything else choose a real model (README.md).")


def _end(message: str) -> dict[str, Any]:
    return {"intent": "done_for_now", "message": message}


def _question(message: str) -> dict[str, Any]:
    return {"intent": "request_more_information", "message": message}
