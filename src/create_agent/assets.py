"""Where the template and the schemas lie: in the wheel, or in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def asset(name: str) -> Path:
    """The folder `template` or `baml_src`: the wheel's copy if there is one, or the checkout's."""
    shipped = _PACKAGE / f"_{name}"
    return shipped if shipped.is_dir() else _PACKAGE.parents[1] / name
