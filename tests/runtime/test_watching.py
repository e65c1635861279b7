"""Changes of the workspace's files are noticed however they come about, and where they cannot be it is said."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.runtime import drives, watching
from assistant.runtime.drives import file_system
from assistant.runtime.settling import Settler
from assistant.runtime.watching import FolderWatch, WatchState, matters


class Watched:
    """A folder under watch, and whether a change was told since one last looked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.told: list[WatchState] = []
        self._changed = threading.Event()
        self.watch = FolderWatch(root, self._changed.set, self.told.append)

    def after(self, act: Callable[[], object], seconds: float = 10.0) -> bool:
        """Whether doing that is noticed."""
        self._changed.clear()
        act()
        return self._changed.wait(seconds)

    def unnoticed(self, act: Callable[[], object]) -> bool:
        """Whether doing that is not noticed, by what comes after it being the first that is."""
        self._changed.clear()
        act()
        early = self._changed.is_set()
        return not early and self.after(lambda: (self.root / "MEMORY.md").write_text("after it"))


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    root = tmp_path / "Keepsake"
    for folder in ("memory/log", "chats/2026-11", "assistants/work/memory", "memory/old/deep"):
        (root / folder).mkdir(parents=True)
    (root / "memory/old/deep/a.md").write_text("- apple\n")
    made = Watched(root)
    made.watch.start()
    yield made
    made.watch.stop()


@pytest.mark.parametrize("file", ["MEMORY.md", "memory/🐘.md", "chats/2026-11/20261101_100000.md", "memory/a.json"])
def test_a_new_file_a_change_and_its_end_are_noticed(watched: Watched, file: str) -> None:
    path = watched.root / file
    assert watched.after(lambda: path.write_text("- tea\n"))
    assert watched.after(lambda: path.write_text("- oolong\n"))
    assert watched.after(lambda: path.rename(path.with_name(f"b{path.suffix}")))
    assert watched.after(lambda: path.with_name(f"b{path.suffix}").unlink())


def test_what_an_editor_or_we_ourselves_put_in_place_is_noticed(watched: Watched) -> None:
    temporary = watched.root / "memory" / ".~keepsake-1-abcd"
    temporary.write_text("- tea\n")
    assert watched.after(lambda: temporary.replace(watched.root / "memory" / "tea.md"))


def test_folders_that_come_move_and_go_are_noticed_and_what_is_in_them_later(watched: Watched, tmp_path: Path) -> None:
    memory, outside = watched.root / "memory", tmp_path / "outside"
    assert watched.after(lambda: (memory / "new/deeper").mkdir(parents=True))
    assert watched.after(lambda: (memory / "new/deeper/note.md").write_text("- tea\n"))
    assert watched.after(lambda: (memory / "old").rename(memory / "renamed"))
    assert watched.after(lambda: (memory / "renamed/deep/a.md").write_text("- quince\n"))
    assert watched.after(lambda: (memory / "renamed").rename(outside))
    assert watched.after(lambda: outside.rename(memory / "back"))
    assert watched.after(lambda: (memory / "back/deep/a.md").write_text("- cherry\n"))
    assert watched.after(lambda: shutil.rmtree(memory / "back"))


def test_a_folder_that_is_replaced_by_another_is_watched(watched: Watched, tmp_path: Path) -> None:
    memory = watched.root / "memory"
    other = tmp_path / "other"
    other.mkdir()
    (other / "tea.md").write_text("- tea\n")
    assert watched.after(lambda: (memory.rename(tmp_path / "before"), other.rename(memory)))
    assert watched.after(lambda: (memory / "tea.md").write_text("- oolong\n"))
    assert watched.after(lambda: (memory / "more.md").write_text("- cups\n"))


def test_a_root_that_is_replaced_or_comes_back_is_watched(watched: Watched, tmp_path: Path) -> None:
    away = tmp_path / "away"
    watched.root.rename(away)
    assert watched.after(watched.watch.tick)
    assert watched.watch.state == WatchState("polling", watching.GONE)
    (watched.root / "memory").mkdir(parents=True)
    assert watched.after(watched.watch.tick)
    assert watched.watch.state == WatchState("events")
    assert watched.after(lambda: (watched.root / "memory/tea.md").write_text("- tea\n"))


@pytest.mark.parametrize(
    "file",
    [
        "memory/.~keepsake-1-ab.md",
        "memory/.tea.md.swp",
        "memory/picture.png",
        "assistants/work/memory/a.md",
        ".git/x.md",
        "memory/tea.txt",
        "x.json",
    ],
)
def test_what_is_nobodys_note_is_not_told(watched: Watched, file: str) -> None:
    assert not matters(watched.root, watched.root / file, folder=False)
    (watched.root / ".git").mkdir()
    assert watched.unnoticed(lambda: (watched.root / file).write_text("x"))


