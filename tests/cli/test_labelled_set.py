"""A labelled set is read, written out as a workspace that the program reads back whole, and refused when broken."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from assistant.cli.bench.labelled_set import load_set, write_set
from assistant.core.errors import AssistantError
from assistant.core.resources import resource
from assistant.core.values import Hit
from assistant.recall.units.making import units_of

SETS = [resource("recall/everyday"), Path(__file__).parents[1] / "data" / "recall" / "dialogues"]


def write(folder: Path, **files: list[dict[str, object]]) -> Path:
    """A set with one item, one chat and one question, but for what is given."""
    turns = [
        {"at": "2026-03-01T10:00:00", "role": "assistant", "text": "Good morning!"},
        {"at": "2026-03-01T10:01:00", "role": "user", "text": "> the key\n### is under the frog"},
        {"at": "2026-03-01T10:02:00", "role": "user", "text": "and the lamp is on"},
    ]
    content: dict[str, list[dict[str, object]]] = {
        "memory": [{"id": "m1", "date": "2026-02-01", "source": "a|note", "lang": "en", "text": "one；two | three"}],
        "chats": [{"id": "c1", "started": "2026-03-01T10:00:00", "turns": turns}] * 2,
        "queries": [
            {"id": "q1", "query": "key", "lang": "en", "kind": "exact", "gold": ["c1#2"], "as_of": "2026-03-02"},
        ],
        **files,
    }
    folder.mkdir(exist_ok=True)
    for name, rows in content.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)
def test_the_sets_of_the_project_are_written_and_read_back_whole(folder: Path, tmp_path: Path) -> None:
    labelled = load_set(folder)
    places = write_set(labelled, tmp_path)
    texts = {unit.id: unit.text for unit in labelled.units()}
    seen = set()
    for path in sorted(tmp_path.rglob("*.md")):
        file = path.relative_to(tmp_path).as_posix()
        units, problem = units_of(file, path.read_text(encoding="utf-8"))
        assert problem == ""
        for unit in units:
            hit = Hit(unit.uid, file, unit.line, unit.kind, "", "", unit.text, 1.0)
            for ident in places.ids(hit, frozenset(texts)):
                assert texts.get(ident, "") in unit.text
                seen.add(ident)
    assert set(texts) <= seen
    assert {question.kind for question in labelled.questions} >= {"cross", "temporal", "multi", "negative"}
    days = {unit.id: unit.day for unit in labelled.units()}
    for question in labelled.questions:
        assert all(days[one] <= question.as_of for one in question.labelled), question.text
        assert not question.gold & (question.also | question.stale), question.text
        assert bool(question.gold) == (question.kind != "negative"), question.text


def test_any_text_keeps_its_place(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path / "set"))
    places = write_set(labelled, tmp_path / "ws")
    (line,) = places.items
    unit = units_of("MEMORY.md", (tmp_path / "ws" / "MEMORY.md").read_text(encoding="utf-8"))[0][-1]
    assert (unit.line, unit.day, places.items[line]) == (line, date(2026, 2, 1), "m1")
    assert sorted(places.turns) == [f"20260301_100000{twin}#{n}" for twin in ("", "_2") for n in (1, 2, 3)]
    assert places.turns["20260301_100000#2"] == ["c1#2"]


def test_a_hit_on_a_block_stands_for_what_is_labelled_in_it(tmp_path: Path) -> None:
    labelled = load_set(resource("recall/everyday"))
    places = write_set(labelled, tmp_path)
    block, (said, reply) = next((block, turns) for block, turns in places.turns.items() if len(turns) == 2)
    hit = Hit(block, "chats/x.md", 1, "turn", "", "", "", 1.0)
    assert places.ids(hit, frozenset()) == [said]
    assert places.ids(hit, frozenset([reply])) == [reply]
    assert places.ids(hit, frozenset([said, reply])) == [said, reply]
    assert places.ids(Hit("notes.md:1", "memory/notes.md", 1, "note", "", "", "", 1.0), frozenset()) == ["notes.md:1"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"queries": []}, "no question"),
        (
            {"queries": [{"id": "q", "query": "x", "kind": "k", "lang": "en", "gold": ["no"], "as_of": "2026-01-01"}]},
            "no,",
        ),
        ({"queries": [{"id": "q"}]}, "query"),
        ({"memory": [{"id": "m", "date": "soon", "source": "x", "text": "y"}]}, "soon"),
    ],
)
def test_a_broken_set_is_refused_in_words(
    tmp_path: Path, files: dict[str, list[dict[str, object]]], words: str
) -> None:
    with pytest.raises(AssistantError) as caught:
        load_set(write(tmp_path / "set", **files))
    assert caught.value.code == "bench.set"
    assert words in caught.value.message


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssistantError) as caught:
        load_set(tmp_path)
    assert str(tmp_path) in caught.value.message
