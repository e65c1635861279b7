"""Private chats in prompts: what other chats were told of one before it became private is not told again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.chat.never import Never
from assistant.chat.row import FixedRow, as_data, without_brief_lines
from assistant.chat.tokens import TokenCounter
from assistant.core.errors import AssistantError
from assistant.core.values import MadeCall, PromptLine, Receipt

_LEFT_OUT = "(left out)"
_EMPTY_BLOCK = "<recalled>\n</recalled>\n\n"


class HiddenChats:
    """Takes lines of private chats out of what a prompt repeats. Looks at each chat once, so make one a prompt.

    One that cannot be read counts as private. The receipts of earlier turns stay as they are: they say what was told
    then.
    """

    def __init__(self, is_private: Callable[[str], bool]) -> None:
        self._is_private = is_private
        self._known: dict[str, bool] = {}

    def row(self, row: FixedRow, own: str, counter: TokenCounter) -> FixedRow:
        """The fixed row of the chat ``own``; the very same one where nothing in it is hidden."""
        return without_brief_lines(row, lambda line: self._hides(line, own), counter)

    def block(self, text: str, lines: Sequence[PromptLine], own: str) -> str:
        """A recalled block of ``own``, made of ``lines``, "" when nothing is left of it."""
        for line in lines:
            if self._hides(line, own):
                text = text.replace(f"- {as_data(line.text)}\n", "")
        return "" if text == _EMPTY_BLOCK else text

    def call(self, call: MadeCall, never: Never, own: str) -> MadeCall:
        """A call as it is repeated: its result without what is hidden, never to be told in ``own``, or forgotten."""
        result = call.result
        for line in call.lines:
            if self._hides(line, own) or never.holds(line.unit):
                result = result.replace(as_data(line.text), _LEFT_OUT)
        return call if result == call.result else replace(call, result=result)

    def _hides(self, line: PromptLine, own: str) -> bool:
        chat = chat_of(line)
        if not chat or chat == own:
            return False
        if chat not in self._known:
            try:
                self._known[chat] = self._is_private(chat)
            except AssistantError:
                self._known[chat] = True
        return self._known[chat]


def chat_of(line: PromptLine) -> str:
    """The chat that a line comes from, "" for a line of memory."""
    return line.unit.partition("#")[0] if line.file.startswith("chats/") else ""


def private_chats(receipt: Receipt) -> int:
    """From how many private chats something was told for this turn, other than the turn's own."""
    return len({chat_of(line) for line in receipt.lines if line.private} - {"", receipt.chat})
