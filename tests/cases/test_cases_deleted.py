"""CASES 8: a deleted chat is gone, wherever its words may have been."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import Message
from tests.cases.conftest import House, Keepsake, OpenHouse

WORD = "quixotonal"


def traces(folder: Path) -> list[str]:
    """Files in which `strings` would find the word, in UTF-8 or UTF-16, models apart."""
    needles = (WORD.encode(), WORD.encode("utf-16-le"), WORD[:6].encode() + b" ", "石榴汤".encode())
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [str(path) for path in files if path.suffix != ".gguf" and any(n in path.read_bytes() for n in needles)]


def talk(house: House) -> str:
    """A chat with the word in words, reply, title, a branch, and receipts of another chat that recalled it."""
    chat = house.say(f"the {WORD} soup of Zephyria 石榴汤 is what I cooked yesterday evening").chat
    house.say(f"and once more {WORD}")
    house.turn(lambda: house.window.session.regenerate(2))
    house.services.recall.sync(CancelToken(), _quiet)
    house.window.new_chat()
    receipt = house.say("what soup of Zephyria did I cook yesterday?").receipt
    assert any(WORD in line.text for line in receipt.lines)
    return chat


def answer(messages: Sequence[Message]) -> str:
    """Says the word back where the person said it, not where it was recalled."""
    said = messages[-1].text.rpartition("</recalled>")[2]
    return f"I like {WORD} soup." if WORD in said else "I do not know."


def _quiet(done: int, total: int, what: str) -> None:
    """Nobody looks."""


def test_a_chat_deleted_in_the_window_leaves_no_trace_when_it_closes(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 8: not in chats, day log, other receipts, trash, list, index or write-ahead log."""
    house = scripted(answer)
    chat = talk(house)
    assert traces(tmp_path)
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    house.close()
    assert traces(tmp_path) == []


def test_a_chat_deleted_by_the_command_line_leaves_no_trace(
    scripted: OpenHouse, keepsake: Keepsake, tmp_path: Path
) -> None:
    """Case 8: ``keepsake chats delete`` purges at once."""
    house = scripted(answer)
    chat = talk(house)
    house.close()
    assert traces(tmp_path)
    assert keepsake("chats", "delete", chat, "--state", str(tmp_path / "state")).code == 0
    assert traces(tmp_path) == []


def test_a_chat_that_crashed_is_deleted_with_its_half_reply(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 8: what was kept beside it for a crash goes too."""
    house = scripted(["Hello."])
    chat = house.say(f"the {WORD} soup").chat
    house.services.workspace.chats.keep_partial(chat, 1, f"half of the {WORD}")
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    house.close()
    assert traces(tmp_path) == []


@pytest.mark.real
def test_with_the_real_models_a_deleted_chat_is_in_no_log_and_no_vector_store(real: OpenHouse, tmp_path: Path) -> None:
    """Case 8, with worker processes, their logs, and the vectors."""
    house = real("window = 1024\nmax_tokens = 4")
    chat = house.say(f"the {WORD} soup of Zephyria 石榴汤 is what I cooked").chat
    house.window.new_chat()
    house.say("which soup of Zephyria did I cook?")
    house.services.recall.sync(CancelToken(), _quiet)
    assert house.services.recall.status().vectors > 0
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    house.close()
    left = traces(tmp_path)
    others = [path for path in left if WORD in Path(path).read_text(errors="replace") and "/chats/" not in path]
    assert (others, [path for path in left if chat in path]) == ([], [])


def test_what_came_of_a_chat_beside_memory_goes_with_it(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 8: what waited for a yes, what was declined, an unsent message, a kept temporary chat."""
    house = scripted(answer)
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    temporary = house.say(f"the {WORD} soup of Zephyria 石榴汤 is what I cooked yesterday evening").chat
    chat = house.services.keep_chat(temporary)
    house.window.open_chat(chat)
    house.wait(lambda: house.chat == chat)
    house.say(f"and once more {WORD}")
    inbox = house.services.workspace.inbox
    for text in (f"cooked {WORD} soup", "cooked 石榴汤"):
        inbox.propose([text], source=f"chat:{chat}#1-2", actor="assistant")
    inbox.decline(inbox.waiting()[0].id)
    house.window.page.composer.set_text(f"unsent {WORD}")
    house.window.keeper.keep_now()
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    house.close()
    assert traces(tmp_path) == []
    assert inbox.waiting() == []
