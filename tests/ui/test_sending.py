"""What happens between Enter and a message that is sent: secrets are asked about, and a message may wait its turn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.core.events import TurnFailed, TurnSaved
from assistant.core.values import StopReason
from assistant.ui.chat.strips import masked, secrets_in
from assistant.ui.main_window import MainWindow

from .fakes import FakeServices, Turn, make_chat, make_receipt
from .test_chat import last, open_chat, start, write

KEY = "sk-abcdefghij0123456789xyz9f2"
TEXT = f"My key is {KEY}, keep it safe"


def sends(services: FakeServices) -> list[tuple[object, ...]]:
    return [call for call in services.calls if call[0] == "send"]


@pytest.fixture
def chat(qtbot: QtBot, window: MainWindow, services: FakeServices) -> str:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    return "c"


@pytest.mark.parametrize(
    ("secret", "shown"),
    [(KEY, "sk-…9f2"), ("hunter2", "h…2"), ("abc", "…"), ("-----BEGIN\nPRIVATE KEY-----\nAAA", "---…AAA")],
)
def test_a_secret_is_known_again_but_not_told(secret: str, shown: str) -> None:
    assert masked(secret) == shown


def test_secrets_are_named_by_kind() -> None:
    assert secrets_in("password: Tr0ub4dor&3") == ["password Tr…&3"]
    assert secrets_in("Remember that I like my answers short.") == []


def test_a_secret_is_asked_about_and_enter_again_sends_without_it(
    qtbot: QtBot, window: MainWindow, services: FakeServices, chat: str
) -> None:
    write(qtbot, window, TEXT)
    assert sends(services) == []
    strip = window.page.secrets
    assert strip.isVisible()
    assert window.page.composer.hint.whole() == "Enter sends without the secret · Esc goes back"
    assert "sk-…9f2" in strip.words.text()
    assert KEY not in strip.words.text()
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Return)
    assert sends(services) == [("send", chat, TEXT, 1)], "the services replace the secret"
    assert strip.isHidden()
    services.emit(TurnSaved(chat, 2, 1, "My key is «redacted 28 chars»", 1))
    qtbot.waitUntil(lambda: last(window).redacted.isVisible())
    assert last(window).redacted.text() == "1 secret was not written to disk"
    assert last(window).turn.user == "My key is «redacted 28 chars»"


def test_a_secret_can_be_kept_once_by_choice(
    qtbot: QtBot, window: MainWindow, services: FakeServices, chat: str
) -> None:
    write(qtbot, window, TEXT)
    window.page.secrets.keep.click()
    assert sends(services) == [("send", chat, TEXT, 1, "keep")]
    services.reply(chat, "Noted.")
    qtbot.waitUntil(lambda: not window.session.streaming())
    write(qtbot, window, TEXT)
    assert window.page.secrets.isVisible(), "the choice was for once"


def test_changing_the_text_or_esc_takes_the_question_away(
    qtbot: QtBot, window: MainWindow, services: FakeServices, chat: str
) -> None:
    write(qtbot, window, TEXT)
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Escape)
    assert window.page.secrets.isHidden()
    assert window.page.composer.text() == TEXT
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Return)
    assert window.page.secrets.isVisible()
    window.page.composer.set_text("no secret")
    assert window.page.secrets.isHidden()
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Return)
    assert sends(services) == [("send", chat, "no secret", 1)]


def test_a_secret_in_a_new_chats_first_message_can_be_kept(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    write(qtbot, window, TEXT)
    window.page.secrets.keep.click()
    qtbot.waitUntil(lambda: bool(sends(services)))
    assert sends(services)[0][2:] == (TEXT, None, "keep")


def test_the_remember_field_asks_too(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    window.toggle_memory()
    panel = window.memory_panel()
    for keep in (False, True):
        panel.quick.setText(TEXT)
        qtbot.keyClick(panel.quick, Qt.Key.Key_Return)
        assert panel.secrets.isVisible()
        assert sum(call[0] == "remember" for call in services.calls) == keep
        (panel.secrets.keep if keep else panel.secrets.without).click()
        assert services.calls[-1] == ("remember", TEXT, *(["keep"] if keep else []))
        qtbot.waitUntil(lambda: panel.quick.text() == "")
    panel.quick.setText(TEXT)
    qtbot.keyClick(panel.quick, Qt.Key.Key_Return)
    qtbot.keyClick(panel.quick, Qt.Key.Key_Escape)
    assert panel.secrets.isHidden()
    assert panel.isVisible()


def test_a_message_waits_for_the_reply_and_is_sent_then(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    write(qtbot, window, "and then?")
    write(qtbot, window, "and after that?")
    assert len(sends(services)) == 1
    assert window.page.queued.words.whole() == "and then? and after that?"
    assert "sent when the reply is finished" in window.page.composer.hint.whole()
    assert window.page.composer.text() == ""
    services.reply(chat, "Well.")
    qtbot.waitUntil(lambda: len(sends(services)) == 2)
    assert sends(services)[1] == ("send", chat, "and then?\n\nand after that?", 1)
    assert window.page.queued.isHidden()
    assert window.session.streaming()


@pytest.mark.parametrize("fails", [True, False])
def test_what_waits_comes_back_when_the_reply_does_not_end_well(
    qtbot: QtBot, window: MainWindow, services: FakeServices, fails: bool
) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    write(qtbot, window, "and then?")
    if fails:
        services.emit(TurnFailed(chat, n, AssistantError("engine.died", "The model stopped.")))
    else:
        services.finish(chat, n, "Half", StopReason.STOPPED, make_receipt(chat, n))
    qtbot.waitUntil(lambda: window.page.composer.text() == "and then?")
    assert window.page.queued.isHidden()
    assert len(sends(services)) == 1


def test_a_waiting_message_can_be_changed_or_dropped(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    start(qtbot, window, services)
    write(qtbot, window, "first")
    window.page.queued.edit.click()
    assert window.page.composer.text() == "first"
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Return)
    assert window.page.queued.isVisible()
    window.page.queued.drop.click()
    assert window.page.queued.isHidden()
    assert window.page.composer.text() == ""


def test_a_message_waits_in_its_own_chat(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    chat = start(qtbot, window, services)
    write(qtbot, window, "and then?")
    services.put_chat(make_chat("other", "Other", (Turn(1, None, "", "a", "b"),)))
    window.open_chat("other")
    assert window.page.queued.isHidden()
    services.reply(chat, "Well.")
    qtbot.waitUntil(lambda: len(sends(services)) == 2)
    assert sends(services)[1] == ("send", chat, "and then?", 1)
    assert window.session.chat_id == "other"


def test_a_secret_that_waits_beside_one_that_is_kept_is_still_left_out(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    write(qtbot, window, TEXT)
    window.page.secrets.keep.click()
    write(qtbot, window, "password: Tr0ub4dor&3")
    window.page.secrets.without.click()
    services.reply(chat, "Well.")
    qtbot.waitUntil(lambda: len(sends(services)) == 2)
    assert KEY in str(sends(services)[1][2])
    assert "Tr0ub4dor" not in str(sends(services)[1][2])


def test_up_in_an_empty_field_changes_the_last_message(
    qtbot: QtBot, window: MainWindow, services: FakeServices, chat: str
) -> None:
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Up)
    assert window.page.composer.text() == "a"
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Up)
    assert window.page.composer.text() == "a"
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Escape)
    assert window.page.composer.text() == ""
