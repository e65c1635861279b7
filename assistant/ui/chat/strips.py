"""What stands above a field before its text goes: a question about secrets, what is changed, a message that waits."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, label, spread
from assistant.workspace.redaction import find_secrets

_NAMED = 3
"""So many secrets are named; more are counted."""


def masked(secret: str) -> str:
    """Enough of a secret to know it again, too little to use it: at most three characters at each end."""
    words = " ".join(secret.split())
    shown = min(3, len(words) // 5)
    return f"{words[:shown]}…{words[-shown:]}" if shown else "…"


def kind_words(kind: str) -> str:
    """What a kind of secret is called; kinds of workspace.redaction."""
    named = {
        "private key": tr("private key"),
        "key": tr("access key"),
        "header": tr("access key"),
        "token": tr("access key"),
        "cookie": tr("cookie"),
        "url password": tr("password in an address"),
        "password": tr("password"),
        "resident id": tr("ID number"),
        "bank card": tr("card number"),
    }
    return named.get(kind, tr("secret"))


def secrets_in(text: str) -> list[str]:
    """Each secret of a text, in words, masked; empty for ordinary text."""
    return [f"{kind_words(span.kind)} {masked(text[span.start : span.end])}" for span in find_secrets(text)]


class SecretStrip(QFrame):
    """Says what looks like a secret; nothing goes before the person has chosen. ``chosen(keep)``."""

    chosen = Signal(bool)
    toggled = Signal()
    """It came up, or is gone."""

    def __init__(self, without: str) -> None:
        """``without``: the words of the button that goes on without the secret."""
        super().__init__()
        self.setObjectName("notecard")
        self.words = label("", wrap=True)
        self.without = button(without, "primary", lambda: self._choose(False))
        self.keep = button(tr("Keep it this once"), "", lambda: self._choose(True))
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.without)
        row.addWidget(self.keep)
        row.addStretch()
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 8)
        column.addWidget(self.words)
        column.addLayout(row)
        self.hide()

    def asks(self, text: str) -> bool:
        """Ask about the secrets of ``text``; False (and hidden) where there are none."""
        found = secrets_in(text)
        named = ", ".join(found[:_NAMED])
        if len(found) > _NAMED:
            named = tr("{named} and {n} more", named=named, n=len(found) - _NAMED)
        self.words.setText(tr("This looks like a secret: {named}. Keepsake does not write it down.", named=named))
        self.setAccessibleName(self.words.text())
        self.setVisible(bool(found))
        return bool(found)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.toggled.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.toggled.emit()

    def _choose(self, keep: bool) -> None:
        self.hide()
        self.chosen.emit(keep)


class EditStrip(QFrame):
    """An earlier message is being changed. left: it is to stay as it is."""

    left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        words = tr("You are changing an earlier message. What came after it stays, on its own branch.")
        cancel = IconButton(theme, "close", tr("Do not change it (Esc)"), 14)
        cancel.clicked.connect(self.left)
        row = QHBoxLayout(self)
        spread(row, (8, 0, 0, 0), 8)
        row.addWidget(label(words, "small"), 1)
        row.addWidget(cancel)
        self.hide()


class QueuedStrip(QFrame):
    """A message that is sent when the reply is finished; it can be taken back."""

    taken_back = Signal()
    dropped = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self.words = ElidedLabel()
        self.edit = IconButton(theme, "edit", tr("Change the waiting message"), 16)
        self.drop = IconButton(theme, "close", tr("Do not send the waiting message"), 16)
        self.edit.clicked.connect(self.taken_back)
        self.drop.clicked.connect(self.dropped)
        row = QHBoxLayout(self)
        spread(row, (16, 4, 8, 4), 4)
        row.addWidget(label(tr("Next:"), "small"))
        row.addWidget(self.words, 1)
        row.addWidget(self.edit)
        row.addWidget(self.drop)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show the waiting message; "" hides the strip."""
        self.words.set_text(text)
        self.setVisible(bool(text))
