"""Settings: variables of the environment, then the file .env in the project's root.

A variable that is empty or blank counts as not set. Add a setting where it is used, through
`Settings.get`, `require` or `integer`, and a line for it in .env.example.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path

from dotenv.parser import parse_stream

from .errors import SettingsError

PACKAGE = __name__.split(".")[0]


def program() -> str:
    """What a person types to start this program, from where they are."""
    typed = Path(sys.argv[0])
    if typed.name == "__main__.py":
        return f"python -m {PACKAGE}"
    if "UV_RUN_RECURSION_DEPTH" in os.environ:  # uv tells its children in that way
        return f"uv run {typed.name}"
    found = shutil.which(typed.name)  # none where an environment is not activated
    is_found = found is not None and os.path.realpath(found) == os.path.realpath(typed)
    return typed.name if is_found else shlex.quote(str(typed))


@dataclass(frozen=True)
class Limits:
    """What bounds a run, and a single reply of the model.

    max_steps: calls since a person last spoke. max_errors: errors in a row.
    max_prompt_bytes: the text of the thread, in UTF-8.
    max_reply_characters, max_reply_depth, max_reply_values: of the object that a reply consists of.
    """

    max_steps: int = 20
    max_errors: int = 3
    max_prompt_bytes: int = 512 * 1024
    max_reply_characters: int = 100_000
    max_reply_depth: int = 16
    max_reply_values: int = 500  # BAML's time grows with the square of the items of a list


USUAL = Limits()
LARGEST = 999_999_999
CEILINGS = {"max_reply_depth": 64, "max_reply_values": 10_000}  # beyond, parsing takes too long


@dataclass(frozen=True)
class Settings:
    """The variables that are set, each a text without blanks around it."""

    values: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """The value of a variable, or the default where it is not set."""
        return self.values.get(name, default)

    def require(self, name: str, hint: str) -> str:
        """The value of a variable. Raises SettingsError with the hint where it is not set."""
        if name not in self.values:
            raise SettingsError(f"{name} is not set; {hint}")
        return self.values[name]

    def replaced(self, values: Mapping[str, str]) -> "Settings":
        """The same settings with other values for these variables."""
        return Settings({**self.values, **values})

    def integer(self, name: str, default: int, most: int = LARGEST) -> int:
        """A whole number from 1 to `most`. Raises SettingsError for anything else."""
        text = self.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) < 10 and 0 < int(text) <= most):
            raise SettingsError(f"{name} is {text!r}; set a whole number from 1 to {most}")
        return int(text)

    @property
    def limits(self) -> Limits:
        """The bounds, each from its variable, as AGENT_MAX_STEPS for max_steps, or as usual."""
        return Limits(
            **{
                name: self.integer(f"AGENT_{name.upper()}", usual, CEILINGS.get(name, LARGEST))
                for name, usual in asdict(USUAL).items()
            }
        )


def load_settings(environ: Mapping[str, str] = os.environ, root: Path | None = None) -> Settings:
    """Read the environment and .env, wherever the command was started.

    environ: the variables that win. root: the folder that holds .env; the project's if left out.
    Raises SettingsError if the file is there and cannot be read.
    """
    root = root or project_root()
    found = _read(root / ".env") if root else {}
    stripped = {name: value.strip() for name, value in environ.items()}
    found.update({name: value for name, value in stripped.items() if value})
    return Settings(found)


def project_root() -> Path | None:
    """The project this package runs from. None if it was installed from a wheel: then nothing
    but the environment counts, since a .env in whatever folder one stands in is a stranger's.
    """
    root = Path(__file__).parents[3]
    return root if (root / "pyproject.toml").is_file() else None


def _read(path: Path) -> dict[str, str]:
    if not os.path.lexists(path):
        return {}
    if not path.is_file():
        raise SettingsError(f"{path} is not a file; remove it, or copy .env.example there")
    try:
        lines = list(parse_stream(StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    for line in lines:
        if line.error:
            raise SettingsError(f"{path} is not NAME=value in line {line.original.line}")
    found = {line.key: (line.value or "").strip() for line in lines if line.key}
    return {name: value for name, value in found.items() if value}
