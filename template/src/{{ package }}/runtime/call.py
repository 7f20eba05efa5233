"""A tool call that is in the log and not done yet: what handle_next_step gets to work with."""

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from .errors import ToolError
from .steps import NextStep, load_step

if TYPE_CHECKING:
    from .thread import Thread

P = ParamSpec("P")


@dataclass(frozen=True)
class Call:
    """seq: its place in the log. data: the step as it is written there, which is what a person
    approves and what runs. approved: whether a person did.
    """

    thread: "Thread"
    seq: int
    data: dict[str, Any]
    approved: bool

    @property
    def step(self) -> NextStep:
        """The stored step. Raises ToolError if its tool is gone or has other fields by now."""
        return load_step(self.data)

    @property
    def key(self) -> str:
        """The same for every try of this call, so that a provider can tell a repetition."""
        return f"{self.thread.id}:{self.seq}"

    async def run(self, tool: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> None:
        """Run a function, plain or async, and write what it returns to the thread.

        A plain function runs in a thread of its own, so that it holds nobody up. Raises ToolError
        for whatever the function raises and for a result that is not JSON.
        """
        try:
            if inspect.iscoroutinefunction(tool):
                result = await tool(*args, **kwargs)
            else:
                result = await asyncio.to_thread(tool, *args, **kwargs)
            json.dumps(result, allow_nan=False)
        except ToolError:
            raise
        except Exception as error:
            raise ToolError(str(error) or "no message", kind=type(error).__name__) from error
        self.thread.append("tool_response", {"call": self.seq, "result": result})

    def require_result(self) -> None:
        """Raise ToolError if the call was handled and is open still: it would run for ever."""
        if self.thread.status == "running" and self.thread.open_call():
            raise ToolError(f"{self.data['intent']} wrote no result; its arm has to `call.run` it")
