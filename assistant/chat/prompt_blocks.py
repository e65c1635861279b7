"""The blocks of a prompt as people look at them, each with its tokens."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.chat.recalled import RecalledBlock
from assistant.chat.row import FixedRow
from assistant.chat.tokens import TokenCounter
from assistant.core.values import Block, Message, Role, ToolSpec
from assistant.workspace.chats import Turn


def blocks_of(
    row: FixedRow,
    tools: Sequence[ToolSpec],
    words: str,
    history: Sequence[tuple[Turn, str, Sequence[Message], str]],
    recalled: RecalledBlock,
    message: str,
    counter: TokenCounter,
) -> tuple[Block, ...]:
    """All blocks in order. words: about the tools; history: each turn with its words, tool messages and reply."""
    offered = _offered(tools, words)
    said = "\n\n".join(
        "\n\n".join(part for part in (text, *(m.text for m in called), reply) if part).strip()
        for _, text, called, reply in history
    )
    counts = counter.count([offered, said, recalled.text, message])
    blocks = list(row.blocks)
    if offered:
        blocks.append(Block("tools", Role.SYSTEM, offered, max(counts[0], _laid_out(tools, words, counter))))
    if history:
        blocks.append(Block("history", Role.USER, said, counts[1]))
    if recalled.text:
        blocks.append(Block("recalled", Role.USER, recalled.text, counts[2], recalled.lines))
    blocks.append(Block("message", Role.USER, message, counts[3]))
    return tuple(blocks)


_SHORTEST = (Message(Role.SYSTEM, "."), Message(Role.USER, "."))


def _laid_out(tools: Sequence[ToolSpec], words: str, counter: TokenCounter) -> int:
    """What tools take as the model's template writes them, with their arguments: some three times what people read."""
    return counter.count_prompt(_SHORTEST, tools) - counter.count_prompt(_SHORTEST) + counter.count([words])[0]


def _offered(tools: Sequence[ToolSpec], words: str) -> str:
    """What the model is told of its tools, for people to read; its template lays them out in its own way."""
    return "\n".join([words, *(f"{tool.name}: {tool.description}" for tool in tools)]) if tools else ""
