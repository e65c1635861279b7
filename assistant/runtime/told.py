"""What was told and what will be: receipts as of today, what is never told again, the prompt before it is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.chat.line_now import LineNow, lines_now
from assistant.chat.receipts import ReceiptStore
from assistant.core.errors import AssistantError
from assistant.core.events import EventSink, PromptChanged
from assistant.core.values import Prompt, Receipt
from assistant.runtime.prompts import PromptService
from assistant.runtime.temporary import TemporaryService
from assistant.workspace.chats import Chat
from assistant.workspace.temporary import is_temporary
from assistant.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReceiptNow:
    """A receipt's lines today, in its order; never: which of them are never told in its chat again."""

    lines: tuple[LineNow, ...]
    never: tuple[bool, ...]


class ToldService:
    """All blocking."""

    def __init__(
        self,
        workspace: Workspace,
        receipts: ReceiptStore,
        prompts: PromptService,
        temporary: TemporaryService,
        emit: EventSink,
    ) -> None:
        self._workspace, self._receipts, self._prompts = workspace, receipts, prompts
        self._temporary, self._emit = temporary, emit

    def now(self, receipt: Receipt) -> ReceiptNow:
        """What became of its lines. Never raises for a file that cannot be read."""
        never = self._kept(receipt.chat).never(receipt.chat)
        lines = lines_now(self._workspace, receipt.lines)
        return ReceiptNow(tuple(lines), tuple(never.holds(line.unit) for line in receipt.lines))

    def receipt(self, chat: str, turn: int) -> Receipt:
        """Raises AssistantError("chat.missing") and ("receipt.missing")."""
        self._read(chat)
        found = self._kept(chat).get(chat, turn)
        if found is None:
            message = f"There is no receipt of turn {turn} in this chat."
            raise AssistantError("receipt.missing", message, "A turn that never reached the model has none.")
        return found

    def never(self, chat: str, unit: str, never: bool = True) -> None:
        """From the chat's next turn on it is not told the unit; with ``never`` False it may be again.

        Raises AssistantError("chat.missing"), ("receipt.unit") for what is the id of nothing.
        """
        self._read(chat)
        if not re.fullmatch(r"(?s).+(:[0-9a-f]{10}(-\d+)?|#\d+)", unit):
            hint = "Take it from `keepsake receipt CHAT TURN --json`."
            raise AssistantError("receipt.unit", f"{unit!r} is not the id of a line.", hint)
        self._kept(chat).set_never(chat, unit, never)
        self._emit(PromptChanged(chat))

    def preview(self, chat: str, text: str, after: int | None = None) -> Prompt:
        """The exact prompt that ``text`` would have, said after that turn (see PromptService.preview)."""
        if is_temporary(chat):
            return self._temporary.preview(chat, text, after)
        return self._prompts.preview(self._read(chat) if chat else Chat.empty(), text, after)

    def renew(self, chat: str) -> None:
        """Take the chat's fixed row as memory is now; its next prompt is read from the start, once."""
        if is_temporary(chat):
            self._temporary.renew(chat)
        else:
            self._prompts.renew(self._read(chat))
        self._emit(PromptChanged(chat))

    def _kept(self, chat: str) -> ReceiptStore:
        return self._temporary.receipts if is_temporary(chat) else self._receipts

    def _read(self, chat: str) -> Chat:
        return (self._temporary.chats if is_temporary(chat) else self._workspace.chats).read(chat)
