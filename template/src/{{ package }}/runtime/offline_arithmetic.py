"""English arithmetic as calls of the calculator, for offline.py.

Each clause is rewritten, phrase by phrase, into an expression such as `r / 2`, where r is the
result so far. What then holds anything but numbers and operators was not understood, and becomes
a question. Add a phrase to REWRITES, or a word without meaning to IGNORED.
"""

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

OPERATIONS = {"add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": ast.Div}

Step = tuple[str, Any, Any]  # an intent and two operands; ("result", i) is the result of step i
Rewrite = str | Callable[[re.Match[str]], str]

_WORDS: Sequence[str] = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS: Sequence[str] = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_SPELLED = re.compile(
    rf"\b(?:({'|'.join(_TENS[2:])})(?:[ -]({'|'.join(_WORDS[1:10])}))?|({'|'.join(_WORDS)}))\b"
)
_N = r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%]|\.\d)"
_X = rf"({_N}|\br\b)"
# After a phrase no operator may follow: who can say what "multiply 3 and 4 plus 2" means?
_END = (
    r"(?![ ,]*(?:[-+*/×÷^(]|(?:plus|minus|times|multiplied|divided|over|by|to|and|or|of|from)\b))"
)


def _list(glue: str) -> str:
    """A pattern for two or more operands, with commas, "and" or another word between them."""
    return rf"((?:{_N}|\br\b)(?:(?:,? and|,|{glue}) (?:{_N}|\br\b))+){_END}"


