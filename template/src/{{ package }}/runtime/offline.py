"""The model that needs no key: rules, not a language model. It reads English arithmetic and refund
requests, and asks rather than guesses. It sees the thread's text and nothing else.

Choose a real model with AGENT_CLIENT; then nothing here is used.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from .events import DONE, QUESTIONS
from .offline_arithmetic import OPERATIONS, Unclear, json_number, plan
from .prompt import parse
from .reply import Reply

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
_NO_REFUND = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\bstop|\bcancel)(?: want| need| give me)?(?: a| the| any)? refund"
)
# A refund that is spoken about rather than asked for, or that somebody might not want.
_ABOUT_A_REFUND = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b)(?:(?!\bplease\b|[.!?]).)*\brefund|\b(?:the|my|your) refund\b"
    r"|\b(?:why|when|was|were|has|have|been|got)\b[^.!?]*\brefunded\b"
    r"|\b(?:already|cancel|forget|never ?mind|do nothing|not needed|would happen|i got)\b"
)
# An id ends where a blank or a stop does, or it may be only half of one: "12 345" is unclear.
_ID = (
    r"((?:[a-z]{1,5}-?\d[\w-]*+|\d[\w-]*+(?! \d))"
    r"(?![/'.]?\w)(?! (?:day|week|month|year|hour|minute)s?\b)"
    r"(?!,? (?:\d+,? )?(?:and|or|&) #?\d))"
)
_ORDER = re.compile(
    rf"\border(?:\s+(?:number|no\.?|id))?\s*[:#]?\s*#?{_ID}|#{_ID}|\b(?=[a-z]+-){_ID}",
    re.IGNORECASE,
)
# Commas only between thousands, since "12,50" may be one price or two; no digits close by.
_AMOUNT = (
    r"(?<![\w.,-])(?<!\d[ '’])((?:\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.\d{1,2})?)(?![\w-]|[.,'’ ]\d)"
)
_CURRENCY = r"(?:[$€£]|(?:dollars?|euros?|pounds?|usd|eur|bucks)\b)"
_MONEY = re.compile(
    rf"(?<![\w-])[$€£]\s?{_AMOUNT}|{_AMOUNT}\s?{_CURRENCY}"
    rf"|\brefund(?: me)?(?: of| for)? {_AMOUNT}|\bfor (?=\d[\d,]*\.\d\d\b){_AMOUNT}",
    re.IGNORECASE,
)
# Words that make an amount more or less than it says.
_NOT_ALL = re.compile(
    r"[%*¢]|\bx ?\d|(?<!charged )\btwice\b|\b(?:percent|half|thirds?|quarters?|fifths?|double|each"
    r"|per|except|but|minus|plus|times|cents?|hundred|thousand|million|billion|shipping|fees?|tax"
    r"|above|below|up to|less|more|least|most|on top|a day|two|three|four|five|six|seven|eight|nine"
    r"|ten|dozen|twenty)\b"
)
_BECAUSE = re.compile(r"\b(?:because|since|due to|reason:?)\s+([^\n]+)", re.IGNORECASE)
_NO_REASON = set(
    "a all an and are back bucks can could do dollars euros extra for get give hello hey hi i i'd"
    " id in is it like me money my need number of on order please pounds refund refunded refunds"
    " some that the their this to usd want with would yes you your".split()
)


async def ask(thread: str) -> Reply:
    """The next step by the rules: an `Ask` like any other (reply.py)."""
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
        return _refund([*said, *answered])
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


def _refund(texts: list[str]) -> dict[str, Any]:
    """The refund that the texts ask for, or a question about what is missing or unclear."""
    if not texts[1:] and _ABOUT_A_REFUND.search(texts[0].lower().replace("’", "'")):
        return _question("Shall something be refunded? Then which order, how much, and why?")
    order = _latest(texts, _orders)
    amount = _latest(texts, _amounts)
    reason = _reason("\n".join(texts))
    if answer := "".join(
        texts[1:][-1:]
    ):  # what they say when one thing was asked for is that thing
        if order and not amount and len(bare := re.findall(_AMOUNT, answer)) == 1:
            amount = None if _NOT_ALL.search(answer.lower()) else bare[0]
        elif amount and not order and len(ids := re.findall(rf"(?i)\b{_ID}", answer)) == 1:
            order = ids[0]
        elif order and amount and not reason:
            reason = answer.strip(" .!?")
    if order and amount and reason:
        money = json_number(amount.replace(",", ""))
        return {
            "intent": "process_refund",
            "order_id": order,
            "amount": money,
            "reason": reason,
        }
    needed = {"the order number": order, "the amount, as $12.50": amount, "the reason": reason}
    missing = [name for name, found in needed.items() if not found]
    return _question(f"For the refund I still need {', '.join(missing)}.")


def _latest(texts: list[str], find: Callable[[str], set[str]]) -> str | None:
    """The one thing that the latest text with any names. None if it names several, or none does."""
    for text in reversed(texts):
        if found := find(text):
            return found.pop() if len(found) == 1 else None
    return None


def _orders(text: str) -> set[str]:
    return {next(filter(None, groups)) for groups in _ORDER.findall(text)}


def _amounts(text: str) -> set[str]:
    rest = _ORDER.sub(" ; ", text)
    found = [next(filter(None, groups)) for groups in _MONEY.findall(rest)]
    unclear = len(found) > 1 or (found and _NOT_ALL.search(rest.lower()))
    return {*found, "unclear"} if unclear else set(found)


def _reason(text: str) -> str:
    """The part of the text that says most beyond the request itself, or nothing."""
    text = _ORDER.sub(" ", text)
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
    if re.search(
        r"\b(?:hello|hi|hey|good (?:morning|day|evening)|who are you|what can|help)\b", words
    ):
        return _end(f"Hello! {ABILITIES}")
    return _end(f"I cannot answer that. {ABILITIES}")


def _end(message: str) -> dict[str, Any]:
    return {"intent": DONE, "message": message}


def _question(message: str) -> dict[str, Any]:
    return {"intent": "request_more_information", "message": message}
