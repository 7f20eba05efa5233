"""A stand-in for a payment provider, and what is looked at where money is at stake."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support import Request, Response

REFUND = "refund order {}, $12.50, it arrived broken"
OVER_HTTP = '''

def send_refund(order_id: str, amount: Decimal, reason: str, key: str) -> None:
    """Pay at the stand-in of the tests."""
    import json
    import os
    import urllib.request

    body = json.dumps({"order": order_id, "amount": str(amount)}).encode()
    request = urllib.request.Request(os.environ["PAY_URL"], body, {"Idempotency-Key": key})
    urllib.request.urlopen(request, timeout=60).read()
'''


@dataclass
class Provider:
    """A payment provider. requests: the orders asked for. effects: the order paid, by its key.
    broken: the orders that it answers with an error.
    """

    seconds: float = 0.0
    requests: list[str] = field(default_factory=list)
    effects: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def respond(self, request: Request) -> Response:
        """Pay once for each key, and answer late: the window that a kill hits."""
        order = request.json["order"]
        self.requests.append(order)
        if order in self.broken:
            return Response({"error": "no"}, 500)
        self.effects.setdefault(request.headers["idempotency-key"], order)
        time.sleep(self.seconds)
        return Response({"paid": order})


def wait_for(what: Callable[[], Any], seconds: float = 30) -> Any:
    """What it gives, as soon as that is something."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
    return found


def is_legal(events: list[dict[str, Any]]) -> bool:
    """Whether every call is settled once, and every result is that of a call before it."""
    calls = {e["seq"] for e in events if e["type"] == "tool_call"}
    ends = Counter(e["data"]["call"] for e in events if _settles(e))
    in_order = [e["seq"] for e in events] == list(range(len(events)))
    last = events[-1]["seq"]
    return in_order and all(ends[seq] == 1 for seq in calls - {last}) and set(ends) <= calls


def _settles(event: dict[str, Any]) -> bool:
    is_refusal = event["type"] == "approval" and not event["data"]["approved"]
    return event["type"] in {"tool_response", "error"} or is_refusal
