"""What can go wrong in a run, by who is told. Add a class only for a new listener."""

from typing import Any


class Refused(Exception):
    """The model's reply must not become a step. The model is told why and asked again.

    meta: who answered, how long it took and what it cost, as in `Event.meta`.
    """

    meta: dict[str, Any] | None = None


class ToolError(Exception):
    """A call cannot be carried out. The model is told why and can choose another step.

    kind: the type that the `error` event carries. did_nothing: whether it is known that a call
    that had been begun changed nothing.
    """

    def __init__(self, message: str, kind: str = "ToolError") -> None:
        super().__init__(message)
        self.kind = kind
        self.did_nothing = False


class StopRun(Exception):
    """The run ends as failed. The person is told, never the model; the thread is kept.

    type: too_many_errors, step_limit, prompt_too_long or model_unreachable.
    """

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class Unavailable(StopRun):
    """The model gave no reply, and asking again later may help."""

    def __init__(self, message: str) -> None:
        super().__init__("model_unreachable", message)


class TryAgain(Unavailable):
    """The model gave no reply, and may soon give one. after: in how many seconds, if it said so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Conflict(Exception):
    """A decision that no longer fits: another call, decided already, or never asked for."""


class Busy(Conflict):
    """Another process runs this thread."""


class Overtaken(Exception):
    """A person spoke while the model was asked, which has not seen it: ask again."""


class StoreError(Exception):
    """The store cannot be read or written, or holds nothing under an id; one line that says it."""


class Damaged(StoreError):
    """What is kept cannot be read any more; the message names it, and no file of this machine."""


class Unknown(StoreError):
    """Nothing is kept under this id."""


class Fenced(StoreError):
    """Another process has taken this thread over; what this one does no longer counts."""


class SettingsError(Exception):
    """A setting that is missing or makes no sense; one line that names it."""
