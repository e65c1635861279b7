"""Backups hold everything, open with age and tar alone, prove themselves, and fail without a trace."""

from __future__ import annotations

import errno
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import pyrage
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.runtime import restore_staging, restoring
from assistant.runtime.age import Key, encrypt, new_key, parse_key
from assistant.runtime.backup_forgetting import BackupPlace
from assistant.runtime.backups import BackupService
from assistant.runtime.composition import Places, compose
from assistant.runtime.restoring import restore
from assistant.runtime.services import Services
from assistant.settings.paths import Paths, find_paths
from assistant.workspace.backup_tar import read_tar, write_contents
from tests.fakes import Keyring

NOW = datetime.fromisoformat("2026-11-29T15:30:00+08:00")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state", NOW), environ={})
    made.backups = BackupService(made.workspace, made.paths, Keyring())
    yield made
    made.close()


@pytest.fixture
def filled(services: Services) -> Services:
    """Memory in two languages, a long name, bytes that are no UTF-8, a chat, a picture, an empty file, settings."""
    root = services.workspace.root
    services.remember("likes oolong tea")
    services.remember("喜欢乌龙茶")
    services.workspace.memory.remember("quiet hotels", topic="Travel " + "旅" * 60)
    (root / "memory" / "old.md").write_bytes(b"caf\xe9\r\nno final newline")
    (root / "memory" / "empty.md").write_bytes(b"")
    (root / "picture.png").write_bytes(bytes(range(256)) * 300)
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o700)
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "app.json").write_text("{}")
    (root / "leads-out").symlink_to("/etc/hostname")
    chat = services.new_chat("Tea")
    services.workspace.chats.begin_turn(chat, "which tea?")
    services.workspace.memory.note_disk_changes()
    services.settings.update("memory", entries=7)
    return services


def contents(folder: Path, leave_out: tuple[str, ...] = ()) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name not in leave_out
    }


def elsewhere(tmp_path: Path) -> Paths:
    return find_paths(tmp_path / "config2", tmp_path / "state2", {})


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".~keepsake-*")]


def test_all_comes_back_byte_for_byte_on_another_computer(filled: Services, tmp_path: Path) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    assert report.proved == report.files > 8
    assert report.skipped == ("workspace/leads-out",)
    assert (tmp_path / "b.age").stat().st_mode & 0o777 == 0o600
    assert b"oolong" not in (tmp_path / "b.age").read_bytes()
    paths = elsewhere(tmp_path)
    back = restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "new", paths, NOW)
    assert contents(tmp_path / "new") == contents(filled.workspace.root)
    data = next((paths.data / "workspaces").iterdir())
    assert contents(data, ("backups.json",)) == contents(filled.workspace.data, ("backups.json",))
    assert back.settings and "entries = 7" in paths.settings_file.read_text()
    assert leftovers(tmp_path) == []
    again = compose(Places(tmp_path / "new", tmp_path / "config2", tmp_path / "state2", NOW), environ={})
    try:
        journal = again.workspace.journal.entries()
        assert journal == filled.workspace.journal.entries(), "the same changes, and none more"
        assert again.settings.load().general.workspace == str(tmp_path / "new")
        again.workspace.memory.undo(next(entry.id for entry in journal if "乌龙" in entry.summary))
        assert "乌龙" not in (tmp_path / "new" / "MEMORY.md").read_text()
    finally:
        again.close()


def test_the_file_opens_with_age_and_tar_alone(filled: Services, tmp_path: Path) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    identity = pyrage.x25519.Identity.from_str(report.new_key)
    plain = pyrage.decrypt((tmp_path / "b.age").read_bytes(), [identity])
    with tarfile.open(fileobj=io.BytesIO(plain), mode="r:gz") as tar:
        tar.extractall(tmp_path / "out", filter="data")
    assert contents(tmp_path / "out" / "workspace") == contents(filled.workspace.root)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["files"]["workspace/MEMORY.md"]["size"] == (filled.workspace.root / "MEMORY.md").stat().st_size
    assert not list((tmp_path / "out").rglob("index*"))


