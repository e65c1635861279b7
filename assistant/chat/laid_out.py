"""A block of a prompt line by line, as the model reads it, with the line of memory that each one is and its cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assistant.chat.row import as_data
from assistant.core.values import Block, PromptLine


@dataclass(frozen=True, slots=True)
class BlockLine:
    """text: as it stands in the prompt; line: the line of memory it is, None for the words around.

    tokens: of a line of memory, never more than the block has; the first other line bears what the rest costs.
    """

    text: str
    line: PromptLine | None = None
    tokens: int = 0


def laid_out(block: Block) -> list[BlockLine]:
    """The lines of the block: joined by line breaks they are its text again, and their tokens are its tokens."""
    waiting = list(block.lines)
    found = [
        BlockLine(text, here, here.tokens) if (here := _next(block.name, text, waiting)) else BlockLine(text)
        for text in block.text.split("\n")
    ]
    found = _within(found, block.tokens)
    rest = block.tokens - sum(each.tokens for each in found)
    frame = next((n for n, each in enumerate(found) if each.line is None), len(found) - 1)
    found[frame] = replace(found[frame], tokens=found[frame].tokens + rest)
    return found


def _within(found: list[BlockLine], most: int) -> list[BlockLine]:
    """Counted one by one, lines may cost more than together: then each gets its share of what they cost together."""
    alone = sum(each.tokens for each in found)
    if alone <= most:
        return found
    shared: list[BlockLine] = []
    so_far = 0
    for each in found:
        before, so_far = so_far, so_far + each.tokens
        shared.append(replace(each, tokens=so_far * most // alone - before * most // alone))
    return shared


def _next(name: str, text: str, waiting: list[PromptLine]) -> PromptLine | None:
    """The line of memory that ``text`` is: they stand in the prompt in their own order."""
    if waiting and _is(name, text, waiting[0]):
        return waiting.pop(0)
    return None


def _is(name: str, text: str, line: PromptLine) -> bool:
    if name == "tail":  # an entry is told by its date and items
        return text.startswith(f"{line.text.strip()[:10]}: ")
    said = as_data(line.text)
    return text == (f"- {said}" if name == "recalled" else said)
