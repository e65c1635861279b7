"""How well answers to a labelled set are: recall at 1, 5 and 10, mean reciprocal rank, silence, current above stale.

The definitions are those of the labelled sets: what a question's ``also`` names is taken out of the ranking first;
recall is 1 where a gold is among the first k, or, where all are needed, the share of them that could be there; the
reciprocal rank counts the first ten. An answer without a hit counts as silence.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistant.cli.bench.labelled_set import Question

ALL = "all"


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions of a kind, each 0..1."""

    questions: int
    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Score:
    """What one way of searching reached.

    kinds: by kind, ``all`` first, without the negatives; current_first: share of the superseded questions whose older
    versions stand below the gold; silent: share of the negatives answered with nothing; gave_up: answerable questions
    answered with nothing. A share of no questions is 1.
    """

    kinds: Mapping[str, Row]
    current_first: float
    superseded: int
    silent: float
    negatives: int
    gave_up: int


def score(questions: Sequence[Question], answers: Mapping[str, Sequence[str]]) -> Score:
    """answers: the ids found, best first, by the question's id; an empty list is silence, a missing one a failure."""
    rows: dict[str, list[Row]] = {}
    for question in questions:
        if question.gold:
            row = _row(question, ranking(question, answers.get(question.id, ())))
            for key in (ALL, question.kind):
                rows.setdefault(key, []).append(row)
    negatives = [question.id in answers and not answers[question.id] for question in questions if not question.gold]
    current = [_current_first(q, answers.get(q.id, ())) for q in questions if q.gold and q.stale]
    return Score(
        kinds={kind: _mean(rows[kind]) for kind in sorted(rows, key=lambda kind: (kind != ALL, kind))},
        current_first=_share(current),
        superseded=len(current),
        silent=_share(negatives),
        negatives=len(negatives),
        gave_up=sum(1 for q in questions if q.gold and q.id in answers and not answers[q.id]),
    )


def ranking(question: Question, hits: Iterable[str]) -> list[str]:
    """The hits each once, without what is right in part only."""
    return [hit for hit in dict.fromkeys(hits) if hit not in question.also]


def _row(question: Question, hits: Sequence[str]) -> Row:
    first = next((place for place, hit in enumerate(hits[:10], 1) if hit in question.gold), 0)
    one, five, ten = (_recall(question, hits[:most], most) for most in (1, 5, 10))
    return Row(1, one, five, ten, 1 / first if first else 0.0)


def _recall(question: Question, hits: Sequence[str], most: int) -> float:
    found = len(question.gold.intersection(hits))
    return found / min(most, len(question.gold)) if question.need_all else float(found > 0)


def _current_first(question: Question, answer: Iterable[str]) -> bool:
    hits = ranking(question, answer)
    place = {hit: at for at, hit in enumerate(hits)}
    current, older = (min(place.get(one, len(hits)) for one in ids) for ids in (question.gold, question.stale))
    return older >= current


def _mean(rows: Sequence[Row]) -> Row:
    def mean(of: Callable[[Row], float]) -> float:
        return round(statistics.fmean(of(row) for row in rows), 4)

    return Row(
        len(rows),
        mean(lambda row: row.recall_1),
        mean(lambda row: row.recall_5),
        mean(lambda row: row.recall_10),
        mean(lambda row: row.mrr),
    )


def _share(truths: Sequence[bool]) -> float:
    return round(sum(truths) / len(truths), 4) if truths else 1.0
