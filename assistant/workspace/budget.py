"""What of MEMORY.md goes into a prompt, and line by line what does not and why. Nothing is ever cut from the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from assistant.core.values import LeftOut
from assistant.workspace.entries import Entry, MemoryText
from assistant.workspace.fact_marks import dead_facts
from assistant.workspace.layout import MEMORY

Count = Callable[[list[str]], list[int]]
"""Tokens of each text."""

FACTS_BUDGET = "facts budget"
TOKEN_BUDGET = "token budget"


@dataclass(frozen=True, slots=True)
class Limits:
    """Facts: at most so many lines and UTF-8 bytes from the top; the last entries; share of the window for both."""

    fact_lines: int = 200
    fact_bytes: int = 24_000
    entries: int = 10
    window_share: float = 0.25


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loads. facts: (line, text); entries: oldest first, with their live items only (their ``text`` says it).

    lines_used, bytes_used: of the facts; tokens_used of tokens_allowed: of both, a line break counted as one each.
    share: how much of the tightest limit the whole memory asks for; above 1 something does not load. lines_asked,
    bytes_asked, tokens_asked: what it asks for of each.
    """

    facts: tuple[tuple[int, str], ...]
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    bytes_used: int
    lines_used: int
    tokens_used: int
    tokens_allowed: int
    share: float
    lines_asked: int = 0
    bytes_asked: int = 0
    tokens_asked: int = 0


def load_memory(doc: MemoryText, limits: Limits, today: date, count: Count, window: int) -> Loaded:
    """Choose by the rules of FORMATS.md; ``window`` in tokens, ``today`` the local day.

    Facts come from the top, whole lines only, unless the very first is longer than the limit: that one is cut between
    two characters. When tokens are short the facts give way from the end, yet entries get no more than half by that.
    Facts that are struck or expired take no room.
    """
    over = dead_facts(doc.fact_lines, today)
    doc = replace(doc, fact_lines=tuple(fact for fact in doc.fact_lines if fact[0] not in over))
    allowed = max(0, int(window * limits.window_share))
    facts, left = _facts(doc, limits)
    entries, dead = _live_entries(doc, limits, today)
    costs = [tokens + 1 for tokens in count([*(text for _, text in facts), *(entry.text for entry in entries)])]
    fact_costs, entry_costs = costs[: len(facts)], costs[len(facts) :]
    kept = _fit(list(reversed(entry_costs)), max(allowed // 2, allowed - sum(fact_costs)))
    chosen = entries[len(entries) - kept :]
    entry_tokens = sum(entry_costs[len(entries) - kept :])
    fitting = _fit(fact_costs, allowed - entry_tokens)
    left += [LeftOut(MEMORY, line, why) for line, why in over.items()]
    left += [LeftOut(MEMORY, line, TOKEN_BUDGET) for line, text in facts[fitting:] if text.strip()]
    left += [LeftOut(MEMORY, entry.line, TOKEN_BUDGET) for entry in entries[: len(entries) - kept]]
    shown = facts[:fitting]
    lines_asked, bytes_asked = _asked(doc)
    return Loaded(
        facts=tuple(shown),
        entries=tuple(chosen),
        left_out=tuple(sorted([*left, *dead], key=lambda each: each.line)),
        bytes_used=sum(_size(text) for _, text in shown),
        lines_used=len(shown),
        tokens_used=sum(fact_costs[:fitting]) + entry_tokens,
        tokens_allowed=allowed,
        share=_share(((lines_asked, limits.fact_lines), (bytes_asked, limits.fact_bytes), (sum(costs), allowed))),
        lines_asked=lines_asked,
        bytes_asked=bytes_asked,
        tokens_asked=sum(costs),
    )


def _facts(doc: MemoryText, limits: Limits) -> tuple[list[tuple[int, str]], list[LeftOut]]:
    lines = list(doc.fact_lines)
    while lines and not lines[-1][1].strip():
        lines.pop()
    used = taken = 0
    for _, text in lines[: limits.fact_lines]:
        if used + _size(text) > limits.fact_bytes:
            break
        used += _size(text)
        taken += 1
    facts = lines[:taken]
    if lines and not taken and limits.fact_lines > 0:
        # One endless line: a part of it is better than no facts at all, and it is still listed as left out.
        part = _cut(lines[0][1], limits.fact_bytes - 1)
        facts = [(lines[0][0], part)] if part else []
    return facts, [LeftOut(MEMORY, line, FACTS_BUDGET) for line, text in lines[taken:] if text.strip()]


def _live_entries(doc: MemoryText, limits: Limits, today: date) -> tuple[list[Entry], list[LeftOut]]:
    """The last live entries in file order, without their dead items, and what is left out of all entries."""
    live: list[Entry] = []
    left: list[LeftOut] = []
    for entry in doc.entries:
        items = tuple(item for item in entry.items if item.live(today))
        if items:
            live.append(replace(entry, items=items))
        if len(items) < len(entry.items):
            why = dict.fromkeys(item.state(today) for item in entry.items if not item.live(today))
            left.append(LeftOut(MEMORY, entry.line, ", ".join(why)))
    first = max(0, len(live) - max(0, limits.entries))
    older = f"older than the last {limits.entries} entries"
    return live[first:], left + [LeftOut(MEMORY, entry.line, older) for entry in live[:first]]


def _fit(costs: list[int], allowed: int) -> int:
    """How many from the start fit."""
    used = 0
    for number, cost in enumerate(costs):
        used += cost
        if used > allowed:
            return number
    return len(costs)


def _asked(doc: MemoryText) -> tuple[int, int]:
    """Lines and bytes of all facts."""
    lines = [text for _, text in doc.fact_lines]
    while lines and not lines[-1].strip():
        lines.pop()
    return len(lines), sum(map(_size, lines))


def _share(asked: tuple[tuple[int, int], ...]) -> float:
    return max(wanted / limit if limit > 0 else float(wanted > 0) * 2 for wanted, limit in asked)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[: max(0, size)].decode("utf-8", "ignore")
