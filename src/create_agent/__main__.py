"""`python -m create_agent` runs the command line."""

from .cli import main

main()
