"""What the tools do: plain functions, one module a set. They take values and return JSON values."""
