"""What the doctor says of backups and of the git history."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.core.errors import AssistantError
from assistant.runtime.services import Services


def keeping_checks(services: Services) -> Iterator[tuple[str, bool, str, str]]:
    """(name, ok, detail, fix). No backup at all is nothing wrong, but said."""
    yield "backup", *_backups(services)
    if not services.history.on:
        yield "history", True, "No git history is kept.", ""
        return
    try:
        entries = services.history.log(1)
    except AssistantError as error:
        yield "history", False, error.message, error.hint
        return
    detail = f"The last commit is of {entries[0].time}." if entries else "There is no commit yet."
    yield "history", True, detail, ""


def _backups(services: Services) -> tuple[bool, str, str]:
    try:
        known = services.backups.known.all()
    except AssistantError as error:
        return False, error.message, error.hint
    if not known:
        return True, "None was made yet; `keepsake backup FILE` makes one.", ""
    return True, f"The last one is of {known[0].made}: {known[0].path}.", ""
