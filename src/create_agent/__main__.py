"""The entry of the command: from the first moment on an interrupt ends it cleanly."""

import signal
import sys
from typing import Any, NoReturn

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


class Interrupted(BaseException):
    """A request to end. Not a KeyboardInterrupt, whose exit code Typer would choose."""


def main() -> NoReturn:
    """Run the command line and exit: 130 after an interrupt."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    try:
        from .cli import run

        sys.exit(run(_ignore_signals))
    except Interrupted:
        print("interrupted; nothing was made", file=sys.stderr)
        sys.exit(130)


def _interrupt(number: int, frame: Any) -> NoReturn:
    _ignore_signals()  # one is enough: what follows is the cleaning up
    raise Interrupted


def _ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
