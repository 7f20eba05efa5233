"""An agent: a model proposes the next step, and code decides what runs. Start in agent.py."""

import os

# BAML reads these when it is first imported. Without a level that it knows, it prints prompts and
# replies on stdout, where only the answer belongs.
if os.environ.get("BAML_LOG", "").lower() not in {"error", "warn", "info", "debug", "trace"}:
    os.environ["BAML_LOG"] = "off"
os.environ["RUST_BACKTRACE"] = "0"

# A proxy is for the rest of the world: a model server on this machine is reached without one.
for _name in ("no_proxy", "NO_PROXY"):
    os.environ[_name] = ",".join([os.environ.get(_name, ""), "127.0.0.1,localhost"]).lstrip(",")

# BAML takes the whole environment as text, and fails over a variable that is not UTF-8. It gets
# question marks, and is not dropped: AGENT_DRY_RUN must not be lost.
for _name, _value in list(os.environ.items()):
    try:
        (_name + _value).encode()
    except UnicodeEncodeError:
        del os.environ[_name]
        _name, _value = (_text.encode(errors="replace").decode() for _text in (_name, _value))
        os.environ[_name] = _value
