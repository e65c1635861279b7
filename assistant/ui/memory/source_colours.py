"""The colour and the name of each kind of source, in the picture and its legend."""

from __future__ import annotations

from assistant.ui.i18n import tr
from assistant.ui.palette import Palette


def source_colour(palette: Palette, kind: str) -> str:
    """One colour a kind, far enough apart in both themes."""
    colours = {
        "you": palette.accent,
        "distilled": palette.name,
        "tool": palette.keyword,
        "import": palette.number,
        "documents": palette.string,
    }
    return colours.get(kind, palette.muted)


def source_name(kind: str) -> str:
    """As a person calls it."""
    names = {
        "you": tr("you"),
        "distilled": tr("from chats"),
        "tool": tr("the assistant"),
        "import": tr("imported"),
        "documents": tr("documents"),
    }
    return names.get(kind, tr("other"))
