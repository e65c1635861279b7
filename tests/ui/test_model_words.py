"""How a download and a model are put into words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from assistant.core.events import DownloadChanged, DownloadStatus
from assistant.engine.memory_estimate import Fit, MemoryEstimate
from assistant.ui.application import use_language
from assistant.ui.model_files.words import download_words, fit_words, languages
from assistant.ui.model_menu import lines_of

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


def test_a_list_of_languages_in_chinese_has_its_own_comma(qapp: QApplication) -> None:
    use_language(qapp, "zh_CN")
    try:
        assert languages(("en", "zh"), 27) == "英文、中文和另外 27 种"
    finally:
        use_language(qapp, "en")


@given(st.text(alphabet="ab 你好，。-", max_size=300))
def test_a_note_in_a_menu_is_never_broken_within_a_word(text: str) -> None:
    lines = lines_of(text, 20, 1_000)
    assert "".join("".join(lines).split()) == "".join(text.split()), "nothing is lost"
    known = {word for word in re.split(r"[\s你好，。]+", text) if word}
    assert all(word in known for line in lines for word in re.split(r"[\s你好，。]+", line) if word)
    assert all(len(line) <= 20 for line in lines if " " in line.strip()), "only one long word is wider"


def test_a_long_note_ends_with_dots() -> None:
    assert lines_of("The file is damaged. " * 30)[3].endswith(" …")
    assert lines_of("文件已损坏，请重新下载。" * 2, 20) == ["文件已损坏，请重新下", "载。文件已损坏，请重", "新下载。"]
    assert lines_of("") == [""]
