"""Work on the store beside the event loop, so that no disk and no other process holds it up."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..database import Database, database_path
from ..settings import Settings
from ..store import Store

T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for another process that is writing
READERS = 4  # reads at once; more gain nothing, since Python runs one at a time


class Stores:
    """The store, for three kinds of work: one thread writes, one watches, and a few read. Each has
    a connection of its own.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = threading.local()
        self._first: Database | None = None
        self._writer = ThreadPoolExecutor(1, "write")
        self._watcher = ThreadPoolExecutor(1, "watch")
        self._readers = ThreadPoolExecutor(READERS, "read")

    async def read(self, work: Callable[[Store], T]) -> T:
        """What a function finds in the store."""
        return await self._run(self._readers, work)

    async def write(self, work: Callable[[Store], T]) -> T:
        """What a function returns that writes. It is done even if nobody waits for it any more."""
        return await self._run(self._writer, work)

    async def version(self) -> int:
        """Another number whenever something was written, by whichever process. It waits for no
        read, however long that takes.
        """
        return await self._run(self._watcher, lambda store: store.database.version())

    def close(self) -> None:
        """End when what was begun is done."""
        for executor in (self._writer, self._watcher, self._readers):
            executor.shutdown()

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Store], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, self._do, work)

    def _do(self, work: Callable[[Store], T]) -> T:
        if not hasattr(self._own, "store"):
            self._own.store = self._open()
        self._own.store.database.require_same_file()
        return work(self._own.store)

    def _open(self) -> Store:
        """Another connection to the file that was there first."""
        if self._first:
            self._first.require_same_file()
        database = Database(database_path(self._settings), PATIENCE)
        self._first = self._first or database
        return Store(database)
