"""The model that needs no key: 60 conversations, and that it never guesses."""

import json
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases/messages.jsonl").read_text("utf-8").splitlines()
]
Events = list[tuple[str, dict[str, Any]]]
NextStep = Callable[[Events], dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def next_step(project: Path) -> NextStep:
    """The rules, from a thread's events to a step, by way of the thread's text."""
    sys.path.insert(0, str(project / "src"))
    try:
        offline = import_module("refund_desk.runtime.offline")
        prompt = import_module("refund_desk.runtime.prompt")
        thread = import_module("refund_desk.runtime.thread")
    finally:
        sys.path.remove(str(project / "src"))

    def ask(events: Events) -> dict[str, Any]:
        shown = [thread.Event(i, kind, data, "") for i, (kind, data) in enumerate(events)]
        return offline.next_step(prompt.parse(prompt.render(shown)))

    return ask


def is_right(expected: dict[str, Any], step: dict[str, Any]) -> bool:
    """Whether a step is the one that a case expects."""
    arguments = expected["args"]
    if step["intent"] not in expected["intents"]:
        return False
    if "a" in arguments:
        wanted, said = (arguments["a"], arguments["b"]), (step["a"], step["b"])
        return said == wanted or bool(expected.get("commutes") and said == wanted[::-1])
    if "order_id" in arguments:
        reasons = expected.get("reason_any", [""])
        return (step["order_id"], step["amount"]) == (
            arguments["order_id"],
            arguments["amount"],
        ) and any(reason in step["reason"].lower() for reason in reasons)
    return all(text in step["message"] for text in expected.get("message_contains", [""]))


def test_the_conversations_are_answered(next_step: NextStep) -> None:
    """At least 58 of the 60 steps are the expected ones."""
    steps = {c["id"]: next_step([(e["type"], e["data"]) for e in c["events"]]) for c in CASES}
    wrong = {c["id"]: steps[c["id"]] for c in CASES if not is_right(c["expect"], steps[c["id"]])}
    assert 60 == len(CASES)
    assert len(wrong) <= 2, wrong


def solve(next_step: NextStep, message: str, answers: tuple[str, ...] = ()) -> dict[str, Any]:
    """Play the calculator until the rules end or ask, and return that last step."""
    events: Events = [("user_input", {"text": message})]
    left = list(answers)
    for _ in range(30):
        step = next_step(events)
        call = len(events)
        events.append(("tool_call", step))
        if step["intent"] == "request_more_information" and left:
            events.append(("human_response", {"call": call, "text": left.pop(0)}))
        elif "a" in step:
            a, b = Fraction(Decimal(repr(step["a"]))), Fraction(Decimal(repr(step["b"])))
            result = {
                "add": lambda a, b: a + b,
                "subtract": lambda a, b: a - b,
                "multiply": lambda a, b: a * b,
                "divide": lambda a, b: a / b,
            }[step["intent"]](a, b)
            number = int(result) if result.denominator == 1 else float(result)
            events.append(("tool_response", {"call": call, "result": number}))
        else:
            return step
    raise AssertionError(f"{message!r} does not end")


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("take 100, subtract 40, then split it in 3", "20"),
        ("raise 701 by 20 and multiply the result by 3", "2163"),
        ("add 1, 2 and 3", "6"),
        ("(2 + 3) * 4 - 6 / 3", "18"),
        ("what is 1,000 plus $2.50?", "1002.5"),
        ("divide 100 by 8 and then double the result", "25"),
        ("half of ninety, then add forty-two", "87"),
        ("please subtract -3 from 5", "8"),
        ("Multiply 6 by 7!", "42"),
        ("what's 7 x 8", "56"),
        ("what is the product of 2, 3 and 4", "24"),
        ("5 times 6 minus 3", "27"),
        ("hello, add 3 and 4, please", "7"),
        ("what is (2+3)*4 then minus 5?", "15"),
        ("100 minus 20, then add 5, then double it", "170"),
        (".5 + 1", "1.5"),
        ("5 over 2", "2.5"),
        ("5 − 3", "2"),
        ("what do you get if you multiply 9 by 9", "81"),
        ("-5 + 3", "-2"),
    ],
)
def test_arithmetic_in_words(message: str, answer: str, next_step: NextStep) -> None:
    """Chains, lists, brackets and spelled numbers come out right."""
    assert {"intent": "done_for_now", "message": answer} == solve(next_step, message)


