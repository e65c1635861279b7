"""The block of recalled memory that stands in front of a person's message and stays there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from assistant.chat.row import FixedRow, as_data, live_items
from assistant.chat.tokens import TokenCounter
from assistant.chat.words import stems
from assistant.core.clock import weekday
from assistant.core.values import Hit, LeftOut, PromptLine
from assistant.recall.ranking.along import came_along
from assistant.workspace.entries import Entry, MemoryText
from assistant.workspace.fact_marks import dead_facts
from assistant.workspace.ids import line_id
from assistant.workspace.layout import MEMORY

_CHARACTERS_A_HIT = 400  # about 100 tokens: a long reply is recalled by its beginning, the receipt names its file
_CHARACTERS_A_TITLE = 120
_ROUND = str.maketrans("[]", "()")
_MOST_CHANGES = 200  # that are counted: of an import of thousands the others would find no room either
_SHARE_OF_BEST = 0.5
_PARTS = re.compile(r"(?<=[.!?。！？；;])\s*")
_SPOKEN = re.compile(r"[^:\n]{1,60}: (?P<said>.*)\n[^:\n]{1,60}: ", re.DOTALL)
_STRUCK = re.compile(r"~~(.+?)~~(?: · superseded (\d{4}-\d{2}-\d{2}))?")


@dataclass(frozen=True, slots=True)
class RecalledBlock:
    """text: what the model reads, "" when nothing was recalled. lines: its parts, for the receipt."""

    text: str
    lines: tuple[PromptLine, ...]
    left_out: tuple[LeftOut, ...] = ()


EMPTY = RecalledBlock("", ())


def recalled_block(
    message: str, hits: Sequence[Hit], changes: Sequence[PromptLine], counter: TokenCounter, tokens: int
) -> RecalledBlock:
    """The block of at most about ``tokens`` for ``message``: what changed since the chat began, then the hits.

    Of the changes those come first that speak of what the message speaks of, then the newest.
    """
    about = stems(message)
    ranked = sorted(enumerate(changes), key=lambda each: (-len(about & stems(each[1].text)), -each[0]))
    wanted = [*(line for _, line in ranked[:_MOST_CHANGES]), *(hit_line(hit, about) for hit in hits)]
    lines = [
        replace(line, tokens=count)
        for line, count in zip(wanted, counter.count([line.text for line in wanted]), strict=True)
    ]
    kept: list[PromptLine] = []
    over = [line for _, line in ranked[_MOST_CHANGES:]]
    for line in lines:
        if sum(k.tokens for k in kept) + line.tokens <= tokens:
            kept.append(line)
        else:
            over.append(line)
    over.sort(key=lambda line: (line.file, line.line))
    left_out = tuple(LeftOut(line.file, line.line, "recall budget") for line in over)
    return RecalledBlock(block_text(kept), tuple(kept), left_out)


def block_text(lines: Sequence[PromptLine], name: str = "recalled") -> str:
    """The lines as the model reads them; "" for none."""
    body = "\n".join(f"- {as_data(line.text)}" for line in lines)
    return f"<{name}>\n{body}\n</{name}>\n\n" if lines else ""


def hit_line(hit: Hit, about: frozenset[str]) -> PromptLine:
    """A hit as it is told. about: stems of the question; of a long text the parts are told that share most of them."""
    said = in_words(excerpt(hit.text, about))
    source = " ".join(", ".join(part for part in (hit.date, _title(hit), hit.file) if part).split())
    words, meaning = hit.why.get("keyword", 0.0), hit.why.get("meaning", 0.0)
    return PromptLine(
        hit.file,
        hit.line,
        f"[{source}] {said}",
        came_along(hit) or ("keyword" if words >= meaning else "meaning"),
        hit.id,
        0,
        0.0 if came_along(hit) else round(hit.score, 4),
        int(hit.why.get("keyword_rank", 0)),
        int(hit.why.get("meaning_rank", 0)),
        hit.private,
    )


def _title(hit: Hit) -> str:
    """A title that makes no line and no source of its own: a note's stands in its front matter, as anybody wrote it."""
    flat = " ".join(hit.title.split()).translate(_ROUND)
    return flat if len(flat) <= _CHARACTERS_A_TITLE else f"{flat[:_CHARACTERS_A_TITLE].rstrip()}…"


