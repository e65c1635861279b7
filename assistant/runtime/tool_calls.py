"""Which tools the model has in which chat, by the settings and by what the loaded model can."""

from __future__ import annotations

from collections.abc import Callable

from assistant.chat.receipts import ReceiptStore
from assistant.chat.tool_use import Toolbox
from assistant.chat.tools import offered
from assistant.core.values import ModelInfo, ToolSpec
from assistant.recall.search import Recall
from assistant.settings.schema import Settings
from assistant.workspace.workspace import Workspace

_LEAST_WINDOW = 2048
"""Tokens. What models are told of the tools takes some 600 of them: a smaller window has no room for that."""


class ToolCalls:
    """keeps: what is said may be written down; of temporary chats nothing is."""

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        receipts: ReceiptStore,
        settings: Callable[[], Settings],
        *,
        keeps: bool = True,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._keeps = keeps
        self.box = Toolbox(workspace, recall, receipts, self.writes, lambda: settings().memory.writes == "ask")

    def offered(self, chat: str, info: ModelInfo | None, window: int) -> tuple[ToolSpec, ...]:
        """The tools of a chat ("": of a new one); none where the model cannot call any, or is not to."""
        if info is None or not info.tools or window < _LEAST_WINDOW or self._settings().model.tools == "off":
            return ()
        return offered(writes=self.writes(chat))

    def writes(self, chat: str) -> bool:
        """Whether the model may write memory from a chat by itself: never from a private or a temporary one.

        What the person asks to be remembered in plain words is another matter: that is their own doing.
        """
        return self._keeps and not (chat and self._workspace.chats.is_private(chat))
