"""A write happens wholly or not at all, says in words what went wrong, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace import safe_files
from assistant.workspace.safe_files import append_durably, locked, remove_stale_temps, write_atomic, write_over


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)], capture_output=True, text=True, check=False
    )


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_new_file_is_for_its_owner_only(tmp_path):
    write_atomic(tmp_path / "a", b"x")
    append_durably(tmp_path / "b", b"y")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"] == [0o600, 0o600]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, call, code):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(AssistantError) as failed:
        write_atomic(path, b"new" * 1000)
    monkeypatch.undo()
    expected = {errno.ENOSPC: "disk.full", errno.EROFS: "workspace.read_only", errno.EIO: "workspace.io"}
    assert failed.value.code == expected[code]
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_failed_append_takes_back_what_it_wrote(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    path.write_bytes(b"old\n")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(AssistantError) as failed:
        append_durably(path, b"new\n")
    assert failed.value.code == "disk.full"
    assert path.read_bytes() == b"old\n"


def test_a_disk_that_fills_in_the_middle_of_a_write(tmp_path):
    done = run(
        """
        import resource, sys, pathlib
        from assistant.core.errors import AssistantError
        from assistant.workspace.safe_files import append_durably, write_atomic
        folder = pathlib.Path(sys.argv[1])
        (folder / "a").write_bytes(b"o" * 3000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        for work in (write_atomic, append_durably):
            try:
                work(folder / "a", b"n" * 5000)
            except AssistantError as error:
                print(error.code)
        """,
        tmp_path,
    )
    assert done.stdout.split() == ["disk.full", "disk.full"], done.stderr
    assert (tmp_path / "a").read_bytes() == b"o" * 3000
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_is_gone(tmp_path):
    with pytest.raises(AssistantError) as failed:
        write_atomic(tmp_path / "no" / "a", b"x")
    assert failed.value.code == "workspace.gone"


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_an_editor_that_replaces_the_file_in_between_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old\n")
    original, calls = os.fsync, []

    def replaced(descriptor: int) -> None:
        original(descriptor)
        if not calls:
            calls.append(1)
            (tmp_path / "b").write_bytes(b"edited\n")
            (tmp_path / "b").rename(path)

    monkeypatch.setattr(os, "fsync", replaced)
    append_durably(path, b"added\n")
    assert path.read_bytes() == b"edited\nadded\n"


def test_a_lock_keeps_other_threads_out(tmp_path):
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with locked(tmp_path / "locks" / "l"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80
    assert set(most) == {1}


def test_a_killed_writer_leaves_the_old_text_or_the_new(tmp_path):
    path = tmp_path / "a"
    for delay in range(12):
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(
                    """
                    import sys, pathlib
                    from assistant.workspace.safe_files import write_atomic
                    path = pathlib.Path(sys.argv[1])
                    print("ready", flush=True)
                    for n in range(100000):
                        write_atomic(path, (f"{n}" * 20000).encode())
                        print(n, flush=True)
                    """
                ),
                str(path),
            ],
            stdout=subprocess.PIPE,
        )
        assert process.stdout
        for _ in range(delay + 2):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        text = path.read_text()
        number = text[: len(text) // 20000]
        assert text == number * 20000
    temps = [p for p in tmp_path.iterdir() if p.name.startswith(".~keepsake-")]
    assert remove_stale_temps(tmp_path, 1e12) == len(temps)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("meanwhile", "done", "left"),
    [
        (None, True, b"ours"),
        (b"by hand", False, b"by hand"),
        (b"old and more", True, b"ours and more"),
        (b"", False, b""),
    ],
)
@pytest.mark.parametrize("by_rename", [True, False])
def test_what_an_editor_saves_at_the_very_moment_is_not_overwritten(
    tmp_path, monkeypatch, meanwhile, done, left, by_rename
):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    original = safe_files.exchange

    def late(one, other):
        monkeypatch.setattr(safe_files, "exchange", original)
        if meanwhile is not None and by_rename:
            (tmp_path / "b").write_bytes(meanwhile)
            (tmp_path / "b").replace(path)
        elif meanwhile is not None:
            path.write_bytes(meanwhile)
        return original(one, other)

    monkeypatch.setattr(safe_files, "exchange", late)
    assert write_over(path, b"ours", b"old") is done
    assert path.read_bytes() == left
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_new_file_takes_no_name_that_is_taken(tmp_path):
    assert write_over(tmp_path / "a", b"one", None)
    assert not write_over(tmp_path / "a", b"two", None)
    assert not write_over(tmp_path / "missing", b"two", b"one")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"one")]


def test_where_two_files_cannot_change_places_one_replaces_the_other(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(safe_files, "exchange", lambda *_: False)
    assert write_over(tmp_path / "a", b"new", b"old")
    assert not write_over(tmp_path / "a", b"newer", b"old")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"new")]
