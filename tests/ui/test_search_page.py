"""The search page: what was found, where, when and why; limits; and how the index stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.core.events import IndexStateChanged
from assistant.core.values import Hit, RecallAnswer
from assistant.recall.index.file_states import FileState
from assistant.recall.modes import WHY_WORDS
from assistant.recall.ranking.factors import FACTORS
from assistant.recall.reports import IndexStatus
from assistant.runtime import watching
from assistant.runtime.index_state import IndexState
from assistant.runtime.watching import WatchState
from assistant.ui.application import use_language
from assistant.ui.i18n import load_messages
from assistant.ui.main_window import MainWindow
from assistant.ui.memory.search import SearchPage

from .fakes import FakeServices, HeldLane, make_hit
from .real_services import Kept, kept

__all__ = ["kept"]

TURN = Hit(
    "20261129_153022#3",
    "chats/2026-11/20261129_153022_part2.md",
    40,
    "turn",
    "2026-11-29",
    "Lisbon",
    "a quiet hotel",
    0.6,
    {"meaning": 0.5, "meaning_rank": 2},
    True,
)


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow, services: FakeServices) -> SearchPage:
    window.memory.show(page="search")
    return window.memory_panel().search


def ask(qtbot: QtBot, page: SearchPage, words: str, *hits: Hit, mode: str = "hybrid", by_words: str = "") -> None:
    services = page._services
    assert isinstance(services, FakeServices)
    services.answer = RecallAnswer(hits, not hits, 3.0, mode, by_words)
    page.field.setText(words)
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.model.rowCount() == len(hits))


def test_a_hit_says_where_when_and_why_also_to_a_screen_reader(qtbot: QtBot, page: SearchPage) -> None:
    ask(qtbot, page, "hotel", make_hit(), TURN)
    assert page.status.text() == "2 lines found · by words and meaning"
    first, second = (page.model.index(row) for row in range(2))
    said = second.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "a quiet hotel, chat “Lisbon” · 2026-11-29 · from a private chat · meaning"
    why = first.data(Qt.ItemDataRole.AccessibleDescriptionRole)
    assert "meaning +0.70 · how near its meaning is" in why
    assert not page.card.isVisible()
    page.why_button.click()
    page.view.setCurrentIndex(second)
    (row,) = (row for row in page.card.rows if row[0] == "place by meaning")
    assert page.card.isVisible() and row == ("place by meaning", "#2", "among all lines, by their meaning alone")
    assert "place by meaning #2" in page.card._table.accessibleDescription()
    page.view.setCurrentIndex(first)
    assert {value for _, value, _ in page.card.rows} == {"0.83", "+0.40", "+0.70", "+0.01"}
    page.why_button.click()
    assert not page.card.isVisible()


@pytest.mark.parametrize(
    ("mode", "by_words", "said"),
    [
        ("keyword", "starting", "by words only: the embedding model is still starting"),
        ("keyword", "", "by words only"),
        ("time", "", "the newest first"),
    ],
)
def test_the_mode_is_said_in_plain_words(qtbot: QtBot, page: SearchPage, mode: str, by_words: str, said: str) -> None:
    ask(qtbot, page, "hotel", make_hit(), mode=mode, by_words=by_words)
    assert page.status.text() == f"1 line found · {said}"


def test_keys_lead_from_the_field_to_the_hits_and_back(qtbot: QtBot, window: MainWindow, page: SearchPage) -> None:
    ask(qtbot, page, "hotel", make_hit(), TURN)
    chosen: list[str] = []
    page.chat_chosen.connect(chosen.append)
    window.activateWindow()
    page.field.setFocus()
    qtbot.keyClick(page.field, Qt.Key.Key_Down)
    assert page.view.currentIndex().row() == 0
    qtbot.keyClick(page.view, Qt.Key.Key_Down)
    assert page.view.currentIndex().row() == 1
    qtbot.keyClick(page.view, Qt.Key.Key_Return)
    assert chosen == ["20261129_153022"]
    qtbot.keyClick(page.view, Qt.Key.Key_Up)
    assert page.view.currentIndex().row() == 0
    qtbot.keyClick(page.view, Qt.Key.Key_Up)
    qtbot.waitUntil(page.field.hasFocus)


def test_nothing_known_is_a_page_of_its_own_with_a_way_on(
    qtbot: QtBot, page: SearchPage, services: FakeServices
) -> None:
    assert "Ask in your own words" in page.advice.text() and not page.hint.isVisible()
    ask(qtbot, page, "zzz", mode="keyword", by_words="learning")
    qtbot.waitUntil(lambda: page.hint.text() == "Nothing is known about this.")
    assert "Other words may find it" in page.advice.text()
    assert "by words only: the meaning of your notes is still being learnt" in page.advice.text()
    assert not page.widen.isVisible() and not page.view.isVisible()
    page.filters.choose_scope("chats")
    qtbot.waitUntil(page.widen.isVisible)
    assert "elsewhere" in page.advice.text()
    page.widen.click()
    qtbot.waitUntil(lambda: not page.widen.isVisible())
    assert services.queries[-1].scope == "all"


def test_who_wants_the_nearest_lines_anyway_gets_them_and_is_told_so(
    qtbot: QtBot, page: SearchPage, services: FakeServices
) -> None:
    assert not page.anyway.isVisible()
    ask(qtbot, page, "zzz")
    qtbot.waitUntil(page.anyway.isVisible)
    assert page.anyway.accessibleName() or page.anyway.text() == "Show the nearest lines"
    services.answer = RecallAnswer((make_hit(),), False, 3.0, "hybrid", unsure=True)
    page.anyway.click()
    qtbot.waitUntil(lambda: page.model.rowCount() == 1)
    assert services.queries[-1].anyway and not services.queries[0].anyway
    assert page.status.text().startswith("Nothing known answers this; these lines are the nearest")
    ask(qtbot, page, "hotel", make_hit())
    assert not services.queries[-1].anyway


def test_an_index_that_is_broken_is_not_told_as_nothing_known(qtbot: QtBot, page: SearchPage) -> None:
    ask(qtbot, page, "zzz", mode="keyword", by_words="broken")
    qtbot.waitUntil(lambda: page.hint.text() == "Your notes could not be searched.")
    assert "the next search tries again" in page.advice.text()
    assert not page.anyway.isVisible() and not page.widen.isVisible()


def test_a_pasted_log_of_a_megabyte_is_measured_by_its_beginning(
    qtbot: QtBot, page: SearchPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []

    class Metrics(QFontMetrics):
        def horizontalAdvance(self, text: str) -> int:  # type: ignore[override]
            measured.append(len(text))
            return super().horizontalAdvance(text)

        def elidedText(self, text: str, mode: Qt.TextElideMode, width: int) -> str:  # type: ignore[override]
            measured.append(len(text))
            return super().elidedText(text, mode, width)

    monkeypatch.setattr("assistant.ui.memory.rows.QFontMetrics", Metrics)
    ask(qtbot, page, "log", replace(TURN, text="- 12:00 the pump stopped again " * 30_000))
    page.view.grab()
    said = page.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("- 12:00 the pump stopped") and len(said) < 1_200
    assert measured and max(measured) <= 1_000


def test_what_came_along_says_so(qtbot: QtBot, page: SearchPage) -> None:
    ask(qtbot, page, "hotel", replace(TURN, why={"neighbour": 0.71}), replace(TURN, why={"linked": 0.71}))
    said = [page.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert said[0].endswith("came along: beside a found line") and said[1].endswith("came along: linked")
    assert "neighbour 0.71" in page.model.index(0).data(Qt.ItemDataRole.ToolTipRole)


def test_scope_and_time_limit_what_is_searched(qtbot: QtBot, page: SearchPage, services: FakeServices) -> None:
    ask(qtbot, page, "hotel", make_hit())
    page.filters.choose_scope("memory")
    assert (services.queries[-1].scope, page.filters.where.text()) == ("memory", "In memory ▾")
    page.filters.choose_time("last month")
    asked = services.queries[-1]
    assert (asked.since, asked.until) == (date(2026, 10, 1), date(2026, 10, 31))
    page.filters.choose_time("own")
    assert services.queries[-1].since is None and page.filters.since.isVisible()
    page.filters.since.setText("昨天")
    page.filters.since.editingFinished.emit()
    assert services.queries[-1].since == date(2026, 11, 28) and services.queries[-1].until is None
    asked_so_far = len(services.queries)
    page.filters.since.editingFinished.emit()  # the focus goes to a hit: nothing was changed
    assert len(services.queries) == asked_so_far
    page.filters.until.setText("whenever")
    page.filters.until.editingFinished.emit()
    assert "“whenever” is no day" in page.filters.wrong.text() and page.filters.wrong.isVisible()
    page.filters.until.setText("2026-11-01")
    page.filters.until.editingFinished.emit()
    assert page.filters.wrong.text() == "The first day is after the last one."
    page.filters.clear()
    assert not page.filters.is_limited and not page.filters.wrong.isVisible()


def test_a_time_alone_lists_what_happened(qtbot: QtBot, page: SearchPage, services: FakeServices) -> None:
    services.answer = RecallAnswer((make_hit(),), False, 3.0, "time")
    page.filters.choose_time("this month")
    qtbot.waitUntil(lambda: page.model.rowCount() == 1)
    assert (services.queries[-1].text, page.status.text()) == ("", "1 line found · the newest first")
    services.answer = RecallAnswer((), True, 3.0, "time")
    page.filters.choose_time("yesterday")
    qtbot.waitUntil(lambda: page.hint.text() == "Nothing is known of that time.")


def test_what_was_found_stays_while_a_slow_search_goes_on(
    qtbot: QtBot, page: SearchPage, services: FakeServices
) -> None:
    ask(qtbot, page, "hotel", make_hit())
    services.lanes.recall = HeldLane()
    page.field.setText("hotels")
    page.ask()
    assert page.model.rowCount() == 1 and page.status.text() == "1 line found · by words and meaning"
    qtbot.waitUntil(lambda: page.status.text() == "Searching…")
    assert page.model.rowCount() == 1
    services.answer = RecallAnswer((make_hit(), TURN), False, 3.0, "hybrid")
    services.lanes.recall.release()
    qtbot.waitUntil(lambda: page.status.text() == "2 lines found · by words and meaning")


def test_an_answer_to_an_earlier_question_is_let_go(qtbot: QtBot, page: SearchPage, services: FakeServices) -> None:
    services.lanes.recall = HeldLane()
    page.field.setText("hotel")
    page.ask()
    page.field.setText("")
    page.ask()
    services.answer = RecallAnswer((make_hit(),), False, 3.0, "hybrid")
    services.lanes.recall.release()
    assert page.model.rowCount() == 0 and "Ask in your own words" in page.advice.text()


# --- how the index stands -----------------------------------------------------------------------------------------


def state(meaning: str = "ready", errors: tuple[str, ...] = (), watch: WatchState | None = None) -> IndexState:
    status = IndexStatus(1_203, 5_000, 320, "e5", 4_680, errors, "", meaning == "ready")
    return IndexState(status, meaning, 320, 5_000, "It died.", watch or WatchState("events"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meaning", "said"),
    [
        ("ready", "by words and meaning"),
        ("none", "by words only: there is no embedding model"),
        ("building", "their meaning is being learnt, 320 of 5,000"),
        ("paused", "learning their meaning is paused at 320 of 5,000"),
        ("failing", "by words only: It died."),
    ],
)
def test_the_page_says_how_much_can_be_found_and_how(
    qtbot: QtBot, page: SearchPage, services: FakeServices, meaning: str, said: str
) -> None:
    services.indexing.found = state(meaning)
    services.emit(IndexStateChanged())
    wanted = f"5,000 lines of 1,203 files can be found · {said}"
    qtbot.waitUntil(lambda: page.index.words.text() == wanted)
    assert "noticed at once" in page.index.words.toolTip()


def test_where_changes_are_not_announced_it_says_so(qtbot: QtBot, page: SearchPage, services: FakeServices) -> None:
    services.indexing.found = state(watch=WatchState("polling", watching.LIMIT))
    services.emit(IndexStateChanged())
    qtbot.waitUntil(lambda: "limit of watched folders" in page.index.words.toolTip())


def test_files_that_could_not_be_indexed_are_listed_with_the_reason_and_opened(
    qtbot: QtBot, page: SearchPage, services: FakeServices
) -> None:
    services.indexing.found = state(errors=("memory/bad.md: x",))
    services.indexing.wrong = [
        FileState("MEMORY.md", "memory", 3, 3, "indexed"),
        FileState("memory/bad.md", "note", 0, 0, "failed", "bad.md is no text.", "Save it as UTF-8 in an editor."),
        FileState("chats/2026-11/20261101_100000.md", "chat", 0, 0, "failed", "It is cut.", ""),
    ]
    services.emit(IndexStateChanged())
    qtbot.waitUntil(lambda: page.index.toggle.text() == "2 files have a problem")
    assert not page.index.view.isVisible()
    page.why_button.setChecked(True)
    page.index.toggle.click()
    assert not page.why_button.isChecked()
    assert page.index.view.isVisible() and not page.index.open_button.isVisible()
    first = page.index.model.index(0)
    said = first.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "memory/bad.md, bad.md is no text. Save it as UTF-8 in an editor."
    opened: list[object] = []
    page.place_chosen.connect(lambda file, line: opened.append((file, line)))
    page.chat_chosen.connect(opened.append)
    page.index.view.setCurrentIndex(first)
    page.index.open_button.click()
    page.index.view.activated.emit(page.index.model.index(1))
    assert opened == [("memory/bad.md", 0), "20261101_100000"]
    services.indexing.found = state()
    services.emit(IndexStateChanged())
    qtbot.waitUntil(lambda: not page.index.toggle.isVisible())


def test_an_index_that_cannot_be_used_is_said(
    qtbot: QtBot, page: SearchPage, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> IndexState:
        raise AssistantError("recall.index", "The search index cannot be used: disk full.")

    monkeypatch.setattr(services.indexing, "state", state)
    services.emit(IndexStateChanged())
    qtbot.waitUntil(lambda: "cannot be used" in page.index.words.text())


# --- words --------------------------------------------------------------------------------------------------------


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    use_language(qapp, "zh_CN")
    yield
    use_language(qapp, "en")


def test_factors_and_reasons_are_said_in_chinese_too(chinese: None) -> None:
    words = {word for one in FACTORS.values() for word in (one.name, one.means)}
    words |= {*WHY_WORDS.values(), watching.LIMIT, watching.REMOTE, watching.GONE}
    assert sorted(words - set(load_messages("zh_CN"))) == []


# --- over real files ----------------------------------------------------------------------------------------------


def test_a_real_search_with_limits_and_a_file_that_is_no_text(qtbot: QtBot, kept: Kept) -> None:
    root = kept.services.workspace.root
    (root / "MEMORY.md").write_text("2026-11-28|you|龙井 at 80 degrees\n2026-10-03|you|龙井 from Suzhou\n", "utf-8")
    (root / "memory" / "bad.md").write_bytes(b"\x00\x01\x02" * 5_000)
    kept.window.memory.show(page="search")
    page = kept.window.memory_panel().search
    page.field.setText("龙井")
    qtbot.waitUntil(lambda: page.status.text() == "2 lines found · by words only: there is no embedding model")
    page.filters.choose_time("last month")
    qtbot.waitUntil(lambda: page.model.rowCount() == 1)
    assert page.model.items()[0].text == "龙井 from Suzhou"
    page.opened()
    qtbot.waitUntil(lambda: page.index.toggle.text() == "1 file has a problem")
    assert page.index.words.text() == "2 lines of 2 files can be found · by words only: there is no embedding model"
    assert page.index.model.items()[0].path == "memory/bad.md"
