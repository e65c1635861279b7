"""Texts of memory files, day logs and chats without what is forgotten; every other character stays as it is."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from assistant.workspace.blocks import text_blocks
from assistant.workspace.chat_head import parse_head, with_title
from assistant.workspace.chats import LABEL, link_turns, split_blocks
from assistant.workspace.entries import is_entry, parse_entry
from assistant.workspace.forget_query import core_of, line_parts, same_form
from assistant.workspace.forget_values import ForgetPlan, Target
from assistant.workspace.forgotten_text import FORGOTTEN, found_in_bytes, holds, scrub_text
from assistant.workspace.ids import UnitNames, line_id, split_id
from assistant.workspace.layout import ARCHIVE, LOGS, MEMORY, is_foreign
from assistant.workspace.line_edits import remove_unit
from assistant.workspace.notes import parse_note
from assistant.workspace.unit_places import UnitPlace, find_unit, foreign_places

_SPLIT = re.compile(r"(?<!\\)；")
# What NFKC and casefold change beyond lower case.
_WIDE = re.compile("[\u2000-\u206f\u2100-\u218f\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\ufb00-\ufb06\xa0\xdf]")
_FEW = 8  # so many forms are looked for one by one before a line is taken apart


def units_like(file: str, text: str, wanted: Callable[[str], bool]) -> Iterator[UnitPlace]:
    """The units of a memory file whose text is wanted, with their ids; only those are taken apart."""
    if is_foreign(file):
        yield from (place for place in foreign_places(file, text) if wanted(place.text))
        return
    numbered = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    names = UnitNames()
    is_note = file not in (MEMORY, ARCHIVE)
    body = parse_note(text).body_line if is_note else 1
    lines = [(n, line) for n, line in numbered if n >= body]
    entries = {n for n, line in lines if is_entry(line)}
    facts = [(n, "" if n in entries else line) for n, line in lines if is_note or n not in entries]
    for block in text_blocks(facts):
        if wanted(block.text):
            yield UnitPlace(names(file, block.text), block.line, block.last, block.text, None, block.headings)
    for n, line in lines:
        if n in entries and wanted(line) and (entry := parse_entry(line, n)):
            yield UnitPlace(names(file, line), n, n, line, entry)


def find_place(file: str, text: str, uid: str, near: int = 0) -> UnitPlace | None:
    """As unit_places.find_unit, without taking a long file apart. near: the line where an entry was last seen."""
    first_id, wanted = split_id(uid)[1:]
    if file in (MEMORY, ARCHIVE):
        lines, digest = text.split("\n"), first_id.rpartition(":")[2]
        there = wanted == 1 and 0 < near <= len(lines) and _digest(lines[near - 1].strip()) == digest
        same = [near] if there else [n for n, line in enumerate(lines, 1) if _digest(line.strip()) == digest]
        raws = [(n, lines[n - 1].removesuffix("\r")) for n in same]
        entries = [(n, raw, entry) for n, raw in raws if (entry := parse_entry(raw, n))]
        if len(entries) >= wanted:
            n, raw, entry = entries[wanted - 1]
            return UnitPlace(uid, n, n, raw, entry)
    found = next(
        (p for p in units_like(file, text, lambda each: line_id(file, each) == first_id) if p.uid == uid), None
    )
    return found or find_unit(text, uid)


def units_gone(file: str, before: str, after: str) -> list[str]:
    """The ids of the entries that went, where nothing else changed; [] where more did."""
    old, new = before.split("\n"), after.split("\n")
    gone: list[str] = []
    at = 0
    for line in old:
        if at < len(new) and line == new[at]:
            at += 1
        elif is_entry(line.removesuffix("\r")):
            gone.append(line.removesuffix("\r"))
        else:
            return []
    if at < len(new):
        return []
    names = UnitNames()
    return [names(file, line) for line in gone]


def memory_without(file: str, text: str, plan: ForgetPlan) -> str:
    """A memory file or a day log without the targets of the plan, and without the same words elsewhere in it."""
    text = _without_units(file, text, [t for t in plan.of_file(file) if t.kind == "memory"])
    gone = {t.text for t in plan.of_file(file) if t.kind == "log"}
    if file.startswith(f"{LOGS}/"):
        lines = [line for line in text.split("\n") if line.removesuffix("\r") not in gone]
    else:
        lines = _masked(text.split("\n"), {t.text for t in plan.of_file(file) if t.kind == "line"})
        lines = _without_same(lines, frozenset(plan.same))
    left = "\n".join(lines)
    return scrub_text(left, plan.texts) if found_in_bytes(left.encode("utf-8", "replace"), plan.texts) else left


def may_say(text: str, plan: ForgetPlan) -> bool:
    """A quick look whether a line of a file could be one of those that go."""
    folded = unicodedata.normalize("NFKC", text).casefold() if _WIDE.search(text) else text.lower()
    return any(_probe(form) in folded for form in plan.same)


def chat_without(chat: str, texts: Sequence[str], plan: ForgetPlan) -> list[str]:
    """The parts of a chat with «forgotten» in the turns and the title that go, and for the plan's texts elsewhere."""
    numbers = {target.number for target in plan.turns if target.chat == chat}
    titles = {target.text for target in plan.targets if target.kind == "title" and target.chat == chat}
    changed = [text.split("\n") for text in texts]
    blocks = [block for part, text in enumerate(texts, 1) for block in split_blocks(text, part)[0]]
    turns, _ = link_turns(blocks)
    for block, turn in reversed(list(zip(blocks, turns, strict=True))):
        if turn.n in numbers:
            lines = changed[block.part - 1]
            end = min(block.end - 1, len(lines))
            lines[block.line : end] = _emptied(lines[block.line : end])
    own = {target.text for target in plan.targets if target.kind == "line" and target.chat == chat}
    done = ["\n".join(_masked(lines, own)) for lines in changed]
    if done and parse_head(done[0]).title in titles:
        done[0] = with_title(done[0], FORGOTTEN)
    return [scrub_text(text, plan.texts) if holds(text, plan.texts) else text for text in done]


