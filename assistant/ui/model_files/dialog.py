"""The Models dialog: what is on this laptop with its facts, and what can be downloaded when the person asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QMessageBox,
    QScrollArea,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from assistant.core.events import DownloadChanged, DownloadStatus, ModelFailed, ModelReady
from assistant.engine.memory_estimate import Fit
from assistant.ui.backend import Backend
from assistant.ui.bars import size_words
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.model_files.rows import ModelRow, OfferRow
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.engine.model_files import ModelFile
    from assistant.runtime.model_facts import ModelFact, Offer

HERE, CATALOGUE = 0, 1
"""The pages."""


class ModelsDialog(QDialog):
    """use_asked: the name of a model; failed: an error. The network is used only after Download was pressed."""

    use_asked = Signal(str)
    failed = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, parent: QWidget, page: int = HERE) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self.models: list[ModelRow] = []
        self.offers: dict[str, OfferRow] = {}
        self._host = ""
        self.setWindowTitle(tr("Models"))
        self.resize(780, 640)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(tr("Models"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.addTab(tr("On this laptop"))
        self.tabs.addTab(tr("To download"))
        self.stack = QStackedWidget()
        self._lists = [self._page(), self._page()]
        self.host = label("", "small", wrap=True)
        self.status = label("", "small", wrap=True)
        self._lay_out()
        self.tabs.currentChanged.connect(self._on_page)
        self.tabs.setCurrentIndex(page)
        self._on_page(page)
        bridge.event_arrived.connect(self._on_event)
        self.status.setText(tr("Looking at what is there…"))
        self.refresh()

    # --- building ---

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        spread(column, (24, 16, 24, 16), 12)
        column.addWidget(self.tabs)
        column.addWidget(self.host)
        column.addWidget(self.stack, 1)
        column.addWidget(self.status)
        foot = QHBoxLayout()
        spread(foot, spacing=8)
        self.add_file = button(tr("Add a model file…"), "", lambda: self._add(self.choose_file()))
        self.add_folder = button(tr("Add a folder…"), "", lambda: self._add(self.choose_folder()))
        self.token = button(tr("Access token…"), "", self._on_token)
        for control in (self.add_file, self.add_folder, self.token):
            foot.addWidget(control)
        foot.addStretch()
        foot.addWidget(button(tr("Close"), "", self.accept))
        column.addLayout(foot)

    def _page(self) -> QVBoxLayout:
        area = QScrollArea()
        area.setObjectName("plain")
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        column = QVBoxLayout(inner)
        spread(column, (0, 0, 8, 0), 8)
        area.setWidget(inner)
        self.stack.addWidget(area)
        return column

    def choose_file(self) -> str:
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Add a model file"), "", tr("Models (*.gguf)"))
        return chosen

    def choose_folder(self) -> str:
        return QFileDialog.getExistingDirectory(self, tr("Add a folder with models"))

    # --- showing ---

    def refresh(self) -> None:
        """Read everything anew."""
        facts, downloads = self._services.model_facts, self._services.downloads
        self._run(lambda: (facts.here(), facts.offers(), downloads.host()), self._show)

    def _show(self, found: tuple[Sequence[ModelFact], Sequence[Offer], str]) -> None:
        facts, offers, self._host = found
        if not self.offers:
            self.status.setText("")
        for column in self._lists:
            while (item := column.takeAt(0)) is not None:
                if (widget := item.widget()) is not None:
                    widget.hide()
                    widget.deleteLater()
        self._show_models(facts, offers)
        self._show_offers(offers)
        for column in self._lists:
            column.addStretch()

    def _show_models(self, facts: Sequence[ModelFact], offers: Sequence[Offer]) -> None:
        self.models = [
            ModelRow(fact) for fact in sorted(facts, key=lambda fact: (not fact.loaded, bool(fact.file.problem)))
        ]
        for row in self.models:
            row.use_asked.connect(lambda file: self.use_asked.emit(file.name))
            row.remove_asked.connect(self._on_remove)
            self._lists[HERE].addWidget(row)
        if not any(not fact.file.problem for fact in facts):
            self._lists[HERE].insertWidget(0, self._nothing_here(_advised(offers)))

    def _nothing_here(self, advised: Offer | None) -> QWidget:
        """For a person who has just begun."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        spread(column, (0, 32, 0, 32), 10)
        centre = Qt.AlignmentFlag.AlignHCenter
        column.addWidget(label(tr("There is no model on this laptop yet."), "title"), 0, centre)
        words = label(
            tr(
                "A model is the part that writes the answers. It is one large file; once it is here, it works without "
                "a network. Download one, or add a file or the folder of another program such as LM Studio or Ollama."
            ),
            "muted",
            wrap=True,
        )
        words.setAlignment(centre)
        column.addWidget(words)
        see = button(tr("See what can be downloaded"), "primary", lambda: self.tabs.setCurrentIndex(CATALOGUE))
        column.addWidget(see, 0, centre)
        if advised:
            about = tr("{name} is a good start for this laptop.", name=advised.model.title)
            column.addWidget(label(about, "small"), 0, centre)
        return whole

    def _show_offers(self, offers: Sequence[Offer]) -> None:
        advised, host = _advised(offers), self._host
        self.host.setText(
            tr(
                "From {host}. Nothing is fetched before you press Download, and each file is checked before it counts.",
                host=host,
            )
        )
        downloads = self._services.downloads
        self.offers = {}
        for offer in offers:
            if not offer.model.repository:
                continue
            row = OfferRow(offer, host, advised=advised is offer)
            row.start_asked.connect(downloads.start)
            row.pause_asked.connect(downloads.pause)
            row.cancel_asked.connect(downloads.cancel)
            self.offers[offer.model.name] = row
            self._lists[CATALOGUE].addWidget(row)

    def _on_page(self, page: int) -> None:
        self.stack.setCurrentIndex(page)
        self.host.setVisible(page == CATALOGUE)
        self.token.setVisible(page == CATALOGUE)
        self.add_file.setVisible(page == HERE)
        self.add_folder.setVisible(page == HERE)
        self.status.setText("")

    def _on_event(self, event: object) -> None:
        if isinstance(event, DownloadChanged):
            if row := self.offers.get(event.name):
                row.show_state(event)
            if event.status in (DownloadStatus.DONE, DownloadStatus.GONE):
                self.refresh()
        elif isinstance(event, ModelReady | ModelFailed):
            self.refresh()

    # --- doing ---

    def _add(self, chosen: str) -> None:
        if not chosen:
            return
        path = Path(chosen)
        self.status.setText(tr("Looking at what is there…"))
        services = self._services
        add: Callable[[Path], Any] = services.add_model_folder if path.is_dir() else services.add_model
        self._run(lambda: add(path), self._on_added)

    def _on_added(self, added: ModelFile | Sequence[ModelFile]) -> None:
        files = added if isinstance(added, Sequence) else [added]
        usable = [file for file in files if not file.problem]
        broken = len(files) - len(usable)
        words = tr("Added: {n}. The files stay where they are.", n=len(usable))
        if broken:
            words = tr("Added: {n}. {broken} cannot be used; the list says why.", n=len(usable), broken=broken)
        self.refresh()
        self.status.setText(words)

    def _on_remove(self, file: ModelFile) -> None:
        if not file.own:
            self._remove(file)
            return
        box = QMessageBox(self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Delete this model?"))
        box.setText(tr("Delete {name}?", name=file.path.name))
        box.setInformativeText(
            tr("{size} on the disk become free. It cannot be undone.", size=size_words(file.size_bytes))
        )
        delete = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.buttonClicked.connect(lambda pressed: self._remove(file) if pressed is delete else None)
        box.open()

    def _remove(self, file: ModelFile) -> None:
        self._run(lambda: self._services.remove_model(file.name), self._on_removed)

    def _on_removed(self, file: ModelFile) -> None:
        self.refresh()
        kept = tr("{name} is not in the list any more; its file stays where it is.", name=file.name)
        self.status.setText(tr("{name} was deleted.", name=file.name) if file.own else kept)

    def _on_token(self) -> None:
        from assistant.ui.model_files.token_dialog import TokenDialog

        dialog = TokenDialog(self._services, self._bridge, self._host, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _run(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._bridge.run(self._services.lanes.files, work, done=done, failed=self._on_failed)

    def _on_failed(self, error: BaseException) -> None:
        self.status.setText("")
        self.failed.emit(error)


def _advised(offers: Sequence[Offer]) -> Offer | None:
    """The first of the catalogue that fits well; None where one is here already."""
    if any(offer.here and offer.model.repository for offer in offers):
        return None
    return next((offer for offer in offers if offer.model.repository and offer.fit is Fit.FITS), None)
