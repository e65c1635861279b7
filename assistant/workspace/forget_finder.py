"""Finding what is to be forgotten: by a unit's or a turn's id, or all that holds the words of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.chat_files import scan_chats
from assistant.workspace.chats import Chat, Turn, parse_chat
from assistant.workspace.day_log import said_in
from assistant.workspace.disk import read_bytes
from assistant.workspace.forget_edits import find_place, is_forgotten, units_like
from assistant.workspace.forget_query import (
    MEMORY_WEIGHT,
    TURN_WEIGHT,
    ForgetQuery,
    cores,
    line_parts,
    same_form,
    telling_lines,
    telling_word,
)
from assistant.workspace.forget_values import ForgetPlan, Target
from assistant.workspace.forgotten_text import holds
from assistant.workspace.ids import split_id
from assistant.workspace.text_files import decode
from assistant.workspace.unit_places import UnitPlace
from assistant.workspace.workspace import Workspace

_TURN = re.compile(r"(?P<chat>[^#]+)#(?P<n>[0-9]{1,9})")
_SOURCE = re.compile(r"chat:(?P<chat>[\w-]+)#(?P<first>\d+)(?:-(?P<last>\d+))?$")
_Chats = dict[str, Chat]


class ForgetFinder:
    """Reads the files themselves, so that it finds what no index holds: private chats, day logs, headings."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._root = workspace.root

    def plan(self, what: str) -> ForgetPlan:
        """What ``what`` means: an id, or else a query. Raises ("forget.nothing") where nothing is meant by it."""
        ids = self.by_id(what.strip())
        if ids:
            return self.plan_for(what, ids)
        query = ForgetQuery(what)
        targets = list(self.by_query(query))
        if not targets:
            raise AssistantError(
                "forget.nothing", "Nothing in memory or chats holds all these words.", "Use fewer words, or an id."
            )
        return self.plan_for(what, targets, telling_word(query))

    def plan_for(self, what: str, targets: Sequence[Target], words: Sequence[str] = ()) -> ForgetPlan:
        """The plan for targets that were found or chosen. words: of a query, to be taken out wherever they stand."""
        memory = [core for t in targets if t.kind == "memory" for core in _cores(t)]
        lines = [line_parts(t.text)[1] if t.kind == "line" else t.text for t in targets if t.kind in ("title", "line")]
        texts = [*words, *telling_lines([*memory, *lines], MEMORY_WEIGHT)]
        texts += telling_lines([said for t in targets if t.kind == "log" for said in said_in(t.text)], TURN_WEIGHT)
        turns = [t for t in targets if t.kind == "turn"]
        texts += self._texts_of_turns(turns)
        same = tuple(dict.fromkeys(same_form(core) for core in memory if same_form(core)))
        kept = tuple(dict.fromkeys(sorted(texts, key=len, reverse=True)))
        return ForgetPlan(what, tuple(targets), kept, same, tuple(self._made_of(turns, targets)))

    # --- by id ---------------------------------------------------------------------------------------------------

    def by_id(self, ident: str) -> list[Target]:
        """The unit or the turn of an id; [] where it is none of either, or gone."""
        if match := _TURN.fullmatch(ident):
            return self._turn_by_id(match["chat"], int(match["n"]))
        file = split_id(ident)[0]
        if not file:
            return []
        try:
            text = self._workspace.memory.read(file).text
        except AssistantError:
            return []
        place = find_place(file, text, ident)
        return [_memory_target(file, place)] if place else []

    def by_line(self, file: str, line: int, text: str) -> list[Target]:
        """The unit at a line of a memory file, as a receipt or an editor names it; [] where it is gone."""
        located = self._workspace.memory.locate_line(file, line, text)
        if located is None:
            return []
        file_text = self._workspace.memory.read(file).text
        found = [p for p in units_like(file, file_text, lambda each: each == located.text) if p.first == located.first]
        return [_memory_target(file, found[0])] if found else []

    def _turn_by_id(self, ident: str, number: int) -> list[Target]:
        try:
            chat = self._workspace.chats.read(ident)
        except AssistantError:
            return []
        turn = chat.by_number.get(number)
        if turn is None:
            return []
        same = [t for t in chat.turns if t.after == turn.after and t.user == turn.user]
        file = self._workspace.chats.path(ident).relative_to(self._root).as_posix()
        targets = [_turn_target(ident, file, each) for each in dict.fromkeys([turn, *same])]
        targets += [log for each in same for log in self._logs_of(chat, each)]
        if len(same) and _names(chat.title, turn):
            targets.append(Target("title", "", file, 1, chat.title, (), ident))
        return targets

    def _logs_of(self, chat: Chat, turn: Turn) -> Iterator[Target]:
        """The lines of the day log that tell of a turn."""
        for file in layout.log_files(self._root):
            for number, line in enumerate(self._text(self._root / file).split("\n"), 1):
                told = said_in(line)
                said = [part for part in (turn.user, turn.reply or "") if part.strip()]
                if any(told and _same_said(each, told[0]) for each in said) and _of_chat(line, chat, turn):
                    yield Target("log", "", file, number, line.removesuffix("\r"), (), chat.id, turn.n)

    # --- by query ------------------------------------------------------------------------------------------------

    def by_query(self, query: ForgetQuery) -> Iterator[Target]:
        """Everything that holds all words of the query."""
        for file in layout.memory_files(self._root):
            text = self._text(self._root / file)
            if query.may_match(text):
                yield from _in_memory(file, text, query)
        for file in layout.foreign_files(self._root):  # JSON may spell a word in escapes
            yield from _in_memory(file, self._text(self._root / file), query)
        for file in layout.log_files(self._root):
            text = self._text(self._root / file)
            if query.may_match(text):
                yield from _lines(file, text, query, "log")
        for ident, files in scan_chats(self._root).items():
            texts = [self._text(path) for path, _ in files]
            if query.may_match("\n".join(texts)):
                yield from _in_chat(ident, files[0][0].relative_to(self._root).as_posix(), texts, query)

    # --- what follows from the targets -------------------------------------------------------------------------------

    def _texts_of_turns(self, turns: Sequence[Target]) -> Iterator[str]:
        """What was said in the turns; of the replies only what no other turn of the workspace says."""
        chats: _Chats = {}
        gone = {(t.chat, t.number) for t in turns}
        said: list[str] = []
        replies: list[str] = []
        for target in turns:
            if target.chat not in chats:
                chats[target.chat] = self._workspace.chats.read(target.chat)
            turn = chats[target.chat].by_number.get(target.number)
            if turn and not is_forgotten(turn.user):
                said.append(turn.user)
                replies.append(turn.answer)
        yield from telling_lines(said, TURN_WEIGHT)
        lines = list(dict.fromkeys(telling_lines(replies, TURN_WEIGHT)))
        elsewhere = self._said_elsewhere(lines, gone) if lines else frozenset()
        yield from (line for line in lines if line not in elsewhere)

    def _said_elsewhere(self, lines: Sequence[str], gone: set[tuple[str, int]]) -> frozenset[str]:
        found: set[str] = set()
        for ident, files in scan_chats(self._root).items():
            texts = [self._text(path) for path, _ in files]
            if any(line in text for line in lines for text in texts):
                others = [t for t in parse_chat(texts, ident).turns if (ident, t.n) not in gone]
                found |= {line for line in lines if any(line in f"{t.user}\n{t.answer}" for t in others)}
        return frozenset(found)

    def _made_of(self, turns: Sequence[Target], targets: Sequence[Target]) -> Iterator[Target]:
        """Entries that were distilled from the turns."""
        gone = {target.id for target in targets}
        numbers: dict[str, set[int]] = {}
        for target in turns:
            numbers.setdefault(target.chat, set()).add(target.number)
        for file in (layout.MEMORY, layout.ARCHIVE) if numbers else ():
            text = self._text(self._root / file)
            for place in units_like(file, text, lambda line: "chat:" in line):
                match = _SOURCE.search(place.entry.source) if place.entry else None
                if match and place.uid not in gone:
                    first, last = int(match["first"]), int(match["last"] or match["first"])
                    if numbers.get(match["chat"], set()) & set(range(first, last + 1)):
                        yield _memory_target(file, place)

    def _text(self, path: Path) -> str:
        raw = read_bytes(path)
        return decode(raw, path.name).text if raw else ""


