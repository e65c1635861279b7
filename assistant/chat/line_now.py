"""What became of a line that was told: where it stands now, and what it says there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from assistant.chat.never import bare_unit
from assistant.chat.told import is_forgotten, is_turn, undated, words_of
from assistant.core.errors import AssistantError
from assistant.core.values import PromptLine
from assistant.workspace.blocks import text_blocks
from assistant.workspace.entries import format_entry, parse_entry
from assistant.workspace.file_now import FileNow, Found, key_of, likeness
from assistant.workspace.journal import Journal
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.line_history import follow
from assistant.workspace.workspace import Workspace

_T = TypeVar("_T")
_CERTAIN = 0.9  # a line that the journal saw become another is that one, however different


@dataclass(frozen=True, slots=True)
class LineNow:
    """state: "same", "moved" (to another line), "changed", "struck", "archived", "forgotten" or "gone".

    line: from 1, 0 where it is nowhere; text: as it stands in the file. by: how a changed line was found, "journal",
    "strike" (a part of it was struck) or "words" (the most similar line); sure: 0..1, how certain that is.
    """

    state: str
    file: str
    line: int = 0
    text: str = ""
    by: str = ""
    sure: float = 1.0


def lines_now(workspace: Workspace, lines: Sequence[PromptLine]) -> list[LineNow]:
    """For each line what became of it. Reads and takes apart each file once; never raises for a line or a file."""
    return _Look(workspace).at(lines)


def line_now(workspace: Workspace, line: PromptLine) -> LineNow:
    """As lines_now, of one line."""
    return lines_now(workspace, [line])[0]


class _Look:
    """One look at the workspace: the files are read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: dict[str, FileNow] = {}

    def at(self, lines: Sequence[PromptLine]) -> list[LineNow]:
        found = [self._certain(line) for line in lines]
        open_ = [n for n, now in enumerate(found) if now is None]
        for file in dict.fromkeys(lines[n].file for n in open_):
            here = [n for n in open_ if lines[n].file == file]
            taken = {now.line for now in found if now and now.file == file}
            for n, now in zip(here, self._likely(file, [lines[n] for n in here], taken), strict=True):
                found[n] = now
        return [now or LineNow("gone", line.file) for now, line in zip(found, lines, strict=True)]

    def _certain(self, line: PromptLine) -> LineNow | None:
        if not line.file:
            return LineNow("same", "")
        if is_forgotten(line):
            return LineNow("forgotten", line.file)
        if is_turn(line):
            there = _is_file(self._workspace.root / line.file)
            return LineNow("same", line.file, line.line, line.text) if there else LineNow("gone", line.file)
        file, key = self._file(line.file), _key(line)
        if found := file.exact(key, line.line):
            at, text = found
            return LineNow("same" if at == line.line else "moved", line.file, at, text)
        if found := file.struck(key):
            return _struck(line, found)
        archive = self._file(ARCHIVE) if line.file == MEMORY else None
        if archive and (found := archive.moved(key) or archive.moved(_usual_key(line))):
            return LineNow("archived", ARCHIVE, *found)
        return None

    def _likely(self, file: str, lines: Sequence[PromptLine], taken: set[int]) -> list[LineNow]:
        """Where the journal saw them go, else the most similar line of the file."""
        now = self._file(file)
        went = _followed(self._workspace.journal, file, [_key(line) for line in lines])
        found = []
        for line in lines:
            said = undated(words_of(line))
            became = went.get(_key(line), "")
            if place := now.exact(became, line.line) or now.struck(became):
                sure = max(_CERTAIN, likeness(said, place[1]))
                found.append(LineNow("changed", file, *place, by="journal", sure=sure))
            elif alike := now.alike(said, taken):
                found.append(LineNow("changed", file, *alike[1], by="words", sure=round(alike[0], 2)))
            else:
                found.append(LineNow("gone", file))
        return found

    def _file(self, name: str) -> FileNow:
        if name not in self._files:
            text = _or_else(lambda: self._workspace.memory.read(name).text, "")
            self._files[name] = FileNow(text, partial(_blocks, name, text))
        return self._files[name]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no name that a file can have, or a folder that may not be looked into
        return False


def _blocks(file: str, text: str) -> list[Found]:
    """The bullets and paragraphs that span several lines: single ones are found as lines."""
    lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1)]
    if file in (MEMORY, ARCHIVE):
        lines = [(n, line) for n, line in lines if "|" not in line or not parse_entry(line, n)]
    return [(block.line, block.text) for block in text_blocks(lines) if "\n" in block.text]


def _struck(line: PromptLine, found: Found) -> LineNow:
    """Struck as a whole, or only in another part than was told, or in a part of what was told."""
    number, text = found
    entry = parse_entry(text, number)
    told = undated(words_of(line))
    items = [item for item in entry.items if item.text == told] or entry.items if entry else ()
    whole = all(item.struck for item in items)
    if whole or entry is None:
        return LineNow("struck", line.file, number, text)
    return LineNow("changed", line.file, number, text, by="strike")


def _key(line: PromptLine) -> str:
    """The hash of the line as it stood in its file."""
    unit = bare_unit(line.unit)
    return unit.rpartition(":")[2] if unit else key_of(line.text)


def _usual_key(line: PromptLine) -> str:
    """As _key, of the entry as the app writes one: so it goes into the archive, however it stood in its file."""
    entry = parse_entry(line.text)
    return key_of(format_entry(entry.date, entry.source, entry.items)) if entry else ""


def _followed(journal: Journal, file: str, keys: Sequence[str]) -> dict[str, str]:
    return _or_else(lambda: follow(journal, file, set(keys)), {})


def _or_else(work: Callable[[], _T], otherwise: _T) -> _T:
    try:
        return work()
    except AssistantError:  # the file or the journal cannot be read: then nothing is known of it
        return otherwise
