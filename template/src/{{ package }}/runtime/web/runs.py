"""The runs of this process, in the background: all of them in one event loop of their own.

Nothing that a run waits for holds up a request, and no client that leaves holds up a run. The
numbers may be changed.
"""

import asyncio
import logging
import threading
import time
from contextlib import suppress

from ...agent import agent_loop
from ..errors import Busy, Fenced, StopRun, StoreError
from ..readable import compact, error_text
from ..reply import Ask, Reply
from ..settings import Limits, Settings
from ..store import open_store
from ..thread import Thread

MOST = 1000  # runs at once; more wait for their turn
SWEEP = 5.0  # seconds between two looks for threads that a process has left behind
PATIENCE = 60.0  # seconds before a thread is tried again that the store could not read or write
GRACE = 8.0  # seconds that a tool has to end in, when the server is stopped

log = logging.getLogger(__name__)


class _Stopping(Exception):
    """The server ends; the model is not asked any more."""


class Runs:
    """Threads that go on by themselves. ask: the model. `start` and `stop` may be called from any
    thread of the process.
    """

    def __init__(self, ask: Ask, limits: Limits, settings: Settings) -> None:
        self._ask, self._limits, self._settings = ask, limits, settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="runs", daemon=True)
        self._wanted: set[str] = set()  # to be run, or to be run once more
        self._running: dict[str, asyncio.Task[None]] = {}
        self._asking: set[asyncio.Future[Reply]] = set()
        self._put_off: dict[str, float] = {}  # what the store cannot read, and until when
        self._slots = asyncio.Semaphore(MOST)
        self._ended = asyncio.Event()
        self._is_ending = False

    def begin(self) -> None:
        """Run what others have left behind, now and from time to time."""
        self._thread.start()

    def start(self, thread_id: str) -> None:
        """Run a thread until it rests; soon, and in turn with others."""
        with suppress(RuntimeError):  # the loop has ended; whoever comes next finds the thread
            self._loop.call_soon_threadsafe(self._want, thread_id)

    @property
    def are_alive(self) -> bool:
        """Whether threads go on."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End: ask no model any more, let tools finish that have begun, and keep every thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end)
        self._thread.join(GRACE + 2)

    def _live(self) -> None:
        """Run the loop until the end, whatever a tool does to it: a SystemExit in a task of its own
        leaves the loop, `stop` stops it, and a tool may cancel tasks that are not its own.
        """
        sweeping = self._loop.create_task(self._sweep())
        while not (self._is_ending and sweeping.done()):
            try:
                self._loop.run_until_complete(sweeping)
            except BaseException:
                log.exception("the runs were broken off, and go on")
                if sweeping.done() and not self._is_ending:
                    sweeping = self._loop.create_task(self._sweep())
        self._loop.close()

    async def _sweep(self) -> None:
        """Look for threads that nobody runs, until the end."""
        self._store = open_store(self._settings)
        before: set[str] | None = None
        while not self._is_ending:
            found = self._left_behind()
            # One that has just been begun elsewhere is about to be claimed there.
            for thread_id in found if before is None else found & before:
                self._want(thread_id)
            before = found
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), SWEEP)
        if left := set(self._running.values()):
            _, left = await asyncio.wait(left, timeout=GRACE)
            for task in left:  # what such a call did, the next process finds out, or a person
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        self._store.database.close()

    def _left_behind(self) -> set[str]:
        now = time.monotonic()
        put_off = {thread_id for thread_id, until in self._put_off.items() if until > now}
        try:
            return set(self._store.interrupted()) - self._running.keys() - put_off
        except Exception as error:  # whatever it is, the runs go on
            log.error("no thread can be looked for: %s", error)
            return set()

    def _want(self, thread_id: str) -> None:
        self._wanted.add(thread_id)
        if thread_id not in self._running and not self._is_ending:
            self._running[thread_id] = self._loop.create_task(self._run_while_wanted(thread_id))

    def _end(self) -> None:
        self._is_ending = True
        self._ended.set()
        for asking in self._asking:
            asking.cancel()

    async def _run_while_wanted(self, thread_id: str) -> None:
        """Run a thread, and again if somebody spoke when the run was about to end."""
        try:
            while thread_id in self._wanted and not self._is_ending:
                self._wanted.discard(thread_id)
                async with self._slots:
                    await self._run(thread_id)
        finally:
            del self._running[thread_id]

    async def _run(self, thread_id: str) -> None:
        try:
            thread = Thread(self._store, thread_id)
            if thread.status == "running":
                await agent_loop(thread, self._ask_unless_ending, self._limits)
        except (Busy, Fenced, _Stopping):
            pass  # who runs it sees what was written; who starts again finds it
        except StoreError as error:
            log.error("thread %s does not go on: %s", thread_id, error)
            self._put_off[thread_id] = time.monotonic() + PATIENCE
        except BaseException as error:  # also a SystemExit, which would take the other runs along
            if self._is_ending:
                raise
            task = asyncio.current_task()
            while task and task.cancelling():  # by a tool, since the server does not end
                task.uncancel()
            log.exception("thread %s broke off", thread_id)
            self._put_off[thread_id] = time.monotonic() + PATIENCE
            await self._fail(thread_id, error)

    async def _fail(self, thread_id: str, error: BaseException) -> None:
        """Let people see that a run ended by a fault in the code; they may let it go on."""
        problem = StopRun("broken", compact(f"{type(error).__name__}: {error_text(error)}"))
        with suppress(Busy, StoreError):
            thread = Thread(self._store, thread_id)
            async with thread.claim():
                if thread.status == "running":
                    thread.fail(problem)

    async def _ask_unless_ending(self, text: str) -> Reply:
        if self._is_ending:
            raise _Stopping
        asking = asyncio.ensure_future(self._ask(text))
        self._asking.add(asking)
        try:
            return await asking
        except asyncio.CancelledError:
            if self._is_ending and asking.cancelled():
                raise _Stopping from None
            raise
        finally:
            self._asking.discard(asking)
