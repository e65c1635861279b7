"""Files of other assistants that lie in the workspace just work: found by words and by day, shown, never written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Hit, RecallQuery
from assistant.recall.index import files
from assistant.recall.units.foreign import foreign_units
from assistant.runtime.checks import run_checks
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.workspace import layout
from assistant.workspace.layout import is_foreign
from tests import imported


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    (tmp_path / "ws").mkdir()
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    yield made
    made.close()


def found(services: Services, words: str) -> Hit:
    services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
    return services.search(RecallQuery(words)).hits[0]


def test_a_nanobot_folder_used_as_the_workspace(services: Services, tmp_path: Path) -> None:
    root = imported.nanobot(services.workspace.root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    history = found(services, "PostgreSQL")
    assert (history.file, history.line, history.date) == ("memory/history.jsonl", 1, "2026-04-03")
    assert "dark mode" in history.text
    old = found(services, "HEC-RAS flood models")
    assert (old.file, old.date) == ("memory/HISTORY.md", "2026-03-02")
    assert found(services, "hydrologist").file == "memory/MEMORY.md"
    ferry = found(services, "ferry pier")
    assert (ferry.file, ferry.date, ferry.title) == (
        "sessions/telegram_12345.jsonl",
        "2026-03-04",
        "telegram:12345",
    )
    assert services.recall.sync(CancelToken(), lambda *_: None).files == 0
    services.workspace.prepare()
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_countbot_memory_has_days_also_below_memory(services: Services) -> None:
    imported.countbot(services.workspace.root)
    hit = found(services, "OpenWeatherMap")
    assert (hit.file, hit.line, hit.date) == ("memory/MEMORY.md", 1, "2026-02-15")
    memory = services.workspace.memory
    assert memory.locate(hit.id) is not None
    memory.strike(hit.id)
    text = (services.workspace.root / "memory" / "MEMORY.md").read_text()
    assert text.split("\n")[1:] == imported.COUNTBOT.split("\n")[1:]
    assert text.startswith("2026-02-15|web-chat|~~用户询问天气API方案~~ · superseded ")


def test_an_openmausbot_folder_used_as_the_workspace(services: Services) -> None:
    imported.openmausbot(services.workspace.root)
    assert found(services, "prefers short replies").date == "2026-09-10"
    assert found(services, "Volvo").date == "2025-01-02"
    assert found(services, "Acme pays late").file == "memory/clients.md"


def test_a_chinese_session_below_chats(services: Services) -> None:
    imported.write(services.workspace.root / "chats" / "weekend.md", imported.CHINESE_SESSION)
    hit = found(services, "庾村 民宿")
    assert (hit.kind, hit.title, hit.date) == ("turn", "周末去莫干山", "2026-02-14")


def test_atoms_below_memory(services: Services) -> None:
    imported.atoms(services.workspace.root / "memory")
    seats = found(services, "window seats")
    assert (seats.file, seats.date, seats.title) == (
        "memory/2026/02/15/a1.json",
        "2026-02-15",
        "preference #travel #train-seats",
    )
    assert found(services, "年糕").date == "2026-02-16"
    assert found(services, "peanuts").file == "memory/all.json"


def test_they_are_shown_read_only_and_the_doctor_counts_them(services: Services) -> None:
    imported.nanobot(services.workspace.root)
    memory = services.workspace.memory
    assert {info.file for info in memory.files()} >= {"memory/history.jsonl", "sessions/telegram_12345.jsonl"}
    shown = memory.read("memory/history.jsonl")
    assert "PostgreSQL" in shown.text and not shown.writable
    with pytest.raises(AssistantError, match="another program"):
        memory.save("memory/history.jsonl", "x", shown.sha256)
    services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
    checks = {check.name: check for check in _checks(services)}
    assert checks["other forms"].detail.startswith("2 files")
    assert "5 things" in checks["other forms"].detail
    assert checks["file memory/history.jsonl"].detail == "Line 3 is no valid JSON."


def test_an_enormous_one_is_named_and_not_read(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FOREIGN", 100)
    monkeypatch.setattr(layout, "MOST_FOREIGN", 100)
    imported.write(services.workspace.root / "memory" / "history.jsonl", "x" * 101)
    assert list(files.look(services.workspace.root).marks) == []
    assert dict(services.workspace.problems())["memory/history.jsonl"].startswith("It is larger")


def _checks(services: Services) -> list:
    found = []
    for check in run_checks(services):
        found.append(check)
        if check.name == "index":  # what follows starts workers
            break
    return found


@pytest.mark.parametrize(
    ("file", "foreign"),
    [
        ("memory/history.jsonl", True),
        ("memory/2026/02/15/a.json", True),
        ("sessions/a.jsonl", True),
        ("sessions/deep/a.jsonl", False),
        ("memory/.hidden/a.json", False),
        ("memory/a.md", False),
        ("a.json", False),
        ("chats/a.json", False),
    ],
)
def test_which_files_are_meant(file: str, foreign: bool) -> None:
    assert is_foreign(file) is foreign


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["content", "timestamp", "role", "_type", "tags", "memories", "key"]), inner)
    ),
    max_leaves=12,
)


@given(st.lists(_JSON | st.text(max_size=30), max_size=5), st.sampled_from(["memory/h.jsonl", "sessions/s.jsonl"]))
def test_a_line_of_any_kind_costs_no_other(values: list, file: str) -> None:
    good = {"timestamp": "2026-04-03 00:02", "role": "user", "content": "the well-formed one"}
    rows = [value if isinstance(value, str) else json.dumps(value) for value in values]
    units, _ = foreign_units(file, "\n".join([*rows, json.dumps(good)]))
    assert any("the well-formed one" in unit.text for unit in units)
    assert len({unit.uid for unit in units}) == len(units)


@given(_JSON)
def test_any_json_is_read(value: object) -> None:
    units, problem = foreign_units("memory/a.json", json.dumps(value))
    assert problem == ""
    assert all(unit.text for unit in units)


def test_a_megabyte_of_brackets_is_no_harm() -> None:
    assert foreign_units("memory/a.json", "[" * 1_000_000)[1] == "It is no valid JSON."


def test_what_they_say_can_be_forgotten(services: Services) -> None:
    root = services.workspace.root
    imported.nanobot(root)
    imported.atoms(root / "memory")
    for words in ("Decided to use PostgreSQL", "08:40 from pier 3", "Window seats on trains", "猫叫年糕"):
        report = services.forgetting.now(services.forgetting.plan(found(services, words).id))
        left = {place.place: place.remaining for place in report.searched if place.remaining}
        assert not left, words
        assert all(words not in text for text in _texts(root)), words
    hit = found(services, "高铁")
    assert hit.file == "memory/history.jsonl", "the lines beside it are there"
    assert "cut off" not in dict(services.workspace.problems()).get("memory/2026/02/15/a1.json", "")


def test_they_can_be_forgotten_by_their_words(services: Services) -> None:
    escaped = json.dumps({"cursor": 1, "timestamp": "2026-04-03 00:02", "content": "备用钥匙在蓝花盆下面"})
    path = imported.write(services.workspace.root / "memory" / "history.jsonl", escaped + "\n")
    report = services.forgetting.now(services.forgetting.plan("备用钥匙"))
    assert report.removed and all(not place.remaining for place in report.searched)
    assert "钥匙" not in json.dumps(json.loads(path.read_text()), ensure_ascii=False)


def _texts(root: Path) -> list[str]:
    found = [path.read_text(errors="replace") for path in root.rglob("*") if path.is_file()]
    return [*found, *(text.encode().decode("unicode_escape", "replace") for text in found if "\\u" in text)]
