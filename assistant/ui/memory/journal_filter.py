"""Which changes the journal shows: of one actor, of one file, or all."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.actors import actor_words
from assistant.ui.widgets import spread

ACTORS = ("you", "assistant", "upkeep", "import", "disk", "undo")


class JournalFilter(QWidget):
    """Two choices side by side; None of either means all."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.actors = QComboBox()
        self.actors.setAccessibleName(tr("Changes by"))
        self.actors.addItem(tr("By anyone"), None)
        for actor in ACTORS:
            self.actors.addItem(tr("By {who}", who=actor_words(actor)), actor)
        self.files = QComboBox()
        self.files.setAccessibleName(tr("Changes of"))
        self.files.addItem(tr("In all files"), None)
        row = QHBoxLayout(self)
        spread(row, spacing=8)
        for box in (self.actors, self.files):
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.currentIndexChanged.connect(lambda _: self.changed.emit())
            row.addWidget(box, 1)

    @property
    def actor(self) -> str | None:
        return _value(self.actors)

    @property
    def file(self) -> str | None:
        return _value(self.files)

    @property
    def is_set(self) -> bool:
        return self.actor is not None or self.file is not None

    def know(self, files: Iterable[str]) -> None:
        """Offer files that were met in the journal."""
        known = {self.files.itemData(index) for index in range(self.files.count())}
        for file in sorted(set(files) - known):
            self.files.addItem(file, file)


def _value(box: QComboBox) -> str | None:
    value = box.currentData()
    return value if isinstance(value, str) else None
