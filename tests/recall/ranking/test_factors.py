"""Every factor of a score has words for people."""

from __future__ import annotations

import re
from pathlib import Path

from assistant import recall
from assistant.recall.ranking.factors import FACTORS, factor, in_order, value_words


def test_every_factor_that_ranking_makes_has_a_name_and_a_meaning() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(Path(recall.__file__).parent.rglob("*.py"))]
    made = {name for text in sources for name in re.findall(r'factors\["(\w+)"\]|"(\w+_rank)"', text) for name in name}
    made |= {name for text in sources for name in re.findall(r'\{\*\*candidates\.factors, "(\w+)"', text)}
    assert {"keyword", "meaning", "newer", "keyword_rank"} <= made
    assert sorted(made - {""} - set(FACTORS)) == []


def test_they_are_told_in_order_and_one_without_words_last() -> None:
    told = in_order({"zebra_weight": 0.1, "recency": 0.02, "keyword": 0.5, "keyword_rank": 3})
    assert [one.name for one, _ in told] == ["words", "recency", "place by words", "zebra weight"]
    assert [value_words(one, value) for one, value in told] == ["+0.50", "+0.02", "#3", "+0.10"]
    assert value_words(factor("superseded"), -4.0) == "-4.00"
