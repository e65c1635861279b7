"""Tidying memory up: planned first and shown as one diff, then done as one change that one undo takes back.

Nothing is ever tidied by a plain write, and nothing is thrown away: what leaves MEMORY.md goes to the archive, where
recall still finds it. Only the very same line written twice is merged into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from assistant.workspace.blocks import TextBlock, text_blocks
from assistant.workspace.budget import Limits
from assistant.workspace.changes import unified_diff
from assistant.workspace.entries import parse_memory
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.memory import Memory
from assistant.workspace.memory_values import Edit
from assistant.workspace.notes import parse_note
from assistant.workspace.text_files import TextFile
from assistant.workspace.tidy_entries import DUPLICATE, Leaving, tidy_entries

TIDIED = "Tidied up"
"""How the journal's words for a tidy-up begin."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """A line or an item that leaves its place. why: expired, moved, superseded, over budget or duplicate.

    line: from 1; kept: for a duplicate the line that stays, else 0.
    """

    file: str
    line: int
    text: str
    why: str
    kept: int = 0


@dataclass(frozen=True, slots=True)
class TidyPlan:
    """What tidying up would do now. moved: to the archive; merged: exact duplicates; diff: unified, over all files.

    edits: what apply writes; over: MEMORY.md stays above its limits, for facts never move by themselves.
    """

    moved: tuple[Tidied, ...]
    merged: tuple[Tidied, ...]
    diff: str
    edits: tuple[Edit, ...]
    over: bool = False

    @property
    def summary(self) -> str:
        """For the journal and for people."""
        return f"{TIDIED}: {len(self.moved)} moved, {len(self.merged)} merged"


def plan_tidy(memory: Memory, limits: Limits, today: date) -> TidyPlan:
    """Look at MEMORY.md and the notes; nothing is written. Raises AssistantError for what cannot be read."""
    main, archive = memory.read(MEMORY), memory.read(ARCHIVE)
    moved, merged, over = list[Tidied](), list[Tidied](), False
    before: dict[str, TextFile] = {}
    after: dict[str, str] = {}
    if main.writable and archive.writable:
        doc = parse_memory(main.text)
        done = tidy_entries(main.text, doc, limits, today)
        bullets = _double_bullets(doc.fact_lines)
        over = done.over
        lines = done.lines | {leaving.line: None for leaving in bullets}
        before[MEMORY], after[MEMORY] = main, _with_lines(main.text, lines)
        before[ARCHIVE], after[ARCHIVE] = archive, _appended(archive, done.archived)
        moved += _named(MEMORY, done.moved)
        merged += _named(MEMORY, [*done.merged, *bullets])
    for file, text in _notes(memory):
        if doubles := _double_bullets(_body(text.text)):
            before[file], after[file] = text, _with_lines(text.text, {leaving.line: None for leaving in doubles})
            merged += _named(file, doubles)
    changed = [file for file in before if before[file].text != after[file]]
    diff = "".join(unified_diff(file, before[file].text, after[file]) for file in changed)
    edits = tuple(Edit(file, after[file], before[file].sha256) for file in changed)
    return TidyPlan(tuple(moved), tuple(merged), diff, edits, over)


def apply_tidy(memory: Memory, plan: TidyPlan, actor: str = "you") -> str:
    """Do what was planned; returns the batch that undo takes back, "" where there was nothing to do.

    Raises ("memory.changed") when one of the files changed since: plan anew.
    """
    return memory.change_many(plan.edits, actor, plan.summary) if plan.edits else ""


def _notes(memory: Memory) -> Iterator[tuple[str, TextFile]]:
    for info in memory.files():
        if info.kind == "topic" and (text := memory.read(info.file)).writable:
            yield info.file, text


def _body(text: str) -> list[tuple[int, str]]:
    body = parse_note(text).body_line
    numbered = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    return [(number, line) for number, line in numbered if number >= body]


def _double_bullets(lines: Sequence[tuple[int, str]]) -> list[Leaving]:
    """Bullets that stand under the same headings already, word for word; those with lines below them stay."""
    texts = dict(lines)
    first: dict[tuple[tuple[str, ...], str], int] = {}
    double = []
    for block in text_blocks(lines):
        if not _is_plain_bullet(block, texts):
            continue
        kept = first.setdefault((block.headings, block.text), block.line)
        if kept != block.line:
            double.append(Leaving(block.line, block.text, DUPLICATE, kept))
    return double


def _is_plain_bullet(block: TextBlock, texts: dict[int, str]) -> bool:
    below = texts.get(block.last + 1, "")
    alone = block.line == block.last and not below.startswith((" ", "\t"))
    return alone and texts[block.line].startswith(("- ", "* ", "+ ")) and texts[block.line].strip() == block.text


def _with_lines(text: str, lines: dict[int, str | None]) -> str:
    """The text with some lines replaced or gone; line endings stay as they are."""
    if not lines:
        return text
    kept = []
    parts = text.split("\n")
    for number, line in enumerate(parts, 1):
        new = lines.get(number, line)
        if new is None:
            continue
        kept.append(new + "\r" if number in lines and line.endswith("\r") else new)
    if len(parts) in lines and lines[len(parts)] is None:
        kept.append("")  # the last line had no end: the one before it keeps its own
    return "\n".join(kept)


def _appended(archive: TextFile, lines: Sequence[str]) -> str:
    if not lines:
        return archive.text
    start = archive.newline if archive.text and not archive.text.endswith("\n") else ""
    return archive.text + start + "".join(line + archive.newline for line in lines)


def _named(file: str, leaving: Sequence[Leaving]) -> list[Tidied]:
    return [Tidied(file, each.line, each.text, each.why, each.kept) for each in leaving]
