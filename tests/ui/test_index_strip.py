"""The strip that says how far reading and learning are."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from assistant.core.events import IndexProgress
from assistant.recall.reports import IndexStatus
from assistant.runtime.index_state import IndexState
from assistant.runtime.watching import WatchState
from assistant.ui.main_window import MainWindow

from .fakes import FakeServices


def stands(services: FakeServices, done: int, total: int = 5_000, published: bool = False) -> None:
    status = IndexStatus(12, total, done, "e5", total - done, (), "", published)
    services.indexing.found = IndexState(status, "building", done, total, "", WatchState("events"))


def test_learning_shows_how_far_it_is_and_what_works_meanwhile_and_goes_when_done(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    strip = window.indexing
    stands(services, 320)
    services.emit(IndexProgress("vectors", 320, 5_000))
    qtbot.waitUntil(strip.isVisible)
    wanted = "Learning the meaning of your notes: 320 of 5,000 · search by words works meanwhile"
    qtbot.waitUntil(lambda: strip.words.whole() == wanted)
    assert (strip.bar.value(), strip.bar.maximum(), strip.bar.accessibleName()) == (320, 5_000, wanted)
    services.emit(IndexProgress("vectors", 384, 5_000))
    qtbot.waitUntil(lambda: strip.bar.value() == 384)
    services.emit(IndexProgress("vectors", 5_000, 5_000))
    qtbot.waitUntil(lambda: not strip.isVisible())


def test_new_notes_are_searched_by_meaning_as_before(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    stands(services, 4_900, published=True)
    services.emit(IndexProgress("vectors", 0, 100))
    wanted = "Learning the meaning of your notes: 0 of 100"
    qtbot.waitUntil(lambda: window.indexing.isVisible() and window.indexing.words.whole() == wanted)


def test_sentences_follow_when_every_note_is_found(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    strip = window.indexing
    stands(services, 5_000, published=True)
    services.emit(IndexProgress("vectors", 5_000, 5_000), IndexProgress("pieces", 64, 5_000))
    wanted = "Learning your notes sentence by sentence: 64 of 5,000"
    qtbot.waitUntil(lambda: strip.isVisible() and strip.words.whole() == wanted)
    assert strip.pause.isVisible()
    services.emit(IndexProgress("pieces", 5_000, 5_000))
    qtbot.waitUntil(lambda: not strip.isVisible())


def test_what_is_done_at_once_shows_no_strip(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.emit(IndexProgress("keywords", 0, 3), IndexProgress("keywords", 3, 3), IndexProgress("vectors", 3, 3))
    qtbot.waitUntil(lambda: not window.indexing._jobs and not window.indexing._patience.isActive())
    assert not window.indexing.isVisible()


def test_reading_goes_over_into_learning_without_a_gap(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    strip = window.indexing
    services.emit(IndexProgress("keywords", 10, 100))
    qtbot.waitUntil(lambda: strip.isVisible() and strip.words.whole() == "Reading your notes: 10 of 100")
    assert not strip.pause.isVisible()  # it is short, and words are what works meanwhile
    services.emit(IndexProgress("keywords", 100, 100), IndexProgress("vectors", 0, 900))
    qtbot.waitUntil(lambda: "0 of 900" in strip.words.whole())
    assert strip.isVisible() and strip.pause.isVisible()


def test_it_is_paused_and_resumed(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    strip = window.indexing
    stands(services, 320)
    services.emit(IndexProgress("vectors", 320, 5_000))
    qtbot.waitUntil(strip.pause.isVisible)
    strip.pause.click()
    services.emit(IndexProgress("vectors", 1, 1))  # the run ended
    wanted = "Learning is paused at 320 of 5,000; nothing of it is lost · search by words works meanwhile"
    qtbot.waitUntil(lambda: strip.words.whole() == wanted)
    assert services.indexing.paused and strip.isVisible() and not strip.pause.isVisible()
    strip.shut.click()
    assert not strip.isVisible()
    services.indexing.resume()
    services.emit(IndexProgress("vectors", 384, 5_000))
    qtbot.waitUntil(lambda: strip.isVisible() and strip.bar.value() == 384)
    strip.pause.click()
    qtbot.waitUntil(strip.resume.isVisible)
    strip.resume.click()
    assert not services.indexing.paused


def test_what_is_paused_when_only_sentences_are_left_can_be_resumed(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    strip = window.indexing
    stands(services, 5_000, published=True)
    services.emit(IndexProgress("pieces", 64, 5_000))
    qtbot.waitUntil(strip.pause.isVisible)
    strip.pause.click()
    services.emit(IndexProgress("pieces", 1, 1))  # the run ended
    wanted = "Learning is paused at 64 of 5,000; nothing of it is lost"
    qtbot.waitUntil(lambda: not strip._jobs and not strip._between.isActive())
    assert strip.isVisible() and strip.words.whole() == wanted and strip.resume.isVisible()
    strip.resume.click()
    qtbot.waitUntil(lambda: not services.indexing.paused and not strip.isVisible())
