"""create-agent: makes a small agent repository that a Python developer owns."""

__version__ = "0.1.0.dev0"
