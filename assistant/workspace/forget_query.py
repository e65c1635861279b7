"""What is to be forgotten, as words: which texts hold them, and which lines are telling enough to be hunted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import astuple

from assistant.workspace.chat_labels import CHINESE, ENGLISH
from assistant.workspace.contradiction import normalise
from assistant.workspace.entries import parse_entry, parse_item
from assistant.workspace.forgotten_text import CJK, LETTER, holds

MEMORY_WEIGHT = 8
TURN_WEIGHT = 16
"""How telling a line must be to be taken out wherever it stands: short ones ("tea", "ok, thanks") are anybody's."""
_WORD_WEIGHT = 6
_CJK_WEIGHT = 3  # a Chinese character says about as much as three letters
_LONG = 300  # characters; a prompt may have been told only sentences of a longer text
_SENTENCE = re.compile(r"(?<=[.!?。！？;；\n])\s*")
_LEAD = re.compile(r"\s*(?:>[ \t]?)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?")
_FIELD = re.compile(r"\s*[A-Za-z][\w-]*:[ \t]+(?=\S)")
_IS_CJK = re.compile(f"[{CJK}]")
# Words of our own formats: taking them out of files would break what is not to be forgotten.
_OURS = frozenset(
    "assistant system message history recalled persona pinned keyword meaning recent hybrid memory keepsake upkeep"
    " import archive conversation metadata participants created session private summarized through superseded updated"
    " forgotten moved redacted remembered interrupted stopped".split()
) | {label.casefold() for labels in (ENGLISH, CHINESE) for label in astuple(labels)}


class ForgetQuery:
    """All words of a query. Latin ones are whole words, Chinese ones stand anywhere; width and case do not matter."""

    def __init__(self, text: str) -> None:
        self.words = tuple(dict.fromkeys(_folded(text).split()))
        self._patterns = [re.compile(_bounded(word)) for word in self.words]

    def matches(self, text: str) -> bool:
        """Whether every word stands in the text; never for a query without words."""
        folded = _folded(text)
        return (
            bool(self.words) and all(w in folded for w in self.words) and all(p.search(folded) for p in self._patterns)
        )

    def may_match(self, text: str) -> bool:
        """A quick look at a whole file."""
        if text.isascii():
            folded = text.lower()
            return all(word in folded for word in self.words)
        return self.matches(text)


def telling_word(query: ForgetQuery) -> tuple[str, ...]:
    """The word of a query that has only one, where it may be taken out of every file: no date, and none of our own."""
    if len(query.words) != 1 or query.words[0] in _OURS:
        return ()
    word = query.words[0]
    letters = re.search(r"[^\W\d_]", word)
    enough = weight(word) >= _WORD_WEIGHT if letters else re.fullmatch(r"\d{5,7}|\d{9,13}", word)
    return (word,) if enough else ()


def weight(text: str) -> int:
    """How much a text says: its letters and digits, digits twice, Chinese characters threefold."""
    count = 0
    for char in text:
        if _IS_CJK.match(char):
            count += _CJK_WEIGHT
        elif char.isalnum():
            count += 2 if char.isdigit() else 1
    return count


def cores(text: str) -> tuple[str, ...]:
    """The words of a unit, line by line (of an entry: item by item), without bullets, strikes and marks."""
    if entry := parse_entry(text):
        return tuple(item.text for item in entry.items)
    return tuple(core for line in text.split("\n") if (core := core_of(line)))


def core_of(line: str) -> str:
    """The words of a line of a note."""
    match = _LEAD.match(line)
    return parse_item(line[match.end() if match else 0 :]).text


def line_parts(line: str) -> tuple[str, str]:
    """A heading, a field of a front matter or another line as its mark ("## ", "title: ") and its words."""
    match = _FIELD.match(line) or _LEAD.match(line)
    at = match.end() if match else 0
    return line[:at], line[at:]


def same_form(text: str) -> str:
    """The form in which two lines count as the same."""
    return normalise(text)


def telling_lines(texts: Sequence[str], least: int) -> Iterator[str]:
    """Of the lines those that say enough; of very long ones the sentences too."""
    for text in texts:
        for line in text.splitlines():
            stripped = line.strip()
            if weight(stripped) < least or holds("«forgotten»", [stripped]):
                continue
            yield stripped
            if len(stripped) > _LONG:
                yield from (part for part in _SENTENCE.split(stripped) if weight(part) >= TURN_WEIGHT)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _bounded(word: str) -> str:
    before = f"(?<!{LETTER})" if re.match(LETTER, word) else ""
    after = f"(?!{LETTER})" if re.search(f"{LETTER}$", word) else ""
    return before + re.escape(word) + after
