"""How a download and a model are put into words."""

from __future__ import annotations

import pytest

from assistant.core.events import DownloadChanged, DownloadStatus
from assistant.engine.memory_estimate import Fit, MemoryEstimate
from assistant.ui.model_files.words import download_words, fit_words, languages

READING = DownloadStatus.READING


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0.0, "1.0 GB of 3.0 GB from hub"),
        (50e6, "1.0 GB of 3.0 GB from hub · 50 MB a second · less than a minute left"),
        (10e6, "1.0 GB of 3.0 GB from hub · 10 MB a second · about 3 minutes left"),
        (1e5, "1.0 GB of 3.0 GB from hub · 100.0 kB a second · about 6 hours left"),
    ],
)
def test_a_download_says_how_long_it_will_take(rate: float, said: str) -> None:
    assert download_words(DownloadChanged("m", READING, "hub", 10**9, 3 * 10**9, rate=rate)) == said


@pytest.mark.parametrize("status", list(DownloadStatus))
def test_every_state_has_words_or_needs_none(status: DownloadStatus) -> None:
    ended = status in (DownloadStatus.FAILED, DownloadStatus.DONE, DownloadStatus.GONE)
    assert bool(download_words(DownloadChanged("m", status, "hub", 1, 2))) is not ended


def test_the_verdict_has_its_numbers() -> None:
    memory = MemoryEstimate(4096, 10**9, 0, 10**8, 10**8, 10**8)
    assert fit_words(Fit.TIGHT, memory, 1_400_000_000) == (
        "Tight: needs 1.3 GB of memory with 4,096 tokens of context, 1.4 GB are free."
    )
    assert fit_words(Fit.UNKNOWN, memory, None) == "Needs 1.3 GB of memory with 4,096 tokens of context."
    assert fit_words(Fit.UNKNOWN, None, 1) == ""


@pytest.mark.parametrize(
    ("codes", "more", "said"),
    [((), 0, ""), (("en",), 0, "English"), (("en", "zh"), 27, "English, Chinese and 27 more"),
     (("de", "fr", "it", "es", "pt", "nl"), 0, "de, fr, it, es and 2 more")],
)  # fmt: skip
def test_languages_by_name(codes: tuple[str, ...], more: int, said: str) -> None:
    assert languages(codes, more) == said


def test_a_download_of_unknown_size_says_only_what_is_known() -> None:
    reading = DownloadChanged("m", READING, "hub", 10**9, 0, rate=50e6)
    assert download_words(reading) == "1.0 GB from hub · 50 MB a second"
    assert download_words(DownloadChanged("m", DownloadStatus.PAUSED, "hub", 10**9, 0)) == "Paused · 1.0 GB"


def test_a_minute_is_one_minute() -> None:
    reading = DownloadChanged("m", READING, "hub", 0, 10**9, rate=10**9 / 70)
    assert download_words(reading).endswith("about a minute left")
