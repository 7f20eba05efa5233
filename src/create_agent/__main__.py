"""The entry of the command: from the first moment on an interrupt ends it cleanly."""

import sys
from typing import NoReturn

from . import interrupts


def main() -> NoReturn:
    """Run the command line and exit: 130 after an interrupt."""
    interrupts.listen()
    try:
        from . import streams

        streams.prepare()
        from .cli import run

        sys.exit(run())
    except interrupts.Interrupted as interrupted:
        print(interrupted, file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
