"""The source of a distilled entry: which turns of which chat it stands for."""

from __future__ import annotations

import re

_LONGEST_RUN = 100_000  # turns; a longer one is no chat but a damaged line
Turns = tuple[str, int, int]
"""chat, first turn, last turn."""
_SOURCE = re.compile(r"chat:(?P<chat>[\w-]+)#(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")


def distilled_source(chat: str, first: int, last: int) -> str:
    """``chat:<id>#<first>-<last>``."""
    return f"chat:{chat}#{first}-{last}"


def distilled_turns(source: str) -> Turns | None:
    """(chat, first, last) of such a source; None for any other."""
    found = _SOURCE.fullmatch(source)
    if not found:
        return None
    first = int(found["first"])
    return found["chat"], first, int(found["last"] or first)


def run_of_turns(run: Turns) -> range:
    """The numbers of the turns; of a run that no chat can have only the beginning."""
    _, first, last = run
    return range(first, min(last, first + _LONGEST_RUN) + 1)
