"""What a model gives back, and what can be asked for it.

Everything that can answer is an `Ask`, a plain function: the language models of llm.py, the rules
of offline.py, the scripted model of the tests. Yours fits in too.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tokens:
    """What a reply cost, as the provider counted it."""

    input: int
    output: int


@dataclass(frozen=True)
class Reply:
    """A model's reply as it was written. client: who answered. tokens: where they are known.

    flaw: why it is no whole text, as one that was cut off; such a reply is not read.
    """

    text: str
    client: str
    tokens: Tokens | None = None
    flaw: str | None = None


Ask = Callable[[str], Awaitable[Reply]]
"""From the text of a thread to a reply. Raises Unavailable when there is none."""
