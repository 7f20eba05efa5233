"""A tool call that is in the log and not done yet: what handle_next_step gets to work with."""

import asyncio
import contextvars
import inspect
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from ..policy import policy_of
from .baml import load_step
from .errors import ToolError
from .steps import NextStep

if TYPE_CHECKING:
    from .thread import Thread

P = ParamSpec("P")


@dataclass(frozen=True)
class Call:
    """seq: its place in the log. data: the step as it is written there, which is what a person
    approves and what runs. approved: whether a person did. chosen: the step, where the model has
    just chosen it.
    """

    thread: "Thread"
    seq: int
    data: dict[str, Any]
    approved: bool
    chosen: NextStep | None = None

    @property
    def step(self) -> NextStep:
        """The stored step. Raises ToolError if its tool is gone or has other fields by now."""
        return load_step(self.data) if self.chosen is None else self.chosen

    @property
    def key(self) -> str:
        """The same for every try of this call, so that a provider can tell a repetition."""
        return f"{self.thread.id}:{self.seq}"

    async def run(self, tool: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> None:
        """Run a function, plain or async, and write what it returns to the thread.

        A plain function runs in a thread of its own, so that it holds nobody up. Raises ToolError
        for whatever the function raises and for a result that is not JSON, and for a call that
        was cut off before, unless its policy says that it may run again.
        """
        intent = self.data["intent"]
        if self.seq in self.thread.started and policy_of(intent).effect == "ask_human":
            raise ToolError("it was cut off, and nobody knows whether it happened", "Unknown")
        self.thread.started.add(self.seq)
        try:
            if inspect.iscoroutinefunction(tool):
                result = await tool(*args, **kwargs)
            else:
                result = await _in_thread(lambda: tool(*args, **kwargs))
            json.dumps(result, allow_nan=False)
        except ToolError:
            raise
        except (Exception, SystemExit) as error:
            raise ToolError(_text(error), kind=type(error).__name__) from error
        self.thread.append("tool_response", {"call": self.seq, "result": result})

    def require_result(self) -> None:
        """Raise ToolError if the call was handled and is open still: it would run for ever."""
        if self.thread.status == "running" and self.thread.open_call():
            raise ToolError(f"{self.data['intent']} wrote no result; its arm has to `call.run` it")


async def _in_thread(work: Callable[[], Any]) -> Any:
    """What a plain function returns or raises.

    Not asyncio.to_thread: its threads keep a process alive after Ctrl-C, and a StopIteration from
    one of them never arrives.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def set_done(outcome: tuple[Any, BaseException | None]) -> None:
        if not done.done():
            done.set_result(outcome)

    def target() -> None:
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = (work(), None)
        except BaseException as error:
            outcome = (None, error)
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(set_done, outcome)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(target,), daemon=True).start()
    result, error = await done
    if isinstance(error, StopIteration):
        raise RuntimeError("StopIteration") from error  # a coroutine cannot raise it
    if error is not None:
        raise error
    return result


def _text(error: BaseException) -> str:
    try:
        return str(error) or "no message"
    except Exception:
        return "no message"
