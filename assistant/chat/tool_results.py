"""Results of tools as the model reads them: data in a labelled block, bounded in tokens, each line with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.chat.private import chat_of
from assistant.chat.recalled import block_text, hit_line
from assistant.chat.row import as_data
from assistant.chat.tokens import TokenCounter
from assistant.chat.words import stems
from assistant.core.values import Hit, MadeCall, Message, PromptLine, Role, ToolCall
from assistant.workspace.ids import line_id

_NOTHING = "Nothing was found. Do not guess; say that you do not know, or search with other words."
_AROUND = 10  # lines before and after the one that was asked for
_AROUND_A_LINE = 3  # tokens: its number or bullet, the line break
_CHARACTERS_A_TOKEN = 8  # more than any text has: where cutting a line begins
_SHORTEST = 20  # characters of a line's beginning that still say something


@dataclass(frozen=True, slots=True)
class Result:
    """As in MadeCall."""

    outcome: str
    text: str
    detail: str = ""
    lines: tuple[PromptLine, ...] = ()
    journal: str = ""


_NO_ROOM = Result(
    "refused", "There is no room left for a result. Answer now with what you have.", "the context window is full"
)


def search_result(query: str, hits: Sequence[Hit], counter: TokenCounter, tokens: int) -> Result:
    """What a search found, the best first, as much of it as fits."""
    if not hits:
        return Result("nothing", _NOTHING)
    about = stems(query)
    lines = [replace(hit_line(hit, about), why="tool") for hit in hits]
    kept = _that_fit(lines, counter, tokens)
    if not kept:
        return _NO_ROOM
    more = f"{len(lines) - len(kept)} more did not fit.\n" if len(kept) < len(lines) else ""
    text = block_text(kept, "found").rstrip("\n") + "\n" + more
    return Result("found", text.rstrip("\n"), "; ".join(map(place_of, kept)), tuple(kept))


def part_of_file(
    file: str, text: str, first: int, last: int, counter: TokenCounter, tokens: int, at: int = 0
) -> Result:
    """Lines ``first`` to ``last`` of a file, numbered; as many as fit. at: the one that must be among them, 0: any."""
    numbered = list(enumerate(text.split("\n"), 1))
    if at:
        first, last = max(first, at - _AROUND), min(last, at + _AROUND)
    wanted = [(n, line.rstrip("\r")) for n, line in numbered if first <= n <= last and line.strip()]
    lines = [PromptLine(file, n, line, "tool", line_id(file, line)) for n, line in wanted]
    if not lines:
        return Result("nothing", f"{file} says nothing there.", file)
    kept = _that_fit(lines, counter, tokens)
    if not kept:
        return _NO_ROOM
    body = "\n".join(f"{line.line}: {as_data(line.text)}" for line in kept)
    more = f"\nIt goes on at line {lines[len(kept)].line}." if len(kept) < len(lines) else ""
    return Result("found", f"<found>\n{file}\n{body}\n</found>{more}", f"{file}:{kept[0].line}", tuple(kept))


def place_of(line: PromptLine) -> str:
    """Where a line stands, for people: a turn by its chat, a line of memory by its file."""
    return line.unit if chat_of(line) else f"{line.file}:{line.line}"


def messages_of(calls: Sequence[MadeCall]) -> list[Message]:
    """The calls that the model made, with their results, as its template takes them."""
    made = [call for call in calls if not call.asked]
    messages: list[Message] = []
    for step in dict.fromkeys(call.step for call in made):
        these = [call for call in made if call.step == step]
        wishes = tuple(ToolCall(call.name, call.arguments) for call in these)
        messages.append(Message(Role.ASSISTANT, these[0].said, wishes))
        messages += [Message(Role.TOOL, call.result) for call in these]
    return messages


def said_before(calls: Sequence[MadeCall]) -> str:
    """What of a turn's reply the model wrote in front of its calls; the rest came after the last of them."""
    made = {call.step: call.said for call in calls if not call.asked}
    return "".join(f"{said}\n\n" for said in made.values() if said)


def _that_fit(lines: Sequence[PromptLine], counter: TokenCounter, tokens: int) -> list[PromptLine]:
    """The first lines of at most so many tokens, each with its own; of a first one that is too long its beginning."""
    kept: list[PromptLine] = []
    left = tokens
    for line, count in zip(lines, counter.count([line.text for line in lines]), strict=True):
        left -= count + _AROUND_A_LINE
        if left < 0:
            break
        kept.append(replace(line, tokens=count))
    return kept or [cut for line in lines[:1] if (cut := _beginning(line, counter, tokens))]


def _beginning(line: PromptLine, counter: TokenCounter, tokens: int) -> PromptLine | None:
    """A line cut to what fits; None where that is next to nothing."""
    text = line.text[: _CHARACTERS_A_TOKEN * tokens]
    while len(text) >= _SHORTEST:
        cut = f"{text.rstrip()} …"
        if (count := counter.count([cut])[0]) + _AROUND_A_LINE <= tokens:
            return replace(line, text=cut, tokens=count)
        text = text[: len(text) * 3 // 4]
    return None
