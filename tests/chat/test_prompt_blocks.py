"""What a person sees of a prompt: the blocks and what each costs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from assistant.chat.prompt_blocks import blocks_of
from assistant.chat.recalled import EMPTY
from assistant.chat.row import FixedRow
from assistant.chat.tools import ALL
from assistant.core.values import Message, Role, ToolSpec


class Template:
    """Counts characters, and lays tools out with their arguments, as models' templates do."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        offered = [tool.name + tool.description + json.dumps(tool.parameters) for tool in tools]
        return sum(len(message.text) for message in messages) + sum(map(len, offered))


def test_the_block_of_tools_costs_what_the_template_makes_of_them() -> None:
    counter = Template()
    words = "Use tools."
    blocks = blocks_of(FixedRow((), (), "", ""), ALL, words, (), EMPTY, "hello", counter)
    messages = [Message(Role.SYSTEM, words), Message(Role.USER, "hello")]
    assert [block.name for block in blocks] == ["tools", "message"]
    assert sum(block.tokens for block in blocks) == counter.count_prompt(messages, ALL)
