"""BAML code generation with this interpreter's baml-py, and the proof that the client loads."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from . import processes
from .errors import UserError

# One child for both: `invoke_runtime_cli` works once per process, and loading baml-py is most of
# the time. Never the bare name baml-cli, which may be anybody's.
_GENERATE = """
import sys
from importlib import import_module
package = sys.argv[1]
sys.argv = ["baml-cli", "generate", "--from", "baml_src"]
try:
    from baml_py import invoke_runtime_cli
    try:
        code = invoke_runtime_cli()
    except SystemExit as stop:
        code = stop.code
    if code:
        sys.exit(code)
    sys.path.insert(0, "src")
    import_module(package + ".baml_client.async_client")
except SystemExit:
    raise
except BaseException as error:  # such as a panic of BAML's
    sys.exit(f"{type(error).__name__}: {error}")
"""
_SETTINGS = {
    "BAML_LOG": "error",
    "RUST_BACKTRACE": "0",
    "RUST_LIB_BACKTRACE": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def baml_version() -> str:
    """The version of the installed baml-py, such as 0.226.3."""
    return version("baml-py")


def generate(project: Path, package: str) -> None:
    """Generate the client of a project and import it once.

    project: the folder that holds baml_src/ and src/. package: the name of its Python package.
    Raises UserError with BAML's own diagnostics.
    """
    inherited = {name: value for name, value in os.environ.items() if _is_text(name + value)}
    words = [sys.executable, "-P", "-c", _GENERATE, package]
    done = processes.run(words, project, {**inherited, **_SETTINGS})
    if done.returncode:
        said = "\n".join(filter(None, (done.stdout.strip(), done.stderr.strip())))
        if done.returncode < 0:
            said = f"{said}\nBAML was ended by signal {-done.returncode}".lstrip()
        raise UserError(f"the typed client could not be generated:\n{said}")


def _is_text(text: str) -> bool:
    """Whether a variable is UTF-8. BAML reads the whole environment, and fails over others."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
