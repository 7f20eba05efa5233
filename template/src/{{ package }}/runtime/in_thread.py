"""Plain functions beside the event loop, each in a thread of its own, holding up nobody."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


async def in_thread(work: Callable[[], Any]) -> Any:
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
