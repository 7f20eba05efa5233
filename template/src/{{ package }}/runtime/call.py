"""A tool call that is in the log and not done yet: what handle_next_step gets to work with.

What a call may do to the world decides how it is run; see `Policy` in policy.py.
"""

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from ..policy import once, policy_of
from .baml import load_step
from .errors import ToolError
from .in_thread import in_thread
from .readable import call_text, error_text, on_day
from .settings import load_settings
from .steps import NextStep, call_hash
from .store import new_id
from .tables import Approval, Effect

if TYPE_CHECKING:
    from .thread import Thread

P = ParamSpec("P")

MOST_TRIES = 9  # of a call in all, by whichever process; after that a person looks into it
TRIES = 3  # of a call whose tool broke off, where the same key again is no second effect
PAUSE = 0.5  # seconds before the second try; it doubles
APPROVAL_LASTS = 7 * 24 * 3600.0  # seconds until a person has to be asked anew
LONGEST_SHOWN = 1200  # characters of a call that a person approves; it has to fit on a screen


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

        Raises ToolError if the function does, which is to say that it did nothing. Another error
        is one too where the call is pure; else nobody knows what happened: with a key that makes
        it safe the function runs again, and after that, or without, a person is asked.
        """

        async def attempt() -> Any:
            if inspect.iscoroutinefunction(tool):
                return await tool(*args, **kwargs)
            return await in_thread(lambda: tool(*args, **kwargs))

        effect = policy_of(self.data["intent"]).effect
        if effect == "pure" and self.thread.effect is None:
            self._add_result(await _pure(attempt))
        elif not _is_dry_run():
            await self._carry_out(attempt, TRIES if effect == "idempotent" else 1)
        elif self.thread.effect is not None:
            self._doubt("it was cut off, and in a dry run it is not tried again")
        else:
            self._add_result(f"dry run: {call_text(self.data)} would be done; nothing was done")

    def request_approval(self) -> None:
        """Let the call wait until a person decides. ToolError if it cannot be shown whole."""
        if len(call_text(self.data)) > LONGEST_SHOWN:
            raise ToolError("the call is too long to be shown to a person; write less")
        asked = (new_id(), self.thread.id, self.seq, call_hash(self.data), "pending", "")
        with self.thread.writing() as store:
            store.add_approval(Approval(*asked, time.time() + APPROVAL_LASTS))

    def finish(self) -> None:
        """See to it that the call is written down. Raises ToolError if it was handled and has no
        result, since it would run for ever.
        """
        self.thread.save()
        if self.thread.status == "running" and self.thread.open is not None:
            raise ToolError(f"{self.data['intent']} wrote no result; its arm has to `call.run` it")

    def done_already(self) -> str | None:
        """What was done, or may have been, that this call may do once only."""
        rule = once(self.step)
        done = self.thread.store.effect_once(rule.what) if rule else None
        if rule is None or done is None or done.key == self.key:
            return None
        state = "was done" if done.state == "done" else "may have been done"
        return f"{rule.what} {state} {on_day(done.at)}: {done.call}"

    def _start(self) -> None:
        """Note that the call is about to have its effect. Raises ToolError if it may not."""
        rule, already = once(self.step), None
        with self.thread.writing() as store:
            if not (already := self.done_already()):
                what, text = rule.what if rule else None, call_text(self.data)
                hashed, now = call_hash(self.data), time.time()
                place = (self.key, self.thread.id, self.seq, hashed, text)
                store.start_effect(Effect(*place, what, "started", None, now))
        if rule and already:
            raise ToolError(already, rule.error)

    def _may_try_again(self) -> bool:
        """Count another try. Raises Fenced if another process has taken over meanwhile."""
        with self.thread.writing() as store:
            return store.count_try(self.key, MOST_TRIES)

    def _doubt(self, problem: str) -> None:
        """Let a person say what became of the call."""
        with self.thread.writing() as store:
            store.end_effect(self.key, "unknown", problem)

    async def _carry_out(self, attempt: Callable[[], Awaitable[Any]], tries: int) -> None:
        """Try until the function returns, and if it never does, let a person say what happened."""
        is_first = self.thread.effect is None
        problem = "it was cut off"
        if is_first:
            self._start()
        elif tries == 1:
            return self._doubt(problem)
        for number in range(1, tries + 1):
            if not (is_first and number == 1) and not self._may_try_again():
                problem = f"{problem}; it was tried {MOST_TRIES} times"
                break
            try:
                result = await attempt()
            except ToolError as error:
                if is_first and number == 1:
                    error.did_nothing = True
                    raise
                problem = error_text(error)  # but an earlier try may have done it
                break
            except BaseException as error:
                if _is_an_end(error):
                    raise
                problem = f"{type(error).__name__}: {error_text(error)}"
            else:
                self._add_result(_as_json(result))
                return
            if number < tries:
                await asyncio.sleep(PAUSE * 2 ** (number - 1))
        self._doubt(problem)

    def _add_result(self, result: Any) -> None:
        with self.thread.writing() as store:
            if self.thread.effect is not None:
                store.end_effect(self.key, "done", result)
            self.thread.add("tool_response", {"call": self.seq, "result": result})


async def _pure(attempt: Callable[[], Awaitable[Any]]) -> Any:
    """The result of a call that changes nothing. Raises ToolError whatever goes wrong."""
    try:
        result = await attempt()
        json.dumps(result, allow_nan=False)
        return result
    except ToolError:
        raise
    except BaseException as error:
        if _is_an_end(error):
            raise
        raise ToolError(error_text(error), kind=type(error).__name__) from error


def _is_an_end(error: BaseException) -> bool:
    """Whether the run itself is to end, and not only a tool that raised the like."""
    task = asyncio.current_task()
    is_cancelled = isinstance(error, asyncio.CancelledError) and task and task.cancelling()
    return bool(is_cancelled)


def _as_json(result: Any) -> Any:
    """The result of what has happened: if it is no JSON, what it is, since it did happen."""
    try:
        json.loads(json.dumps(result, allow_nan=False))
        return result
    except Exception:
        return f"it was done, and gave a {type(result).__name__} that is no JSON"


def _is_dry_run() -> bool:
    """Whether AGENT_DRY_RUN is set, looked up at the last moment, so that no way leads past it."""
    return load_settings().get("AGENT_DRY_RUN").lower() not in {"", "0", "false", "no", "off"}
