"""What an import did, or would do: counts, and what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.workspace.imports.values import (
    REASONS,
    Found,
    FoundChat,
    FoundEntry,
    FoundFacts,
    FoundLog,
    FoundNote,
    Skipped,
)

_EXAMPLES = 20
KINDS = ("entries", "facts", "notes", "logs", "chats")


@dataclass(frozen=True, slots=True)
class SkippedGroup:
    """All that is left out for one reason. words: the reason; count: messages, lines or files; examples: where."""

    reason: str
    words: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """new, known: by kind, see KINDS; known is there already and not written again.

    id: what undo takes, "" for a dry run and where nothing was new; turns: messages in new chats; redacted: secrets
    taken out; struck: older facts that newer ones replaced; files: memory files that change; diff: of MEMORY.md.
    """

    system: str
    id: str
    new: Mapping[str, int]
    known: Mapping[str, int]
    turns: int
    redacted: int
    struck: int
    files: tuple[str, ...]
    diff: str
    skipped: tuple[SkippedGroup, ...]
    chats: tuple[str, ...] = field(default=())

    @property
    def anything(self) -> bool:
        """Whether there is something new."""
        return any(self.new.values())


class Tally:
    """Counts what was found as it passes by."""

    def __init__(self) -> None:
        self.new = dict.fromkeys(KINDS, 0)
        self.known = dict.fromkeys(KINDS, 0)
        self._skipped: dict[str, tuple[int, list[str]]] = {}

    def count(self, found: Found, outcome: str) -> None:
        """outcome: "new", "known", or why it is skipped."""
        if isinstance(found, Skipped):
            self.skip(found)
        elif outcome in ("new", "known"):
            (self.new if outcome == "new" else self.known)[_kind(found)] += 1
        else:
            self.skip(Skipped(outcome, found.where))

    def skip(self, skipped: Skipped) -> None:
        count, examples = self._skipped.get(skipped.reason, (0, []))
        if len(examples) < _EXAMPLES and skipped.where not in examples:
            examples.append(skipped.where)
        self._skipped[skipped.reason] = (count + skipped.count, examples)

    def skipped(self) -> tuple[SkippedGroup, ...]:
        """By reason, the most frequent first."""
        groups = [SkippedGroup(r, REASONS[r], count, tuple(where)) for r, (count, where) in self._skipped.items()]
        return tuple(sorted(groups, key=lambda group: -group.count))


def _kind(found: Found) -> str:
    match found:
        case FoundEntry():
            return "entries"
        case FoundFacts():
            return "facts"
        case FoundNote():
            return "notes"
        case FoundLog():
            return "logs"
        case FoundChat() | Skipped():
            return "chats"
