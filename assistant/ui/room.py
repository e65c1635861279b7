"""How chats, conversation and memory share the width of the window: what does not fit makes way, and comes back."""

from __future__ import annotations

from PySide6.QtWidgets import QSplitter, QWidget

_NARROW = 1040  # below this, chats and memory do not both fit beside a readable conversation
_TIGHT = 760  # below this, memory does not fit beside a conversation either
_CHATS = 264


class Room:
    """The three columns of a splitter; the last comes when memory is first opened."""

    def __init__(self, splitter: QSplitter, chats: QWidget, conversation: QWidget) -> None:
        self._splitter, self._chats, self._conversation = splitter, chats, conversation
        self._hid_chats, self._chats_width = False, _CHATS

    @property
    def hid_chats(self) -> bool:
        """Whether the chats are hidden only because the window is too narrow for them and the memory."""
        return self._hid_chats

    @property
    def is_tight(self) -> bool:
        """Whether the memory has the conversation's place."""
        return self._conversation.isHidden()

    def chats_width(self) -> int:
        """The width of the list of chats, also while it is hidden."""
        return self._chats_width if self._chats.isHidden() else self._chats.width()

    def toggle_chats(self) -> None:
        self._hid_chats, self._chats_width = False, self.chats_width()
        self._chats.setVisible(self._chats.isHidden())

    def set_chats_width(self, width: int, whole: int) -> None:
        """Give the list of chats this width; the conversation has the rest of the window's ``whole``."""
        self._chats_width = width
        memory = self._splitter.sizes()[2:]
        self._splitter.setSizes([width, max(1, whole - width - sum(memory)), *memory])

    def share(self, whole: int, memory: int) -> None:
        """Lay out a window of this width. memory: the width that it should have; 0: it is not shown."""
        self._make_way(whole, bool(memory))
        was_tight = self.is_tight
        self._conversation.setHidden(bool(memory) and whole < _TIGHT)
        if was_tight and not self.is_tight and memory:
            self.widen_memory(whole, memory)

    def widen_memory(self, whole: int, memory: int) -> None:
        """Give the memory this width."""
        left = 0 if self._chats.isHidden() else self._chats.width()
        self._splitter.setSizes([left, max(1, whole - left - memory), memory])

    def _make_way(self, whole: int, memory_open: bool) -> None:
        if memory_open and whole < _NARROW and not self._chats.isHidden():
            self._chats_width = self._chats.width()
            self._chats.hide()
            self._hid_chats = True
        elif self._hid_chats and not (memory_open and whole < _NARROW):
            self._chats.show()
            self._hid_chats = False
            self.set_chats_width(self._chats_width, whole)
