"""When nothing known answers a question: what tells an answer from the nearest line there happens to be.

One number (log-odds) of a few signs. Its weights were fitted to 450 questions that three labelled sets answer and 64
that they do not; those of ``few`` to 1 500 more, asked of 6 to 100 facts. Fitted to two sets and tried on the third,
they tell found answers from unanswered questions with an AUC of 0.96, 0.84 and 0.79.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assistant.recall.meaning.questions import Questions
from assistant.recall.words.keywords import KeywordHits

_NEXT = slice(1, 11)
_DEEP = slice(20, 60)
_SHALLOW = -5
_MANY = 250
_MEASURED = 430
_SPREADS = {"en": 0.111, "zh": 0.118, "xx": 0.111}
"""Of the default model (multilingual-e5-small), see Questions.spread. A model that hardly tells texts of a language
apart has a larger one (all-MiniLM-L6-v2: 0.107 and 0.239), so it needs more to speak."""
_ALL_WORDS = 0.8
_LEAST_KEYWORD = 0.075


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a question's candidates.

    top: the highest meaning (cosine less hub); gap: by how much it stands above the mean of the next ten; deep: above
    those far behind. known: the share of the question's words that stand anywhere; keyword: what words give the best;
    exact, timely, strangers, named: 1 or 0 (see KeywordHits: the nearest to a question that
    names someone is often near for the name's sake); units: how many might have been found by meaning.
    """

    top: float
    gap: float
    deep: float
    known: float
    coverage: float
    exact: float
    timely: float
    strangers: float
    named: float
    units: int


@dataclass(frozen=True, slots=True)
class Silence:
    """Weights of the signs, measured with the default embedding model and scaled to others by ``scale_of``.

    Below ``least`` nothing is said.

    few: ln(250 / units) where there are fewer than 250. many: by how much the highest of so many chance values, which
    grows as √(2 ln n), stands above that of the 430 measured (395 questions asked of 2 042 units: 27 % of those without
    an answer get none, for 3 % of the found answers lost; twice the weight would be 47 % for 9 %).
    """

    bias: float = -0.41
    top: float = 3.69
    gap: float = 17.4
    deep: float = -8.09
    known: float = 1.68
    coverage: float = -1.98
    exact: float = 3.1
    timely: float = 2.86
    strangers: float = -2.11
    named: float = -1.05
    few: float = -0.26
    few_top: float = 5.85
    few_deep: float = -1.34
    many: float = -0.8
    least: float = 0.05

    def is_known(self, signs: Signs) -> bool:
        """Whether an answer may be among the candidates; surely where one holds nearly all of the words."""
        if signs.coverage >= _ALL_WORDS:
            return True
        few = max(0.0, math.log(_MANY / max(signs.units, 1)))
        odds = self.bias + self.top * signs.top + self.gap * signs.gap + self.deep * signs.deep
        odds += self.known * signs.known + self.coverage * signs.coverage + self.exact * signs.exact
        odds += self.timely * signs.timely + self.strangers * signs.strangers + self.named * signs.named
        odds += self.many * max(0.0, _highest(signs.units) - _highest(_MEASURED))
        odds += few * (self.few + self.few_top * signs.top + self.few_deep * signs.deep)
        return odds >= self.least


SILENCE = Silence()


def _highest(units: int) -> float:
    """Of so many standard normal values, roughly."""
    return math.sqrt(2 * math.log(max(units, 2)))


def scale_of(questions: Questions | None, language: str) -> float:
    """What makes another model's cosines comparable to those that the weights were fitted to."""
    if questions is None:
        return 1.0
    return min(max(_SPREADS[language] / max(questions.spread(language), 1e-3), 0.25), 4.0)


def signs_of(meaning: np.ndarray, words: KeywordHits, timely: bool, units: int, scale: float = 1.0) -> Signs:
    """meaning: (candidates,), without those that have no vector; one at least. scale: see ``scale_of``."""
    falling = scale * np.sort(meaning)[::-1]
    top = float(falling[0])
    behind = falling[_NEXT] if len(falling) > 1 else falling
    deep = falling[_DEEP] if len(falling) > _DEEP.start + 5 else falling[_SHALLOW:]
    return Signs(
        top=top,
        gap=top - float(behind.mean()),
        deep=top - float(deep.mean()),
        known=words.known,
        coverage=words.coverage,
        exact=float(bool(words.exact)),
        timely=float(timely),
        strangers=float(words.strangers),
        named=float(words.named),
        units=units,
    )


def is_known_by_words(words: KeywordHits, timely: bool) -> bool:
    """The same where only words were looked for."""
    return bool(words.exact) or timely or max(words.scores.values(), default=0.0) >= _LEAST_KEYWORD
