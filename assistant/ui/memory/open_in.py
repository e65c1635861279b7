"""Handing a memory file to other programs: the file manager, the default editor, Obsidian."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from assistant.ui.i18n import tr

Opener = Callable[[QUrl], bool]


def obsidian_url(path: Path) -> QUrl:
    """``obsidian://open?path=`` with the whole path percent-encoded, as Obsidian asks for it."""
    encoded = bytes(QUrl.toPercentEncoding(str(path.absolute())).data()).decode("ascii")
    return QUrl(f"obsidian://open?path={encoded}", QUrl.ParsingMode.StrictMode)


class OpenIn:
    """Opens by QDesktopServices; what could not be opened is told to ``failed`` in words."""

    def __init__(self, root: Path, said: Callable[[str], object], opener: Opener | None = None) -> None:
        self._root, self._said = root, said
        self._opener = opener

    def folder(self, file: str) -> None:
        """Show the folder that holds the file."""
        self._open(QUrl.fromLocalFile(str((self._root / file).parent)), tr("the file manager"))

    def editor(self, file: str) -> None:
        """Open the file with the program that the system has for it."""
        self._open(QUrl.fromLocalFile(str(self._root / file)), tr("the default editor"))

    def obsidian(self, file: str) -> None:
        self._open(obsidian_url(self._root / file), "Obsidian")

    def copy_path(self, file: str) -> None:
        QGuiApplication.clipboard().setText(str(self._root / file))
        self._said(tr("The path was copied"))

    def fill(self, menu: QMenu, file: str, parent: QWidget) -> None:
        """Add the ways to open ``file`` to a menu."""
        for words, act in (
            (tr("Show in the file manager"), self.folder),
            (tr("Open in the default editor"), self.editor),
            (tr("Open in Obsidian"), self.obsidian),
            (tr("Copy the path"), self.copy_path),
        ):
            action = QAction(words, parent)
            action.triggered.connect(lambda _=False, act=act: act(file))
            menu.addAction(action)

    def _open(self, url: QUrl, program: str) -> None:
        opener = self._opener or QDesktopServices.openUrl
        if not opener(url):
            self._said(tr("Your system could not open {program}.", program=program))
