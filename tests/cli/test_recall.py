"""``keepsake recall`` as people read it, and as scripts may misuse it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.cli.recall_words import answer_words
from assistant.core.values import RecallAnswer, RecallQuery
from assistant.recall.modes import BROKEN
from tests.cli.conftest import Keepsake


@pytest.fixture
def kayak(keepsake: Keepsake, tmp_path: Path) -> Keepsake:
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    (tmp_path / "ws" / "MEMORY.md").write_text("2026-11-01|you|the kayak is red\n2026-11-02|you|~~no kayak~~\n")
    (tmp_path / "ws" / "memory" / "茶.md").write_text("- " + "龙井茶要用八十度的水，泡三分钟，茶叶三克。" * 9 + "\n")
    return keepsake


def test_hits_stand_one_below_the_other_with_place_and_mode(kayak: Keepsake) -> None:
    lines = kayak("recall", "kayak", "--limit", "1").out.splitlines()
    assert lines[:3] == ["  1. the kayak is red", "     2026-11-01  MEMORY.md:1", ""]
    assert lines[3].startswith("1 line found by words only: there is no embedding model, in ")


def test_explain_names_each_factor_with_its_value_and_what_it_means(kayak: Keepsake) -> None:
    out = kayak("recall", "kayak", "--explain").out
    first, second = (part.splitlines() for part in out.split("\n\n")[:2])
    rows = {line.split("  ")[0].strip(): line for line in (part.strip() for part in first[2:])}
    assert rows.keys() >= {"score", "words", "recency", "place by words"}
    assert "how rare they are" in rows["words"] and "+0." in rows["words"] and "#" in rows["place by words"]
    (dead,) = (line for line in second if "out of date" in line)
    assert "-4.00" in dead and "struck" in dead
    columns = {line.index(line.strip().split("  ")[-1]) for line in first[2:]}
    assert len(columns) == 1  # a table


def test_long_chinese_text_is_broken_and_cut(kayak: Keepsake) -> None:
    lines = kayak("recall", "龙井").out.splitlines()
    assert lines[0].startswith("  1. 龙井茶") and lines[2].endswith("…")
    assert lines[3].strip() == "memory/茶.md:1"


def test_nothing_known_is_said_kindly(kayak: Keepsake) -> None:
    result = kayak("recall", "zorblax")
    assert result.code == 0
    assert result.out.startswith("Nothing known about this.\nOther words may find it")
    limited = kayak("recall", "zorblax", "--scope", "chats", "--since", "2026-11-01").out
    assert limited.startswith("Nothing known about this in chats from 2026-11-01 on.\nThere may be something outside")
    assert "give words, or a time" in kayak("recall", "").out
    assert kayak("recall", "", "--since", "2026-12-01").out == "Nothing known from 2026-12-01 on.\n"


def test_the_nearest_lines_anyway_say_that_they_are_no_answer(keepsake: Keepsake, tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("".join(f"2026-11-01|you|the sea has a colour {n}\n" for n in range(30)))
    asked = "colour of zorblax quibbles"
    assert "--anyway shows the nearest lines" in keepsake("recall", asked).out
    assert keepsake("recall", asked, "--anyway").out.startswith("Nothing known answers this; these lines are only")
    answer = keepsake("recall", asked, "--anyway", "--json").json
    assert answer["hits"] and answer["unsure"] and not answer["abstained"]
    assert not keepsake("recall", asked, "--json").json["hits"]
    lines = [json.dumps({"query": asked, "anyway": anyway}) for anyway in (True, False, "yes")]
    near, silent, wrong = keepsake("recall", "--batch", stdin="\n".join(lines)).lines
    assert near["unsure"] and near["hits"] and silent["abstained"] and "anyway" in wrong["error"]["message"]


def test_what_came_along_is_marked(kayak: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "ws" / "memory" / "n.md").write_text("- first\n- zephyria\n")
    out = kayak("recall", "zephyria", "--explain").out
    assert "came along: beside a found line" in out and "it stands beside a found line of this score" in out


def test_why_it_went_by_words_is_in_the_json_too(kayak: Keepsake) -> None:
    answer = kayak("recall", "kayak", "--json").json
    assert (answer["mode"], answer["by_words"]) == ("keyword", "none")
    assert answer["took_ms"] > 0


GARBAGE = [
    "not json", "[]", "5", "null", '"kayak"', "{", '{"query": 5}', '{"query": null}', '{"query": ["kayak"]}', "\x00",
    "[" * 100_000, '{"query": "kayak"', "�", "{}",
]  # fmt: skip
WRONG = [
    {"since": 5}, {"until": ["x"]}, {"now": 5}, {"now": "2026-99-01"}, {"limit": "many"}, {"limit": -1},
    {"limit": {"a": 1}}, {"limit": 10**30}, {"scope": "everything"}, {"scope": ["all"]}, {"since": "whenever"},
    {"since": "2026-12-01", "until": "2026-11-01"},
]  # fmt: skip


def test_garbage_in_a_batch_costs_no_other_line_its_answer(kayak: Keepsake) -> None:
    good = json.dumps({"id": "good", "query": "kayak", "limit": 1})
    lines = [line for bad in GARBAGE for line in (bad, good)]
    lines += [line for fields in WRONG for line in (json.dumps({"id": 1, "query": "kayak", **fields}), good)]
    result = kayak("recall", "--batch", "--json", stdin="\n".join(["\ufeff" + good, "", "   ", *lines]))
    assert result.code == 1
    answers = result.lines
    assert len(answers) == 1 + len(lines)
    fields = {"hits", "abstained", "took_ms", "mode"}
    assert all(fields <= answer.keys() for answer in answers)
    assert all(answer["id"] == "good" and len(answer["hits"]) == 1 for answer in answers[0::2])
    assert all(answer["error"]["message"] and answer["error"]["hint"] for answer in answers[1::2])


def test_what_is_null_in_a_batch_is_not_there(kayak: Keepsake) -> None:
    asked = {"id": None, "query": "kayak", "limit": None, "scope": None, "since": None, "until": None, "now": None}
    (answer,) = kayak("recall", "--batch", stdin=json.dumps(asked)).lines
    assert answer["id"] is None and answer["hits"] and "error" not in answer


@pytest.mark.logs("line 2 of a batch")
def test_a_bug_that_one_line_meets_stays_its_own(kayak: Keepsake, monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.recall import lookup

    real = lookup.look_up

    def look_up(connection: object, snapshot: object, query: object, *rest: object) -> object:
        if query.text == "boom":  # type: ignore[attr-defined]
            raise ZeroDivisionError
        return real(connection, snapshot, query, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lookup, "look_up", look_up)
    asked = "\n".join(json.dumps({"query": query}) for query in ("kayak", "boom", "kayak"))
    answers = kayak("recall", "--batch", stdin=asked).lines
    assert [bool(answer["hits"]) for answer in answers] == [True, False, True]
    assert answers[1]["error"]["code"] == "recall.failed"


def test_a_search_that_could_not_be_made_is_not_told_as_nothing_known() -> None:
    broken = RecallAnswer((), True, 0.0, "keyword", BROKEN)
    assert answer_words(broken, RecallQuery("kayak"), False).startswith("Nothing could be searched: the search index")
