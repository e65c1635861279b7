"""The rows of the journal: a change a row; changes that were made as one are one row that opens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt

from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.actors import actor_words
from assistant.ui.models.plain import DETAIL_ROLE
from assistant.ui.times import exact_time
from assistant.workspace.journal import JournalEntry


@dataclass(frozen=True, slots=True)
class JournalRow:
    """entries: the change, or all changes of a batch; is_open, inside: of a batch, and of the rows that it shows."""

    entries: tuple[JournalEntry, ...]
    is_open: bool = False
    inside: bool = False

    @property
    def id(self) -> str:
        """What ``Memory.undo`` takes."""
        return self.entries[0].batch if self.is_batch else self.entries[0].id

    @property
    def is_batch(self) -> bool:
        return len(self.entries) > 1

    @property
    def can_undo(self) -> bool:
        return any(entry.can_undo for entry in self.entries)

    @property
    def fate(self) -> str:
        """Why it cannot be undone, in a word or two; "" where it can."""
        if self.can_undo:
            return ""
        return tr("forgotten") if any(entry.forgotten for entry in self.entries) else tr("taken back")

    @property
    def diff(self) -> str:
        """In the order in which the files were written."""
        return "".join(entry.diff for entry in reversed(self.entries))


def journal_rows(entries: Sequence[JournalEntry], opened: Collection[str]) -> list[JournalRow]:
    """Rows of entries, newest first; opened: the batches that show their changes."""
    groups: list[list[JournalEntry]] = []
    for entry in entries:
        if groups and entry.batch and groups[-1][0].batch == entry.batch:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    rows = []
    for group in groups:
        is_open = len(group) > 1 and group[0].batch in opened
        rows.append(JournalRow(tuple(group), is_open))
        rows += [JournalRow((entry,), inside=True) for entry in group] if is_open else []
    return rows


def describe_row(row: JournalRow) -> dict[int, Any]:
    """A row's values by Qt role."""
    entry = row.entries[0]
    summary = translate_message(entry.summary)
    if row.is_batch:
        words = f"{'▾' if row.is_open else '▸'} {summary}"
    elif row.inside:
        words = f"      {entry.path}"
    else:
        words = f"{entry.path} — {summary}" if summary else entry.path
    detail = _detail(row)
    return {
        Qt.ItemDataRole.DisplayRole: words,
        Qt.ItemDataRole.AccessibleTextRole: f"{words.strip('▸▾ ')}, {detail.strip()}",
        Qt.ItemDataRole.ToolTipRole: _tip(row),
        DETAIL_ROLE: detail,
    }


def _detail(row: JournalRow) -> str:
    entry = row.entries[0]
    parts = [exact_time(entry.time), actor_words(entry.actor)]
    if row.is_batch:
        parts.append(tr("{n} files", n=len(row.entries)))
    parts += [row.fate] if row.fate else []
    return ("      " if row.inside else "") + " · ".join(parts)


def _tip(row: JournalRow) -> str:
    if row.is_batch:
        return tr("Double-click to see its files one by one")
    return tr("Double-click to open the file")
