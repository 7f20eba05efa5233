"""The one class of errors that a user can cause. cli.py prints them; nothing else does."""


class UserError(Exception):
    """Something the user can put right.

    message: the value, the reason and the way out, in one line where that is enough.
    exit_code: 1 when a step failed, 2 when usage, a name or a target was refused.
    """

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