def test_a_passphrase_opens_it_and_another_does_not(filled: Services, tmp_path: Path) -> None:
    report = filled.backups.make(tmp_path / "b.age", "horse 电池")
    assert (report.key, report.new_key) == ("passphrase", "")
    assert pyrage.passphrase.decrypt((tmp_path / "b.age").read_bytes(), "horse 电池")
    with pytest.raises(AssistantError) as caught:
        restore(tmp_path / "b.age", Key("passphrase", "donkey"), tmp_path / "new", elsewhere(tmp_path), NOW)
    assert caught.value.code == "backup.passphrase"
    assert not (tmp_path / "new").exists() and leftovers(tmp_path) == []
    restore(tmp_path / "b.age", Key("passphrase", "horse 电池"), tmp_path / "new", elsewhere(tmp_path), NOW)
    assert contents(tmp_path / "new") == contents(filled.workspace.root)


def test_the_key_is_made_once(filled: Services, tmp_path: Path) -> None:
    first, second = (filled.backups.make(tmp_path / name) for name in ("a.age", "b.age"))
    assert first.new_key and not second.new_key
    restore(tmp_path / "b.age", parse_key(first.new_key), tmp_path / "new", elsewhere(tmp_path), NOW)


def test_another_key_a_wrong_kind_and_a_foreign_file_are_told_apart(filled: Services, tmp_path: Path) -> None:
    filled.backups.make(tmp_path / "b.age")
    (tmp_path / "foreign").write_text("hello")

    def code(file: str, key: Key) -> str:
        with pytest.raises(AssistantError) as caught:
            restore(tmp_path / file, key, tmp_path / "new", elsewhere(tmp_path), NOW)
        return caught.value.code

    assert code("b.age", new_key()) == "backup.key"
    assert code("b.age", Key("passphrase", "x")) == "backup.kind"
    assert code("foreign", new_key()) == "backup.foreign"
    assert code("missing", new_key()) == "backup.missing"
    assert not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Key]:
    """A small backup and its key."""
    key, stream = new_key(), io.BytesIO()
    files = [("workspace/MEMORY.md", os.urandom(9_000), 0o600), ("data/journal.jsonl", b"{}\n", 0o600)]
    encrypt(stream, key, lambda plain: write_contents(plain, files, "ws", NOW.isoformat(), "1") and None)
    return stream.getvalue(), key


def refused(data: bytes, key: Key, folder: Path) -> None:
    (folder / "b.age").write_bytes(data)
    with pytest.raises(AssistantError) as caught:
        restore(folder / "b.age", key, folder / "new", elsewhere(folder), NOW)
    assert caught.value.code.startswith("backup.")
    assert not (folder / "new").exists()
    assert leftovers(folder) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_byte_changed_anywhere_is_found(sealed: tuple[bytes, Key], tmp_path: Path, data: st.DataObject) -> None:
    whole, key = sealed
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    refused(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :], key, tmp_path)


def test_cut_off_anywhere_is_found(sealed: tuple[bytes, Key], tmp_path: Path) -> None:
    whole, key = sealed
    for size in [*range(0, len(whole), 1024), len(whole) - 1]:
        refused(whole[:size], key, tmp_path)
    refused(whole + b"x", key, tmp_path)


def test_cut_off_with_a_passphrase_too(tmp_path: Path) -> None:
    stream, key = io.BytesIO(), Key("passphrase", "p")
    encrypt(stream, key, lambda plain: write_contents(plain, [("workspace/a", b"x", 0o600)], "w", "t", "1") and None)
    refused(stream.getvalue()[:-1], key, tmp_path)


def hostile(change: Callable[[tarfile.TarInfo], None], data: bytes = b"x") -> tuple[bytes, Key]:
    """An encrypted tar with one member that we would never write."""
    key, stream = new_key(), io.BytesIO()

    def write(plain: IO[bytes]) -> None:
        with tarfile.open(fileobj=plain, mode="w|gz") as tar:
            info = tarfile.TarInfo("workspace/a.md")
            info.size = len(data)
            change(info)
            tar.addfile(info, io.BytesIO(data))

    encrypt(stream, key, write)
    return stream.getvalue(), key


def named(name: str) -> Callable[[tarfile.TarInfo], None]:
    return lambda info: setattr(info, "name", name)


def typed(kind: bytes, link: str = "") -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname, info.size = kind, link, 0

    return change


@pytest.mark.parametrize(
    "change",
    [
        named("../evil"),
        named("/tmp/evil"),
        named("workspace/../../evil"),
        named("workspace/a\\..\\b"),
        named("elsewhere/a"),
        named("workspace"),
        named("assistants-data/a"),
        typed(tarfile.SYMTYPE, "/etc/passwd"),
        typed(tarfile.LNKTYPE, "/etc/passwd"),
        typed(tarfile.CHRTYPE),
        typed(tarfile.FIFOTYPE),
        typed(tarfile.DIRTYPE),
    ],
)
def test_a_tar_made_to_harm_is_refused(change: Callable[[tarfile.TarInfo], None], tmp_path: Path) -> None:
    data, key = hostile(change)
    refused(data, key, tmp_path)
    assert not (tmp_path / "evil").exists()


