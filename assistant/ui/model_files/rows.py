"""A card a model: one that is on this laptop, and one that can be downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from assistant.core.events import DownloadChanged, DownloadStatus
from assistant.ui.i18n import tr, translate_message
from assistant.ui.model_files.words import FIT_ROLE, download_words, file_facts, fit_words, offer_facts
from assistant.ui.widgets import ElidedLabel, button, label, spread

if TYPE_CHECKING:
    from assistant.runtime.model_facts import ModelFact, Offer

_ENDED = (DownloadStatus.DONE, DownloadStatus.GONE)


class _Card(QFrame):
    """A name with buttons beside it; lines below."""

    def __init__(self, name: str, tip: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.column = QVBoxLayout(self)
        spread(self.column, (16, 12, 16, 12), 4)
        self.head = QHBoxLayout()
        spread(self.head, spacing=8)
        title = ElidedLabel(name, "strong")
        title.setToolTip(tip)
        self.head.addWidget(title, 1)
        self.column.addLayout(self.head)

    def say(self, text: str, role: str = "small") -> None:
        """A line, if there is anything to say."""
        if text:
            self.column.addWidget(label(text, role, wrap=True))

    def offer(self, words: str, what: str, kind: str = "") -> QPushButton:
        """A button beside the name; ``what`` names for a screen reader what it is about."""
        made = button(words, kind)
        made.setAccessibleName(f"{words}: {what}")
        self.head.addWidget(made)
        return made


class ModelRow(_Card):
    """A model that is here. use_asked, remove_asked: with the ModelFile."""

    use_asked = Signal(object)
    remove_asked = Signal(object)

    def __init__(self, fact: ModelFact) -> None:
        file = fact.file
        super().__init__(file.name, str(file.path))
        self.fact = fact
        self.remove = self.offer(tr("Remove"), file.name, "quiet")
        self.remove.clicked.connect(lambda: self.remove_asked.emit(file))
        self.use: QPushButton | None = None
        if fact.loaded:
            self.head.addWidget(label(tr("in use"), "chip"), 0, Qt.AlignmentFlag.AlignVCenter)
        elif not file.problem:
            self.use = self.offer(tr("Use"), file.name)
            self.use.clicked.connect(lambda: self.use_asked.emit(file))
        if file.problem:
            self.say(translate_message(file.problem), "smallred")
            self.column.addWidget(ElidedLabel(str(file.path), "small"))
            return
        self.say(file_facts(file))
        self.say(fit_words(fact.fit, fact.memory, fact.available), FIT_ROLE[fact.fit])
        if not file.template:
            self.say(tr("It has no chat template; a common one stands in, which may not suit it."))


class OfferRow(_Card):
    """A model of the catalogue, and how its download stands. Signals carry the catalogue's name."""

    start_asked = Signal(str)
    pause_asked = Signal(str)
    cancel_asked = Signal(str)

    def __init__(self, offer: Offer, host: str, *, advised: bool) -> None:
        model = offer.model
        super().__init__(model.title, f"{model.repository} / {model.file}")
        self.model = model
        if advised:
            self.head.addWidget(label(tr("a good start"), "chip"), 0, Qt.AlignmentFlag.AlignVCenter)
        self.here = label(tr("on this laptop"), "small")
        self.head.addWidget(self.here)
        self.cancel = self.offer(tr("Cancel"), model.title, "quiet")
        self.pause = self.offer(tr("Pause"), model.title)
        self.start = self.offer(tr("Download"), model.title, "primary" if advised else "")
        self.start.clicked.connect(lambda: self.start_asked.emit(model.name))
        self.pause.clicked.connect(lambda: self.pause_asked.emit(model.name))
        self.cancel.clicked.connect(lambda: self.cancel_asked.emit(model.name))
        self.say(offer_facts(model))
        self.say(fit_words(offer.fit, offer.memory, offer.available), FIT_ROLE[offer.fit])
        if not model.sha256:
            words = tr("Keepsake knows no checksum of it; it is checked against the one that {host} gives.", host=host)
            self.say(words)
        self._going = self._progress()
        self.problem = label("", "smallred", wrap=True)
        self.column.addWidget(self.problem)
        self._is_here = bool(offer.here)
        self.show_state(offer.download)

    def _progress(self) -> QWidget:
        whole = QWidget()
        column = QVBoxLayout(whole)
        spread(column, (0, 6, 0, 2), 6)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.words = label("", "small")
        column.addWidget(self.bar)
        column.addWidget(self.words)
        self.column.addWidget(whole)
        return whole

    def show_state(self, state: DownloadChanged | None) -> None:
        """How the download stands; None: there is none."""
        going = state is not None and state.status not in (*_ENDED, DownloadStatus.FAILED)
        runs = state is not None and state.runs
        kept = state is not None and not runs and state.status not in _ENDED and state.done > 0
        here = self._is_here or (state is not None and state.status is DownloadStatus.DONE)
        self.here.setVisible(here)
        self.start.setVisible(not here and not runs)
        self.start.setText(tr("Continue") if kept else tr("Download"))
        self.start.setAccessibleName(f"{self.start.text()}: {self.model.title}")
        self.pause.setVisible(runs)
        self.cancel.setVisible(runs or kept)
        self._going.setVisible(going)
        if state is not None and going:
            words = download_words(state)
            self.words.setText(words)
            self.bar.setAccessibleName(words)
            self.bar.setValue(1000 * state.done // state.total if state.total else 0)
        error = state.error if state is not None and not here else None
        self.problem.setText(translate_message(str(error)) if error else "")
        self.problem.setVisible(error is not None)
