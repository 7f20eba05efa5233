"""An agent: a model proposes the next step, and code decides what runs. Start in agent.py."""

import os

# BAML reads these when it is first imported. Unset, it prints prompts and replies on stdout,
# where only the answer belongs.
os.environ.setdefault("BAML_LOG", "off")
os.environ["RUST_BACKTRACE"] = "0"
