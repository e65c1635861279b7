"""The self-test's file may say anything: what can be used is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.workspace.check_store import CheckStore
from assistant.workspace.known_backups import KnownBackup, KnownBackups

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CHECK = st.fixed_dictionaries(dict.fromkeys(("id", "question", "unit", "text", "added"), VALUES))
RUN = st.fixed_dictionaries(
    dict.fromkeys(("time", "reason", "mode", "index", "model", "setting", "ranks", "undo"), VALUES)
)
DAMAGED = VALUES | st.fixed_dictionaries({"checks": VALUES | st.lists(CHECK), "runs": VALUES | st.lists(RUN)})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(DAMAGED)
def test_whatever_stands_in_the_file_it_is_read(tmp_path: Path, value: Any) -> None:
    (tmp_path / "checks.json").write_text(json.dumps(value))
    store = CheckStore(tmp_path, tmp_path / "lock")
    for check in store.checks():
        assert all(isinstance(text, str) for text in (check.id, check.question, check.unit, check.text))
    for run in store.runs():
        assert all(isinstance(rank, int) for rank in run.ranks.values())
    store.scrub(["tea"])
    made = store.add("where?", "", "cellar", "now")
    assert made in store.checks()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(VALUES | st.lists(st.fixed_dictionaries(dict.fromkeys(("path", "made", "key", "files"), VALUES))))
def test_a_damaged_list_of_backups_is_read(tmp_path: Path, value: Any) -> None:
    (tmp_path / "backups.json").write_text(json.dumps(value))
    for known in KnownBackups(tmp_path, tmp_path / "lock").all():
        assert isinstance(known.made, str) and not known.deleted


def test_nothing_is_added_twice_or_left_of_what_was_removed(tmp_path: Path) -> None:
    store = CheckStore(tmp_path, tmp_path / "lock")
    first = store.add("where?", "", "cellar", "now")
    assert store.add("where?", "", "cellar", "later") == first
    store.remove(first.id)
    assert "cellar" not in (tmp_path / "checks.json").read_text()
    with pytest.raises(Exception, match="no check"):
        store.remove(first.id)


def test_one_wrong_backup_hides_no_other(tmp_path: Path) -> None:
    good = {"path": str(tmp_path / "unplugged" / "a.age"), "made": "2026", "key": "keyring", "files": 3}
    wrong: list[Any] = [
        7,
        {},
        {**good, "path": 5},
        {**good, "path": "a\0b"},
        {**good, "files": "many"},
        {**good, "x": 1},
    ]
    (tmp_path / "backups.json").write_text(json.dumps([*wrong, good]))
    assert [str(each.path) for each in KnownBackups(tmp_path, tmp_path / "lock").all()] == [good["path"]]


@pytest.mark.parametrize("cut", ['{"checks": [{"question": "plum', "[" * 100_000])
def test_a_damaged_file_is_kept_beside_the_new_one_until_it_is_forgotten(tmp_path: Path, cut: str) -> None:
    (tmp_path / "checks.json").write_text(cut)
    store = CheckStore(tmp_path, tmp_path / "lock")
    assert store.checks() == []
    store.add("where?", "", "cellar", "now")
    assert (tmp_path / "checks.json.damaged").read_text() == cut
    assert [check.text for check in store.checks()] == ["cellar"]
    if "plum" in cut:
        assert store.remaining(["plum"]) == 1
        store.scrub(["plum"])
        assert store.remaining(["plum"]) == 0 and not (tmp_path / "checks.json.damaged").exists()


def test_a_backup_with_a_name_in_no_encoding_is_known_again(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.age"))
    known = KnownBackups(tmp_path, tmp_path / "lock")
    path.touch()
    known.add(KnownBackup(path, "2026-11-29T10:00:00+00:00", "keyring"))
    assert [each.path for each in known.all()] == [path]