def test_a_file_that_claims_to_be_huge_is_refused_unread(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        info = tarfile.TarInfo("workspace/a")
        info.size = 5 * 1024**3
        tar.fileobj.write(info.tobuf())  # type: ignore[union-attr]
    stream.seek(0)
    with pytest.raises(AssistantError) as caught:
        read_tar(stream, lambda *_: None)
    assert caught.value.code == "backup.unsafe"


def test_files_that_the_manifest_does_not_know_are_refused(tmp_path: Path) -> None:
    data, key = hostile(named("workspace/a.md"))
    refused(data, key, tmp_path)


def test_a_folder_with_files_is_left_alone(filled: Services, tmp_path: Path) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    (tmp_path / "full" / "memory").mkdir(parents=True)
    (tmp_path / "full" / "memory" / "mine.md").write_text("mine")
    with pytest.raises(AssistantError) as caught:
        restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "full", elsewhere(tmp_path), NOW)
    assert caught.value.code == "restore.not_empty"
    assert contents(tmp_path / "full").keys() == {"memory/mine.md"}
    (tmp_path / "full" / "memory" / "mine.md").unlink()
    restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "full", elsewhere(tmp_path), NOW)
    assert contents(tmp_path / "full") == contents(filled.workspace.root)


def test_what_was_kept_about_a_lost_workspace_is_put_aside(filled: Services, tmp_path: Path) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    filled.remember("newer than the backup")
    kept = filled.workspace.data
    before = contents(kept)
    filled.workspace.root.rename(tmp_path / "lost")
    (tmp_path / "lost").rename(tmp_path / "gone")
    import shutil

    shutil.rmtree(tmp_path / "gone")
    back = restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "ws", filled.paths, NOW)
    assert back.replaced is not None and contents(back.replaced) == before
    assert not back.settings, "the settings that are there stay"
    assert (kept / "journal.jsonl").read_bytes() != before["journal.jsonl"][0]


