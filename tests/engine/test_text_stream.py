"""Tokens become whole characters, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.engine.reply_text import ReplyText
from assistant.engine.text_stream import StopStrings, TextStream

FAMILY = "👨‍👩‍👧‍👦"
WHOLE = [
    FAMILY,
    "🏳️‍🌈",
    "👍🏽",
    "🇨🇳🇰🇷🇩🇪",
    "1️⃣",
    "❤️",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "中文字",
    "한국어",
    "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "ñö",
    "नमस्ते",
]


def pushed(text: str, size: int) -> list[str]:
    """What is shown when the bytes of the text come ``size`` at a time."""
    stream = TextStream()
    data = text.encode()
    shown = [stream.push(data[at : at + size]) for at in range(0, len(data), size)]
    return [part for part in [*shown, stream.finish()] if part]


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_no_character_is_ever_shown_in_part(text: str, size: int) -> None:
    shown = pushed(f"{text} {text}.", size)
    assert "".join(shown) == f"{text} {text}."
    assert not any("\ufffd" in part for part in shown)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_joined_emoji_flags_and_hangul_come_in_one_piece(size: int) -> None:
    for whole in (FAMILY, "👍🏽", "🏳️‍🌈", "\u1112\u1161\u11ab"):
        assert any(whole in part for part in pushed(f"{whole} ok", size))


def test_flags_are_cut_between_pairs_only() -> None:
    shown = pushed("🇨🇳🇰🇷🇩🇪.", 4)
    assert all(len(part.rstrip(".")) % 2 == 0 for part in shown)


def test_cjk_and_latin_text_is_shown_without_delay() -> None:
    stream = TextStream()
    assert stream.push("中".encode()) == "中"
    assert stream.push(b"Hello") == "Hello"
    assert stream.push(b"17") == "17"
    assert stream.push("\ufe0f\u20e3.".encode()) == "\ufe0f\u20e3."  # it was a keycap after all


def test_half_a_character_at_the_end_is_no_text() -> None:
    stream = TextStream()
    assert stream.push("ok 中".encode()[:-1]) + stream.finish() == "ok "


def test_a_flood_of_marks_is_shown_nevertheless() -> None:
    stream = TextStream()
    shown = "".join(stream.push("\u0301".encode()) for _ in range(1000))
    assert len(shown) > 800
    assert len(shown + stream.finish()) == 1000


@given(st.text(), st.integers(1, 9))
def test_nothing_is_lost_however_it_is_split(text: str, size: int) -> None:
    assert "".join(pushed(text, size)) == text


@given(st.binary(), st.integers(1, 9))
def test_bytes_that_are_no_text_raise_nothing(data: bytes, size: int) -> None:
    stream = TextStream()
    shown = "".join(stream.push(data[at : at + size]) for at in range(0, len(data), size)) + stream.finish()
    assert data.decode("utf-8", "replace").startswith(shown.rstrip("\ufffd")) or "\ufffd" in shown


def test_a_stop_string_is_never_shown_in_part() -> None:
    stops = StopStrings(["\nUser:", "END"])
    shown = [stops.push(part) for part in ("Hi", "\n", "Use", "d it.\nUs", "er: more")]
    assert "".join(shown) == "Hi\nUsed it."
    assert stops.found
    assert stops.push("later") == "" and stops.finish() == ""


@given(st.text("abn"), st.lists(st.text("abn", min_size=1, max_size=4), max_size=3), st.integers(1, 5))
def test_stop_strings_end_the_text_at_the_first_of_them(text: str, stops: list[str], size: int) -> None:
    stream = StopStrings(stops)
    shown = ""
    for at in range(0, len(text), size):
        shown += stream.push(text[at : at + size])
        if stream.found:
            break
    shown += stream.finish()
    assert not any(stop in shown for stop in stops)
    assert text.startswith(shown)
    assert stream.found or shown == text


def test_the_first_text_is_shown_at_once_and_the_rest_in_few_writes() -> None:
    now, shown = [0.0], []
    reply = ReplyText((), lambda new: shown.append(new.text), lambda: now[0])
    for number in range(100):
        reply.push(f"w{number} ".encode())
        now[0] += 0.005
    text = reply.finish()
    assert shown[0] == "w0 "
    assert "".join(shown) == text == "".join(f"w{number} " for number in range(100))
    assert len(shown) <= 20
