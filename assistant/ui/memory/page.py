"""What every page of the memory panel is: it reads when it is shown, and tells the panel what happened in it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class Page(QWidget):
    """A page says what it did by signals; it never opens another page by itself.

    ``tools``: a widget of the page's own that stands beside its title, None for none. ``quick``: whether the line to
    remember something stands above it.
    """

    failed = Signal(object)
    """Something could not be done: the exception."""
    said = Signal(str)
    """A line for the status bar."""
    undo_offered = Signal(str, str)
    """Something was done that can be taken back: words, and what ``Memory.undo`` takes."""
    place_chosen = Signal(str, int)
    """The person wants to see a line (0: no line) of a memory file."""
    chat_chosen = Signal(str)
    forget_asked = Signal(object)
    """The person wants something forgotten: an id, or (file, line, text) of a memory file."""
    badge_changed = Signal(int)
    """How many things wait on this page; 0 for none."""

    tools: QWidget | None = None
    quick = False

    def opened(self) -> None:
        """The page is shown now: read again. Called each time it is chosen, and when the panel comes back."""

    def noted(self, event: object) -> None:
        """A core event arrived while the panel is in use. It may be about anything."""

    def may_leave(self) -> bool:
        """Whether the window may close; a page with unsaved text asks here and keeps it."""
        return True

    def keep(self) -> None:
        """Write unsaved text down where it outlives the window, at once: nobody may be there to be asked."""

    def discard(self) -> None:
        """Let go of unsaved text, unasked."""
