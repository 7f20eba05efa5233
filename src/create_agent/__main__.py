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

        code = run()
        interrupts.finish()
    except interrupts.Interrupted as interrupted:
        interrupts.finish()
        print(interrupted, file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
