"""The providers a project can be made for, each with the variables that it cannot do without.

A project knows them all; this is only about the one that its .env names. Their names are also the
choices of template/copier.yml, and the table CLIENTS of the project's runtime/models.py.
"""

from .errors import UserError

PROVIDERS = {
    "offline": (),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY",),
    "ollama": (),
    "compatible": ("COMPATIBLE_API_KEY", "COMPATIBLE_BASE_URL", "COMPATIBLE_MODEL"),
}


def choose(name: str | None) -> str:
    """A provider's name, "" for None. Raises UserError, exit code 2, for a name that is none."""
    if name is not None and name not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise UserError(f"no provider is called {name!r}; there are: {known}", exit_code=2)
    return name or ""
