"""What a person finds in settings.toml after Keepsake read and wrote it."""

from __future__ import annotations

import stat
import threading
import tomllib
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.settings.schema import SECTIONS, Settings, from_document
from assistant.settings.store import SettingsStore

BY_HAND = """\
# my settings
colour = "mine"

[model]
window = 8192   # what my laptop can hold
temperature = 0.2
future = [1, 2]

[plugins.weather]
city = "Köln"
"""


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "config" / "settings.toml")


def written(store: SettingsStore, text: str) -> SettingsStore:
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.path.write_bytes(text.encode())
    return store


def test_without_a_file_the_defaults_hold_and_nothing_is_written(store: SettingsStore) -> None:
    assert store.load() == Settings()
    assert store.problems == ()
    assert not store.path.parent.exists()


def test_a_hand_written_file_is_read(store: SettingsStore) -> None:
    loaded = written(store, BY_HAND).load()
    assert (loaded.model.window, loaded.model.temperature) == (8192, 0.2)
    assert store.problems == ()


def test_an_update_changes_its_value_and_nothing_else(store: SettingsStore) -> None:
    loaded = written(store, BY_HAND).update("model", window=2048)
    assert loaded.model.window == 2048
    assert store.path.read_text() == BY_HAND.replace("8192", "2048")


def test_a_new_section_is_appended(store: SettingsStore) -> None:
    written(store, BY_HAND).update("memory", entries=4, window_share=0.5)
    text = store.path.read_text()
    assert text.startswith(BY_HAND)
    assert tomllib.loads(text)["memory"] == {"entries": 4, "window_share": 0.5}


def test_windows_line_ends_and_a_byte_order_mark_stay(store: SettingsStore) -> None:
    text = "\ufeff" + BY_HAND.replace("\n", "\r\n")
    written(store, text).update("model", window=2048)
    assert store.path.read_bytes() == text.replace("8192", "2048").encode()


def test_the_same_value_again_writes_nothing(store: SettingsStore) -> None:
    before = written(store, BY_HAND).path.stat()
    store.update("model", window=8192)
    after = store.path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_value_of_another_type_is_written_over(store: SettingsStore) -> None:
    written(store, "[model]\nthreads = true\ntemperature = 1\n")
    assert store.update("model", threads=1, temperature=1).model.threads == 1
    assert store.path.read_text() == "[model]\nthreads = 1\ntemperature = 1.0\n"


@pytest.mark.parametrize(
    "text",
    [
        "model.window = 4096\n",
        "model = { window = 4096, future = 1 }\n",
        "[model.plugin]\nx = 1\n[model]\nwindow = 4096\n",
        "[model]\nwindow = 4096\n[a]\n[model.plugin]\nx = 1\n",
        "[model] # all of it\n\n'window' = 4_096 # why\n\n",
    ],
)
def test_every_way_to_write_a_section_can_be_changed(store: SettingsStore, text: str) -> None:
    loaded = written(store, text).update("model", window=512, top_k=7)
    assert (loaded.model.window, loaded.model.top_k) == (512, 7)
    for kept in ("future = 1", "x = 1", "# all of it", "# why"):
        assert (kept in text) == (kept in store.path.read_text())


def test_only_the_person_may_read_the_file(store: SettingsStore) -> None:
    store.update("general", theme="dark")
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in store.path.parent.iterdir()) == ["settings.toml", "settings.toml.lock"]


def test_a_link_to_the_file_stays_a_link(store: SettingsStore, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text(BY_HAND)
    store.path.parent.mkdir()
    store.path.symlink_to(tmp_path / "dotfiles.toml")
    store.update("model", window=2048)
    assert store.path.is_symlink()
    assert "2048" in (tmp_path / "dotfiles.toml").read_text()


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ("[model]\nwindow = 12\ntemperature = 0.1\n", "model.window"),
        ('[model]\nwindow = "big"\ntemperature = 0.1\n', "model.window"),
        ("[model]\nwindow = true\ntemperature = 0.1\n", "model.window"),
        ("[model]\nwindow = 4096.5\ntemperature = 0.1\n", "model.window"),
        ("[model]\ntop_p = nan\ntemperature = 0.1\n", "model.top_p"),
        ('[general]\ntheme = "purple"\n[model]\ntemperature = 0.1\n', "general.theme"),
        ("memory = 3\n[model]\ntemperature = 0.1\n", '"memory"'),
    ],
)
def test_a_bad_value_counts_as_default_is_named_and_stays_in_the_file(
    store: SettingsStore, table: str, named: str
) -> None:
    loaded = written(store, table).load()
    assert loaded.model.temperature == 0.1
    assert loaded.model.window == Settings().model.window
    assert len(store.problems) == 1
    assert named in store.problems[0]
    store.update("embedding", idle_minutes=3)
    assert store.path.read_text().startswith(table.rstrip("\n"))


