"""The fixed row of a prompt: persona, facts, tail and brief, taken when a chat starts and kept from then on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, timedelta
from typing import Any

from assistant.chat.never import NEVER_HERE, NOTHING, Never
from assistant.chat.persona import persona_of
from assistant.chat.tokens import TokenCounter
from assistant.core.clock import stamp
from assistant.core.errors import AssistantError
from assistant.core.values import Block, LeftOut, PromptLine, Role
from assistant.workspace.budget import Limits, Loaded, load_memory
from assistant.workspace.entries import Entry
from assistant.workspace.ids import line_id
from assistant.workspace.layout import MEMORY
from assistant.workspace.workspace import Workspace

_BRIEF_LINES = 10
_BRIEF_DAYS = 2
_FIELDS = frozenset(field.name for field in fields(PromptLine))
_RARE = ("keyword_rank", "meaning_rank", "private")
_BRIEF_CHARACTERS = 160  # of what was last said: about 40 tokens a line
_MOST_LINES = 10_000_000
_CLOSES = re.compile(r"<(?=\s*/\s*(?:memory|chats|recalled|found)\s*>)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FixedRow:
    """What stands in front of every turn of a chat, byte for byte the same until the history is cut.

    After a cut: start is the number of the oldest turn still in the window, turns up to bare stand without the block
    that was recalled for them, and cut_at is the last turn there was; all three are 0 before. The cut holds for
    branches that contain turn cut_at. taken: when; memory: sha256 of MEMORY.md then. without: the units that are not in
    it because the person never wants them here. stale: what it told was forgotten; the next turn takes a new one.
    """

    blocks: tuple[Block, ...]
    left_out: tuple[LeftOut, ...]
    taken: str
    memory: str
    start: int = 0
    bare: int = 0
    cut_at: int = 0
    without: tuple[str, ...] = ()
    stale: bool = False

    @property
    def system_text(self) -> str:
        return "\n\n".join(block.text for block in self.blocks if block.text)

    @property
    def memory_lines(self) -> tuple[PromptLine, ...]:
        """The lines that stand in it whole; the brief only names what other chats are about."""
        return tuple(line for block in self.blocks if block.name != "brief" for line in block.lines)

    @property
    def lines(self) -> tuple[PromptLine, ...]:
        return tuple(line for block in self.blocks for line in block.lines)


def take_row(
    workspace: Workspace,
    counter: TokenCounter,
    limits: Limits,
    window: int,
    chat: str = "",
    *,
    with_memory: bool = True,
    never: Never = NOTHING,
    client: str = "",
) -> FixedRow:
    """The row for a chat that starts (or is cut) now. window: tokens. chat: left out of the brief.

    client: what the program that leads the chat tells the model of itself; it stands behind all of ours.
    """
    who = persona_of(workspace)
    persona = Block("persona", Role.SYSTEM, who.text, 0)
    own = Block("client", Role.SYSTEM, client, 0)
    if not with_memory:
        blocks = [b for b in (persona, own) if b.text]
        return FixedRow(_counted(blocks, counter), who.left_out, stamp(workspace.clock), "")
    today = workspace.clock().date()
    sha = workspace.memory.read(MEMORY).sha256  # first: what is written from here on differs, and is told as new
    document, hidden, without = never.parted(workspace.memory.document())
    loaded = load_memory(document, limits, today, counter.count, window)
    brief, silent = _brief(workspace, chat, never)
    blocks = [b for b in (persona, _facts(loaded), _tail(loaded, today), brief, own) if b.text]
    left_out = [*who.left_out, *sorted((*loaded.left_out, *hidden), key=lambda left: left.line)]
    left_out += [LeftOut(line.file, line.line, NEVER_HERE) for line in silent]
    without += tuple(line.unit for line in silent)
    return FixedRow(_counted(blocks, counter), tuple(left_out), stamp(workspace.clock), sha, without=without)


def _facts(loaded: Loaded) -> Block:
    lines = tuple(
        PromptLine(MEMORY, n, line, "pinned", line_id(MEMORY, line)) for n, line in loaded.facts if line.strip()
    )
    if not lines:
        return Block("facts", Role.SYSTEM, "", 0)
    body = "\n".join(line for _, line in loaded.facts).strip("\n")
    cut = any(left.why in ("facts budget", "token budget") for left in loaded.left_out)
    more = "\n(MEMORY.md goes on; what did not fit is found by search.)" if cut else ""
    return Block("facts", Role.SYSTEM, f"<memory>\n{as_data(body)}{more}\n</memory>", 0, lines)


def _tail(loaded: Loaded, today: date) -> Block:
    if not loaded.entries:
        return Block("tail", Role.SYSTEM, "", 0)
    lines = tuple(PromptLine(MEMORY, e.line, e.raw, "tail", line_id(MEMORY, e.raw)) for e in loaded.entries)
    shown = "\n".join(f"{e.date.isoformat()}: {'; '.join(live_items(e, today))}" for e in loaded.entries)
    return Block("tail", Role.SYSTEM, f"<memory>\nLatest notes, oldest first:\n{as_data(shown)}\n</memory>", 0, lines)


def live_items(entry: Entry, today: date) -> list[str]:
    """The texts of an entry's items that still hold."""
    return [item.text for item in entry.items if item.live(today)]