def is_forgotten(said: str) -> bool:
    """Whether a message of a chat was forgotten."""
    return said.strip() == FORGOTTEN


def without_items(raw: str, gone: Collection[int]) -> str:
    """An entry's line without some of its items, "" when none is left."""
    head, source, content = raw.split("|", 2)
    parts = _SPLIT.split(content)
    numbered = enumerate(part for part in parts if part.strip())
    kept = [part for index, part in numbered if index not in gone]
    return f"{head}|{source}|{'；'.join(kept)}" if kept else ""


def _emptied(body: Sequence[str]) -> list[str]:
    """The lines of a turn with one line in place of each message."""
    done: list[str] = []
    said = False
    for line in body:
        if LABEL.fullmatch(line):
            said = False
        elif line.strip():
            if said:
                continue
            said, line = True, f"> {FORGOTTEN}" + ("\r" if line.endswith("\r") else "")
        done.append(line)
    return done


def _without_units(file: str, text: str, targets: Sequence[Target]) -> str:
    found = [(place, target) for target in targets if (place := find_place(file, text, target.id, target.line))]
    for place, target in sorted(found, key=lambda pair: (pair[0].first, pair[0].last), reverse=True):
        if place.entry and target.items and (left := without_items(place.text, target.items)):
            lines = text.split("\n")
            ending = "\r" if lines[place.first - 1].endswith("\r") else ""
            lines[place.first - 1] = left + ending
            text = "\n".join(lines)
        else:
            text = remove_unit(text, place)
    return text


def _masked(lines: Sequence[str], gone: Collection[str]) -> list[str]:
    """Headings and other lines that are no units keep their mark and lose their words."""
    if not gone:
        return list(lines)
    done = []
    for line in lines:
        raw = line.removesuffix("\r")
        mark, words = line_parts(raw)
        masked = f"{mark}{FORGOTTEN}{line[len(raw) :]}"
        done.append(masked if raw in gone or (raw.startswith(">") and words in gone) else line)
    return done


def _without_same(lines: Sequence[str], same: frozenset[str]) -> list[str]:
    """Lines that say nothing but what is forgotten go; of an entry the items that do."""
    done: list[str | None] = list(lines)
    for at in _likely(lines, same) if same else ():
        raw = lines[at].removesuffix("\r")
        entry = parse_entry(raw) if is_entry(raw) else None
        if entry:
            gone = [n for n, item in enumerate(entry.items) if same_form(item.text) in same]
            left = without_items(raw, gone) if gone else raw
        else:
            left = "" if raw and same_form(core_of(raw)) in same else raw
        if left != raw:
            done[at] = left + lines[at][len(raw) :] if left else None
    return [line for line in done if line is not None]


def _likely(lines: Sequence[str], same: frozenset[str]) -> Iterable[int]:
    """The lines (from 0) that hold the longest word of one of the forms; all where that is not quick to say."""
    text = "\n".join(lines)
    if len(same) > _FEW or _WIDE.search(text):
        return range(len(lines))
    lowered, found = text.lower(), set[int]()
    for form in same:
        probe = _probe(form)
        at, number, counted = lowered.find(probe), 0, 0
        while at >= 0:
            number += lowered.count("\n", counted, at)
            found.add(number)
            counted = at
            at = lowered.find(probe, at + 1)
    return sorted(found)


def _probe(form: str) -> str:
    """The longest word of a form: what a line that has the form must hold."""
    return max(re.findall(r"\w+", form), key=len, default=form)


def _digest(line: str) -> str:
    """The hash of ids.line_id."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:10]
