"""Finding forgotten words again and taking them out, whatever form they have on disk."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.forgetting import FolderPlace, remaining_in, scrub_file
from assistant.workspace.forgotten_text import FORGOTTEN, found_in_bytes, holds, scrub_json_line, scrub_text

SAID = "the vault code of Zephyria is quixotonal 4711"
LONG = "she said that " + " ".join(f"word{n}" for n in range(60))
words = st.text(max_size=40).filter(lambda text: not set("«»") & set(text))
said_texts = words.map(lambda text: f"zq{text}qz")  # a text that is forgotten has letters


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"I know: {SAID}.", "I know: «forgotten»."),
        (f"I know: {SAID.upper()}!", "I know: «forgotten»!"),
        ("The vault\n code of  Zephyria is quixotonal 4711", "«forgotten»"),
        ("the vault code of Zephyria is quix…", "«forgotten»"),
        ("the vault code of Zephyria is 12", "the vault code of Zephyria is 12"),
        ("the vault code of Zephyria is quixotonal 47112", "the vault code of Zephyria is quixotonal 47112"),
        ("bathe vault code of Zephyria is quixotonal 4711", "bathe vault code of Zephyria is quixotonal 4711"),
    ],
)
def test_a_text_is_found_in_any_case_wrapping_and_shortened_form(text: str, left: str) -> None:
    assert scrub_text(text, [SAID]) == left


def test_chinese_is_found_inside_a_run_and_in_full_width() -> None:
    assert scrub_text("其实我对花生过敏很严重", ["我对花生过敏"]) == "其实«forgotten»很严重"
    assert scrub_text("ＰＩＮ　4711", ["pin 4711"]) == FORGOTTEN


def test_a_copy_that_was_cut_at_a_fixed_length_counts() -> None:
    assert scrub_text(f"Remembered: {LONG[:120]}", [LONG]) == "Remembered: «forgotten»"
    assert scrub_text(f"Remembered: {LONG[:50]}", [LONG]) == f"Remembered: {LONG[:50]}"


def test_the_mark_itself_is_never_what_is_left() -> None:
    assert scrub_text("I have forgotten it", ["forgotten"]) == "I have «forgotten» it"
    assert not holds("I have «forgotten» it", ["forgotten"])


@given(said_texts, words, words, st.booleans())
def test_scrubbed_json_is_the_same_json_but_for_the_text(said: str, before: str, after: str, plain: bool) -> None:
    """Quotes, backslashes, newlines, any characters: the line stays one line of JSON, and the text is gone."""
    record = {"text": f"{before} {said} {after}", "n": 3, "list": [before, {"deep": said}], "none": None}
    line = json.dumps(record, ensure_ascii=plain)
    scrubbed = scrub_json_line(line, [said])
    done = json.loads(scrubbed)
    assert (done["n"], done["none"], list(done)) == (3, None, list(record))
    assert done["list"][1]["deep"] == FORGOTTEN
    assert not holds(done["text"], [said])
    assert not found_in_bytes(scrubbed.encode(), [said])


@given(said_texts, st.booleans())
def test_what_stands_in_json_or_text_is_found_in_the_bytes(said: str, plain: bool) -> None:
    for written in (f"x {said} y", json.dumps({"a": f"x {said} y"}, ensure_ascii=plain)):
        assert found_in_bytes(written.encode("utf-8", "surrogatepass"), [said]) == [said]


@given(said_texts, words)
def test_scrubbing_twice_is_scrubbing_once(said: str, around: str) -> None:
    once = scrub_text(f"{around}\n{said}\n{around}", [said])
    assert scrub_text(once, [said]) == once


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_a_text_file_keeps_its_encoding_and_every_other_byte(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "note.md"
    rest = "这是一个很长的笔记，里面有很多中文。\r\n我们继续写。"
    path.write_bytes(f"{rest}\r\n我对花生过敏\r\n".encode(encoding))
    assert remaining_in([path], ["我对花生过敏"]) == 1
    assert scrub_file(path, ["我对花生过敏"])
    assert remaining_in([path], ["我对花生过敏"]) == 0
    assert path.read_bytes().decode(encoding) == f"{rest}\r\n«forgotten»\r\n"


def test_a_folder_is_scrubbed_whole_with_json_kept_json(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").write_text(json.dumps({"said": [f'"{SAID}"\n']}, indent=1))
    (tmp_path / "b.jsonl").write_text(json.dumps({"said": SAID}) + "\n" + f'{{"said": "{SAID}')
    (tmp_path / ".~keepsake-12-ab").write_bytes(b"\xff\x00\x01" + SAID.encode() + b"\xfe\x00")
    (tmp_path / "app.log").write_text(f"INFO {SAID} came\nINFO next\n")
    size = (tmp_path / "app.log").stat().st_size
    place = FolderPlace("state", lambda: [tmp_path], lambda path: path.name == "kept.json")
    (tmp_path / "kept.json").write_text(SAID)
    assert place.remaining([SAID]) == 4
    place.scrub([SAID])
    assert place.remaining([SAID]) == 0
    assert json.loads((tmp_path / "deep" / "a.json").read_text()) == {"said": ['"«forgotten»"\n']}
    assert json.loads((tmp_path / "b.jsonl").read_text().splitlines()[0]) == {"said": FORGOTTEN}
    assert (tmp_path / "app.log").stat().st_size == size
    assert (tmp_path / "app.log").read_text().endswith("INFO next\n")
    assert (tmp_path / "kept.json").read_text() == SAID


@pytest.mark.parametrize("around", ["{}", "{}…", "㈱ said “{}” … ﬁn", "½ {}"])
def test_composed_and_decomposed_letters_meet_wherever_they_stand(around: str) -> None:
    said = "my café is José's 한국"
    for form in ("NFC", "NFD"):
        for case in (said, said.upper()):
            text = around.format(unicodedata.normalize(form, case))
            assert scrub_text(text, [said]) == around.format(FORGOTTEN)
            assert found_in_bytes(text.encode(), [said]) == [said]
            assert found_in_bytes(text.encode(), [unicodedata.normalize("NFD", said)])


def test_what_is_wide_is_found_beside_what_grows_when_it_is_folded() -> None:
    assert scrub_text("… ｍｙ ｐｉｎ is 4711 …", ["my pin is 4711"]) == "… «forgotten» …"
