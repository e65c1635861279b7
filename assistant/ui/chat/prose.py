"""Views of one part of a message: prose, code, and long plain text. Nothing here ever opens an address by itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QImageReader,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QSizePolicy,
    QTextBrowser,
    QWidget,
)

from assistant.ui.chat.code_block import CodeBlock
from assistant.ui.chat.markdown import (
    COPY_SCHEME,
    EMPTY,
    PICTURE_SCHEME,
    TICKED,
    Code,
    Prose,
    document_style,
    is_picture_path,
)
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme

TEXT_PIXELS = 15
_LINE_PIXELS = 24  # fonts differ in the line height they come with; this is what the eye gets
_MAX_PICTURE_BYTES = 20_000_000


def load_picture(root: Path, address: str, max_width: int) -> QImage | None:
    """A picture of the workspace by its relative path, at most ``max_width`` wide; None for anything else."""
    if not is_picture_path(address):
        return None
    try:
        path = (root / address).resolve()
        if not path.is_relative_to(root.resolve()) or not path.is_file() or path.stat().st_size > _MAX_PICTURE_BYTES:
            return None
    except (OSError, ValueError):
        return None
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    size = reader.size()
    if size.isValid() and size.width() > max_width:
        reader.setScaledSize(size.scaled(QSize(max_width, 4 * max_width), Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    return None if image.isNull() else image


class ProseView(QTextBrowser):
    """Rich text exactly as high as it is; the transcript scrolls, not the view. Links only come as a signal."""

    link_activated = Signal(str)

    def __init__(self, theme: Theme, root: Path) -> None:
        super().__init__()
        self._theme, self._root = theme, root
        self._prose: Prose | None = None
        self._plain: str | None = None
        self.setProperty("role", "prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(0)
        font = self.font()
        font.setPixelSize(TEXT_PIXELS)
        self.document().setDefaultFont(font)
        self._line = max(100, round(100 * _LINE_PIXELS / QFontMetrics(font).lineSpacing()))
        self.anchorClicked.connect(self._on_anchor_clicked)
        theme.changed.connect(self._render)

    def show_prose(self, prose: Prose) -> None:
        self._prose, self._plain = prose, None
        self.setAccessibleName(tr("Text of the reply"))
        self._render()

    def show_plain(self, text: str) -> None:
        self._prose, self._plain = None, text
        self._render()

    def natural_width(self) -> int:
        """The width the text takes without wrapping, in pixels."""
        self.document().setTextWidth(-1)
        width = math.ceil(self.document().idealWidth())
        self.document().setTextWidth(self.viewport().width())
        return width

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Pictures of the workspace; nothing else is ever read or fetched."""
        name = QUrl(name)
        if name.scheme() != PICTURE_SCHEME:
            return None
        address = QUrl.fromPercentEncoding(name.toString().removeprefix(f"{PICTURE_SCHEME}:").encode())
        return load_picture(self._root, address, max(64, self.viewport().width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _render(self) -> None:
        before = self.textCursor()
        if self._plain is not None:
            self.document().setPlainText(self._plain)
        elif self._prose is not None:
            self.document().setDefaultStyleSheet(document_style(self._theme.palette, self._theme.mono, self._line))
            self.setHtml(self._prose.html)
            self._space_lists()
            self._drop_last_margin()
        if before.hasSelection():
            self._select_again(before.anchor(), before.position())
        self._fit()

    def _space_lists(self) -> None:
        """Items stand close together, and the list apart from what follows: Qt's style sheets cannot say that."""
        block = self.document().begin()
        while block.isValid():
            items = block.textList()
            if items is not None:
                cursor = QTextCursor(block)
                last = block.next().textList() is None
                if block.text().startswith((TICKED, EMPTY)):
                    indent = items.format().indent()
                    items.remove(block)
                    self._mark_box(block)
                    shape = block.blockFormat()
                    shape.setIndent(indent)
                else:
                    shape = block.blockFormat()
                shape.setBottomMargin(12 if last else 4)
                shape.setTopMargin(0)
                cursor.setBlockFormat(shape)
            block = block.next()
        first = QTextCursor(self.document().begin())
        shape = first.blockFormat()
        shape.setTopMargin(0)
        first.setBlockFormat(shape)

    def _mark_box(self, block: QTextBlock) -> None:
        """A ticked box in a text font, not as a coloured picture."""
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setFontFamilies(self._theme.mono)
        look.setProperty(QTextCharFormat.Property.FontPixelSize, TEXT_PIXELS + 5)
        look.setForeground(QColor(self._theme.palette.accent))
        cursor.mergeCharFormat(look)

    def _drop_last_margin(self) -> None:
        cursor = QTextCursor(self.document().lastBlock())
        shape = cursor.blockFormat()
        shape.setBottomMargin(0)
        cursor.setBlockFormat(shape)

    def _select_again(self, anchor: int, position: int) -> None:
        end = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _fit(self) -> None:
        self.document().setTextWidth(self.viewport().width())
        height = math.ceil(self.document().size().height())
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)

    def _on_anchor_clicked(self, address: QUrl) -> None:
        if address.scheme() == COPY_SCHEME and self._prose is not None:
            QGuiApplication.clipboard().setText(self._prose.copies[int(address.path())])
        else:
            self.link_activated.emit(address.toString())


class LongTextView(QPlainTextEdit):
    """A very long text, scrolled inside itself so that the window stays quick. Very long lines are broken."""

    _LINE = 2000  # one line of a megabyte would be laid out whole at every resize

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "bare")
        self.setAccessibleName(tr("Long text"))
        self.setFixedHeight(440)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._text = ""
        self.show_text(text)

    def show_text(self, text: str) -> None:
        """Show this text; where it only goes on, what the person scrolled to stays."""
        if self._text and text.startswith(self._text):
            end = QTextCursor(self.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            end.insertText(text[len(self._text) :])
        else:
            lines = text.split("\n")
            pieces = (line[i : i + self._LINE] for line in lines for i in range(0, max(1, len(line)), self._LINE))
            self.setPlainText("\n".join(pieces))
        self._text = text


Part = ProseView | CodeBlock


def part_for(segment: Prose | Code, theme: Theme, root: Path) -> Part:
    """A new view of the kind a segment needs, not filled yet."""
    return CodeBlock(theme) if isinstance(segment, Code) else ProseView(theme, root)


def fill_part(part: QWidget, segment: Prose | Code) -> bool:
    """Show ``segment`` in ``part``; False where the part is of the other kind."""
    if isinstance(part, CodeBlock) and isinstance(segment, Code):
        part.show_code(segment)
        return True
    if isinstance(part, ProseView) and isinstance(segment, Prose):
        part.show_prose(segment)
        return True
    return False
