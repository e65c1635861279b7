"""Tools that were used in a turn, as a chat's file tells of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OUTCOME = "→ "
_NO_WORD = re.compile(r"\W+")  # a model may call an argument anything, and lines and marks mean something here


@dataclass(frozen=True, slots=True)
class SavedCall:
    """A tool that was used in a turn, as its chat's file tells it to people.

    arguments: (name, words); outcome, detail: as in core.values.MadeCall. What the model read of it is in the receipt.
    """

    name: str
    arguments: tuple[tuple[str, str], ...] = ()
    outcome: str = ""
    detail: str = ""

    @property
    def words(self) -> str:
        """All its lines, as they stand in the file."""
        said = [f"{_NO_WORD.sub('_', name)}: {' '.join(value.split())}" for name, value in self.arguments]
        end = f"{_OUTCOME}{self.outcome}{': ' if self.detail else ''}{' '.join(self.detail.split())}"
        return "\n".join([*said, end] if self.outcome else said)


def parse_call(name: str, text: str) -> SavedCall:
    """The call of a message under a tool's label; never fails."""
    arguments: list[tuple[str, str]] = []
    outcome = detail = ""
    for line in text.split("\n"):
        key, _, value = line.removeprefix(_OUTCOME).partition(": ")
        if line.startswith(_OUTCOME):
            outcome, detail = key, value
        elif key.strip():
            arguments.append((key, value))
    return SavedCall(name, tuple(arguments), outcome, detail)
