"""The one family of errors that a person is shown as written; anything else is a bug."""

from __future__ import annotations


class AssistantError(Exception):
    """An expected failure, in words a person can act on.

    code: stable, lower-case, dotted by area (``engine.died``); message: what happened and why, one sentence;
    hint: what to do about it, one sentence, may be empty.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def as_dict(self) -> dict[str, str]:
        """The error as the command line and the worker protocol carry it."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class Cancelled(Exception):  # noqa: N818 - not an error: the person asked for it
    """Raised by long work when its CancelToken was cancelled."""
