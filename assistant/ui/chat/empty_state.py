"""What an empty chat shows: a greeting and a few ways to begin. It fits every width, and scrolls in a low window."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from assistant.ui.chat.kinds import Kind, private_explained, temporary_explained
from assistant.ui.i18n import tr
from assistant.ui.icons import app_icon
from assistant.ui.widgets import button, centred, label, spread
from assistant.workspace.assistants import DEFAULT

_WIDEST, _LOW = 380, 420  # pixels
SMALL_MODEL_BYTES = 400_000_000  # the starter model has 98 MB; from about here on models hold a conversation


class EmptyState(QScrollArea):
    """suggested: a way to begin was chosen; bigger_asked: how to add a bigger model."""

    suggested = Signal(str)
    bigger_asked = Signal()

    def __init__(self, name: str = DEFAULT) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        inner.setObjectName("page")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(inner)
        spread(column, (24, 24, 24, 24), 8)
        centre = Qt.AlignmentFlag.AlignHCenter
        column.addStretch(3)
        self._picture = QLabel()
        self._picture.setPixmap(app_icon().pixmap(64, 64))
        column.addWidget(self._picture, 0, centre)
        column.addSpacing(8)
        column.addWidget(label(tr("What is on your mind?"), "headline"), 0, centre)
        self._name = name
        words = label(_greeting(name), "muted", wrap=True)
        words.setAlignment(centre)
        column.addWidget(words)
        column.addSpacing(16)
        column.addLayout(self._suggestions())
        column.addSpacing(8)
        self.bigger = QWidget()
        # Two widgets, for a button cannot wrap: beside the open memory panel one long line would be cut at both ends.
        advice = QVBoxLayout(self.bigger)
        spread(advice)
        self._advice = label("", "muted", wrap=True)
        self._advice.setAlignment(centre)
        advice.addWidget(self._advice)
        self._get = button("", "link", self.bigger_asked.emit)
        advice.addWidget(self._get, 0, centre)
        self.bigger.hide()
        self.words = words
        column.addWidget(self.bigger)
        column.addStretch(4)
        self.setWidget(inner)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the ways to begin come before the picture."""
        super().resizeEvent(event)
        self._picture.setVisible(event.size().height() >= _LOW)

    def show_kind(self, kind: Kind) -> None:
        """Say what becomes of what is said in the chat that begins."""
        said = {Kind.PRIVATE: private_explained(), Kind.TEMPORARY: temporary_explained()}
        self.words.setText(said.get(kind) or _greeting(self._name))

    def show_model_size(self, size_bytes: int) -> None:
        """Say plainly, while a small model is loaded, that bigger ones are better."""
        self._advice.setText(tr("This is a small model to begin with. A bigger one gives better answers."))
        self._get.setText(tr("See bigger models"))
        self.bigger.setVisible(0 < size_bytes < SMALL_MODEL_BYTES)

    def show_no_model(self) -> None:
        """For a person who has just begun: without a model nobody answers."""
        self._advice.setText(tr("There is no model on this laptop yet; without one there are no answers."))
        self._get.setText(tr("Get a model"))
        self.bigger.show()

    def _suggestions(self) -> QHBoxLayout:
        """As wide as reads well, and no wider than there is room."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        spread(column, spacing=8)
        for text in suggestions():
            column.addWidget(button(text, "suggestion", partial(self.suggested.emit, text)))
        return centred(whole, _WIDEST)


def _greeting(name: str) -> str:
    return tr("{name} remembers what matters to you, in plain files you own.", name=name)


def suggestions() -> list[str]:
    """Ways to begin; they fill the composer and are not sent."""
    return [
        tr("Remember that I like my answers short."),
        tr("What do you know about me?"),
        tr("Help me plan a quiet weekend."),
    ]