def _joined(operator: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f" {operator} ".join(re.findall(rf"{_N}|\br\b", match[1]))


REWRITES: list[tuple[str, Rewrite]] = [
    # What stands for the result so far
    (r"\b(?:result|answer|value) of\b", ""),
    (r"\b(?:the |that |this )?(?:last |previous )?(?:result|answer)\b|\b(?:it|that|this)\b", "r"),
    (
        r"\b(?:the|that|this) (?:sum|product|difference|quotient)\b(?! of| between| -?\d)(?=.*\w)",
        "r",
    ),
    # Two numbers, in the order in which they are said or in the other
    (rf"\bhow many times (?:does|do|can|will) {_X} (?:go|fit) into {_X}{_END}", r"\2 / \1"),
    (rf"\b(?:subtract|take|take away|remove|deduct) {_X}(?: away)? from {_X}{_END}", r"\2 - \1"),
    (rf"\bdifference (?:between|of) {_X} and {_X}{_END}", r"\1 - \2"),
    (rf"\b(?:decrease|reduce|lower) {_X} by {_X}{_END}", r"\1 - \2"),
    (rf"\bdivide {_X} by {_X}{_END}", r"\1 / \2"),
    (rf"\b(?:split|share) {_X} (?:by|into|in|among|between) {_X}{_END}", r"\1 / \2"),
    (rf"\bquotient of {_X} and {_X}{_END}", r"\1 / \2"),
    (rf"\b(?:half of|half|halve) {_X}{_END}", r"\1 / 2"),
    (rf"\b(?:a )?quarter of {_X}{_END}", r"\1 / 4"),
    (rf"\b(?:double|twice) {_X}{_END}", r"\1 * 2"),
    (rf"\btriple {_X}{_END}", r"\1 * 3"),
    (rf"\b(?:multiply|product of) {_list(' by| with')}", _joined("*")),
    (rf"\badd {_list(' to')}", _joined("+")),
    (rf"\b(?:sum|sum of|total of) {_list(' plus')}", _joined("+")),
    (rf"\b(?:increase|raise) {_X} by {_X}{_END}", r"\1 + \2"),
    (rf"\bhad {_X} and (?:then )?(?:earned|got|received|found|won|made) {_X}", r"\1 + \2"),
    # Words between numbers
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\btimes\b|\bmultiplied by\b|×|(?<=\d)(?<!\b0) ?x ?(?=\d)", "*"),
    (r"\bdivided by\b|\bover\b|÷", "/"),
    # One number: the other is the result so far
    (rf"^(?:add|increase by|raise by|\+) ?{_X}{_END}", r"r + \1"),
    (rf"^(?:subtract|take away|take off|remove|deduct|- ) ?{_X}{_END}", r"r - \1"),
    (rf"^(?:multiply(?: by)?|\*) ?{_X}{_END}", r"r * \1"),
    (rf"^(?:divide by|/) ?{_X}{_END}", r"r / \1"),
]
IGNORED = (  # before or after the numbers, never between them
    "a again altogether and are calculate can compute could do equal equals find for get give"
    " groups had have hello hey hi how i if is know let's me mean meant more much need now parts"
    " people pieces please so tell thanks the then to together total want was ways what what's"
    " with would you"
).split()
_WORD = rf"(?<![\w'])(?:{'|'.join(IGNORED)})(?![\w'])"
_EDGES = re.compile(rf"^(?:[ ,?!:]|{_WORD})+|(?:[ ,.?!=]|{_WORD})+$")
_VERBS = (
    "add|subtract|multipl|divid|split|share|double|triple|halve|increase|raise|decrease|reduce"
    "|remove|deduct"
)
_SPLIT = re.compile(
    r",?\s*(?:\band )?\b(?:then|after that|afterwards)\b,?|;"
    rf"|(?:,? and|,|\.)\s+(?=(?:{_VERBS}|take|plus|minus|times))"
)
_ARITHMETIC = re.compile(
    rf"\b(?:{_VERBS}|sum\b|total\b|product of|difference between|quotient|half of|twice|plus|minus"
    r"|times)|\d\s*[-+*/×÷^x]\s*\(?-?\.?\d|\d over \d|\d\s?%|\btake \d"
)
_START = re.compile(rf"(?:take|start with|start from) ({_N})$")
_INTENTS = {operator: intent for intent, operator in OPERATIONS.items()}


class Unclear(Exception):
    """A request that is no arithmetic that the rules can read; the text is the question."""


def plan(request: str, answers: list[str], previous: Any) -> list[Step] | None:
    """The calls that answer a request, or None if there is no arithmetic in it.

    request: the user's message. answers: what they said when asked about it. previous: the last
    result of an earlier request, or None. Raises Unclear where something is missing.
    """
    text = _digits(request)
    replies = [_digits(answer) for answer in answers]
    if replies and _ARITHMETIC.search(replies[-1]):
        text, replies = replies[-1], []  # the answer is the request, said better
    if not _ARITHMETIC.search(text):
        return None
    steps: list[Step] = []
    result, begun = previous, False
    for clause in filter(None, (_trimmed(part) for part in _SPLIT.split(text))):
        if not _EDGES.sub("", clause):
            continue
        start = _START.match(clause)
        if start and not begun:
            result, begun = json_number(start[1]), True
            continue
        try:
            result = _add_steps(clause, result, steps, begun)
        except Unclear:
            if not replies:
                raise
            readable = re.sub(r"\S*[^\w\s.,?!'+%-]\S*", " ", clause)
            numbers = " and ".join(re.findall(_N, replies.pop(0)))
            result = _add_steps(f"{readable} {numbers}", result, steps, begun)
        begun = True
    if not steps:
        raise Unclear("What should I do with that number?")
    return steps


def _trimmed(clause: str) -> str:
    return clause.lstrip(" ,?!").rstrip(" ,.?!")  # a point in front may be that of ".5"


def json_number(text: str) -> int | float:
    """Digits as a number: whole where there is no point in them."""
    return float(text) if "." in text else int(text)


def _digits(text: str) -> str:
    """Lower case, with numbers as digits: "Forty-two" is 42, "$1,250.50" is 1250.50."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower().replace("’", "'"))
    text = text.replace("−", "-").replace("–", "-")
    text = re.sub(r"[$€£]\s?(?=\d)|(?<=\d) (?:dollars?|euros?|pounds?|bucks)\b", "", text)

    def number(match: re.Match[str]) -> str:
        tens, unit, small = match.groups()
        if small:
            return str(_WORDS.index(small))
        return str(10 * _TENS.index(tens) + (_WORDS.index(unit) if unit else 0))

    return _SPELLED.sub(number, text)


def _add_steps(clause: str, result: Any, steps: list[Step], begun: bool) -> Any:
    """Add the calls of one clause to `steps`; return the operand that stands for its result.

    begun: whether a clause came before, whose result this one has to use.
    """
    text = re.sub(r"^(?:(?:and|now|also|so|then)\b[ ,]*)+", "", " ".join(clause.split()))
    for pattern, phrase in REWRITES:
        text = re.sub(pattern, phrase, text)
    expression = _EDGES.sub("", text)
    found: list[Step] = []
    if re.fullmatch(r"[-+*/().\dr ]+", expression) and _is_exact(expression):
        with suppress(SyntaxError, RecursionError, MemoryError, KeyError, ValueError):
            tree = ast.parse(expression, mode="eval").body
            value = _walk(tree, result, found, len(steps))
            if not begun or "r" in expression:
                steps += found
                return value
    raise Unclear(
        f'I cannot read "{clause}" as arithmetic.'
        " Which numbers, and should I add, subtract, multiply or divide them?"
    )


def _is_exact(expression: str) -> bool:
    """Whether a float holds every number as it is written."""
    numbers = re.findall(r"\d+\.\d+", expression)
    return all(Decimal(number) == Decimal(repr(float(number))) for number in numbers)


def _walk(node: ast.expr, result: Any, steps: list[Step], done: int) -> Any:
    """Add the steps of an expression, innermost first; return the operand it stands for."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name(id="r") if result is not None:
            return result
        case ast.BinOp(left=left, op=op, right=right):
            a = _walk(left, result, steps, done)
            b = _walk(right, result, steps, done)
            steps.append((_INTENTS[type(op)], a, b))
            return ("result", done + len(steps) - 1)
    raise ValueError("no arithmetic")