def test_a_full_disk_leaves_nothing_and_the_old_backup(
    filled: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.backups.make(tmp_path / "b.age")
    before = (tmp_path / "b.age").read_bytes()
    (filled.workspace.root / "big.bin").write_bytes(os.urandom(300_000))
    real_open = Path.open

    def small_disk(path: Path, mode: str = "r", *words: Any, **named: Any) -> Any:
        file = real_open(path, mode, *words, **named)
        return Full(file) if path.name.startswith(".~keepsake") and "w" in mode else file

    monkeypatch.setattr(Path, "open", small_disk)
    with pytest.raises(AssistantError) as caught:
        filled.backups.make(tmp_path / "b.age")
    assert caught.value.code == "disk.full"
    assert (tmp_path / "b.age").read_bytes() == before
    assert leftovers(tmp_path) == []


class Full:
    """A file on a disk that takes 100 000 bytes."""

    def __init__(self, file: Any) -> None:
        self._file, self._room = file, 100_000

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_a_file_of_somebody_else_is_not_replaced(filled: Services, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(AssistantError) as caught:
        filled.backups.make(tmp_path / "thesis.doc")
    assert caught.value.code == "backup.exists"
    assert (tmp_path / "thesis.doc").read_text() == "years of work"
    filled.backups.make(tmp_path / "thesis.doc", overwrite=True)
    filled.backups.make(tmp_path / "thesis.doc")


def test_a_backup_holds_no_backup_and_a_folder_gets_a_name(filled: Services, tmp_path: Path) -> None:
    first = filled.backups.make(filled.workspace.root)
    assert first.file.name == "keepsake-2026-11-29.tar.gz.age"
    second = filled.backups.make(tmp_path / "b.age")
    assert second.files == first.files + 1, "the list of backups is new, the backup inside is left out"
    assert [known.path for known in filled.backups.known.all()] == [second.file, first.file] or len(
        filled.backups.known.all()
    ) == 2


def test_it_is_never_put_where_the_app_keeps_its_own(filled: Services) -> None:
    with pytest.raises(AssistantError) as caught:
        filled.backups.make(filled.workspace.data / "b.age")
    assert caught.value.code == "backup.inside"


def test_writes_go_on_while_a_backup_is_made(filled: Services, tmp_path: Path) -> None:
    """Each file is of one moment: what is in the backup parses, whatever is written meanwhile."""
    import threading

    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            filled.remember(f"fact number {number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        reports = [filled.backups.make(tmp_path / f"{n}.age") for n in range(3)]
    finally:
        stop.set()
        writer.join()
    restore(reports[-1].file, parse_key(reports[0].new_key), tmp_path / "new", elsewhere(tmp_path), NOW)
    again = compose(Places(tmp_path / "new", tmp_path / "config2", tmp_path / "state2", NOW), environ={})
    try:
        assert {entry.actor for entry in again.workspace.journal.entries()} == {"you", "disk"}
        changed = [entry for entry in again.workspace.journal.entries() if entry.actor == "disk"]
        assert {entry.path for entry in changed} <= {"memory/old.md", "memory/empty.md"}, "files and journal fit"
    finally:
        again.close()


def test_what_is_forgotten_leaves_the_backups_that_the_keyring_opens(filled: Services, tmp_path: Path) -> None:
    place = BackupPlace(filled.backups, "ws")
    assert place.remaining(["likes oolong tea"]) == 0 and place.hint == ""
    report = filled.backups.make(tmp_path / "b.age")
    filled.backups.make(tmp_path / "other.age")
    assert place.remaining(["likes oolong tea"]) == 2
    place.scrub(["likes oolong tea"])
    assert place.remaining(["likes oolong tea"]) == 0
    assert leftovers(tmp_path) == []
    restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "new", elsewhere(tmp_path), NOW)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "new").rglob("*") if path.is_file())
    again = compose(Places(tmp_path / "new", tmp_path / "config2", tmp_path / "state2", NOW), environ={})
    changes = {entry.summary: entry.can_undo for entry in again.workspace.journal.entries()}
    again.close()
    assert changes["Remembered: 喜欢乌龙茶"] and not all(changes.values()), "what was about it cannot be taken back"
    assert b"oolong" not in everything and "喜欢乌龙茶".encode() in everything
    untouched = {name: what for name, what in contents(filled.workspace.root).items() if name != "MEMORY.md"}
    assert untouched.items() <= contents(tmp_path / "new").items(), "all else is byte for byte as it was"


def test_backups_that_cannot_be_looked_into_count_and_are_named(filled: Services, tmp_path: Path) -> None:
    place = BackupPlace(filled.backups, "ws")
    stick = tmp_path / "stick"
    stick.mkdir()
    filled.backups.make(stick / "away.age")
    filled.backups.make(tmp_path / "p.age", "horse")
    stick.rename(tmp_path / "unplugged")
    place.scrub(["oolong"])
    assert place.remaining(["oolong"]) == 2
    assert "away.age" in place.hint and "p.age" in place.hint
    (tmp_path / "p.age").unlink()
    (tmp_path / "unplugged").rename(stick)
    (stick / "away.age").unlink()
    assert place.remaining(["oolong"]) == 0 and place.hint == "", "what was deleted counts no more"


def test_all_assistants_are_in_it_and_come_back_with_their_journals(filled: Services, tmp_path: Path) -> None:
    filled.assistants.add("Ada", "You are Ada.")
    ada = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state", NOW, "Ada"), environ={})
    ada.remember("proofs at night")
    ada.backups = BackupService(ada.workspace, ada.paths, filled.backups._keyring, ada.assistants)
    report = ada.backups.make(tmp_path / "b.age")
    assert [known.path for known in filled.backups.known.all()] == [tmp_path / "b.age"], "known to all of them"
    journal = ada.workspace.journal.entries()
    ada.close()
    restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "new", elsewhere(tmp_path), NOW)
    assert contents(tmp_path / "new") == contents(tmp_path / "ws")
    again = compose(Places(tmp_path / "new", tmp_path / "config2", tmp_path / "state2", NOW, "Ada"), environ={})
    try:
        assert again.workspace.journal.entries() == journal
        assert again.assistants.prompt("Ada").strip() == "You are Ada."
    finally:
        again.close()


