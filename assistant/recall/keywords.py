"""The keyword index: queries of any shape turned into FTS5 expressions, and scores between 0 and 1."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from assistant.recall.stop_words import stop_words
from assistant.recall.text import bigrams, cjk_runs, fold, without_cjk

CONTEXT_WEIGHT = 0.4
"""Of the context column against the unit's own text (measured, see the design's "Recall, measured")."""
_MOST_CHARACTERS = 4_000
_MOST_TERMS = 48
_BM25_CEILING = 2.2
"""FTS5's bm25 gives a term at most (k1 + 1) times its idf, with k1 = 1.2."""
_RARE_UNITS = 2
_DOMINANT_SHARE = 0.5
_COMMONER = 10

_TOKEN = re.compile(r"[^\W_]+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_QUOTED = re.compile('["“”„「『]([^"“”「」『』]{2,80})["“”」』]')
_DATE_OR_TIME = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}|\d{1,2}[:.]\d\d(?::\d\d)?|\d{1,2}[-/.]\d{1,2}")


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for. tokens: one, or several in this order; code: to be met exactly; name: a proper name."""

    tokens: tuple[str, ...]
    code: bool = False
    name: bool = False

    @property
    def expression(self) -> str:
        """The term as FTS5 reads it; tokens hold letters and digits only, so nothing needs escaping but the quotes."""
        return '"' + " ".join(self.tokens) + '"'


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """scores: unit row -> 0..1; exact: rows that hold a rare name of the query;
    strangers: the query names something, by a capital inside the sentence, that stands nowhere."""

    scores: dict[int, float]
    exact: frozenset[int]
    strangers: bool = False


def query_terms(text: str) -> list[Term]:
    """The terms of a query, without stop words and doubles; none for a query of only stop words or punctuation."""
    folded = fold(text[:_MOST_CHARACTERS])
    names = {fold(name) for name in _NAME.findall(text[:_MOST_CHARACTERS])}
    terms = dict.fromkeys((*_quoted_terms(folded), *_word_terms(folded, names), *_cjk_terms(folded)))
    return list(terms)[:_MOST_TERMS]


def search_words(
    connection: sqlite3.Connection, terms: list[Term], where: str, args: list[int], most: int
) -> KeywordHits:
    """The best ``most`` units for any of the terms. where, args: a condition on the table units.

    A unit's score is its bm25 over that of an ideal unit, which holds every term as well as can be (capped at 1), so it
    tells silence from noise whatever the query's length.
    """
    if not terms:
        return KeywordHits({}, frozenset())
    (total,) = connection.execute("SELECT count(*) FROM units").fetchone()
    counts = [_count(connection, term) for term in terms]
    weights = [_idf(total, count) for count in counts]
    strangers = any(term.name and not count for term, count in zip(terms, counts, strict=True))
    ideal = sum(weights) * _BM25_CEILING
    expression = " OR ".join(term.expression for term, count in zip(terms, counts, strict=True) if count)
    if not expression:
        return KeywordHits({}, frozenset(), strangers)
    rows = connection.execute(
        f"SELECT units.id, -bm25(words, 1.0, {CONTEXT_WEIGHT}) AS score FROM words "
        f"JOIN units ON units.id = words.rowid WHERE words MATCH ? AND {where} ORDER BY score DESC LIMIT ?",
        [expression, *args, most],
    ).fetchall()
    scores = {row: min(score / ideal, 1.0) for row, score in rows}
    exact: set[int] = set()
    for n, term in enumerate(terms):
        if counts[n] and (term.code or _stands_out(n, terms, counts, weights)):
            exact.update(_rows(connection, term, where, args, most))
    for row in exact:
        scores.setdefault(row, 0.0)
    return KeywordHits(scores, frozenset(exact), strangers)


def _stands_out(n: int, terms: list[Term], counts: list[int], weights: list[float]) -> bool:
    """A word of one or two units only, and what the query is about: it outweighs the others, or they
    are all known, and common or as rare."""
    if counts[n] > _RARE_UNITS:
        return False
    if weights[n] >= _DOMINANT_SHARE * sum(weights):
        return True
    own = terms[n].tokens
    others = [count for term, count in zip(terms, counts, strict=True) if not set(term.tokens) & set(own)]
    return all(count >= _COMMONER * counts[n] or 0 < count <= _RARE_UNITS for count in others)


def _count(connection: sqlite3.Connection, term: Term) -> int:
    (count,) = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", [term.expression]).fetchone()
    return int(count)


def _rows(connection: sqlite3.Connection, term: Term, where: str, args: list[int], most: int) -> list[int]:
    """Units that hold the term in their own text (being next to one that does is not enough)."""
    sql = f"SELECT units.id FROM words JOIN units ON units.id = words.rowid WHERE words MATCH ? AND {where} LIMIT ?"
    return [row for (row,) in connection.execute(sql, ["text : " + term.expression, *args, most])]


def _idf(total: int, count: int) -> float:
    """As FTS5 computes it, never below its own floor."""
    return max(math.log((total - count + 0.5) / (count + 0.5)), 1e-6)


def _quoted_terms(folded: str) -> Iterator[Term]:
    for quoted in _QUOTED.finditer(folded):
        tokens = tuple(_TOKEN.findall(without_cjk(quoted[1])))
        if len(tokens) > 1:
            yield Term(tokens, code=True)


def _word_terms(folded: str, names: set[str]) -> Iterator[Term]:
    for chunk in without_cjk(folded).split():
        tokens = tuple(_TOKEN.findall(chunk))
        code = _is_code(chunk)
        if len(tokens) > 1 and not stop_words().english.issuperset(tokens):
            yield Term(tokens[:12], code)
        for token in tokens:
            if token not in stop_words().english:
                yield Term((token,), code and len(tokens) == 1, token in names)


def _is_code(chunk: str) -> bool:
    """A number, a path, an address, a name with digits: what one types exactly because one wants exactly that."""
    bare = chunk.strip(".,;:!?()[]{}'\"<>*")
    if len(bare) < 4 or _DATE_OR_TIME.fullmatch(bare):
        return False
    return bool(re.search(r"\d", bare) or re.search(r"[^\W_][_@/\\=|][^\W_]", bare))


def _cjk_terms(folded: str) -> Iterator[Term]:
    for run in cjk_runs(folded):
        for part in _content_parts(run):
            if len(part) == 1:
                yield Term((part,))
            for pair in bigrams(part):
                yield Term((pair,))
            if len(part) > 2:
                for char in part:
                    yield Term((char,))


def _content_parts(run: str) -> list[str]:
    """The run without its function words; a run of one or two characters is one word and stays."""
    if len(run) <= 2:
        return [run] if run not in (*stop_words().chinese_phrases, *stop_words().chinese_characters) else []
    return [part for part in _chinese_stop().split(run) if part]


@cache
def _chinese_stop() -> re.Pattern[str]:
    longest_first = sorted(stop_words().chinese_phrases, key=len, reverse=True)
    return re.compile("|".join([*longest_first, f"[{''.join(sorted(stop_words().chinese_characters))}]"]))