def test_an_assistants_own_folder_is_watched_where_it_is_the_root(tmp_path: Path) -> None:
    root = tmp_path / "Keepsake/assistants/work"
    (root / "memory").mkdir(parents=True)
    own = Watched(root)
    own.watch.start()
    assert own.after(lambda: (root / "memory/tea.md").write_text("- tea\n"))
    own.watch.stop()


def test_where_the_limit_of_watched_folders_is_reached_it_looks_now_and_then_and_says_so(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchdog.observers import Observer

    def schedule(observer: object, *arguments: object, **options: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "schedule", schedule)
    _look_always(monkeypatch)
    watched.watch.start()
    assert watched.watch.state == WatchState("polling", watching.LIMIT) and watched.told[-1] == watched.watch.state
    watched.watch.tick()
    (watched.root / "memory/tea.md").write_text("- tea\n")
    assert watched.after(watched.watch.tick)


def test_a_limit_that_only_folders_below_reach_is_noticed(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(observer: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watching, "_probe", full)
    watched.watch.start()
    assert watched.watch.state == WatchState("polling", watching.LIMIT)


def test_a_network_drive_is_looked_at_now_and_then(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "is_remote", lambda root: True)
    watched.watch.start()
    assert watched.watch.state == WatchState("polling", watching.REMOTE)


def test_what_no_event_told_of_is_seen_in_time(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched.watch, "_on_event", lambda event: None)  # a queue that overflowed
    _look_always(monkeypatch)
    watched.watch.start()
    (watched.root / "memory/tea.md").write_text("- tea\n")
    os.utime(watched.root / "memory/tea.md", (1, 1))
    assert watched.after(watched.watch.tick)
    assert watched.watch.state.how == "events"
    assert not watched.after(watched.watch.tick, 0)


def _look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(watching, "_DOUBT_SECONDS", 0.0)
    monkeypatch.setattr(watching, "_MOST_SHARE", 1e9)


def test_a_look_that_is_told_to_stop_does(watched: Watched) -> None:
    watched.watch.stop()
    watched.watch.tick()
    watched.watch.start()
    assert watched.watch.state.how == "events" and not watched.after(
        lambda: (watched.root / "MEMORY.md").write_text("x"), 0
    )


MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /mnt/nas rw - cifs //nas/home rw
31 22 0:31 / /mnt/nas\040two rw shared:5 - nfs4 nas:/export rw
32 22 0:32 / /mnt/nas/local rw - ext4 /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/x/Keepsake", "ext4"),
        ("/mnt/nas/Keepsake", "cifs"),
        ("/mnt/nas", "cifs"),
        ("/mnt/nas two/Keepsake", "nfs4"),
        ("/mnt/nas/local/Keepsake", "ext4"),
        ("/mnt/nasty", "ext4"),
    ],
)
def test_the_file_system_of_a_folder_is_found(folder: str, kind: str) -> None:
    assert file_system(MOUNTS, folder) == kind
    assert file_system("", folder) == file_system("no such line\n", folder) == ""


def test_a_folder_on_a_server_is_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"30 22 0:30 / {os.path.realpath(tmp_path)} rw - fuse.sshfs host:/ rw\n")
    monkeypatch.setattr(drives, "_MOUNTS", mounts)
    assert drives.is_remote(tmp_path) and not drives.is_remote(Path("/"))
    monkeypatch.setattr(drives, "_MOUNTS", tmp_path / "none")
    assert not drives.is_remote(tmp_path)


class TestSettler:
    def test_a_burst_is_one_act(self) -> None:
        acts: list[int] = []
        done = threading.Event()
        settler = Settler(lambda: (acts.append(1), done.set())[0], 0.05, 10)
        for _ in range(5_000):
            settler.sign()
        assert done.wait(10)
        settler.close()
        assert len(acts) == 1

    def test_a_burst_that_does_not_end_is_acted_upon_all_the_same(self) -> None:
        done = threading.Event()
        settler = Settler(done.set, 1_000, 0.05)
        stop = CancelToken()
        while not done.wait(0.001):
            settler.sign()
        stop.cancel()
        settler.close()

    def test_what_comes_while_it_acts_is_acted_upon_after_that(self) -> None:
        acts: list[int] = []
        twice = threading.Event()

        def act() -> None:
            acts.append(1)
            if len(acts) == 1:
                settler.sign()
            else:
                twice.set()

        settler = Settler(act, 0, 0)
        settler.sign()
        assert twice.wait(10)
        settler.close()
        settler.sign()
        assert len(acts) == 2

    @pytest.mark.logs("what follows a burst")
    def test_an_act_that_fails_is_followed_by_the_next(self) -> None:
        acts: list[int] = []
        twice = threading.Event()

        def act() -> None:
            acts.append(1)
            if len(acts) == 2:
                twice.set()
            else:
                settler.sign()
                raise OSError("the disk is gone")

        settler = Settler(act, 0, 0)
        settler.sign()
        assert twice.wait(10)
        settler.close()
