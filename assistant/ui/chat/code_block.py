"""A block of code in a reply, with its language and a button that copies it."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QVBoxLayout

from assistant.ui.chat.highlight import code_html
from assistant.ui.chat.markdown import Code
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, label, spread

_LINE_PIXELS = 20  # fonts differ in the line height they come with; this is what the eye gets
_MAX_HEIGHT = 520


class CodeBlock(QFrame):
    """A block of code with its language and a copy button; scrolls sideways, and down when it is very long."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("code")
        self._theme = theme
        self._code = Code("", "")
        self._language = label("", "small")
        self._copy = IconButton(theme, "copy", tr("Copy code"), 16)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._view = QTextEdit()
        self._view.setReadOnly(True)
        self._view.setProperty("role", "code")
        self._view.setObjectName("codeview")
        self._view.setStyleSheet("background: transparent; border: none;")
        self._view.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._view.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._view.document().setDocumentMargin(0)
        font = self._view.font()
        font.setFamilies(theme.mono)
        font.setPixelSize(13)
        self._view.setFont(font)
        self._view.document().setDefaultFont(font)
        self._lay_out()
        theme.changed.connect(self._render)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        spread(head, (0, 0, 0, 0), 8)
        head.addWidget(self._language)
        head.addStretch()
        head.addWidget(self._copy)
        column = QVBoxLayout(self)
        spread(column, (16, 4, 8, 4), 0)
        column.addLayout(head)
        column.addWidget(self._view)

    def show_code(self, code: Code) -> None:
        self._code = code
        self._language.setText(code.language or tr("text"))
        self._view.setAccessibleName(tr("Code, {language}", language=code.language or tr("text")))
        self._render()

    def copy_button(self) -> IconButton:
        return self._copy

    def plain_text(self) -> str:
        return self._code.text

    def text_view(self) -> QTextEdit:
        """The view of the code itself."""
        return self._view

    def _render(self) -> None:
        families = ", ".join(f"'{name}'" for name in self._theme.mono)
        line = max(100, round(100 * _LINE_PIXELS / self._view.fontMetrics().lineSpacing()))
        self._view.document().setDefaultStyleSheet(
            f"pre {{ font-family: {families}; line-height: {line}%; margin: 0 }}"
        )
        self._view.setHtml(code_html(self._code.text, self._code.language, self._theme.palette))
        size = self._view.document().size()
        bar = self._view.horizontalScrollBar().sizeHint().height()
        self._view.setFixedHeight(min(_MAX_HEIGHT, math.ceil(size.height()) + bar))

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._code.text)
        self._copy.set_icon_name("check", "accent")
        QTimer.singleShot(1500, self._copy, lambda: self._copy.set_icon_name("copy"))
