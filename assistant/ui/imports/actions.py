"""Import… in the menu, and the toast that takes an import back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from assistant.ui.i18n import tr
from assistant.ui.models.chats import chat_title

if TYPE_CHECKING:
    from assistant.runtime.importing import ImportUndone
    from assistant.ui.imports.dialog import ImportDialog
    from assistant.ui.main_window import MainWindow
    from assistant.workspace.imports.report import ImportReport

_SECONDS = 20.0  # it took a while to decide; so it may take a while to think again


def import_memory(window: MainWindow) -> ImportDialog:
    """Open the dialog that imports."""
    from assistant.ui.imports.dialog import ImportDialog

    dialog = ImportDialog(window.services, window.bridge, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.imported.connect(_Offer(window).show)
    dialog.open()
    return dialog


class _Offer(QObject):
    """Says what was imported, and takes it back when asked."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def show(self, report: ImportReport) -> None:
        from assistant.workspace.imports.values import SYSTEMS

        memories = sum(report.new[kind] for kind in report.new if kind != "chats")
        words = tr(
            "Imported from {system} · memories: {memories} · chats: {chats}",
            system=SYSTEMS[report.system],
            memories=memories,
            chats=report.new["chats"],
        )
        self._window.toasts.show(words, tr("Undo"), lambda: self._undo(report.id), seconds=_SECONDS)

    def _undo(self, ident: str) -> None:
        window = self._window
        window.bridge.run(
            window.services.lanes.keeping,
            window.services.importing.undo,
            ident,
            done=self._on_undone,
            failed=window.show_error,
        )

    def _on_undone(self, undone: ImportUndone) -> None:
        if undone.kept:
            infos = {info.id: info.title for info in self._window.sidebar.model.infos()}
            names = ", ".join(chat_title(infos.get(chat, "")) for chat in undone.kept[:3])
            self._window.toasts.show(tr("Taken back. What went on since stays: {names}", names=names))
        elif undone.left:
            words = tr("Taken back. Something of it was forgotten, so the rest stays in: {names}", names=undone.left[0])
            self._window.toasts.show(words)
        else:
            self._window.toasts.show(tr("Taken back"), seconds=4)
