"""Who hears whom in the window: the signals of its parts, led to the parts that act on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow

SERVER_PAGE = 4  # its place in the settings


def connect(window: MainWindow) -> None:
    """Once, when all parts are there."""
    _connect_models(window)
    _connect_chats(window)
    _connect_turns(window)
    window.bridge.work_failed.connect(window.show_error)
    window.topbar.sidebar_asked.connect(window.room.toggle_chats)
    window.topbar.memory_asked.connect(window.memory.toggle)
    window.forgetting.said.connect(window.bottombar.show_notice)
    window.forgetting.changed.connect(window.session.reread)


def _connect_models(window: MainWindow) -> None:
    router, models, empty = window.router, window.models, window.page.empty
    router.model_ready.connect(models.on_ready)
    router.model_ready.connect(window.session.ask_window)
    router.model_resting.connect(models.on_resting)
    router.model_failed.connect(models.on_failed)
    router.model_sized.connect(empty.show_model_size)
    router.model_missing.connect(empty.show_no_model)
    router.model_noted.connect(window.page.note_model)
    empty.bigger_asked.connect(models.show_catalogue)
    window.page.composer.edit.textChanged.connect(models.wake)
    models.failed.connect(window.show_error)
    window.topbar.models_asked.connect(models.open)
    for asking in (window.topbar, models):
        asking.server_asked.connect(lambda: window.open_settings(SERVER_PAGE))


def _connect_chats(window: MainWindow) -> None:
    session, sidebar, chats = window.session, window.sidebar, window.chats
    window.router.chats_changed.connect(chats.refresh_soon)
    session.failed.connect(window.show_error)
    session.window_used.connect(window.topbar.gauge.show_use)
    sidebar.new_asked.connect(window.new_chat)
    sidebar.chosen.connect(window.open_chat)
    sidebar.left_empty.connect(window.write_message)
    sidebar.delete_asked.connect(chats.delete)
    sidebar.rename_asked.connect(chats.rename)
    chats.close_asked.connect(window.kinds.close)
    window.finder.went.connect(window.show_conversation)


def _connect_turns(window: MainWindow) -> None:
    """What is asked of turns, of their receipts and of the tools that were used for them."""
    turns, receipts, calls, forgetting = window.page.transcript.column, window.receipts, window.calls, window.forgetting
    window.page.link_activated.connect(window.ask_to_open)
    window.page.place_chosen.connect(window.show_place)
    turns.forget_asked.connect(lambda n: forgetting.ask([f"{window.session.chat_id}#{n}"]))
    turns.receipt_opened.connect(receipts.attach)
    turns.calls_shown.connect(calls.attach)
    receipts.forget_asked.connect(lambda unit, _: forgetting.ask([unit]))
    receipts.place_chosen.connect(window.show_place)
    receipts.turn_chosen.connect(window.finder.go_to)
    receipts.undo_offered.connect(window.undo_offers.offer)
    receipts.receipt_changed.connect(window.session.keep_receipt)
    receipts.failed.connect(window.show_error)
    calls.turn_chosen.connect(window.finder.go_to)
    calls.undo_asked.connect(window.undo_offers.undo)
    calls.review_asked.connect(window.memory.review)
    calls.forget_asked.connect(forgetting.ask_words)
    calls.failed.connect(window.show_error)