def excerpt(text: str, about: frozenset[str]) -> str:
    """At most 400 characters of a long text: the parts that share most words with ``about``, in their own order."""
    flat = " ".join(text.split())
    if len(flat) <= _CHARACTERS_A_HIT:
        return flat
    parts = [part for part in _PARTS.split(flat) if part]
    room = _CHARACTERS_A_HIT
    chosen: set[int] = set()
    for at in sorted(range(len(parts)), key=lambda at: (-len(about & stems(parts[at])), at)):
        if len(parts[at]) <= room:
            chosen.add(at)
            room -= len(parts[at]) + 3
    if not chosen:
        return flat[:_CHARACTERS_A_HIT].rstrip() + " …"
    shown = [parts[at] if at in chosen else "…" for at in range(len(parts))]
    return " ".join(part for at, part in enumerate(shown) if part != "…" or at == 0 or shown[at - 1] != "…")


def relevant(hits: Sequence[Hit], message: str) -> list[Hit]:
    """The hits worth the model's attention: near the best one, and what came along with one of these.

    A search shows more; a prompt pays for each line. A turn in which the person only asked the same is left out: what
    it adds is what a model once answered.
    """
    best = max((hit.score for hit in hits), default=0.0)
    about = stems(message)
    least = _SHARE_OF_BEST * best
    near = [hit for hit in hits if (fit := hit.why.get(came_along(hit), hit.score)) >= least and fit > 0]
    return [hit for hit in near if hit.kind != "turn" or not stems(_person_part(hit.text)) <= about]


def _person_part(text: str) -> str:
    """What the person said of a turn, as recall shows turns; rather too much than too little."""
    found = _SPOKEN.match(text)
    return found["said"] if found else text


def in_words(text: str) -> str:
    """Marks of an entry as a small model understands them: what is struck is said to be over."""
    return _STRUCK.sub(lambda m: f"(no longer true{f' since {m[2]}' if m[2] else ''}: {m[1]})", text)


def memory_changes(
    row: FixedRow, document: MemoryText, memory_sha: str, told: frozenset[str], today: date
) -> list[PromptLine]:
    """What MEMORY.md says now and did not when the row was taken: new entries and lines, and what no longer holds.

    told: unit ids that are in the window already. Nothing is read twice: an unchanged file costs a comparison.
    """
    if row.memory == memory_sha:
        return []
    before = {line.text for line in row.lines if line.file == MEMORY}
    over = dead_facts(document.fact_lines, today)
    entries = {entry.raw: entry for entry in document.entries}
    new = [entry for entry in document.entries if entry.raw not in before and entry.live(today)]
    lines = [line for entry in new for line in _new_entry(entry, today)]
    lines += [
        PromptLine(MEMORY, n, f"[new in {MEMORY}] {line.strip()}", "recent", line_id(MEMORY, line))
        for n, line in document.fact_lines
        if line.strip() and line not in before and n not in over
    ]
    now = set(entries) | {line for _, line in document.fact_lines}
    gone = [line for line in row.lines if line.file == MEMORY and line.text not in now]
    lines += [
        PromptLine(MEMORY, 0, f"[no longer in {MEMORY}] {line.text}", "recent", f"gone:{line.unit}") for line in gone
    ]
    return [line for line in lines if line.unit not in told]


def new_day(row: FixedRow, today: date, told: frozenset[str]) -> list[PromptLine]:
    """That it is another day than when the row was taken, once a day."""
    unit = f"day:{today.isoformat()}"
    if row.taken[:10] == today.isoformat() or unit in told:
        return []
    return [PromptLine("", 0, f"[today is {today.isoformat()}, a {weekday(today)}]", "date", unit)]


def _new_entry(entry: Entry, today: date) -> list[PromptLine]:
    """A line for each item, so that a long entry can be told in part."""
    unit = line_id(MEMORY, entry.raw)
    return [
        PromptLine(MEMORY, entry.line, f"[{entry.date.isoformat()}, new in {MEMORY}] {item}", "recent", unit)
        for item in live_items(entry, today)
    ]
