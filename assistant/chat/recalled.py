"""The block of recalled memory that stands in front of a person's message and stays there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from assistant.chat.row import FixedRow, as_data, live_items
from assistant.chat.tokens import TokenCounter
from assistant.core.values import Hit, LeftOut, PromptLine
from assistant.workspace.entries import Entry, MemoryText
from assistant.workspace.ids import line_id
from assistant.workspace.layout import MEMORY

_CHARACTERS_A_HIT = 400  # about 100 tokens: a long reply is recalled by its beginning, the receipt names its file
_CHANGES = 10
_SHARE_OF_BEST = 0.5
_STRUCK = re.compile(r"~~(.+?)~~(?: · superseded (\d{4}-\d{2}-\d{2}))?")


@dataclass(frozen=True, slots=True)
class RecalledBlock:
    """text: what the model reads, "" when nothing was recalled. lines: its parts, for the receipt."""

    text: str
    lines: tuple[PromptLine, ...]
    left_out: tuple[LeftOut, ...] = ()


EMPTY = RecalledBlock("", ())


def recalled_block(
    hits: Sequence[Hit], changes: Sequence[PromptLine], counter: TokenCounter, tokens: int
) -> RecalledBlock:
    """The block of at most about ``tokens``: what changed since the chat began, then the hits, best first."""
    wanted = [*changes, *map(_line, hits)]
    lines = [
        replace(line, tokens=count)
        for line, count in zip(wanted, counter.count([line.text for line in wanted]), strict=True)
    ]
    kept: list[PromptLine] = []
    left: list[LeftOut] = []
    for line in lines:
        if sum(k.tokens for k in kept) + line.tokens <= tokens:
            kept.append(line)
        else:
            left.append(LeftOut(line.file, line.line, "recall budget"))
    if not kept:
        return RecalledBlock("", (), tuple(left))
    body = "\n".join(f"- {as_data(line.text)}" for line in kept)
    return RecalledBlock(f"<recalled>\n{body}\n</recalled>\n\n", tuple(kept), tuple(left))


def _line(hit: Hit) -> PromptLine:
    said = in_words(" ".join(hit.text.split()))
    if len(said) > _CHARACTERS_A_HIT:
        said = said[:_CHARACTERS_A_HIT].rstrip() + " …"
    source = ", ".join(part for part in (hit.date, hit.title, hit.file) if part)
    words, meaning = hit.why.get("keyword", 0.0), hit.why.get("meaning", 0.0)
    return PromptLine(
        hit.file,
        hit.line,
        f"[{source}] {said}",
        "keyword" if words >= meaning else "meaning",
        hit.id,
        0,
        round(hit.score, 4),
    )


def relevant(hits: Sequence[Hit]) -> list[Hit]:
    """The hits worth the model's attention: near the best one. A search shows more; a prompt pays for each line."""
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= _SHARE_OF_BEST * best and hit.score > 0]


def in_words(text: str) -> str:
    """Marks of an entry as a small model understands them: what is struck is said to be over."""
    return _STRUCK.sub(lambda m: f"(no longer true{f' since {m[2]}' if m[2] else ''}: {m[1]})", text)


def memory_changes(
    row: FixedRow, document: MemoryText, memory_sha: str, told: frozenset[str], today: date
) -> list[PromptLine]:
    """What MEMORY.md says now and did not when the row was taken: new entries and lines, and what no longer holds.

    told: unit ids that are in the window already. Nothing is read twice: an unchanged file costs a comparison.
    """
    if row.memory == memory_sha:
        return []
    before = {line.text for line in row.lines if line.file == MEMORY}
    entries = {entry.raw: entry for entry in document.entries}
    new = [entry for entry in document.entries if entry.raw not in before and entry.live(today)]
    lines = [_new_entry(entry, today) for entry in new]
    lines += [
        PromptLine(MEMORY, n, f"[new in {MEMORY}] {line.strip()}", "recent", line_id(MEMORY, line))
        for n, line in document.fact_lines
        if line.strip() and line not in before
    ]
    now = set(entries) | {line for _, line in document.fact_lines}
    gone = [line for line in row.lines if line.file == MEMORY and line.text not in now]
    lines += [
        PromptLine(MEMORY, 0, f"[no longer in {MEMORY}] {line.text}", "recent", f"gone:{line.unit}") for line in gone
    ]
    return [line for line in lines if line.unit not in told][-_CHANGES:]


def new_day(row: FixedRow, today: date, told: frozenset[str]) -> list[PromptLine]:
    """That it is another day than when the row was taken, once a day."""
    unit = f"day:{today.isoformat()}"
    if row.taken[:10] == today.isoformat() or unit in told:
        return []
    return [PromptLine("", 0, f"[today is {today.isoformat()}, a {today.strftime('%A')}]", "date", unit)]


def _new_entry(entry: Entry, today: date) -> PromptLine:
    shown = f"[{entry.date.isoformat()}, new in {MEMORY}] {'; '.join(live_items(entry, today))}"
    return PromptLine(MEMORY, entry.line, shown, "recent", line_id(MEMORY, entry.raw))
