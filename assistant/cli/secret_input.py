"""A secret as a command takes it: never from an argument, which other users of the machine can see."""

from __future__ import annotations

import sys

from assistant.cli.context import Context


def read_secret(context: Context, prompt: str) -> str:
    """The first line of stdin, or what a person types unseen at a terminal; "" where there is none.

    With --json nobody is asked.
    """
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    if context.output.as_json:
        return ""
    import getpass

    return getpass.getpass(prompt).strip()