@pytest.mark.parametrize("content", [b"[model\nwindow = 1\n", b"\x00" * 64, b"name = '\xff'\n", b"a = 1\na = 2\n"])
def test_a_broken_file_is_kept_and_named(store: SettingsStore, content: bytes) -> None:
    written(store, "").path.write_bytes(content)
    assert store.load() == Settings()
    assert str(store.path) in store.problems[0]
    with pytest.raises(AssistantError) as caught:
        store.update("model", window=2048)
    assert caught.value.code == "settings.broken"
    assert store.path.read_bytes() == content


def test_a_section_that_is_no_table_is_not_overwritten(store: SettingsStore) -> None:
    written(store, "memory = 3\n")
    with pytest.raises(AssistantError, match="memory"):
        store.update("memory", entries=3)
    assert store.path.read_text() == "memory = 3\n"


@pytest.mark.parametrize(
    ("section", "values"),
    [("model", {"window": 1}), ("model", {"wimdow": 4096}), ("modell", {"window": 4096}), ("general", {"theme": 1})],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    store: SettingsStore, section: str, values: dict[str, int]
) -> None:
    with pytest.raises(AssistantError) as caught:
        store.update(section, **values)
    assert caught.value.code == "settings.value"
    assert not store.path.exists()


def test_a_folder_in_the_file_s_place_is_an_error_and_not_a_crash(store: SettingsStore) -> None:
    store.path.mkdir(parents=True)
    assert store.load() == Settings()
    with pytest.raises(AssistantError):
        store.update("model", window=2048)


def test_a_save_that_another_window_holds_up_is_reported(store: SettingsStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.settings.store._LOCK_SECONDS", 0.05)
    written(store, BY_HAND)
    with FileLock(f"{store.path}.lock"), pytest.raises(AssistantError) as caught:
        store.update("model", window=2048)
    assert caught.value.code == "settings.busy"
    assert store.path.read_text() == BY_HAND


def test_two_writers_at_once_lose_nothing(store: SettingsStore) -> None:
    start = threading.Barrier(2)

    def write(section: str, key: str) -> None:
        start.wait()
        for number in range(1, 11):
            SettingsStore(store.path).update(section, **{key: number})

    writers = [
        threading.Thread(target=write, args=pair) for pair in (("memory", "entries"), ("embedding", "idle_minutes"))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    loaded = store.load()
    assert (loaded.memory.entries, loaded.embedding.idle_minutes) == (10, 10)


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("general"), st.just("workspace"), st.text(st.characters(exclude_categories=["Cs"]))),
        st.tuples(st.just("general"), st.just("theme"), st.sampled_from(["system", "light", "dark"])),
        st.tuples(st.just("model"), st.just("window"), st.integers(256, 1_048_576)),
        st.tuples(st.just("model"), st.just("temperature"), st.floats(0, 5)),
        st.tuples(st.just("memory"), st.just("window_share"), st.floats(0, 0.9)),
        st.tuples(st.just("embedding"), st.just("idle_minutes"), st.integers(1, 1440)),
    ),
    max_size=6,
)
KEYS = st.text("abcdefg_-", min_size=1, max_size=6)
VALUES = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), st.text("ab\"'\\ü", max_size=5).map(repr))


@settings(max_examples=60, deadline=None)
@given(
    changes=CHANGES,
    unknown=st.dictionaries(KEYS, st.integers(-(2**60), 2**60), max_size=4),
    comment=st.text("ab #=[]'\"", max_size=12),
)
def test_what_is_saved_is_read_again_and_what_is_unknown_survives(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[str, str, str | int | float]],
    unknown: dict[str, int],
    comment: str,
) -> None:
    store = SettingsStore(tmp_path_factory.mktemp("settings") / "settings.toml")
    foreign = "".join(f"x-{key} = {value} # {comment}\n" for key, value in unknown.items())
    store.path.write_text(f"{foreign}[other]\n{foreign}[model]\n{foreign}")
    for section, key, value in changes:
        assert getattr(getattr(store.update(section, **{key: value}), section), key) == value
    document = tomllib.loads(store.path.read_text())
    for table in (document, document["other"], document["model"]):
        assert {f"x-{key}": value for key, value in unknown.items()}.items() <= table.items()
    assert store.path.read_text().count(f"# {comment}\n") >= 3 * len(unknown)


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(SECTIONS), KEYS),
        st.one_of(VALUES, st.dictionaries(st.sampled_from(["window", "theme", "entries"]), VALUES)),
    )
)
def test_any_document_gives_settings(document: dict[str, object]) -> None:
    loaded, problems = from_document(document)
    assert isinstance(loaded, Settings)
    assert all(problem.endswith("used.") for problem in problems)
