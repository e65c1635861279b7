"""What loads, what does not, and why; nothing is ever cut from the file."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.budget import Limits, load_memory
from assistant.workspace.entries import parse_memory

TODAY = date(2026, 11, 29)


def count(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


def load(text: str, window: int = 1_000_000, **limits: float):
    return load_memory(parse_memory(text), Limits(**limits), TODAY, count, window)


def why(loaded) -> dict[int, str]:
    return {each.line: each.why for each in loaded.left_out}


def test_a_small_memory_loads_whole():
    loaded = load("# Me\n\n- tea\n2026-11-29|you|a；b\n")
    assert loaded.facts == ((1, "# Me"), (2, ""), (3, "- tea"))
    assert [entry.text for entry in loaded.entries] == ["2026-11-29|you|a；b"]
    assert loaded.left_out == ()
    assert (loaded.lines_used, loaded.bytes_used) == (3, 12)
    assert loaded.share < 0.1


def test_two_hundred_lines_of_facts():
    loaded = load("".join(f"fact {n}\n" for n in range(1, 251)))
    assert loaded.lines_used == 200
    assert why(loaded) == dict.fromkeys(range(201, 251), "facts budget")
    assert loaded.share == 1.25


def test_twenty_four_thousand_bytes_of_facts():
    loaded = load("".join("记" * 100 + "\n" for _ in range(100)))
    assert loaded.lines_used == 24_000 // 301
    assert loaded.bytes_used <= 24_000
    assert len(loaded.left_out) == 100 - loaded.lines_used


def test_one_endless_line_is_cut_between_two_characters():
    loaded = load("记" * 40_000 + "\n")
    ((line, text),) = loaded.facts
    assert line == 1
    assert set(text) == {"记"}
    assert 23_000 < loaded.bytes_used <= 24_000
    assert why(loaded) == {1: "facts budget"}


def test_the_last_ten_live_entries():
    lines = [f"2026-11-{n:02}|you|item {n}" for n in range(1, 16)]
    lines[14] = "2026-11-15|you|~~struck~~ · superseded 2026-11-20"
    lines[13] = "2026-11-14|you|over · until 2026-11-28；still"
    lines[12] = "2026-11-13|you|old · until 2026-11-28"
    loaded = load("\n".join(lines))
    assert [entry.line for entry in loaded.entries] == [*range(4, 13), 14]
    assert loaded.entries[-1].text == "2026-11-14|you|still"
    assert why(loaded) == {
        **dict.fromkeys((1, 2, 3), "older than the last 10 entries"),
        13: "expired",
        14: "expired",
        15: "superseded",
    }


def test_a_quarter_of_the_window_and_half_of_it_for_entries():
    text = "".join(f"{'f' * 9}\n" for _ in range(100)) + "".join(f"2026-11-29|you|{'e' * 10}{n}\n" for n in range(9))
    loaded = load(text, window=800)
    assert loaded.tokens_allowed == 200
    assert loaded.tokens_used <= 200
    assert [entry.line for entry in loaded.entries] == [107, 108, 109]
    assert len(loaded.facts) == (200 - 3 * 27) // 10
    assert set(why(loaded).values()) == {"token budget"}
    assert loaded.share > 1


def test_few_facts_leave_their_room_to_the_entries():
    text = "f\n" + "".join(f"2026-11-29|you|{'e' * 10}{n}\n" for n in range(9))
    loaded = load(text, window=800)
    assert len(loaded.entries) == 7
    assert loaded.facts == ((1, "f"),)


def test_no_window_loads_nothing():
    loaded = load("fact\n2026-11-29|you|x\n", window=0)
    assert (loaded.facts, loaded.entries, len(loaded.left_out)) == ((), (), 2)


@given(
    st.lists(st.sampled_from(["fact", "", "记" * 9, "2026-11-29|you|a；~~b~~", "2026-11-29|you|c · until 2026-01-01"])),
    st.integers(0, 400),
    st.integers(0, 5),
    st.integers(0, 60),
)
def test_every_line_loads_or_is_named(lines, window, entries, size):
    loaded = load("\n".join(lines), window=window, entries=entries, fact_bytes=size)
    shown = {line for line, _ in loaded.facts} | {entry.line for entry in loaded.entries}
    named = {each.line for each in loaded.left_out}
    assert {n for n, line in enumerate(lines, 1) if line.strip()} <= shown | named
    assert loaded.tokens_used <= loaded.tokens_allowed
    assert loaded.bytes_used <= max(size, 0)
    assert len(loaded.entries) <= entries


def test_facts_that_are_struck_or_over_take_no_room():
    text = (
        "- lives in Porto\n- ~~lives in Lisbon~~ · superseded 2026-01-01\n- visa · until 2026-02-01\n"
        "- holds\n  still · until 2027-01-01\n- gone\n  for long · until 2026-01-02\n"
    )
    loaded = load(text, fact_lines=3)
    assert [line for line, _ in loaded.facts] == [1, 4, 5]
    assert {left.line: left.why for left in loaded.left_out} == {
        2: "superseded",
        3: "expired",
        6: "expired",
        7: "expired",
    }
    assert loaded.share == 1