def _brief(workspace: Workspace, chat: str, never: Never) -> tuple[Block, list[PromptLine]]:
    """What other chats are about; and the lines of it that the person never wants here."""
    lines: list[PromptLine] = []
    silent: list[PromptLine] = []
    for line in _brief_lines(workspace, chat):
        (silent if never.holds(line.unit) else lines).append(line)
        if len(lines) == _BRIEF_LINES:
            break
    return _brief_of(lines), silent


def _brief_lines(workspace: Workspace, chat: str) -> Iterator[PromptLine]:
    since = (workspace.clock() - timedelta(days=_BRIEF_DAYS)).isoformat()
    for info in workspace.chats.list():
        if info.id == chat or info.last_active < since or info.private or not info.turns:
            continue
        try:
            last = workspace.chats.last_turn(info.id)
        except AssistantError:  # it was deleted just now, or cannot be read: no reason to answer nothing here
            continue
        if last is None:
            continue
        shown = f"- {info.last_active[:16].replace('T', ' ')} {brief_words(info.title, last.user)}"
        yield PromptLine(info.file, last.line, shown, "brief", f"{info.id}#{last.n}")


def brief_words(title: str, said: str) -> str:
    """What a chat is about, in the words of its title and of what was said in it."""
    said = " ".join(said.split())[:_BRIEF_CHARACTERS]
    known = title.rstrip("…")
    return f"{title}: {said}" if known and not said.startswith(known) else said


def _brief_of(lines: Sequence[PromptLine]) -> Block:
    if not lines:
        return Block("brief", Role.SYSTEM, "", 0)
    body = as_data("\n".join(line.text for line in lines))
    return Block("brief", Role.SYSTEM, f"<chats>\nOther chats of the last days:\n{body}\n</chats>", 0, tuple(lines))


def without_brief_lines(row: FixedRow, gone: Callable[[PromptLine], bool], counter: TokenCounter) -> FixedRow:
    """The row without those lines of its brief; the same row where none of them is gone."""
    brief = next((block for block in row.blocks if block.name == "brief"), None)
    if brief is None or not any(map(gone, brief.lines)):
        return row
    left = _brief_of([line for line in brief.lines if not gone(line)])
    blocks = [left if block is brief else block for block in row.blocks]
    return replace(row, blocks=_counted([block for block in blocks if block.text], counter))


def as_data(body: str) -> str:
    """Text that cannot close the block it stands in, however it writes the tag."""
    return _CLOSES.sub(r"<\\", body)