def _in_memory(file: str, text: str, query: ForgetQuery) -> Iterator[Target]:
    covered: set[int] = set()
    for place in units_like(file, text, query.matches):
        covered.update(range(place.first, place.last + 1))
        items = place.entry.items if place.entry else ()
        chosen = tuple(n for n, item in enumerate(items) if query.matches(item.text))
        yield _memory_target(file, place, chosen if len(chosen) < len(items) else ())
    yield from (target for target in _lines(file, text, query, "line") if target.line not in covered)


def _lines(file: str, text: str, query: ForgetQuery, kind: str) -> Iterator[Target]:
    for number, line in enumerate(text.split("\n"), 1):
        raw = line.removesuffix("\r")
        if query.matches(raw):
            yield Target("log" if kind == "log" else "line", "", file, number, raw)


def _in_chat(ident: str, file: str, texts: Sequence[str], query: ForgetQuery) -> Iterator[Target]:
    chat = parse_chat(texts, ident)
    if query.matches(chat.title):
        yield Target("title", "", file, 1, chat.title, (), ident)
    for turn in chat.turns:
        if query.matches(f"{turn.user}\n{turn.thought.text}\n{turn.answer}"):
            yield _turn_target(ident, file, turn)
    for line in chat.key_points.split("\n"):
        if query.matches(line):
            yield Target("line", "", file, 1, line.lstrip("> "), (), ident)


def _memory_target(file: str, place: UnitPlace, items: tuple[int, ...] = ()) -> Target:
    return Target("memory", place.uid, file, place.first, place.text, items)


def _turn_target(ident: str, file: str, turn: Turn) -> Target:
    said = "\n".join(part for part in (turn.user, turn.answer) if part.strip())
    return Target("turn", f"{ident}#{turn.n}", file, turn.line, said, (), ident, turn.n)


def _cores(target: Target) -> tuple[str, ...]:
    return target.gone if target.items else cores(target.text)


def _same_said(said: str, told: str) -> bool:
    """Whether a day log's ``told`` is the beginning of what was said."""
    flat = " ".join(said.split())
    return flat == told or (told.endswith("…") and flat.startswith(told.removesuffix("…")))


def _of_chat(line: str, chat: Chat, turn: Turn) -> bool:
    """Whether a line that says the same is of this chat: by its title, or since nobody else would say that much."""
    return f'chat "{chat.title}"' in line or bool(list(telling_lines([turn.user, turn.reply or ""], TURN_WEIGHT)))


def _names(title: str, turn: Turn) -> bool:
    """Whether a chat was called by the turn's first words."""
    flat = " ".join(turn.user.split())
    return bool(title) and (flat.startswith(title.removesuffix("…")) or holds(title, [flat]))
