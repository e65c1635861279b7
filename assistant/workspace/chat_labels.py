"""The words of a chat file in the languages it may be written in."""

from __future__ import annotations

import re
from dataclasses import dataclass

CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Labels:
    """One language's words; a file that has Chinese ones goes on with them."""

    chat: str
    metadata: str
    conversation: str
    user: str
    assistant: str
    tool: str
    key_points: str
    session: str
    created: str
    last_active: str
    participants: str
    tags: str
    summarized: str
    private: str
    yes: str
    thought: str


ENGLISH = Labels(
    "Chat",
    "Metadata",
    "Conversation",
    "User",
    "Assistant",
    "Tool",
    "Key points",
    "Session ID",
    "Created",
    "Last active",
    "Participants",
    "Tags",
    "Summarized through",
    "Private",
    "yes",
    "Thought for {n} s",
)
CHINESE = Labels(
    "会话",
    "元数据",
    "对话记录",
    "用户",
    "助手",
    "工具",
    "关键信息摘要",
    "会话 ID",
    "创建时间",
    "最后活跃",
    "参与角色",
    "标签",
    "已总结至",
    "私密",
    "是",
    "思考了 {n} 秒",
)
USER = (ENGLISH.user, CHINESE.user)
ASSISTANT = (ENGLISH.assistant, CHINESE.assistant)
TOOL = (ENGLISH.tool, CHINESE.tool)
HEADINGS = {
    ENGLISH.metadata: "metadata",
    CHINESE.metadata: "metadata",
    ENGLISH.conversation: CONVERSATION,
    CHINESE.conversation: CONVERSATION,
    ENGLISH.key_points: "key points",
    CHINESE.key_points: "key points",
}
FIELDS = {
    **{
        getattr(labels, name).replace(" ", "").casefold(): name
        for labels in (ENGLISH, CHINESE)
        for name in ("session", "created", "last_active", "participants", "tags", "summarized", "private")
    }
}
_CHINESE = re.compile(
    rf"^(?:\ufeff?# {CHINESE.chat}|## {CHINESE.metadata}|## {CHINESE.conversation}|\*\*{CHINESE.user}\*\*)",
    re.MULTILINE,
)


def labels_of(head: str) -> Labels:
    """The language of a file by its first lines."""
    return CHINESE if _CHINESE.search(head) else ENGLISH
