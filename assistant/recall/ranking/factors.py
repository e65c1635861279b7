"""What the parts of a hit's score are called, and what they mean: for people, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Factor:
    """name: a word or two; means: a clause that says where the number comes from.

    place: it is a place from 1; other: it is of another line.
    """

    name: str
    means: str
    place: bool = False
    other: bool = False


FACTORS: Mapping[str, Factor] = {
    "exact": Factor("exact", "it holds a rare name or code of the question"),
    "keyword": Factor("words", "how many of the question's words it holds, and how rare they are"),
    "meaning": Factor("meaning", "how near its meaning is to that of the question"),
    "time": Factor("time", "it is of the days that the question speaks of"),
    "chat": Factor("chat", "it was said in the chat that the question names"),
    "neighbours": Factor("neighbours", "other lines of the same chat fit, too"),
    "language": Factor("other language", "it is in another language than the question"),
    "echo": Factor("only asks", "it only asks, too, so what answers the question comes first"),
    "newer": Factor("newer", "it says anew what an older line said"),
    "recency": Factor("recency", "it was written not long ago"),
    "superseded": Factor("out of date", "it is struck, over or in the archive, so it comes last"),
    "kind": Factor("kind", "what sort of line it is"),
    "linked": Factor("linked", "it came along: a found line of this score links to it", other=True),
    "neighbour": Factor("neighbour", "it came along: it stands beside a found line of this score", other=True),
    "keyword_rank": Factor("place by words", "among all lines, by their words alone", True),
    "meaning_rank": Factor("place by meaning", "among all lines, by their meaning alone", True),
}


def factor(key: str) -> Factor:
    """Also for one that has no words yet: its own."""
    return FACTORS.get(key) or Factor(key.replace("_", " "), "", key.endswith("_rank"))


def in_order(why: Mapping[str, float]) -> list[tuple[Factor, float]]:
    """A hit's factors as they are told: the known ones first, the others by name."""
    known = [key for key in FACTORS if key in why]
    return [(factor(key), why[key]) for key in (*known, *sorted(set(why) - set(known)))]


def value_words(one: Factor, value: float) -> str:
    """What it adds to the score or takes from it; a place as a place; what another line has as it is."""
    if one.other:
        return f"{value:.2f}"
    return f"#{value:.0f}" if one.place else f"{value:+.2f}"
