"""The optional git history: a commit a change, nothing private, nothing forgotten, and never in the way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, Notice, TurnFinished
from assistant.core.values import Done, Receipt, StopReason
from assistant.runtime.checks import run_checks
from assistant.runtime.composition import Places, compose
from assistant.runtime.keeping_checks import keeping_checks
from assistant.runtime.services import Services

WORD = "quixotonal"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), environ={})
    yield made
    made.close()


def settle(services: Services) -> None:
    """All that waits on the lane is done."""
    services.lanes.keeping.submit(lambda: None).result()


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, encoding="utf-8", check=True, timeout=60)
    return done.stdout


def say(services: Services, chat: str, words: str) -> None:
    turn = services.workspace.chats.begin_turn(chat, words).n
    services.workspace.chats.end_turn(chat, turn, f"You said {words}.")
    done = Done(StopReason.END, "", 1, 1, 0, 1.0, 1.0)
    services._emit(TurnFinished(chat, turn, done, Receipt(chat, turn, "", (), (), 0, 0, ""), 1))


def holding(root: Path, word: str) -> list[str]:
    """Objects and files of the repository that hold a word, decompressed, as git itself reads them."""
    listed = git(root, "cat-file", "--batch-all-objects", "--batch-check").split("\n")
    idents = [line.split()[0] for line in listed if line]
    found = [i for i in idents if word in git(root, "cat-file", "-p", i)]
    files = [str(path) for path in (root / ".git").rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return found + files


def test_one_commit_a_change_with_who_and_what(services: Services) -> None:
    services.remember("before")
    assert services.history.turn_on() == 1
    services.remember("likes oolong")
    services.workspace.memory.remember("quiet hotels", topic="Travel", actor="assistant")
    (services.workspace.root / "MEMORY.md").write_text("by hand\n")
    services.workspace.memory.note_disk_changes()
    settle(services)
    log = services.history.log()
    assert [(each.author, each.files) for each in log] == [
        ("another program", ("MEMORY.md",)),
        ("assistant", ("memory/Travel.md",)),
        ("you", ("MEMORY.md",)),
        ("another program", ("MEMORY.md",)),
    ]
    assert log[2].message == "Remembered: likes oolong"
    root = services.workspace.root
    assert git(root, "status", "--porcelain") == "", "git itself finds all as it should be"
    assert git(root, "show", "HEAD~2:MEMORY.md").endswith("likes oolong\n")
    assert git(root, "fsck", "--strict") == ""
    assert (root / ".git").stat().st_mode & 0o777 == 0o700


def test_off_is_the_default_and_off_again_keeps_what_is_there(services: Services) -> None:
    services.remember("tea")
    settle(services)
    assert not (services.workspace.root / ".git").exists()
    services.history.turn_on()
    services.history.turn_off()
    services.remember("coffee")
    settle(services)
    assert len(services.history.log()) == 1


def test_a_chat_is_committed_at_the_end_of_a_turn_but_no_private_one(services: Services) -> None:
    services.history.turn_on()
    root = services.workspace.root
    open_chat, private = services.new_chat("Tea"), services.new_chat("Secret", private=True)
    for words in ("an open word", "and another"):
        say(services, open_chat, words)
    say(services, private, WORD)
    settle(services)
    file = services.workspace.chats.path(open_chat).relative_to(root).as_posix()
    log = services.history.log(2)
    assert [(each.files, each.message) for each in log] == [
        ((file,), f"Chat {open_chat}, turn 2"),
        ((file,), f"Chat {open_chat}, turn 1"),
    ]
    assert holding(root, WORD) == []
    services.history.turn_on()
    settle(services)
    assert holding(root, WORD) == [], "nor when all is looked through again"


def test_a_chat_that_becomes_private_or_is_deleted_for_good_leaves_all_commits(services: Services) -> None:
    services.history.turn_on()
    root = services.workspace.root
    for end in (lambda chat: services.set_private(chat, True), services.deletion.purge):
        chat = services.new_chat("Tea")
        say(services, chat, WORD)
        say(services, chat, f"{WORD} again")
        services.remember(f"a fact after {chat}")
        settle(services)
        assert holding(root, WORD)
        end(chat)
        settle(services)
        assert holding(root, WORD) == []
        assert git(root, "fsck", "--strict") == ""
    assert len([each for each in services.history.log() if each.message.startswith("Remembered")]) == 2


def test_what_is_forgotten_leaves_all_commits_also_packed_ones(services: Services) -> None:
    services.history.turn_on()
    root = services.workspace.root
    services.remember(f"the {WORD} soup 石榴汤")
    services.remember("likes oolong")
    settle(services)
    git(root, "gc", "--quiet")
    git(root, "branch", "kept-by-hand")
    services.remember("rye bread")
    settle(services)
    place = services.history.place
    assert place.remaining([f"the {WORD} soup 石榴汤"]) > 0
    services.workspace.memory.save("MEMORY.md", "nothing\n", services.workspace.memory.read("MEMORY.md").sha256)
    settle(services)
    place.scrub([f"the {WORD} soup 石榴汤"])
    assert place.remaining([f"the {WORD} soup 石榴汤"]) == 0
    assert holding(root, WORD) == []
    assert git(root, "fsck", "--strict") == ""
    assert "oolong" in git(root, "show", "HEAD~1:MEMORY.md"), "the rest is still there"
    assert git(root, "status", "--porcelain") == ""
    services.remember("after it")
    settle(services)
    assert services.history.log(1)[0].message == "Remembered: after it"


def test_a_repository_of_the_person_is_left_alone_unless_they_say_so(services: Services) -> None:
    root = services.workspace.root
    git(root, "init", "-q", "-b", "mine")
    (root / "thesis.tex").write_text("years")
    git(root, "add", "thesis.tex")
    git(root, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "mine")
    head = git(root, "rev-parse", "HEAD")
    with pytest.raises(AssistantError) as caught:
        services.history.turn_on()
    assert caught.value.code == "history.foreign" and "--existing" in caught.value.hint
    assert git(root, "rev-parse", "HEAD") == head
    services.remember(WORD)
    services.history.turn_on(existing=True)
    assert git(root, "log", "--format=%s", "mine").count("\n") == 2
    assert "thesis.tex" in git(root, "ls-tree", "--name-only", "HEAD"), "what was committed stays"
    services.history.place.scrub([WORD])
    assert services.history.place.remaining([WORD]) > 0, "it is not rewritten, and the proof says so"


def test_a_broken_repository_stops_no_write_and_is_told_once(services: Services) -> None:
    services.history.turn_on()
    events: list[Event] = []
    services.subscribe(events.append)
    (services.workspace.root / ".git" / "HEAD").unlink()
    (services.workspace.root / ".git" / "config").write_text("[broken")
    services.remember("tea")
    services.remember("coffee")
    settle(services)
    assert "coffee" in (services.workspace.root / "MEMORY.md").read_text()
    told = [event.text for event in events if isinstance(event, Notice)]
    assert len(told) == 1 and "git history" in told[0]


def test_what_was_left_uncommitted_is_caught_up(services: Services, tmp_path: Path) -> None:
    services.history.turn_on()
    services.close()
    (tmp_path / "ws" / "memory" / "new.md").write_text("written while closed")
    again = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), environ={})
    again.history.start()
    again.close()
    assert git(tmp_path / "ws", "show", "HEAD:memory/new.md") == "written while closed"


def test_a_file_that_cannot_be_read_for_a_moment_is_not_committed_as_gone(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.remember("likes oolong")
    services.history.turn_on()

    def held(path: Path) -> bytes:
        raise AssistantError("disk.read", f"{path} cannot be read: Permission denied.")

    with monkeypatch.context() as patch:
        patch.setattr("assistant.runtime.history.read_bytes", held)
        services.remember("likes tea")
        settle(services)
        services.history.start()
        settle(services)
    assert "likes oolong" in git(services.workspace.root, "show", "HEAD:MEMORY.md")


def test_no_git_of_the_person_is_asked(services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither identity nor hooks nor configuration of the person's take part."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[user]\nname = Somebody\n[commit]\ngpgsign = true\n[init]\ndefaultBranch = odd\ntemplateDir = /nowhere\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "")
    services.history.turn_on()
    services.remember("tea")
    settle(services)
    assert [each.author for each in services.history.log()] == ["you"]


def test_nobody_else_can_read_the_repository(services: Services) -> None:
    before = os.umask(0o022)
    try:
        services.history.turn_on()
        services.remember(WORD)
        settle(services)
        services.history.place.scrub([WORD])
        services.remember("tea")
        settle(services)
    finally:
        os.umask(before)
    root = services.workspace.root
    assert [path.name for path in (root / ".git").rglob("*") if path.is_file() and path.stat().st_mode & 0o077] == []
    permissions = next(check for check in run_checks(services) if check.name == "permissions")
    assert permissions.ok, permissions.detail


def test_the_doctor_says_how_backups_and_history_stand(services: Services) -> None:
    def found() -> dict[str, bool]:
        return {name: ok for name, ok, _, _ in keeping_checks(services)}

    assert found() == {"backup": True, "history": True}
    services.history.turn_on()
    assert found()["history"]
    (services.workspace.root / ".git" / "HEAD").unlink()
    assert not found()["history"]


def test_another_process_turns_it_on(services: Services, tmp_path: Path) -> None:
    services.remember("tea")
    other = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), environ={})
    other.history.turn_on()
    other.close()
    services.remember("coffee")
    settle(services)
    assert services.history.log()[0].message == "Remembered: coffee"


def test_a_day_log_that_an_import_writes_is_in_no_commit(services: Services, tmp_path: Path) -> None:
    log = tmp_path / "bot" / "memory" / "log" / "2026-09-10.md"
    log.parent.mkdir(parents=True)
    log.write_text(f"- 10:00 · {WORD}\n")
    (tmp_path / "bot" / "MEMORY.md").write_text("likes plums\n")
    services.history.turn_on()
    done = services.importing.run("openmausbot", tmp_path / "bot", CancelToken(), lambda *_: None)
    services.importing.undo(done.id)
    settle(services)
    assert holding(services.workspace.root, WORD) == []
    assert holding(services.workspace.root, "plums") != []


def test_a_log_in_a_repository_of_ones_own_stays_there(services: Services) -> None:
    root = services.workspace.root
    (root / "memory" / "log").mkdir(parents=True)
    (root / "memory" / "log" / "2026-09-10.md").write_text("mine\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "memory/log/2026-09-10.md")
    git(root, "-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", "mine")
    services.remember("likes oolong")
    services.history.turn_on(existing=True)
    settle(services)
    assert git(root, "ls-files").split() == ["MEMORY.md", "memory/log/2026-09-10.md"]


@pytest.mark.parametrize("left", ["index.lock", "refs/heads/main.lock", "HEAD.lock"])
def test_a_lock_that_a_killed_program_left_is_cleared(services: Services, left: str) -> None:
    services.history.turn_on()
    services.remember("before")
    settle(services)
    root = services.workspace.root
    (root / ".git" / left).touch()
    os.utime(root / ".git" / left, (1, 1))
    services.remember("behind")
    settle(services)
    assert git(root, "log", "-1", "--format=%s").strip() == "Remembered: behind"
    assert git(root, "status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"nonsense" * 40])
def test_a_damaged_index_is_made_anew(services: Services, damage: bytes) -> None:
    services.history.turn_on()
    services.remember("before")
    settle(services)
    root = services.workspace.root
    (root / ".git" / "index").write_bytes(damage)
    services.remember("behind")
    settle(services)
    assert git(root, "log", "-1", "--format=%s").strip() == "Remembered: behind"
    assert git(root, "status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.parametrize("cut", [None, 0, 9])
@pytest.mark.parametrize("which", ["HEAD", "HEAD^{tree}", "HEAD:MEMORY.md"])
def test_a_damaged_object_is_said_in_words(services: Services, which: str, cut: int | None) -> None:
    services.history.turn_on()
    services.remember("before")
    settle(services)
    root = services.workspace.root
    ident = git(root, "rev-parse", which).strip()
    path = root / ".git" / "objects" / ident[:2] / ident[2:]
    data = path.read_bytes()
    path.unlink()
    if cut is not None:
        path.write_bytes(data[:cut])
    for ask in (services.history.log, lambda: services.history.place.remaining(["before"])):
        try:
            ask()
        except AssistantError as error:
            assert error.code == "history.broken"