def _counted(blocks: Sequence[Block], counter: TokenCounter) -> tuple[Block, ...]:
    """The blocks with their tokens and those of their lines, as the model reads them, filled in by one call."""
    texts = [b.text for b in blocks] + [shown for b in blocks for shown in _shown(b)]
    counts = iter(counter.count(texts))
    totals = [next(counts) for _ in blocks]
    return tuple(
        replace(b, tokens=total, lines=tuple(replace(line, tokens=next(counts)) for line in b.lines))
        for b, total in zip(blocks, totals, strict=True)
    )


def _shown(block: Block) -> list[str]:
    """The lines of memory as they stand in the block: of an entry without its source and what no longer holds."""
    shown = block.text.split("\n")[2:-1] if block.name == "tail" else []
    return shown if len(shown) == len(block.lines) else [line.text for line in block.lines]


def row_to_json(row: FixedRow) -> dict[str, Any]:
    """Runs of lines that were left out for one reason stand as ranges: of 10 000 entries all but ten are."""
    blocks = [{**asdict(replace(b, lines=())), "lines": [line_to_json(line) for line in b.lines]} for b in row.blocks]
    return {**asdict(replace(row, left_out=(), blocks=())), "blocks": blocks, "left_out": left_to_json(row.left_out)}


def line_to_json(line: PromptLine) -> dict[str, Any]:
    """A line without what it has not: of a fact of MEMORY.md no ranks, of most nothing private."""
    return {name: value for name, value in asdict(line).items() if value or name not in _RARE}


def line_from_json(value: Mapping[str, Any]) -> PromptLine:
    """Fields of a later version are passed over. Raises TypeError or AttributeError for what is no line."""
    line = PromptLine(**{name: each for name, each in value.items() if name in _FIELDS})
    words = (line.file, line.text, line.why, line.unit)
    numbers = (line.line, line.tokens, line.keyword_rank, line.meaning_rank)
    if not all(isinstance(each, str) for each in words) or not all(isinstance(each, int) for each in numbers):
        raise TypeError("a field is of another kind")
    return line if isinstance(line.score, int | float) else replace(line, score=0.0)


def left_from_json(runs: Iterable[Mapping[str, Any]]) -> tuple[LeftOut, ...]:
    """Raises KeyError, TypeError or ValueError for what is no run of lines that were left out."""
    found: list[LeftOut] = []
    for run in runs:
        first = int(run["line"])
        last = int(run.get("last", first))  # earlier versions wrote each line of a turn for itself
        if last - first > _MOST_LINES:
            raise ValueError("so many lines no file has")
        found += [LeftOut(str(run["file"]), line, str(run["why"])) for line in range(first, last + 1)]
    return tuple(found)


def left_to_json(left_out: Sequence[LeftOut]) -> list[dict[str, Any]]:
    """Runs of lines that were left out for one reason, as ranges."""
    found: list[dict[str, Any]] = []
    for left in left_out:
        last = found[-1] if found else None
        if last and (last["file"], last["why"], last["last"] + 1) == (left.file, left.why, left.line):
            last["last"] = left.line
        else:
            found.append({"file": left.file, "why": left.why, "line": left.line, "last": left.line})
    return found


def row_from_json(value: Mapping[str, Any]) -> FixedRow:
    """Raises KeyError, TypeError or ValueError for what is no row."""
    blocks = tuple(
        Block(b["name"], Role(b["role"]), b["text"], int(b["tokens"]), tuple(map(line_from_json, b["lines"])))
        for b in value["blocks"]
    )
    cut = (int(value["start"]), int(value["bare"]), int(value["cut_at"]))
    without = tuple(map(str, value.get("without", ())))
    left_out = left_from_json(value["left_out"])
    return FixedRow(blocks, left_out, str(value["taken"]), str(value["memory"]), *cut, without)
