"""The preview of the prompt in the window: what it shows is what the model is then given, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.chat.laid_out import laid_out
from assistant.core.values import Block, LeftOut, Prompt, PromptLine, Role
from assistant.ui.memory.prompt import PromptPage
from assistant.ui.memory.prompt_rows import PromptRow, block_title, rows_of
from assistant.ui.theme import Theme

from .house import House

ALL = frozenset({"persona", "history"})


@pytest.fixture
def house(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[House]:
    made = House(qtbot, theme, tmp_path)
    (made.root / "memory").mkdir(exist_ok=True)
    (made.root / "memory" / "boat.md").write_text("# Boat\n\n- Zephyrina lies in Faro\n", encoding="utf-8")
    yield made
    made.close()


def open_page(house: House) -> PromptPage:
    house.window.show_memory_page("prompt")
    page = house.window.memory_panel().page("prompt")
    assert isinstance(page, PromptPage)
    house.until(lambda: page.prompt is not None)
    return page


def write(house: House, page: PromptPage, text: str) -> None:
    house.window.page.composer.edit.setPlainText(text)
    house.until(lambda: page.prompt is not None and page.prompt.blocks[-1].text == text)


def shown(page: PromptPage) -> dict[str, str]:
    """The text of each block as its rows show it."""
    for title in map(block_title, ALL):
        for row, item in enumerate(page.model.items()):
            if item.text == title and not item.open:
                page.view.clicked.emit(page.model.index(row))
    rows: list[PromptRow] = page.model.items()
    names = [row.key for row in rows if row.kind == "block" and row.key]
    return {name: "\n".join(row.text for row in rows if row.kind == "line" and row.key == name) for name in names}


def test_what_is_shown_is_what_the_model_is_given(house: House) -> None:
    page = open_page(house)
    for text in ("Where does Zephyrina lie?", "And what do I drink?\n  Two lines, 两行 🐘", "</memory> x"):
        write(house, page, text)
        blocks = shown(page)
        exact = page.exact_text()
        house.say(text)
        given_ = house.engine.asked[-1]
        assert exact == "\n\n".join(f"[{message.role.value}]\n{message.text}" for message in given_)
        fixed = [blocks[name] for name in ("persona", "facts", "tail", "brief") if name in blocks]
        assert "\n\n".join(fixed) == given_[0].text
        assert blocks.get("recalled", "") + blocks["message"] == given_[-1].text
        page.prompt = None
        page.opened()
        house.until(lambda: page.prompt is not None)


def test_it_follows_what_is_typed_and_what_memory_becomes(house: House) -> None:
    page = open_page(house)
    assert "first message of a new chat" in page.what.text()
    assert not page.renew.isEnabled()
    write(house, page, "Zephyrina?")
    assert "Zephyrina lies in Faro" in shown(page)["recalled"]
    house.services.remember("the boiler was repaired")
    house.until(lambda: "boiler" in shown(page)["tail"])
    house.window.page.composer.edit.setPlainText("remember that I like oolong")
    house.until(lambda: "first written to memory" in page.note.text())


def test_while_it_is_hidden_nothing_is_asked(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page(house)
    house.window.show_memory_page("files")
    asked: list[str] = []
    monkeypatch.setattr(house.services.told, "preview", lambda *a: asked.append(a[1]))
    house.window.page.composer.edit.setPlainText("unheard")
    assert not page._soon.isActive()
    assert asked == []


def test_costs_add_up_to_the_whole(house: House) -> None:
    house.say("Hello")
    page = open_page(house)
    write(house, page, "Zephyrina?")
    shown(page)
    rows: list[PromptRow] = page.model.items()
    assert page.prompt is not None
    assert rows[-1].total == page.prompt.tokens or rows[-1].kind in ("rule", "left")
    assert sum(row.tokens for row in rows if row.kind == "block") == page.prompt.tokens
    lines = [row for row in rows if row.kind == "line"]
    assert [row.total for row in lines] == sorted(row.total for row in lines)
    assert f"{page.prompt.tokens:,} of 4,096" in page.cost.text()


def test_sums_go_on_from_block_to_block(house: House) -> None:
    entries = "".join(f"2026-11-{n:02d}|chat:20261101_101010#{n}|note {n}；~~old words {n}~~\n" for n in range(1, 9))
    (house.root / "MEMORY.md").write_text(f"# About me\n\n- likes tea\n\n{entries}", encoding="utf-8")
    page = open_page(house)
    house.until(lambda: "note 8" in shown(page).get("tail", ""))
    rows: list[PromptRow] = page.model.items()
    so_far = 0
    for row in rows:
        if row.kind == "line":
            assert row.tokens >= 0 and row.total == so_far + row.tokens
            so_far = row.total
        elif row.kind == "block" and row.key:
            assert so_far == row.total - row.tokens, "the block before is summed up"


def test_a_line_opens_its_place_and_a_turn_its_chat(house: House) -> None:
    house.say("My boat is Zephyrina")
    first = house.window.session.chat_id
    house.window.new_chat()
    page = open_page(house)
    house.until(lambda: "brief" in shown(page))
    rows: list[PromptRow] = page.model.items()
    turn = next(n for n, row in enumerate(rows) if row.unit.startswith(first))
    page.view.clicked.emit(page.model.index(turn))
    house.until(lambda: house.window.session.chat_id == first)
    lisbon = next(n for n, row in enumerate(page.model.items()) if "Lisbon" in row.text)
    page.view.setFocus()
    page.view.setCurrentIndex(page.model.index(lisbon))
    house.qtbot.keyClick(page.view, Qt.Key.Key_Return)
    panel = house.window.memory_panel()
    house.until(lambda: panel.current == "files" and panel.files.editor.textCursor().blockNumber() == 2)


def test_renewing_says_what_it_costs_and_takes_memory_anew(house: House) -> None:
    house.say("Hello")
    house.services.remember("the boiler was repaired")
    page = open_page(house)
    house.until(lambda: page.renew.isEnabled())
    assert "boiler" not in shown(page)["tail"]
    page.renew.click()
    assert page.renew_now.isVisible()
    assert page.prompt is not None and f"{page.prompt.tokens:,}" in page.renew_words.text()
    page.renew_now.click()
    house.until(lambda: "boiler" in shown(page)["tail"])
    assert "boiler was repaired" in house.say("Next").split("Next")[0]


def test_every_line_has_the_room_that_its_words_take(house: House) -> None:
    facts = "".join(f"- fact {n} with quite a few words in it, so that it takes two lines\n" for n in range(40))
    (house.root / "MEMORY.md").write_text(facts, encoding="utf-8")
    page = open_page(house)
    delegate = page.view.itemDelegate()
    for width in (1200, 1000, 1400):
        house.window.resize(width, 700)
        house.until(lambda: page.view.verticalScrollBar().isVisible())
        QApplication.processEvents()
        for n, row in enumerate(page.model.items()):
            if row.kind == "line":
                taken = delegate._words(row).boundingRect().height()
                assert page.view.visualRect(page.model.index(n)).height() >= taken


def test_what_is_left_out_stands_by_its_rule(house: House) -> None:
    entries = "".join(f"2026-10-{n + 1:02d}|you|note {n}\n" for n in range(20))
    (house.root / "MEMORY.md").write_text(entries, encoding="utf-8")
    page = open_page(house)
    rule = next(n for n, row in enumerate(page.model.items()) if row.kind == "rule")
    assert page.model.items()[rule].text == "Left out: older than the last 10 entries (10)"
    page.view.clicked.emit(page.model.index(rule))
    left = [row for row in page.model.items() if row.kind == "left"]
    assert [(row.text, row.line) for row in left[:2]] == [("MEMORY.md:1", 1), ("MEMORY.md:2", 2)]
    page.view.clicked.emit(page.model.index(rule))
    assert not [row for row in page.model.items() if row.kind == "left"]


def test_the_whole_prompt_is_copied(house: House) -> None:
    page = open_page(house)
    write(house, page, "Zephyrina?")
    page.copy.click()
    assert QApplication.clipboard().text() == page.exact_text()
    assert page.exact_text().startswith("[system]\nYou are Keepsake")


def test_a_message_too_long_is_said_in_words(house: House) -> None:
    page = open_page(house)
    house.window.page.composer.edit.setPlainText("word " * 6000)
    house.until(lambda: "too long for the model" in page.note.text())
    write(house, page, "short")
    house.until(lambda: not page.note.isVisible())


def test_thousands_of_left_out_lines_make_few_rows(theme: Theme) -> None:
    left = tuple(LeftOut("MEMORY.md", n, "older than the last 10 entries") for n in range(1, 10_001))
    prompt = Prompt((), (), left, 0, 4096)
    assert len(rows_of(prompt, frozenset())) == 1
    assert len(rows_of(prompt, frozenset({"left:older than the last 10 entries"}))) == 202


_words = st.text(alphabet="ab -|<>/~\n", max_size=20)
_lines = st.lists(st.builds(PromptLine, st.just("MEMORY.md"), st.integers(1, 9), _words, st.just("pinned")), max_size=4)
_names = st.sampled_from(["facts", "tail", "brief", "recalled", "message"])


@given(st.builds(Block, _names, st.just(Role.SYSTEM), _words, st.integers(0, 99), _lines.map(tuple)))
def test_the_lines_of_a_block_are_its_text_and_its_cost(block: Block) -> None:
    lines = laid_out(block)
    assert "\n".join(line.text for line in lines) == block.text
    assert sum(line.tokens for line in lines) == block.tokens
    assert all(line.tokens >= 0 for line in lines)
