"""A text of nothing but words for days costs no more to read for days than its beginning."""

from __future__ import annotations

from datetime import date

import pytest

from assistant.recall.days import dates
from assistant.recall.days.calendar_days import Asked
from assistant.recall.days.moments import read_time
from assistant.recall.days.spoken_days import spoken_days

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize("word", ["三月", "三月三日", "昨天", "yesterday ", "3/4 ", "last week was ", "on 12 May, "])
def test_only_the_beginning_is_read_for_days(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    read: list[int] = []
    really = dates.ranges_in

    def counted(folded: str, asked: Asked) -> list[dates.DayRange]:
        read.append(len(folded))
        return really(folded, asked)

    for module in ("dates", "moments", "spoken_days"):
        monkeypatch.setattr(f"assistant.recall.days.{module}.ranges_in", counted)
    long = word * 20_000
    spoken_days(long, TODAY)
    spoken_days(long, None)
    dates.find_ranges(long, TODAY)
    dates.parse_range(long, TODAY)
    wish = read_time(long, TODAY)
    assert read and max(read) <= dates.MOST_CHARACTERS
    assert wish.spans == read_time(long[: dates.MOST_CHARACTERS], TODAY).spans
    assert spoken_days(long, TODAY) == spoken_days(long[: dates.MOST_CHARACTERS], TODAY)