@pytest.mark.parametrize(
    "message",
    [
        "add 5 percent to 200",
        "increase 200 by 10%",
        "what is 2^10",
        "5 squared plus 1",
        "add three hundred and 4",
        "divide 10 by",
        "add apples and 3",
        "multiply 3 by 1e400",
        "subtract 1 and 2 from 10",
        "1 + (2",
        "add 1 and 2 or 3",
        "multiply 3 and 4 plus 2",
        "subtract 2 from 3 times 4",
        "subtract 5 from 20 divided by 2",
        "what is the sum of 1 to 10?",
        "divide 5 into 20",
        "raise 2 to 3",
        "I had 10 and ate 4. What is the total now?",
        "the difference of 10 and 4 divided by 2",
        "the sum of 2 and 3 multiplied by 4",
        "add 1 and 1, then multiply sum of 2 and 3 by 4",
        "2 + 2 and -3",
        "is 3 times -2 equal -6",
        "what is 0x10 + 5",
        "12345678901234.12345 - 12345678901234",
        "start with 10, then add 3 and 4",
        "10 and then add 2 and 3",
        "Take 50. Add 5 and 6. Divide by 2.",
        "what is 10, minus 3 times 2?",
        "8 then minus 3 plus 1",
        "double 5 and triple 2",
        "add 2 and 3 and add 4 and 5",
    ],
)
def test_what_the_rules_cannot_read_is_asked(message: str, next_step: NextStep) -> None:
    """Half an understanding is a question, never a number."""
    assert "request_more_information" == solve(next_step, message)["intent"]


@pytest.mark.parametrize(
    ("message", "answers", "answer"),
    [
        ("what is the sum?", ("3 and 4",), "7"),
        ("please divide 10 by", ("by 5 I mean",), "2"),
        ("can you do some math for me?", ("multiply 3 and 4",), "12"),
        ("add 5 to it", ("add 5 to 6",), "11"),
    ],
)
def test_an_answer_completes_the_request(
    message: str, answers: tuple[str, ...], answer: str, next_step: NextStep
) -> None:
    """What a person answers fills the gap, or replaces the request."""
    assert answer == solve(next_step, message, answers)["message"]


@pytest.mark.parametrize(
    "amount",
    [
        "$12,50",
        "$5 or $6",
        "-10 dollars",
        "-$5",
        "50 cents",
        "20% of $100",
        "half of the $100",
        "everything but the $5 shipping",
        "3 items at $12.50 each",
        "two thirds of $60",
        "twice the $50",
        "$12.50 x 2",
        "a $12.50 blender and a $12.50 mug",
        "up to $50",
        "$12 and 50¢",
        "1 250 €",
        "1'250 €",
        "$1 250.00",
        "$5 million",
        "12 hundred dollars",
        "$1.299,50",
        "3 days late",
        "2 plates",
        "from 2024",
        "$" + "9" * 800,
    ],
)
def test_an_amount_is_never_guessed(amount: str, next_step: NextStep) -> None:
    """An amount that is missing or may be read in two ways is asked for."""
    text = f"please refund order A-17, {amount}, it broke apart"
    step = next_step([("user_input", {"text": text})])
    assert "request_more_information" == step["intent"]
    assert "the amount" in step["message"]


@pytest.mark.parametrize(
    "order",
    [
        "17 and 18",
        "17, 18 and 19",
        "A-17 and order A-18",
        "12 345",
        "2024/17",
        "A-17, not COVID-19",
        "2 weeks ago",
        "",
        "x",
    ],
)
def test_an_order_is_never_guessed(order: str, next_step: NextStep) -> None:
    """An order that is missing or may be another one is asked for."""
    text = f"please refund $5 for order {order}, it broke apart"
    step = next_step([("user_input", {"text": text})])
    assert "request_more_information" == step["intent"]
    assert "the order number" in step["message"]


@pytest.mark.parametrize(
    ("message", "order", "amount"),
    [
        ("I placed my order 2 weeks ago. refund A-17, $5, it broke apart", "A-17", 5),
        ("refund ORDER-12345, $1,299.50, it broke apart", "ORDER-12345", 1299.5),
        ("it does not work please refund order A-17 12.50 dollars", "A-17", 12.5),
        ("refund order 00123, €5, it broke apart", "00123", 5),
        ("refund order A-17 for 12.50, it was broken on arrival", "A-17", 12.5),
    ],
)
def test_a_refund_is_what_was_asked_for(
    message: str, order: str, amount: float, next_step: NextStep
) -> None:
    """Order and amount are those of the message."""
    step = next_step([("user_input", {"text": message})])
    assert ("process_refund", order, amount) == (step["intent"], step["order_id"], step["amount"])


