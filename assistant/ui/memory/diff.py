"""A unified diff as people read it: files by name, places by line, what came green, what went red."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from assistant.ui.i18n import tr
from assistant.ui.plain_edit import PlainEdit
from assistant.ui.theme import Theme

_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<line>\d+)(?:,(?P<new>\d+))? @@")
_DOTS = "⋯"
_MARGIN = 8  # pixels


def readable(diff: str) -> str:
    """The diff without its machine's part; what it says of lines stays as it is."""
    shown: list[str] = []
    old = new = 0  # lines of the hunk that are to come
    for line in diff.split("\n"):
        if old > 0 or new > 0:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            shown.append(line)
        elif line.startswith("+++ b/"):
            shown += ["", line.removeprefix("+++ b/")] if shown else [line.removeprefix("+++ b/")]
        elif match := _HUNK.match(line):
            old, new = int(match["old"] or 1), int(match["new"] or 1)
            shown.append(f"{_DOTS} " + tr("line {n}", n=max(1, int(match["line"]))))
        elif not line.startswith("--- a/"):
            shown.append(line)
    return "\n".join(shown).rstrip("\n")


class DiffView(PlainEdit):
    """Read-only; the colours follow the theme."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "code")
        self.setAccessibleName(name)
        self.document().setDocumentMargin(_MARGIN)
        self._highlighter = DiffHighlighter(self.document(), theme)

    def show_diff(self, diff: str) -> None:
        """Show a unified diff, from its beginning."""
        self.setPlainText(readable(diff))


class DiffHighlighter(QSyntaxHighlighter):
    """Added lines green, removed lines red, places quiet, names of files strong."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        colours = self._theme.palette
        style = QTextCharFormat()
        colour = {"+": colours.string, "-": colours.red, _DOTS: colours.muted, "\\": colours.muted}.get(text[:1])
        if colour:
            style.setForeground(QColor(colour))
        elif text[:1] not in ("", " "):
            style.setFontWeight(QFont.Weight.DemiBold)
        self.setFormat(0, len(text), style)
