"""Snapshots on disk: what comes back is what was written, or nothing."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.engine.restored_replies import RestoredReplies
from assistant.engine.snapshot_file import Identity, digest_of, load_state, read_snapshot, runs_in, write_snapshot
from assistant.engine.snapshots import (
    ROW,
    Place,
    SnapshotStore,
    drop_all,
    drop_conversation,
    drop_foreign,
    drop_models,
    left_in,
    model_identity,
    usage,
)

US = Identity("a-model", "4096/256/f16")
STATE = bytes(range(256)) * 40
TOKENS = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=60)


def store_in(folder: Path, identity: Identity = US, limit: int = 10**9) -> SnapshotStore:
    return SnapshotStore(Place(folder, limit), identity)


def save(store: SnapshotStore, conversation: str, tokens: Sequence[int], state: bytes = STATE) -> bool:
    return store.save(conversation, tokens, (), memoryview(state), CancelToken())


def age(folder: Path, seconds: int) -> None:
    """As if what is there had been used so long ago."""
    for path in folder.iterdir():
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))


@given(tokens=TOKENS, state=st.binary(max_size=300), data=st.data())
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[int], state: bytes, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("snapshots")
    start = data.draw(st.integers(0, len(tokens) - 1))
    end = data.draw(st.integers(start + 1, len(tokens)))
    replies = runs_in(tokens, {digest_of("a reply"): tokens[start:end]})
    write_snapshot(folder, digest_of("chat"), US, tokens, replies, memoryview(state), CancelToken())
    (path,) = folder.iterdir()
    snapshot = read_snapshot(path)
    assert snapshot is not None
    assert (snapshot.tokens.tolist(), snapshot.identity, snapshot.conversation) == (tokens, US, digest_of("chat"))
    assert load_state(snapshot, CancelToken()) == state
    restored = RestoredReplies()
    restored.learn([snapshot])
    assert restored.behind({})["a reply"] == tokens[start:end]
    assert restored.behind({}).get("another") is None


@given(at=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_file_with_one_changed_byte_is_never_loaded(
    tmp_path_factory: pytest.TempPathFactory, at: float, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("snapshots")
    write_snapshot(folder, digest_of("chat"), US, range(200), (), memoryview(STATE[:500]), CancelToken())
    (path,) = folder.iterdir()
    raw = bytearray(path.read_bytes())
    raw[int(at * len(raw))] ^= flip
    path.write_bytes(raw)
    store = store_in(folder)
    loaded = [store.load(snapshot, CancelToken()) for snapshot in store.look()]
    assert loaded in ([], [None])
    assert left_in(folder) == []


@given(size=st.floats(0, 1, exclude_max=True))
def test_a_cut_file_is_deleted(tmp_path_factory: pytest.TempPathFactory, size: float) -> None:
    folder = tmp_path_factory.mktemp("snapshots")
    write_snapshot(folder, digest_of("chat"), US, range(200), (), memoryview(STATE[:500]), CancelToken())
    (path,) = folder.iterdir()
    raw = path.read_bytes()
    path.write_bytes(raw[: int(size * len(raw))])
    assert store_in(folder).look() == []
    assert left_in(folder) == []


def test_a_state_that_was_cut_after_it_was_found_is_not_loaded(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    save(store, "chat", range(100))
    (snapshot,) = store.look()
    snapshot.path.write_bytes(snapshot.path.read_bytes()[:-1])
    assert store.load(snapshot, CancelToken()) is None
    assert left_in(tmp_path) == []


def test_other_settings_delete_it_and_another_model_leaves_it_alone(tmp_path: Path) -> None:
    save(store_in(tmp_path), "chat", range(100))
    other = store_in(tmp_path, Identity("another-model", US.settings))
    assert other.look() == [] and len(left_in(tmp_path)) == 1
    assert store_in(tmp_path, Identity(US.model, "8192/256/f16")).look() == []
    assert left_in(tmp_path) == []


def test_fetching_one_can_be_stopped_and_it_stays(tmp_path: Path) -> None:
    store, cancel = store_in(tmp_path), CancelToken()
    save(store, "chat", range(100))
    (snapshot,) = store.look()
    cancel.cancel()
    with pytest.raises(Cancelled):
        store.load(snapshot, cancel)
    assert store.load(snapshot, CancelToken()) == STATE


def test_a_header_with_numbers_that_are_none_is_no_snapshot(tmp_path: Path) -> None:
    write_snapshot(tmp_path, digest_of("chat"), US, range(2000), (), memoryview(STATE[:500]), CancelToken())
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"tokens": 2000', b'"tokens":1e400'))
    assert store_in(tmp_path).look() == []
    assert left_in(tmp_path) == []


def test_it_is_private_and_holds_no_words(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "snapshots"
    store = store_in(folder)
    store.save(
        "20261129_153022",
        range(100),
        runs_in(range(100), {digest_of("Hello!"): range(5)}),
        memoryview(STATE),
        CancelToken(),
    )
    (path,) = folder.iterdir()
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    raw = path.read_bytes()
    assert b"Hello" not in raw and b"20261129" not in raw + path.name.encode()


def test_one_that_is_stopped_leaves_what_was_there(tmp_path: Path) -> None:
    store, cancel = store_in(tmp_path), CancelToken()
    save(store, "chat", range(100))
    before = left_in(tmp_path)
    cancel.cancel()
    with pytest.raises(Cancelled):
        store.save("chat", range(200), (), memoryview(STATE), cancel)
    assert left_in(tmp_path) == before


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    store = store_in(tmp_path, limit=len(STATE) * 3)
    for name in ("one", "two"):
        save(store, name, [ord(name[0]), *range(50)])
        age(tmp_path, 100)
    first = next(each for each in store.look() if each.conversation == digest_of("one"))
    assert store.load(first, CancelToken()) == STATE
    save(store, "three", [7, *range(50)])
    assert {each.conversation for each in store.look()} == {digest_of("one"), digest_of("three")}
    assert usage(tmp_path)[0] == 2 and usage(tmp_path)[1] <= len(STATE) * 3
    assert not save(store_in(tmp_path, limit=len(STATE) - 1), "four", [8])


def test_a_chat_that_goes_on_has_one_and_its_branches_few(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for length in (10, 20, 30):
        save(store, "chat", range(length))
        age(tmp_path, 10)
    assert [len(each.tokens) for each in store.look()] == [30]
    for branch in range(5):
        save(store, "chat", [*range(10), 100 + branch])
        age(tmp_path, 10)
    assert [each.tokens[-1] for each in store.look()] == [104, 103, 102]


def test_they_go_with_their_chat_their_model_and_what_was_forgotten(tmp_path: Path) -> None:
    store, other = store_in(tmp_path), store_in(tmp_path, Identity("another-model", ""))
    for name in ("one", "two", "three", ROW):
        save(store, name, [len(name), *range(20)])
    save(other, "two", range(20))
    drop_conversation(tmp_path, "one")
    assert len(left_in(tmp_path)) == 4
    assert drop_foreign(store.place, ["two"]) == 1
    assert {each.conversation for each in store.look()} == {digest_of("two"), digest_of(ROW)}
    assert drop_models(tmp_path, {US.model}) == 1
    assert usage(tmp_path)[0] == 2
    before = store.place.epoch
    (tmp_path / ".writing-0").write_bytes(b"half")
    drop_all(tmp_path)
    assert left_in(tmp_path) == []
    assert store.place.epoch != before


def test_what_was_read_before_something_was_forgotten_is_not_written_after_it(tmp_path: Path) -> None:
    """Neither into a folder that is not there yet, nor by a process that was about to write when it happened."""
    folder = tmp_path / "snapshots"
    for _ in range(2):
        store = store_in(folder)
        drop_all(folder)
        assert not save(store, "chat", range(20))
        assert left_in(folder) == []
    assert save(store_in(folder), "chat", range(20))


def test_a_file_that_a_killed_process_left_goes_with_any_chat_that_must_leave_no_trace(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    save(store, "one", range(20))
    save(store, "two", range(20, 40))
    (tmp_path / ".writing-0").write_bytes(b"half")
    drop_conversation(tmp_path, "one")
    assert [each.conversation for each in store.look()] == [digest_of("two")]
    assert len(left_in(tmp_path)) == 1


def test_what_a_killed_process_left_goes_with_the_first_look_after_it(tmp_path: Path) -> None:
    (tmp_path / ".writing-0").write_bytes(b"half")
    assert drop_foreign(Place(tmp_path, 10**9), []) == 0  # it may be one that is being written now
    age(tmp_path, 7200)
    assert drop_foreign(Place(tmp_path, 10**9), []) == 1
    assert drop_foreign(Place(tmp_path / "nothing", 10**9), []) == 0


def test_a_model_is_known_by_its_weights_not_its_name(tmp_path: Path) -> None:
    one, other = tmp_path / "one.gguf", tmp_path / "other.gguf"
    raw = bytearray(os.urandom(1 << 20))
    one.write_bytes(raw)
    other.write_bytes(raw)
    assert model_identity(one) == model_identity(other)
    raw[-10] ^= 1
    other.write_bytes(raw)
    assert model_identity(one) != model_identity(other)


def test_replies_are_found_among_the_tokens() -> None:
    tokens = array("i", [1, 256, 2, 3, 4])
    runs = runs_in(tokens, {"a": [2, 3], "b": [1], "c": [3, 2]})
    assert [(run.digest, run.start, run.length) for run in runs] == [("a", 2, 2), ("b", 0, 1)]
    shifted = [0x200, 0x300, 0x100, 2, 3]  # the bytes of the reply stand in it before, between two tokens
    assert [run.start for run in runs_in(shifted, {"a": [2, 3]})] == [3]
