"""The block of recalled memory that stands in front of a person's message and stays there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.chat.row import FixedRow, as_data, live_items
from assistant.chat.tokens import TokenCounter
from assistant.core.values import Hit, LeftOut, PromptLine
from assistant.workspace.entries import Entry, MemoryText
from assistant.workspace.ids import line_id
from assistant.workspace.layout import MEMORY

_CHARACTERS_A_HIT = 400  # about 100 tokens: a long reply is recalled by its beginning, the receipt names its file
_CHANGES = 10


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
    said = " ".join(hit.text.split())
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


def memory_changes(row: FixedRow, document: MemoryText, memory_sha: str, told: frozenset[str]) -> list[PromptLine]:
    """What MEMORY.md says now and did not when the row was taken: new entries and lines, and what no longer holds.

    told: unit ids that are in the window already. Nothing is read twice: an unchanged file costs a comparison.
    """
    if not row.memory or row.memory == memory_sha:
        return []
    before = {line.text for line in row.lines if line.file == MEMORY}
    entries = {entry.raw: entry for entry in document.entries}
    lines = [_new_entry(entry) for entry in document.entries if entry.raw not in before and live_items(entry)]
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


def _new_entry(entry: Entry) -> PromptLine:
    shown = f"[{entry.date.isoformat()}, new in {MEMORY}] {'; '.join(live_items(entry))}"
    return PromptLine(MEMORY, entry.line, shown, "recent", line_id(MEMORY, entry.raw))
