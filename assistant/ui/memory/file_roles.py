"""What the list of the memory files says of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from assistant.ui.bars import size_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.models.plain import DETAIL_ROLE

if TYPE_CHECKING:
    from assistant.workspace.memory_values import MemoryFileInfo

MAIN = "MEMORY.md"


def file_roles(info: MemoryFileInfo, waiting: bool) -> dict[int, Any]:
    """The values of a row by Qt role. waiting: it has text that is not saved."""
    name = info.file.removeprefix("memory/").removesuffix(".md") if info.file != MAIN else MAIN
    shown = tr("Archive") if info.kind == "archive" else name
    return {
        Qt.ItemDataRole.DisplayRole: shown,
        Qt.ItemDataRole.AccessibleTextRole: f"{shown}, {info.file}",
        Qt.ItemDataRole.ToolTipRole: translate_message(info.problem) or info.file,
        DETAIL_ROLE: ("● " if waiting else "") + (_size(info)),
    }


def _size(info: MemoryFileInfo) -> str:
    if info.problem:
        return tr("has a problem")
    return size_words(info.size) if info.size else tr("empty")
