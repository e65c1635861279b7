"""What a query asks for: its terms, without stop words and doubles, the telling ones first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from assistant.recall.words.stop_words import stop_words
from assistant.recall.words.text import fold_width, plain
from assistant.recall.words.tokens import Piece, bigrams, phone_numbers, piece_of, pieces, unspaced_run

MOST_CHARACTERS = 20_000
MOST_TERMS = 48
PART_WEIGHT = 0.5
"""Of a part of a word, as the humps of camelCase, against a word."""
CHARACTER_WEIGHT = 0.4
"""Of a single character of a longer CJK run."""
_WHOLE_CHARACTERS = range(3, 7)
"""Of a run that is one word or name (成语接龙, タワー) rather than a sentence; one of two is a term already."""

_NAME = re.compile(
    r"(?<=[a-z,] )[A-Z][a-z]{2,}|(?<![A-Za-z])[A-Z][a-z]+(?=\s?[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])[A-Z][a-z]+"
)
"""By a capital inside the sentence, or of Latin letters beside Chinese ones."""
_QUOTED = re.compile('["“”„「『]([^"“”「」『』]{2,80})["“”」』]')
_SCHEME = re.compile(r"(?<![^\s(<\"'])(?:https?|ftp|file)://(?=\w)", re.IGNORECASE)
"""An address is often noted without it."""
_DATE_OR_TIME = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}|\d{1,2}[:.]\d\d(?::\d\d)?|\d{1,2}[-/.]\d{1,2}")


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for: one word of the index, or several in this order.

    joints: of each two neighbours, when they were written in one piece; code: to be met exactly; name: a proper name;
    weight: against a whole word; across: two characters of a longer run, which may belong to two words; whole: the
    only word of the query in a script without spaces, in one piece: it weighs nothing, for its parts do already.
    """

    tokens: tuple[str, ...]
    joints: tuple[str, ...] = ()
    code: bool = False
    name: bool = False
    weight: float = 1.0
    across: bool = False
    whole: bool = False


def query_terms(text: str) -> list[Term]:
    """The terms of a query; none for a query of only stop words or punctuation.

    Of a very long query the codes and the names come along before the words, these before parts of words.
    """
    text = _SCHEME.sub("", fold_width(text[:MOST_CHARACTERS]))
    names = {plain(name) for name in _NAME.findall(text)}
    terms: dict[tuple[str, ...], Term] = {}
    for term in (*_quoted_terms(text), *_phone_terms(text), *_piece_terms(text, names)):
        known = terms.get(term.tokens)
        if known is None or (term.weight, term.code) > (known.weight, known.code):
            terms[term.tokens] = term
    found = list(terms.values())
    if len(found) > MOST_TERMS:
        found.sort(key=lambda term: (not term.code, not term.name, -term.weight, len(term.tokens) == 1))
    return found[:MOST_TERMS]


def _quoted_terms(text: str) -> Iterator[Term]:
    for quoted in _QUOTED.finditer(text):
        known = [piece_of(piece) for piece in pieces(quoted[1]) if not unspaced_run(piece)]
        words = [word for piece in known for word in piece.words]
        if len(words) > 1:
            yield Term(tuple(words), code=True)


def _phone_terms(text: str) -> Iterator[Term]:
    for digits in phone_numbers(text):
        yield Term((digits,), code=True)


def _piece_terms(text: str, names: set[str]) -> Iterator[Term]:
    found = pieces(text)
    run = unspaced_run(found[0]) if len(found) == 1 else []
    if len(run) in _WHOLE_CHARACTERS and _content_parts(run) == [run]:
        yield Term(tuple(run), tuple(bigrams(run)), weight=0.0, whole=True)
    for piece in found:
        if run := unspaced_run(piece):
            yield from _unspaced_terms(run)
        else:
            yield from _word_terms(piece, piece_of(piece), names)


def _word_terms(piece: str, known: Piece, names: set[str]) -> Iterator[Term]:
    stops = stop_words().english
    code = _is_code(piece)
    if len(known.words) > 1 and not stops.issuperset(known.raw):
        yield Term(known.words[:12], known.joints[:11], code)
    for name in known.names:
        yield Term((name,))
    for word, raw in zip(known.words, known.raw, strict=True):
        if raw not in stops:
            yield Term((word,), (), code and len(known.words) == 1, raw in names)
    for part in known.parts:
        if part not in stops and len(part) > 1:
            yield Term((part,), weight=PART_WEIGHT)


def _is_code(piece: str) -> bool:
    """A number, a path, an address, a name with digits: what one types exactly because one wants exactly that."""
    bare = piece.strip(".,;:!?()[]{}'\"<>*")
    if len(bare) < 4 or _DATE_OR_TIME.fullmatch(bare):
        return False
    return bool(re.search(r"\d", bare) or re.search(r"[^\W_][_@/\\=|][^\W_]", bare))


def _unspaced_terms(run: list[str]) -> Iterator[Term]:
    for part in _content_parts(run):
        if len(part) == 1:
            yield Term((part[0],))
        for pair in bigrams(part):
            yield Term((pair,), across=len(part) > 2)
        if len(part) > 2:
            for char in part:
                yield Term((char,), weight=CHARACTER_WEIGHT)


def _content_parts(run: list[str]) -> list[list[str]]:
    """The run without its function words; a run of one or two characters is one word and stays."""
    text = "".join(run)
    if len(run) <= 2:
        return [] if text in (*stop_words().chinese_phrases, *stop_words().chinese_characters) else [run]
    if len(text) > len(run):
        return [run]
    return [list(part) for part in _chinese_stop().split(text) if part]


@cache
def _chinese_stop() -> re.Pattern[str]:
    longest_first = sorted(stop_words().chinese_phrases, key=len, reverse=True)
    return re.compile("|".join([*longest_first, f"[{''.join(sorted(stop_words().chinese_characters))}]"]))
