"""The menu of the model button, and the dialog that says in plain words how to add a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from assistant.ui.bars import short_name, size_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, fit_height, label, spread

if TYPE_CHECKING:
    from assistant.engine.model_files import ModelFile


class ModelMenu(QMenu):
    """The models there are, with size and what is wrong with them; then how to get more."""

    def __init__(
        self,
        models: Sequence[ModelFile],
        loaded: str,
        problem: str,
        choose: Callable[[str], None],
        add: Callable[[], None],
        more: Mapping[str, Callable[[], None]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setToolTipsVisible(True)
        if problem:
            self._note(problem)
            self.addSeparator()
        if not models:
            self._note(tr("There is no model on this laptop yet."))
        for model in models:
            self._add_model(model, model.name == loaded, choose)
        self.addSeparator()
        self._add(tr("Add a model file…"), add)
        for words, act in more.items():
            self._add(words, act)

    def _note(self, text: str) -> None:
        for line in lines_of(text):
            self.addAction(line).setEnabled(False)

    def _add_model(self, model: ModelFile, loaded: bool, choose: Callable[[str], None]) -> None:
        detail = " · ".join(part for part in (model.quantisation, size_words(model.size_bytes)) if part)
        words = f"{short_name(model.name)}\t{tr('cannot be used') if model.problem else detail}"
        action = QAction(words, self)
        action.setCheckable(True)
        action.setChecked(loaded)
        action.setEnabled(not model.problem)
        action.setToolTip(translate_message(model.problem) or str(model.path))
        action.triggered.connect(lambda: choose(model.name))
        self.addAction(action)
        if model.problem:
            self._note(translate_message(model.problem))

    def _add(self, words: str, act: Callable[[], None]) -> None:
        action = QAction(words, self)
        action.triggered.connect(lambda: act())
        self.addAction(action)


def lines_of(text: str, columns: int = 60, most: int = 4) -> list[str]:
    """A text for a menu, which wraps nothing by itself: broken between words, or between Chinese characters."""
    lines, room = [""], columns
    for piece in re.findall(r"[^\s\u2e80-\u9fff]+\s*|\s*[\u2e80-\u9fff][\u3000-\u303f\uff00-\uffef]*\s*", text):
        wide = sum(2 if east_asian_width(each) in "WF" else 1 for each in piece.rstrip())
        if wide > room and lines[-1]:
            lines, room = [*lines, ""], columns
        lines[-1] += piece
        room -= wide + len(piece) - len(piece.rstrip())
    shown = [line.strip() for line in lines[:most]]
    return [*shown[:-1], shown[-1] + " …"] if len(lines) > most else shown


class HowToAddModel(QDialog):
    """Plain words about bigger models; nothing is fetched from here."""

    def __init__(self, add: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("How to add a model"))
        column = QVBoxLayout(self)
        spread(column, (24, 24, 24, 16), 12)
        column.addWidget(label(tr("A bigger model gives better answers"), "title"))
        for text in self._steps():
            column.addWidget(label(text, wrap=True))
        row = QHBoxLayout()
        spread(row, (0, 8, 0, 0), 8)
        row.addStretch()
        row.addWidget(button(tr("Close"), "", self.reject))
        row.addWidget(button(tr("Add a model file…"), "primary", lambda: self._go_on(add)))
        column.addLayout(row)
        fit_height(self, 520)

    def _go_on(self, add: Callable[[], None]) -> None:
        self.accept()
        add()

    def _steps(self) -> list[str]:
        return [
            tr(
                "The model that comes with Keepsake is small so that it runs anywhere. "
                "A larger one understands more and makes fewer mistakes, but it is slower and needs more memory."
            ),
            tr(
                "1. On any computer, download a model as a GGUF file. With 8 GB of memory take a file of up to 3 GB, "
                "with 16 GB up to 8 GB. Names that end in Q4_K_M are a good choice."
            ),
            tr("2. Copy the file to this laptop, for example with a USB stick."),
            tr("3. Choose “Add a model file…” here and pick it. Keepsake checks it first and never sends anything."),
        ]


def ask_for_model_file(parent: QWidget) -> Path | None:
    """Let the person pick a GGUF file."""
    name, _ = QFileDialog.getOpenFileName(parent, tr("Add a model file"), "", tr("Models (*.gguf)"))
    return Path(name) if name else None
