"""What a receipt says in the person's language: why a line came, where it stands, what became of it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assistant.chat.private import private_chats
from assistant.chat.told import is_forgotten, is_found, is_turn, words_of
from assistant.core.values import PromptLine, Receipt
from assistant.ui.i18n import tr

if TYPE_CHECKING:
    from assistant.chat.line_now import LineNow

_SURE = 0.9


def why_words(why: str) -> str:
    """The reason a line came, in one word of the person's language."""
    words = {
        "pinned": tr("pinned"),
        "tail": tr("latest"),
        "brief": tr("brief"),
        "keyword": tr("words"),
        "meaning": tr("meaning"),
        "linked": tr("linked"),
        "neighbour": tr("beside"),
        "recent": tr("recent"),
        "date": tr("date"),
        "tool": tr("tool"),
    }
    return words.get(why, why)


def why_sentence(why: str) -> str:
    """The reason a line came, in full, for a tooltip."""
    sentences = {
        "pinned": tr("A fact of MEMORY.md, part of every prompt"),
        "tail": tr("One of the latest entries of MEMORY.md"),
        "brief": tr("What other chats were about in the last two days"),
        "keyword": tr("Found by the words of your message"),
        "meaning": tr("Found by the meaning of your message"),
        "linked": tr("Came along: a found line links to it"),
        "neighbour": tr("Came along: it stands beside a found line"),
        "recent": tr("Written or changed a short while ago"),
        "date": tr("The day it is"),
        "tool": tr("Found or said by a tool that was used for this message"),
    }
    return sentences.get(why, why)


def shown_words(line: PromptLine) -> str:
    """A line as the receipt shows it; who speaks in a recalled turn is named in the person's language."""
    words = words_of(line)
    if is_forgotten(line):
        return tr("«forgotten»")
    if not (is_turn(line) and is_found(line)):
        return words
    words = re.sub(r"\A((?:… )?)you: ", lambda m: m[1] + tr("you: "), words)
    return re.sub(r"(?<=\s)Keepsake: ", lambda _: tr("Keepsake: "), words, count=1)


def place_of(line: PromptLine) -> str:
    """Where a line stood, short: the day of a chat, the name of a note."""
    return short_place(line.file, line.line)


def short_place(file: str, line: int) -> str:
    """A place in a file, short."""
    name = PurePosixPath(file).stem if file != "MEMORY.md" else file
    if file.startswith("chats/"):
        day = re.match(r"(\d{4})(\d{2})(\d{2})_", name)
        return tr("chat of {day}", day="-".join(day.groups()) if day else name)
    return f"{name}:{line}" if line else name


def detail_of(line: PromptLine) -> str:
    """At which place it was found, how well it fits, and what it cost."""
    parts = [
        tr("words {place}", place=_ordinal(line.keyword_rank)) if line.keyword_rank else "",
        tr("meaning {place}", place=_ordinal(line.meaning_rank)) if line.meaning_rank else "",
        tr("fits {score}", score=f"{line.score:.2f}") if line.score else "",
        tr("1 token") if line.tokens == 1 else tr("{n} tokens", n=f"{line.tokens:,}"),
        tr("from a private chat") if line.private else "",
    ]
    return " · ".join(part for part in parts if part)


def state_of(line: PromptLine, now: LineNow) -> str:
    """What became of it since, "" for nothing that matters."""
    if now.state == "changed" and now.by == "strike":
        return tr("A part of it was struck since")
    if now.state == "changed" and now.sure < _SURE:
        return tr("Changed since; this is probably the line now ({sure} %)", sure=round(now.sure * 100))
    words = {
        "changed": tr("Changed since"),
        "struck": tr("Struck since"),
        "archived": tr("Moved to the archive since"),
        "forgotten": tr("Forgotten: its words are gone for good"),
        "gone": tr("The chat is gone") if is_turn(line) else tr("No longer there"),
        "moved": tr("Now on line {n}", n=now.line),
    }
    return "" if line.unit.startswith("gone:") else words.get(now.state, "")


def summary(receipt: Receipt) -> str:
    """The quiet line under a reply."""
    count = len(receipt.lines)
    if count == 0:
        return tr("No memory used") if receipt.turn <= 1 else tr("No memory added")
    said = tr("Memory used: 1 line") if count == 1 else tr("Memory used: {n} lines", n=count)
    hidden = private_chats(receipt)
    if not hidden:
        return said
    return f"{said}, {tr('from 1 private chat') if hidden == 1 else tr('from {n} private chats', n=hidden)}"


def mode_words(mode: str) -> str:
    """How memory was searched."""
    modes = {
        "hybrid": tr("searched by words and meaning"),
        "keyword": tr("searched by words only"),
        "time": tr("searched by time"),
    }
    return modes.get(mode, mode)


def costs(receipt: Receipt) -> str:
    """Model, tokens and how memory was searched, on one line."""
    parts = [
        receipt.model,
        tr("sent to {host}", host=receipt.host) if receipt.host else "",
        tr("{n} tokens of prompt", n=f"{receipt.prompt_tokens:,}"),
        tr("{n} of them reused", n=f"{receipt.reused_tokens:,}") if receipt.reused_tokens else "",
        mode_words(receipt.recall_mode),
    ]
    return " · ".join(part for part in parts if part)


def in_order(count: int, lines: tuple[PromptLine, ...]) -> list[int]:
    """Places of the first ``count`` lines to show: what was found for this message, then what every prompt has."""
    return sorted(range(len(lines)), key=lambda at: not is_found(lines[at]))[:count]


def _ordinal(n: int) -> str:
    ending = 0 if n % 100 in (11, 12, 13) else n % 10
    return {1: tr("{n}st", n=n), 2: tr("{n}nd", n=n), 3: tr("{n}rd", n=n)}.get(ending, tr("{n}th", n=n))