def test_what_one_assistant_forgets_stays_with_the_other(filled: Services, tmp_path: Path) -> None:
    filled.assistants.add("Ada")
    ada = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state", NOW, "Ada"), environ={})
    ada.backups = BackupService(ada.workspace, ada.paths, filled.backups._keyring, ada.assistants)
    ada.remember("likes oolong tea")
    report = filled.backups.make(tmp_path / "b.age")
    place = BackupPlace(ada.backups, "ws")
    place.scrub(["likes oolong tea"])
    assert place.remaining(["likes oolong tea"]) == 0
    ada.close()
    assert BackupPlace(filled.backups, "ws").remaining(["likes oolong tea"]) == 1
    restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "new", elsewhere(tmp_path), NOW)
    assert "oolong" in (tmp_path / "new" / "MEMORY.md").read_text()
    assert "oolong" not in (tmp_path / "new" / "assistants" / "Ada" / "MEMORY.md").read_text()


def test_a_disk_that_fills_while_restoring_leaves_nothing(
    filled: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    before = sorted(tmp_path.rglob("*"))

    def full(_: object, path: Path, *__: object) -> None:
        if path.name == "picture.png":
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("assistant.runtime.restoring._Stage._write", full)
    with pytest.raises(AssistantError) as caught:
        restore(tmp_path / "b.age", parse_key(report.new_key), tmp_path / "new", filled.paths, NOW)
    assert caught.value.code == "disk.full" and "picture.png" in caught.value.message
    assert sorted(path for path in tmp_path.rglob("*") if path.name != "restore.lock") == before


def test_a_name_that_parts_folders_on_windows_is_left_out_and_named(filled: Services, tmp_path: Path) -> None:
    (filled.workspace.root / "memory" / "a\\b.md").write_text("x")
    report = filled.backups.make(tmp_path / "b.age")
    assert report.skipped == ("workspace/leads-out", "workspace/memory/a\\b.md")


class Killed(BaseException):
    """Stands for a process that ends at once."""


@pytest.mark.parametrize("step", ["take", "prove", "_keep_data"])
def test_what_a_killed_restore_unpacked_goes_with_the_next_start(
    filled: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    backup = filled.backups.make(tmp_path / "b.age")
    root, key, paths = tmp_path / "new" / "ws", parse_key(backup.new_key), elsewhere(tmp_path)
    calls: list[int] = []

    def killed(*given: Any) -> None:
        calls.append(1)
        if len(calls) > 8 or step != "take":
            raise Killed
        real(*given)

    owner = restoring if step == "_keep_data" else restoring._Stage
    real = getattr(owner, step)
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, killed)
        patched.setattr(restore_staging.shutil, "rmtree", lambda *_, **__: None)  # nothing is tidied either
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(Killed):
            restore(tmp_path / "b.age", key, root, paths, NOW)
    there = [path for path in tmp_path.rglob("*restore-*") if path.is_dir()]
    assert there
    restore_staging.sweep_restores(paths)
    assert leftovers(tmp_path) == []
    if step == "_keep_data":  # the workspace is in its place already: what was kept about it is kept too
        assert [path.name for path in paths.data.glob("replaced/*/journal.jsonl")] == ["journal.jsonl"]
    else:
        assert not (paths.data / "replaced").exists()
        restore(tmp_path / "b.age", key, root, paths, NOW)
        assert contents(root) == contents(filled.workspace.root, ("leads-out",))


def test_what_a_killed_backup_left_goes_with_a_later_one(filled: Services, tmp_path: Path) -> None:
    left, running = tmp_path / ".~keepsake-1-0a0a0a0a", tmp_path / ".~keepsake-2-0b0b0b0b"
    for path in (left, running):
        path.write_bytes(b"half")
    (tmp_path / ".~keepsake-folder").mkdir()
    for path in (left, tmp_path / ".~keepsake-folder"):
        os.utime(path, (1, 1))
    filled.backups.make(tmp_path / "b.age")
    assert sorted(leftovers(tmp_path)) == [running.name, ".~keepsake-folder"]


def test_a_folder_and_a_pipe_are_no_backup_and_nobody_waits_for_them(filled: Services, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/")):
        with pytest.raises(AssistantError) as caught:
            filled.backups.restore(path, tmp_path / "new", "")
        assert caught.value.code == "backup.foreign"


def test_it_is_restored_neither_into_a_workspace_nor_where_the_app_keeps_its_own(
    filled: Services, tmp_path: Path
) -> None:
    report = filled.backups.make(tmp_path / "b.age")
    own = filled.paths.data / "workspaces" / "inside"
    for place, code in ((filled.workspace.root / "memory" / "inside", "restore.inside"), (own, "backup.inside")):
        with pytest.raises(AssistantError) as caught:
            restore(tmp_path / "b.age", parse_key(report.new_key), place, filled.paths, NOW)
        assert caught.value.code == code and not place.exists()
