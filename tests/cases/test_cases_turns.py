"""CASES 9-12, 14, 15: what the model is given, and models that behave badly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.core.events import TextArrived, TurnFailed
from assistant.core.values import Message, Role, StopReason
from tests.cases.conftest import HeldEngine, OpenHouse
from tests.real_models import starter_model_path


def roles(messages: Sequence[Message]) -> str:
    return "".join(message.role.value[0] for message in messages)


def said(messages: Sequence[Message]) -> list[str]:
    """The texts without what was recalled for them."""
    return [message.text.rpartition("</recalled>")[2].strip() for message in messages]


def test_hello_regenerate_and_again(scripted: OpenHouse) -> None:
    """Case 9: roles alternate and the order is kept, in the prompt, on the screen and on disk."""
    house = scripted(["Hi.", "Hi again.", "Sure."])
    house.say("hello")
    house.turn(lambda: house.window.session.regenerate(1))
    house.say("and now?")
    assert house.shown() == [("hello", "Hi again."), ("and now?", "Sure.")]
    last = house.engine.asked[-1]
    assert roles(last) == "suau"
    assert said(last)[1:] == ["hello", "Hi again.", "and now?"]
    assert [(t.user, t.reply, t.after) for t in house.turns()] == [
        ("hello", "Hi.", None),
        ("hello", "Hi again.", None),
        ("and now?", "Sure.", 2),
    ]


def test_both_branches_keep_every_turn_after_an_early_edit(scripted: OpenHouse) -> None:
    """Case 10, over a restart too."""
    house = scripted(lambda messages: f"re {said(messages)[-1]}")
    for text in ("one", "two", "three"):
        house.say(text)
    house.turn(lambda: house.window.session.resend(1, "uno"))
    house.say("dos")
    old = [("one", "re one"), ("two", "re two"), ("three", "re three")]
    new = [("uno", "re uno"), ("dos", "re dos")]
    assert house.shown() == new
    assert said(house.engine.asked[-1])[1:] == ["uno", "re uno", "dos"]
    house.window.session.choose_branch(1)
    assert house.shown() == old
    house.say("four")
    assert said(house.engine.asked[-1])[1:] == [*sum(old, ()), "four"]
    house.window.session.choose_branch(4)
    assert house.shown() == new
    chat = house.chat
    house.close()
    again = scripted()
    again.window.open_chat(chat)
    again.wait(lambda: again.shown() == [*old, ("four", "re four")])
    again.window.session.choose_branch(4)
    assert again.shown() == new


def test_after_regenerate_and_restart_the_model_is_told_the_turns_and_the_persona(scripted: OpenHouse) -> None:
    """Case 11."""
    house = scripted(["Nice.", "Two.", "Two again."])
    house.services.remember("my boat is called Ariel")
    house.say("I have a cat called Tom")
    house.say("what is one and one")
    house.turn(lambda: house.window.session.regenerate(2))
    assert said(house.engine.asked[-1])[1:] == ["I have a cat called Tom", "Nice.", "what is one and one"]
    assert house.engine.asked[-1][:3] == house.engine.asked[-2][:3], (
        "the same system text and first turn, byte for byte"
    )
    chat, system = house.chat, house.engine.asked[0][0]
    house.close()
    again = scripted(["Tom."])
    again.window.open_chat(chat)
    again.wait(again.shown)
    again.say("how is my cat called")
    (asked,) = again.engine.asked
    assert asked[0] == system
    assert "Ariel" in system.text
    assert system.role is Role.SYSTEM
    assert said(asked)[1:-1] == ["I have a cat called Tom", "Nice.", "what is one and one", "Two again."]


def test_two_messages_after_a_stopped_reply_without_text(scripted: OpenHouse) -> None:
    """Case 14: the model sees alternating roles even where a reply never began."""
    house = scripted(lambda _: "Later.\n", kind=HeldEngine)
    house.engine.loaded.clear()
    house.services.load_model("Tiny")
    house.write("first")
    house.wait(lambda: house.chat and house.turns())
    house.window.session.stop()
    house.engine.loaded.set()
    house.engine.go.set()
    house.wait(lambda: not house.window.session.streaming())
    house.say("second")
    assert said(house.engine.asked[-1])[-1].endswith("second")
    assert [turn.user for turn in house.turns()] == ["first", "second"]
    assert house.turns()[1].reply == "Later.\n"


STRICT = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('alternate') }}{% endif %}"
    "{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' }}"
    "{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)
TEMPLATES = {
    "without-system": "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + STRICT,
    "strict": STRICT,
    "cut": "{#",
    "raising": "{{ raise_exception('never') }}",
}


@pytest.mark.real
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_real_model_with_a_bad_template_holds_a_conversation(real: OpenHouse, tmp_path: Path, template: str) -> None:
    """Case 14: system role refused, strict alternation, cut, raising."""
    model = tmp_path / "state" / "models" / "Starter.gguf"
    model.unlink()
    model.write_bytes(with_template(starter_model_path().read_bytes(), TEMPLATES[template]))
    house = real("window = 1024\nmax_tokens = 12\ntemperature = 0.0")
    house.say("My name is Ada.")
    chat = house.chat
    house.services.workspace.chats.begin_turn(chat, "a message that never got a reply")
    house.wait(lambda: len(house.shown()) == 2)
    finished = house.say("What is the capital of France?")
    assert finished.done.text
    assert "<|im" not in finished.done.text
    assert house.turns()[0].user == "My name is Ada."
    assert house.seen(TurnFailed) == []


def with_template(model: bytes, template: str) -> bytes:
    """The model's file with another chat template, padded to the length of its own."""
    import struct

    key = b"tokenizer.chat_template"
    at = model.index(key) + len(key) + 4
    length = struct.unpack_from("<Q", model, at)[0]
    raw = template.encode()
    assert len(raw) <= length, (len(raw), length)
    padded = raw + b" " * (length - len(raw))
    return model[: at + 8] + padded + model[at + 8 + length :]


