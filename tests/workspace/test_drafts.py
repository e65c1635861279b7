"""Drafts of memory files: kept private, dropped, broken ones left alone, and forgotten with everything else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace import drafts as drafts_module
from assistant.workspace.drafts import Draft, Drafts

DRAFT = Draft("MEMORY.md", "# Mine\nlikes tea\n", "# Mine\n", "abc", "\n", "2026-11-29T15:30:00+01:00")


def test_a_draft_comes_back_as_it_was_and_belongs_to_the_person_alone(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    assert drafts.all() == []
    drafts.keep(DRAFT)
    drafts.keep(Draft("memory/Travel.md", "hotels", "", "", "\r\n", DRAFT.time))
    assert [draft.file for draft in Drafts(tmp_path / "drafts").all()] == ["MEMORY.md", "memory/Travel.md"]
    assert drafts.all()[0] == DRAFT
    assert stat.S_IMODE((tmp_path / "drafts").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "drafts").iterdir()} == {0o600}
    drafts.drop("MEMORY.md")
    drafts.drop("MEMORY.md")
    assert [draft.file for draft in drafts.all()] == ["memory/Travel.md"]


def test_a_broken_draft_stays_where_it_is_and_the_others_come_back(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep(DRAFT)
    for name, data in (("a.json", b"\0" * 64), ("b.json", b'{"file": 1}'), ("c.json", b"[]")):
        (tmp_path / name).write_bytes(data)
    assert drafts.all() == [DRAFT]
    assert (tmp_path / "a.json").exists()


def test_a_full_disk_keeps_the_draft_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep(DRAFT)

    def full(*_: object) -> None:
        raise AssistantError("disk.full", "The disk is full.")

    monkeypatch.setattr(drafts_module, "write_atomic", full)
    with pytest.raises(AssistantError):
        drafts.keep(Draft(DRAFT.file, "more", "", "", "\n", ""))
    assert drafts.all() == [DRAFT]


def test_what_is_forgotten_is_forgotten_in_drafts(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.keep(DRAFT)
    place = drafts.forget_place()
    assert place.name == "drafts"
    assert place.remaining(["likes tea"]) == 1
    place.scrub(["likes tea"])
    assert place.remaining(["likes tea"]) == 0
    assert drafts.all()[0].text.startswith("# Mine\n")
    assert not any(b"likes tea" in path.read_bytes() for path in tmp_path.iterdir())


@given(text=st.text(), file=st.text(min_size=1))
@settings(max_examples=40)
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str, file: str) -> None:
    drafts = Drafts(tmp_path_factory.mktemp("drafts"))
    drafts.keep(Draft(file, text, text, "", "\n", ""))
    assert drafts.all() == [Draft(file, text, text, "", "\n", "")]
