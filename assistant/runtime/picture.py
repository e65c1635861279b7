"""The picture of memory: when what was written by whom, and what the budget of a prompt is used for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assistant.chat.tokens import TokenCounter
from assistant.workspace.budget import Loaded
from assistant.workspace.timeline import Moment, moments
from assistant.workspace.workspace import Workspace

_SECTIONS = 5


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the facts that loads. title: its heading, "" before the first one; line: where it begins."""

    title: str
    line: int
    tokens: int


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """Tokens of the share of the window that memory may take. sections: the largest ones of the facts."""

    facts: int
    entries: int
    allowed: int
    left_out: int
    sections: tuple[Section, ...]

    @property
    def free(self) -> int:
        return max(0, self.allowed - self.facts - self.entries)


@dataclass(frozen=True, slots=True)
class Picture:
    moments: tuple[Moment, ...]
    use: BudgetUse


class PictureService:
    """Blocking: reads the memory files and counts tokens."""

    def __init__(self, workspace: Workspace, budget: Callable[[], Loaded], counter: Callable[[], TokenCounter]) -> None:
        self._workspace = workspace
        self._budget = budget
        self._counter = counter

    def take(self) -> Picture:
        """The picture as it is now."""
        today = self._workspace.clock().date()
        return Picture(moments(self._workspace.memory, today), self._use(self._budget()))

    def _use(self, loaded: Loaded) -> BudgetUse:
        texts = [text for _, text in loaded.facts]
        costs = [tokens + 1 for tokens in self._counter().count(texts)] if texts else []
        sections = _sections([(line, text, cost) for (line, text), cost in zip(loaded.facts, costs, strict=True)])
        facts = sum(costs)
        largest = sorted(sections, key=lambda section: -section.tokens)[:_SECTIONS]
        entries = max(0, loaded.tokens_used - facts)
        return BudgetUse(facts, entries, loaded.tokens_allowed, len(loaded.left_out), tuple(largest))


def _sections(lines: list[tuple[int, str, int]]) -> list[Section]:
    found: list[Section] = []
    for number, text, tokens in lines:
        if text.startswith("#") and text.lstrip("#").startswith(" "):
            found.append(Section(text.lstrip("#").strip(), number, tokens))
        elif found:
            found[-1] = Section(found[-1].title, found[-1].line, found[-1].tokens + tokens)
        elif text.strip():
            found.append(Section("", number, tokens))
    return found
