"""What happens in a thread, as it happens: server-sent events, with ids, for any number of readers.

Each event of the log is a message whose id is its `seq`; a change of what the thread waits for, or
of how it ended, is an event `thread` with the one JSON shape, but for its events.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from ..errors import StoreError
from ..events import Event
from ..readable import printable
from ..show import words
from ..store import Store
from ..thread import Thread
from .stores import Stores

LOOK = 0.15  # seconds between two looks for something new
SILENCE = 15.0  # seconds after which a comment shows that the stream is alive

log = logging.getLogger(__name__)

AT_ONCE = 500  # events

News = tuple[str, int, dict[str, Any]]  # messages, how many, and the thread without its events


class Streams:
    """The streams of this process; one look at the store wakes all of them."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._news = asyncio.Event()
        self._readers = 0
        self._is_ending = False

    async def watch(self) -> None:
        """Wake the streams when something was written, until `end`."""
        seen = None
        while not self._is_ending:
            await asyncio.sleep(LOOK)
            if self._readers:
                with suppress(StoreError):
                    if seen != (seen := await self._stores.version()):
                        self._wake()
        self._wake()

    def end(self) -> None:
        """Let every stream end; its readers come again, with the last id they have seen."""
        self._is_ending = True

    async def follow(self, thread_id: str, since: int) -> AsyncIterator[bytes]:
        """A thread from one event on, until the reader leaves or the server ends."""

        def look(store: Store) -> News:
            events = store.events(thread_id, since, AT_ONCE)
            return "".join(map(_message, events)), len(events), store.summary(thread_id)

        def first_look(store: Store) -> dict[str, Any]:
            return Thread(store, thread_id).summary()  # more than was known when it was written

        self._readers += 1
        try:
            yield b"retry: 1000\n\n"
            written: dict[str, Any] | None = None
            while not self._is_ending:
                news = self._news
                text, count, now = await self._stores.read(look)
                since += count
                if count == AT_ONCE:
                    yield text.encode()
                    continue
                if now != written:
                    shape = now if written else await self._stores.read(first_look)
                    text += f"event: thread\ndata: {json.dumps(shape)}\n\n"
                written = now
                if text:
                    yield text.encode()
                try:
                    await asyncio.wait_for(news.wait(), SILENCE)
                except TimeoutError:
                    yield b": still here\n\n"
        except StoreError as error:
            log.error("a stream ends: %s", error)
        finally:
            self._readers -= 1

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def _message(event: Event) -> str:
    """An event as in the one JSON shape, and what it says to a person, by whom."""
    whose, said = words(event)
    data = {**asdict(event), "whose": whose, "text": printable(said)}
    return f"id: {event.seq}\ndata: {json.dumps(data)}\n\n"
