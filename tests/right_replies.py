"""What a good model replies in the BAML tests of each tool set, and what is nearly that."""

import json
from typing import Any

Step = dict[str, Any]

RIGHT: dict[str, dict[str, Step]] = {
    "human": {
        "hello!": {"intent": "done_for_now", "message": "Hello!"},
        "please do the thing": {"intent": "request_more_information", "message": "Which?"},
        "not this week": {"intent": "done_for_now", "message": "No."},
    },
    "calculator": {
        "can you multiply": {"intent": "multiply", "a": 4, "b": 3},
        '"result": 12}': {"intent": "divide", "a": 12, "b": 2},
        "subtract 8 from 30": {"intent": "subtract", "a": 30, "b": 8},
        '"result": 7}': {"intent": "done_for_now", "message": "It is 7."},
    },
    "customer-support": {
        "refund order A-17": {
            "intent": "process_refund",
            "order_id": "A-17",
            "amount": 12.5,
            "reason": "arrived broken",
        },
        "please refund order 12345": {"intent": "request_more_information", "message": "How much?"},
        "outside the return window": {"intent": "done_for_now", "message": "It was refused."},
    },
}
"""By the tool set whose test it is: words of the test's thread, and the reply."""

# One thing of the right reply is wrong. Of those whose thread is answered by a text for a person
# the intent is what counts, and the text only where a test looks at it.
NEARLY: dict[str, list[Step]] = {
    "hello!": [{"message": ""}, {"intent": "request_approval_from_manager"}],
    "please do the thing": [{"intent": "done_for_now"}],
    "not this week": [{"intent": "request_approval_from_manager"}],
    "can you multiply": [{"intent": "add"}, {"a": 5}, {"b": -3}],
    '"result": 12}': [{"intent": "multiply"}, {"a": 2, "b": 12}, {"b": 3}],
    "subtract 8 from 30": [{"intent": "add"}, {"a": 8, "b": 30}],
    '"result": 7}': [{"message": "It is 8."}, {"intent": "request_more_information"}],
    "refund order A-17": [
        {"order_id": "17"},
        {"amount": 13},
        {"amount": 12},
        {"reason": "none"},
    ],
    "please refund order 12345": [{"intent": "done_for_now"}],
    "outside the return window": [{"intent": "request_more_information"}],
}


def reply_to(messages: list[dict[str, Any]], wrong: dict[str, Step] | None = None) -> str:
    """The right reply to the thread of a BAML test.

    wrong: what to change in some of them, by the words of their threads.
    """
    thread = messages[-1]["content"]
    every = [pair for replies in RIGHT.values() for pair in replies.items()]
    words, reply = next(pair for pair in reversed(every) if pair[0] in thread)
    return json.dumps({**reply, **(wrong or {}).get(words, {})})