@pytest.mark.real
def test_a_real_model_without_end_is_stopped_by_the_window_and_the_chat_goes_on(real: OpenHouse) -> None:
    """Cases 14 and 15: no limit on the reply, a small window."""
    house = real("window = 384\nmax_tokens = 0\ntemperature = 0.0")
    finished = house.say("Write an endless story about a lighthouse. Never stop. " * 3)
    tries = 0
    while finished.done.stop is not StopReason.WINDOW and tries < 5:
        tries += 1
        finished = house.say("Go on, and on, without an end, at great length.")
    assert finished.done.stop is StopReason.WINDOW
    assert finished.done.text == house.turns()[-1].reply
    assert len(finished.done.text) > 100
    assert "".join(e.text for e in house.seen(TextArrived) if e.turn == finished.turn) == finished.done.text
    house.services.settings.update("model", max_tokens=8)
    after = house.say("Thank you.")
    assert after.done.stop in (StopReason.END, StopReason.LENGTH)
    assert len(house.turns()) == tries + 2


@pytest.mark.real
def test_a_longest_reply_larger_than_the_window_is_no_obstacle(real: OpenHouse) -> None:
    """Case 15: the settings of a large model with a small window."""
    house = real("window = 600\nmax_tokens = 4096\ntemperature = 0.0")
    assert house.say("What is the capital of France? One word.").done.text
    assert house.say("And of Italy? One word.").done.text


SPLIT = "👩‍👩‍👧‍👦 🇩🇪🇯🇵 中文混排 한국어 é ok"


@pytest.mark.real
def test_emoji_flags_and_cjk_from_a_real_model_show_whole(real: OpenHouse) -> None:
    """Case 12: a model that repeats them token by token; no text on the way holds a broken character."""
    house = real("window = 1024\nmax_tokens = 60\ntemperature = 1.5")
    for _ in range(2):
        house.say(f"Repeat exactly, many times: {SPLIT} {SPLIT} {SPLIT}")
    pieces = [event.text for event in house.seen(TextArrived)]
    assert pieces
    assert not any("\ufffd" in piece for piece in pieces)
    assert house.shown()[0][0].count(SPLIT) == 3
