"""`python -m` runs the command line."""

import sys

from .runtime.cli import main

sys.exit(main())
