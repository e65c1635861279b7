"""A note above the editor that says how the file stands, with what can be done about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from assistant.ui.widgets import button, label, spread

Act = tuple[str, Callable[[], object]]


class Banner(QFrame):
    """Hidden while there is nothing to say. ``kind`` tells why it is shown: who shows it may ask."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("notecard")
        self.kind = ""
        self.words = label("", wrap=True)
        self.buttons: list[QPushButton] = []
        self._row = QHBoxLayout()
        spread(self._row, spacing=8)
        column = QVBoxLayout(self)
        spread(column, (12, 10, 12, 10), 8)
        column.addWidget(self.words)
        column.addLayout(self._row)
        self.hide()

    def say(self, kind: str, words: str, *acts: Act) -> None:
        """Show words, and a button for each act."""
        self.kind = kind
        self.words.setText(words)
        self.setAccessibleName(words)
        while (item := self._row.takeAt(0)) is not None:
            if (gone := item.widget()) is not None:
                gone.hide()
                gone.deleteLater()
        self.buttons = [button(name, "", act) for name, act in acts]
        for made in self.buttons:
            self._row.addWidget(made)
        self._row.addStretch()
        self.show()

    def button(self, name: str) -> QPushButton:
        """The button of that name."""
        return next(made for made in self.buttons if made.text() == name)

    def clear(self, *kinds: str) -> None:
        """Hide it, whatever it says or only when it was shown for one of these reasons."""
        if not kinds or self.kind in kinds:
            self.kind = ""
            self.hide()
