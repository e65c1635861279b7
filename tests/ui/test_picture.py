"""The overview page in the real window: bars over time, and what the budget is used for."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip
from pytestqt.qtbot import QtBot

from assistant.ui.memory.picture import PicturePage
from assistant.ui.theme import Theme

from .real_services import Kept, kept

__all__ = ["kept"]
LINES = """# About me

- lives in Lisbon

# Work

- writes about pumps and valves for a company in Porto

2026-11-02|you|likes tea
2026-11-20|chat:20261120_101010#1-4|quiet hotels
2026-11-20|tool|boiler in the cellar
2026-11-28|import:countbot|old fact
"""


def show(kept: Kept, qtbot: QtBot, text: str) -> PicturePage:
    (kept.services.workspace.root / "MEMORY.md").write_text(text)
    kept.window.toggle_memory()
    panel = kept.window.memory_panel()
    panel.show_page("picture")
    page = panel.page("picture")
    assert isinstance(page, PicturePage)
    return page


@pytest.fixture
def page(kept: Kept, qtbot: QtBot) -> PicturePage:
    made = show(kept, qtbot, LINES)
    qtbot.waitUntil(made.chart.isVisible)
    return made


def centre(page: PicturePage, index: int) -> QPoint:
    return page.chart.bar_rect(index).center().toPoint()


def test_a_bar_lists_what_was_written_and_opens_it(kept: Kept, qtbot: QtBot, page: PicturePage) -> None:
    assert len(page.shown) == 27 and page.what.text() == "2026-11-28 · 1 entry", "the newest day is open"
    qtbot.mouseClick(page.chart, Qt.MouseButton.LeftButton, pos=centre(page, 18))
    assert page.what.text() == "2026-11-20 · 2 entries"
    assert [page.model.index(n).data() for n in range(2)] == ["boiler in the cellar", "quiet hotels"]
    assert "from chats 1" in page.chart.accessibleDescription()
    page.view.activated.emit(page.model.index(0))
    panel = kept.window.memory_panel()
    qtbot.waitUntil(lambda: panel.current == "files" and panel.files.editor.textCursor().blockNumber() == 10)


def test_the_keys_walk_from_bar_to_bar(qtbot: QtBot, page: PicturePage) -> None:
    page.chart.setFocus()
    for expected in (18, 0, 0):
        qtbot.keyClick(page.chart, Qt.Key.Key_Left)
        assert page.chart.selected == expected
    qtbot.keyClick(page.chart, Qt.Key.Key_End)
    assert page.chart.selected == 26


def test_few_bars_use_the_width_and_the_newest_stands_at_the_right(page: PicturePage) -> None:
    for by in ("day", "week", "month"):
        page.zooms[by].click()
        last = page.chart.bar_rect(len(page.shown) - 1)
        assert abs(page.chart.width() - last.right()) <= 4
        room = page.chart.width() - page.chart.bar_rect(0).left()
        assert room >= min(page.chart.width() - 4, 44 * len(page.shown))


def test_pointing_says_what_it_is(qtbot: QtBot, page: PicturePage) -> None:
    at = centre(page, 18)
    QApplication.sendEvent(page.chart, QHelpEvent(QEvent.Type.ToolTip, at, page.chart.mapToGlobal(at)))
    assert QToolTip.text() == "2026-11-20: from chats 1, the assistant 1"
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_zooming_and_the_table(qtbot: QtBot, page: PicturePage) -> None:
    page.zooms["month"].click()
    assert len(page.shown) == 1 and page.what.text() == "2026-11 · 4 entries"
    page.zooms["week"].click()
    assert page.shown[0].first == date(2026, 11, 2)
    page.as_table.click()
    assert page.table.isVisible() and page.table.rowCount() == 3
    assert page.table.item(1, 0).text() == "2026-11-16 – 11-22"
    assert page.table.item(1, 1).text() == "2"


def test_the_budget_and_its_largest_sections(kept: Kept, qtbot: QtBot, page: PicturePage) -> None:
    use = kept.services.picture.take().use
    assert f"facts {use.facts:,}" in page.budget.legend.accessibleName()
    assert f"free {use.free:,} tokens" in page.budget.bar.accessibleName()
    names = [each.text() for each in page.budget.findChildren(QPushButton) if each.isVisible()]
    assert names == ["Work", "About me"], "the largest first"
    next(each for each in page.budget.findChildren(QPushButton) if each.text() == "Work").click()
    panel = kept.window.memory_panel()
    qtbot.waitUntil(lambda: panel.current == "files" and panel.files.editor.textCursor().blockNumber() == 4)


def test_what_is_written_now_comes_in_and_the_zoom_stays(kept: Kept, qtbot: QtBot, page: PicturePage) -> None:
    page.zooms["month"].click()
    kept.services.remember("rye bread")
    qtbot.waitUntil(lambda: page.what.text() == "2026-11 · 5 entries")


def test_an_empty_memory_says_what_will_be_here(kept: Kept, qtbot: QtBot) -> None:
    page = show(kept, qtbot, "")
    qtbot.waitUntil(lambda: page.budget.words.text().startswith("0 of"))
    assert page.hint.isVisible() and page.time.isHidden()
    kept.services.remember("tea")
    qtbot.waitUntil(page.time.isVisible)
    assert page.hint.isHidden()


def test_rows_that_need_more_lines_in_less_width_do_not_cover_each_other(kept: Kept, qtbot: QtBot) -> None:
    words = "the boiler in the cellar was looked at by a man from the village who"
    page = show(kept, qtbot, "".join(f"2026-11-28|you|{words} came {n} times\n" for n in range(4)))
    qtbot.waitUntil(page.chart.isVisible)
    view = page.view
    for width in (900, 420):
        page.window().resize(width + 800, 900)
        page.setFixedWidth(width)
        rows = [page.model.index(n) for n in range(4)]
        qtbot.waitUntil(lambda: view.viewport().width() <= width)  # noqa: B023 - waited for here
        qtbot.waitUntil(lambda: [view.visualRect(row).top() for row in rows[1:]] == [  # noqa: B023
            view.visualRect(row).bottom() + 1 for row in rows[:-1]  # noqa: B023
        ])  # fmt: skip


def test_many_entries_in_a_narrow_panel_in_both_themes(kept: Kept, qtbot: QtBot, theme: Theme) -> None:
    start = date(2000, 1, 1)
    lines = "".join(f"{start + timedelta(days=n // 2)}|you|fact {n}\n" for n in range(10_000))
    page = show(kept, qtbot, lines)
    qtbot.waitUntil(page.chart.isVisible, timeout=60_000)
    assert sum(period.total for period in page.shown) == 10_000
    page.zooms["day"].click()
    assert len(page.shown) == 4_000 and page.model.rowCount() == 2
    kept.window.resize(640, 480)
    theme.choose("dark")
    assert not page.grab().isNull()
    assert page.width() < kept.window.width(), "memory has the place of the conversation, and fits into it"