@pytest.mark.parametrize(
    "message",
    [
        "please do not, under any circumstances, refund order A-17, $12.50, it broke apart",
        "I don't want you to ever refund order A-17, $12.50, it broke apart",
        "Why was order A-17 refunded $12.50? it broke apart",
        "the refund of $12.50 for order A-17 arrived, thank you",
        "refund order A-17, $12.50, actually cancel that please",
        "I got $12.50 back for order A-17 already, thanks, the mug was cracked",
        "What would happen if I asked you to refund order A-17, $12.50, because it broke?",
        "refund order 5 for $10",
        "refund $10, it broke into pieces",
    ],
)
def test_a_refund_is_asked_about_when_in_doubt(message: str, next_step: NextStep) -> None:
    """A refund that is only spoken of, or that lacks something, is a question."""
    assert "request_more_information" == next_step([("user_input", {"text": message})])["intent"]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("please refund order A-17, it arrived broken", "it was 12.50"),
        ("please refund order A-17, $12.50", "broken"),
        ("please refund $12.50, it arrived broken", "A-17"),
    ],
)
def test_the_answer_to_the_one_question_is_taken(
    message: str, answer: str, next_step: NextStep
) -> None:
    """What a person says when one thing was missing is that thing."""
    events: Events = [("user_input", {"text": message})]
    events.append(("tool_call", next_step(events)))
    events.append(("human_response", {"call": 1, "text": answer}))
    step = next_step(events)
    assert ("process_refund", "A-17", 12.5) == (step["intent"], step["order_id"], step["amount"])


def test_a_percentage_stays_unread_after_an_answer(next_step: NextStep) -> None:
    """An answer does not turn a sign that the rules cannot read into none."""
    assert "message" in solve(next_step, "increase 50 by 10%", ("10",))
    step = solve(next_step, "increase 50 by 10%", ("10",))
    assert "request_more_information" == step["intent"]


def test_a_refund_that_is_not_wanted_is_not_made(next_step: NextStep) -> None:
    """A refusal in the message is not read as a request."""
    for message in ("do not refund order 5 $10, it broke in two", "I don't want a refund of $3"):
        step = next_step([("user_input", {"text": message})])
        assert {"intent": "done_for_now", "message": "Nothing is refunded."} == step


def test_an_unknown_tool_is_said_to_be_unknown(next_step: NextStep) -> None:
    """A thread with a tool that the rules do not know ends with a word about it."""
    events: Events = [
        ("user_input", {"text": "where is order 5?"}),
        ("tool_call", {"intent": "order_status", "order_id": "5"}),
        ("tool_response", {"call": 1, "result": "sent"}),
    ]
    assert "order_status" in next_step(events)["message"]


def test_what_is_neither_sums_nor_refunds_is_said(next_step: NextStep) -> None:
    """The rules say what they are rather than answer something else."""
    step = next_step([("user_input", {"text": "write a poem about the sea"})])
    assert "done_for_now" == step["intent"]
    assert "not a language model" in step["message"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    """No message makes the rules fail: there is always a step with an intent."""
    offline = sys.modules["refund_desk.runtime.offline"]
    assert offline.next_step([("user_input", {"text": text})])["intent"] in offline.KNOWN


NUMBERS = st.integers(-999, 999) | st.decimals(-999, 999, places=2).map(float)
OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


@settings(max_examples=300, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=5), st.data())
def test_an_expression_means_what_it_means_in_python(numbers: list[float], data: Any) -> None:
    """The calls for an expression give, with exact arithmetic, its exact value."""
    offline = sys.modules["refund_desk.runtime.offline"]
    text = repr(numbers[0])
    for number in numbers[1:]:
        text += f" {data.draw(st.sampled_from(sorted(OPERATORS)))} {number!r}"
    try:
        expected = eval(re.sub(r"\d+(?:\.\d+)?", r"Fraction('\g<0>')", text))
    except ZeroDivisionError:
        return
    results: list[Fraction] = []
    steps = sys.modules["refund_desk.runtime.offline_arithmetic"].plan(text, [], None)
    for intent, *operands in steps:
        a, b = (results[x[1]] if isinstance(x, tuple) else Fraction(repr(x)) for x in operands)
        value = {"add": a + b, "subtract": a - b, "multiply": a * b}
        results.append(value[intent] if intent in value else a / b)
    assert expected == results[-1]
    assert offline.next_step([("user_input", {"text": text})])["intent"] == steps[0][0]


@pytest.mark.parametrize(
    "part", ["order ", "$1 ", "(", "-", "1+", "add 1 and ", "no ", "#a", "\n,"]
)
def test_a_long_text_takes_no_time(part: str, next_step: NextStep) -> None:
    """A text of any length is answered at once; this hangs where a pattern is not linear."""
    for length in (900, 400_000):
        assert next_step([("user_input", {"text": part * (length // len(part))})])["intent"]
