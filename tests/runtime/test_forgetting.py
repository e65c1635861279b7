"""Forgetting with proof: nothing of it is left in any byte, and until then it can be brought back."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from assistant.chat.prompt import PromptBuilder, PromptRules, Question
from assistant.chat.turn import receipt_of
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, Notice
from assistant.core.values import RecallQuery
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.workspace.forget_pending import FOLDER
from assistant.workspace.memory import Conflict
from assistant.workspace.thoughts import Thought
from tests.fakes import FakeEngine

FACT = "the vault code of Zephyria is quixotonal 4711"
CHINESE = "石榴汤的暗号是青蛙王子"
NEEDLES = ("quixotonal", "zephyria", "石榴汤", "青蛙王子")


def open_services(folder: Path) -> Services:
    return compose(Places(folder / "ws", folder / "config", folder / "st"), {})


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = open_services(tmp_path)
    yield made
    made.close()


def traces(folder: Path) -> list[str]:
    """Files in which `strings` would find one of the words, in UTF-8, UTF-16 or escaped."""
    forms = [
        form for word in NEEDLES for form in (word.encode(), word.encode("utf-16-le"), json.dumps(word)[1:-1].encode())
    ]
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if any(form in path.read_bytes().lower() for form in forms)]


def talk(services: Services, title: str, text: str, reply: str) -> str:
    """A turn as it is kept, with its receipt and its line in the day log."""
    chat = services.new_chat(title)
    turn = services.workspace.chats.begin_turn(chat, text)
    read = services.read_chat(chat)
    rules = PromptRules(4096, 256)
    builder = PromptBuilder(services.workspace, services.recall, services.receipts, FakeEngine(), rules)
    draft = builder.build(Question(read, (), text, turn.n))
    services.receipts.add_row(chat, draft.row)
    services.receipts.add(receipt_of(draft, chat, turn.n))
    services.workspace.chats.end_turn(chat, turn.n, reply)
    services.workspace.log.add(services.workspace.clock(), title, text)
    return chat


def fill(services: Services, folder: Path) -> str:
    """The fact wherever it may stand; returns the id of its unit. Other memory stands beside it."""
    memory = services.workspace.memory
    memory.remember("bike stands in the cellar")
    ident = memory.remember(FACT).id
    memory.remember(CHINESE)
    memory.remember(FACT, topic="codes")
    memory.remember(f"note: {FACT.upper()}, they say", topic="codes")
    (folder / "ws" / "memory" / "archive.md").write_text(f"2020-01-01|you|~~{FACT}~~ · superseded 2021-01-01\n")
    (folder / "ws" / "MEMORY (conflict copy).md").write_text(f"2020-01-01|you|{FACT}\n")
    (folder / "ws" / ".~keepsake-77-abcd").write_text(FACT)
    memory.note_disk_changes()
    chat = talk(services, "Codes", f"please remember: {FACT}", "Sure.")
    other = talk(services, "Later", "what is the vault code of Zephyria?", "I do not know.")
    talk(services, FACT[:40] + "…", f"{CHINESE}。", "好的。")
    assert any("quixotonal" in line.text for line in services.receipts.get(other, 1).lines)  # type: ignore[union-attr]
    services.workspace.chats.keep_partial(chat, 1, f"half of {FACT}")
    (services.paths.state / "logs").mkdir(exist_ok=True)
    (services.paths.state / "logs" / "keepsake.log").write_text(f"ERROR {FACT}\n")
    (services.workspace.state / "draft.json").write_text(json.dumps({"draft": [f'"{FACT}"', f"{CHINESE}\n"]}))
    deleted = talk(services, "Gone", f"again: {FACT}", "Yes, yes.")
    services.delete_chat(deleted)
    services.recall.sync(CancelToken())
    return ident


def test_nothing_is_left_of_a_fact_in_any_byte_of_any_place(services: Services, tmp_path: Path) -> None:
    ident = fill(services, tmp_path)
    service = services.forgetting
    plan = service.plan(ident)
    counts = dict(service.counted(plan))
    assert {"files", "chats", "index", "journal", "receipts", "deleted chats", "state", "logs", "search"} <= set(counts)
    report = service.now(plan)
    assert [(place.place, place.remaining) for place in report.searched if place.remaining] == []
    assert "quixotonal" not in "".join(Path(path).read_text(errors="replace") for path in traces(tmp_path)).lower()
    assert service.now(service.plan("青蛙王子")).clean
    services.close()
    assert [path for path in traces(tmp_path) if "quixotonal" in Path(path).read_text(errors="replace").lower()] == []
    assert "bike stands in the cellar" in (tmp_path / "ws" / "MEMORY.md").read_text()
    assert services.workspace.journal.path.stat().st_mode & 0o777 == 0o600


def test_words_of_a_query_are_nowhere_afterwards(services: Services, tmp_path: Path) -> None:
    fill(services, tmp_path)
    for query in ("quixotonal", "Zephyria", "4711", "石榴汤", "青蛙王子"):
        try:
            assert services.forgetting.now(services.forgetting.plan(query)).clean
        except AssistantError as error:
            assert error.code == "forget.nothing"
    services.close()
    assert traces(tmp_path) == []


def test_a_query_takes_of_an_entry_only_the_items_that_hold_it(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "ws" / "MEMORY.md"
    path.write_text(f"2026-02-15|you|likes tea；{FACT}；has a cat\n- {CHINESE}\n- likes tea\n")
    assert services.forgetting.now(services.forgetting.plan("ZEPHYRIA code")).clean
    assert path.read_text() == f"2026-02-15|you|likes tea；has a cat\n- {CHINESE}\n- likes tea\n"


def test_a_short_fact_goes_where_it_stands_alone_and_nowhere_else(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "ws" / "MEMORY.md"
    path.write_text("- tea\n- a team drinks tea\n2026-02-15|you|tea\n2026-02-16|you|Tea；rice\n")
    chat = talk(services, "Tea", "do you like tea", "I do.")
    plan = services.forgetting.plan(services.forgetting.finder.by_line("MEMORY.md", 1, "- tea")[0].id)
    assert services.forgetting.now(plan).clean
    assert path.read_text() == "- a team drinks tea\n2026-02-16|you|rice\n"
    assert services.read_chat(chat).turns[0].user == "do you like tea"


def test_what_a_model_thought_is_forgotten_with_its_turn(services: Services, tmp_path: Path) -> None:
    chat = talk(services, "Codes", "hello", "Hi.")
    turn = services.workspace.chats.begin_turn(chat, "what do you know?")
    services.workspace.chats.end_turn(chat, turn.n, "Little.", thought=Thought(f"I know that {FACT}", 3))
    assert traces(tmp_path)
    assert services.forgetting.now(services.forgetting.plan("quixotonal")).clean
    assert traces(tmp_path) == []
    assert [(t.user, t.reply, t.thought.text) for t in services.read_chat(chat).turns] == [
        ("hello", "Hi.", ""),
        ("«forgotten»", "«forgotten»", ""),
    ]


def test_a_turn_becomes_a_mark_and_its_number_stays(services: Services, tmp_path: Path) -> None:
    chat = talk(services, f"{FACT[:30]}…", FACT, f"So {FACT}!")
    for text in ("and what now?", "and then?"):
        turn = services.workspace.chats.begin_turn(chat, text)
        services.workspace.chats.end_turn(chat, turn.n, "Fine.")
    again = services.workspace.chats.begin_turn(chat, FACT, 0)  # the same words, sent once more
    services.workspace.chats.end_turn(chat, again.n, "No.")
    made = services.workspace.memory.append_entry(["goes to the vault"], source=f"chat:{chat}#1-2", actor="upkeep")
    plan = services.forgetting.plan(f"{chat}#1")
    assert [target.id for target in plan.also] == [made.id]
    assert services.forgetting.now(plan).clean
    turns = services.read_chat(chat).turns
    assert [(t.n, t.user, t.reply) for t in turns] == [
        (1, "«forgotten»", "«forgotten»"),
        (2, "and what now?", "Fine."),
        (3, "and then?", "Fine."),
        (4, "«forgotten»", "«forgotten»"),
    ]
    assert services.read_chat(chat).problems == ()
    assert "goes to the vault" in (tmp_path / "ws" / "MEMORY.md").read_text()
    assert services.workspace.declined.turns(chat) >= {1}
    services.close()
    assert traces(tmp_path) == []


def test_undo_in_the_grace_period_restores_byte_for_byte(services: Services, tmp_path: Path) -> None:
    ident = fill(services, tmp_path)
    ours = [path for path in (tmp_path / "ws").rglob("*.md") if path.is_file()]
    before = {path: path.read_bytes() for path in ours}
    pending = services.forgetting.begin(services.forgetting.plan(ident))
    assert not services.search(RecallQuery("quixotonal")).hits
    assert "quixotonal" not in (tmp_path / "ws" / "MEMORY.md").read_text()
    services.forgetting.undo(pending)
    assert {path: path.read_bytes() for path in ours} == before
    assert services.search(RecallQuery("quixotonal")).hits
    assert list((services.workspace.data / FOLDER).iterdir()) == []


def test_undo_after_the_chat_went_on_keeps_what_came(services: Services) -> None:
    chat = talk(services, "Codes", FACT, "Sure.")
    pending = services.forgetting.begin(services.forgetting.plan(f"{chat}#1"))
    turn = services.workspace.chats.begin_turn(chat, "and now?")
    services.workspace.chats.end_turn(chat, turn.n, "Now this.")
    services.forgetting.undo(pending)
    assert [(t.user, t.reply) for t in services.read_chat(chat).turns] == [(FACT, "Sure."), ("and now?", "Now this.")]


def test_undo_finds_a_chat_whose_file_was_moved_meanwhile(services: Services) -> None:
    chat = talk(services, "Codes", FACT, "Sure.")
    pending = services.forgetting.begin(services.forgetting.plan(f"{chat}#1"))
    path = services.workspace.chats.path(chat)
    moved = path.parent.parent / "2020-01" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    services.forgetting.undo(pending)
    assert [(t.user, t.reply) for t in services.read_chat(chat).turns] == [(FACT, "Sure.")]


def test_undo_of_a_part_that_is_gone_is_said(services: Services) -> None:
    chat = talk(services, "Codes", "hello", "Hi.")
    first = services.workspace.chats.path(chat)
    part = first.with_name(f"{chat}_part2.md")
    part.write_text(f"# Chat: {chat} · 2\n\n## Conversation\n\n### 2026-11-29T15:30:25 · #2\n\n**User**:\n\n> {FACT}\n")
    pending = services.forgetting.begin(services.forgetting.plan(f"{chat}#2"))
    part.unlink()
    with pytest.raises(AssistantError) as caught:
        services.forgetting.undo(pending)
    assert caught.value.code == "forget.gone"


def test_what_was_brought_back_through_the_journal_is_not_erased(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    pending = services.forgetting.begin(services.forgetting.plan(ident))
    services.workspace.memory.undo(pending.batch)
    assert services.forgetting.finish(pending).removed == ()
    assert FACT in (tmp_path / "ws" / "MEMORY.md").read_text()


def test_closing_the_window_erases_what_waits(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    services.forgetting.begin(services.forgetting.plan(ident))
    assert traces(tmp_path)
    services.close()
    assert traces(tmp_path) == []


def test_the_next_turn_is_told_nothing_of_it(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    services.workspace.memory.remember("bike stands in the cellar")
    chat = talk(services, "Bike", "where does my bike stand?", "In the cellar.")
    assert "quixotonal" in services.preview(chat, "and the code?").messages[0].text
    pending = services.forgetting.begin(services.forgetting.plan(ident))
    assert "quixotonal" not in str(services.preview(chat, "and the code?").messages)
    services.forgetting.finish(pending)
    prompt = services.preview(chat, "and the code?")
    assert "quixotonal" not in str(prompt.messages)
    assert "bike stands in the cellar" in prompt.messages[0].text
    receipt = services.receipts.get(chat, 1)
    assert receipt is not None
    assert any("«forgotten»" in line.text for line in receipt.lines)


def test_other_changes_can_still_be_undone_and_never_bring_it_back(services: Services, tmp_path: Path) -> None:
    memory, path = services.workspace.memory, tmp_path / "ws" / "MEMORY.md"
    first = memory.remember("bike stands in the cellar").journal_id
    told = memory.remember(FACT)
    last = memory.remember("the cat is called Momo").journal_id
    services.forgetting.now(services.forgetting.plan(told.id))
    with pytest.raises(AssistantError, match="was forgotten"):
        memory.undo(told.journal_id)
    for ident, words in ((last, "Momo"), (first, "bike")):
        outcome = memory.undo(ident)
        assert not isinstance(outcome, Conflict)
        assert not path.exists() or words not in path.read_text()
    assert [entry for entry in services.workspace.journal.entries() if "quixotonal" in str(entry).lower()] == []


def test_of_a_long_file_only_what_went_leaves_the_index_at_once(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taking a file of 100 000 lines apart takes seconds: the rest of it is read again by the next search."""
    monkeypatch.setattr("assistant.runtime.forgetting._LONG_FILE", 0)
    path = tmp_path / "ws" / "MEMORY.md"
    path.write_text(
        f"# Facts\n\n2026-01-01|you|{FACT}\n2026-01-02|you|bike stands in the cellar\n2026-01-01|you|{FACT}\n"
    )
    services.recall.sync(CancelToken())
    ident = services.search(RecallQuery("vault code")).hits[0].id
    assert services.forgetting.now(services.forgetting.plan(ident)).clean
    assert path.read_text() == "# Facts\n\n2026-01-02|you|bike stands in the cellar\n"
    assert not services.search(RecallQuery("vault code")).hits
    assert [hit.line for hit in services.search(RecallQuery("bike")).hits] == [3]
    services.close()
    assert traces(tmp_path) == []


def test_an_index_that_knew_an_older_text_is_cleaned_too(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.runtime.forgetting._LONG_FILE", 0)
    path = tmp_path / "ws" / "MEMORY.md"
    path.write_text(f"2026-01-01|me|{FACT}\n")
    services.recall.sync(CancelToken())
    path.write_text(f"2026-01-01|you|{FACT}\n2026-01-02|you|bike\n")
    ident = services.forgetting.plan("quixotonal").targets[0].id
    assert services.forgetting.now(services.forgetting.plan(ident)).clean
    services.close()
    assert traces(tmp_path) == []


def test_distilling_does_not_make_it_again(services: Services) -> None:
    ident = services.workspace.memory.remember(FACT).id
    services.forgetting.now(services.forgetting.plan(ident))
    assert services.workspace.declined.holds(FACT)


def test_a_file_beside_memory_that_is_not_ours_is_named_not_changed(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    (tmp_path / "ws" / "shopping.md").write_text(f"my own notes: {FACT}\n")
    report = services.forgetting.now(services.forgetting.plan(ident))
    files = next(place for place in report.searched if place.place == "files")
    assert (files.remaining, report.clean) == (1, False)
    assert "by hand" in files.hint
    assert (tmp_path / "ws" / "shopping.md").read_text() == f"my own notes: {FACT}\n"


@pytest.mark.parametrize("step", [1, 2, 3, 5, 8, 11, 14, 18, 21, 24, 28, 33])
def test_killed_at_any_write_the_next_start_completes_it(tmp_path: Path, step: int) -> None:
    """A child process is killed at its n-th write to the disk; then the app starts again."""
    services = open_services(tmp_path)
    ident = fill(services, tmp_path)
    services.recall.close()
    killed = run_killed(lambda: _forget(services, ident), step)
    after = open_services(tmp_path)
    after.forgetting.finish_left()
    begun = killed and "quixotonal" in (tmp_path / "ws" / "MEMORY.md").read_text()
    if begun:  # it was killed before the plan was whole: nothing had been done
        assert after.forgetting.now(after.forgetting.plan(ident)).clean
    after.deletion.purge_all()
    after.close()
    left = [path for path in traces(tmp_path) if "quixotonal" in Path(path).read_text(errors="replace").lower()]
    assert left == []
    assert list((after.workspace.data / FOLDER).iterdir()) == []


def _forget(services: Services, ident: str) -> None:
    services.forgetting.now(services.forgetting.plan(ident))


def run_killed(work: Callable[[], None], step: int) -> bool:
    """Do the work in a child that dies without a word at its n-th write; whether it died."""
    child = os.fork()
    if not child:
        count = 0
        replace, write, unlink = os.replace, os.write, os.unlink

        def counted(function: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **named: object) -> object:
                nonlocal count
                count += 1
                if count >= step * 3:
                    os._exit(9)
                return function(*args, **named)

            return call

        os.replace, os.write, os.unlink = counted(replace), counted(write), counted(unlink)  # type: ignore[assignment]
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


class _BrokenPlace:
    """A place that cannot be cleaned, until it is mended."""

    name = "vault"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken = True

    def scrub(self, texts: Sequence[str]) -> None:
        if self.broken:
            raise AssistantError("vault.locked", "The vault is locked.", "Unlock it.")
        self.path.unlink(missing_ok=True)

    def remaining(self, texts: Sequence[str]) -> int:
        return int(self.path.exists())


def test_a_start_that_cannot_recover_a_reply_says_so_and_completes_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_services(tmp_path)
    ident = before.workspace.memory.remember(FACT).id
    pending = before.forgetting.begin(before.forgetting.plan(ident))
    pending.release()
    before.forgetting._begun.clear()  # as if it was killed
    before.close()
    again = open_services(tmp_path)
    events: list[Event] = []
    again.subscribe(events.append)

    def full() -> None:
        raise AssistantError("disk.full", "The disk is full; a.md was not changed.", "Make room, then try again.")

    monkeypatch.setattr(again.workspace.chats, "recover", full)
    again.recover()
    (told,) = [event.text for event in events if isinstance(event, Notice)]
    assert told.startswith("The disk is full")
    assert list((again.workspace.data / FOLDER).iterdir()) == []
    again.close()


def test_one_place_that_fails_keeps_no_other_from_being_cleaned_and_is_tried_again(tmp_path: Path) -> None:
    services = open_services(tmp_path)
    (tmp_path / "vault").write_text(FACT)
    place = _BrokenPlace(tmp_path / "vault")
    services.forget_places.append(place)
    ident = services.workspace.memory.remember(FACT).id
    report = services.forgetting.now(services.forgetting.plan(ident))
    left = [each for each in report.searched if each.remaining]
    assert [(each.place, each.hint) for each in left] == [("vault", "The vault is locked. Unlock it.")]
    assert "quixotonal" not in services.workspace.journal.path.read_text()
    place.broken = False
    assert [done.clean for done in services.forgetting.finish_left()] == [True]
    services.close()
    assert traces(tmp_path) == []


def test_what_waits_in_another_window_is_left_to_it(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    pending = services.forgetting.begin(services.forgetting.plan(ident))
    other = open_services(tmp_path)
    assert other.forgetting.finish_left() == []
    other.close()
    services.forgetting.undo(pending)
    assert FACT in (tmp_path / "ws" / "MEMORY.md").read_text()


def test_a_private_chat_is_forgotten_like_any_other(services: Services, tmp_path: Path) -> None:
    chat = services.new_chat("Secret", private=True)
    turn = services.workspace.chats.begin_turn(chat, FACT)
    services.workspace.chats.end_turn(chat, turn.n, "Sure.")
    assert services.forgetting.now(services.forgetting.plan("quixotonal")).clean
    assert services.read_chat(chat).turns[0].user == "«forgotten»"
    services.close()
    assert traces(tmp_path) == []


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig"])
def test_files_in_other_encodings_and_with_other_line_ends_lose_it_too(
    services: Services, tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "ws" / "memory" / "笔记.md"
    rest = "- 这里还有很多别的中文内容，都要留下。\r\n- 比如这一行也要留下。\r\n"
    path.write_bytes(f"{rest}- {CHINESE}\r\n".encode(encoding))
    services.workspace.memory.note_disk_changes()
    assert services.forgetting.now(services.forgetting.plan("青蛙王子")).clean
    assert path.read_bytes() == rest.encode(encoding)
    services.close()
    assert traces(tmp_path) == []


def test_a_temporary_chat_is_told_nothing_of_it_and_keeps_none_of_it(services: Services, tmp_path: Path) -> None:
    ident = services.workspace.memory.remember(FACT).id
    temporary = services.temporary
    chat = temporary.create()
    turn = temporary.chats.begin_turn(chat, "where is my vault?")
    read = temporary.chats.read(chat)
    rules = PromptRules(4096, 256)
    builder = PromptBuilder(services.workspace, services.recall, temporary.receipts, FakeEngine(), rules)
    draft = builder.build(Question(read, (), "where is my vault?", turn.n))
    temporary.receipts.add_row(chat, draft.row)
    temporary.receipts.add(receipt_of(draft, chat, turn.n))
    temporary.chats.end_turn(chat, turn.n, "Here.")
    assert "quixotonal" in str(temporary.preview(chat, "and?").messages)
    assert services.forgetting.now(services.forgetting.plan(ident)).clean
    assert "quixotonal" not in str(temporary.preview(chat, "and?").messages)
    temporary.keep(chat, services.receipts)
    services.close()
    assert traces(tmp_path) == []


def test_while_another_program_reads_the_index_it_is_said_and_done_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.recall.index.database._BUSY_SECONDS", 0.01)
    services = open_services(tmp_path)
    ident = services.workspace.memory.remember(FACT).id
    services.recall.sync(CancelToken())
    reader = sqlite3.connect(services.recall.files[0])
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM units").fetchone()
    report = services.forgetting.now(services.forgetting.plan(ident))
    index = next(place for place in report.searched if place.place == "index")
    assert index.remaining > 0
    assert "Close other Keepsake windows" in index.hint
    reader.close()
    services.close()
    after = open_services(tmp_path)
    assert [done.clean for done in after.forgetting.finish_left()] == [True]
    after.close()
    assert traces(tmp_path) == []


def test_headings_fields_and_key_points_that_hold_the_words_keep_their_marks(
    services: Services, tmp_path: Path
) -> None:
    note = tmp_path / "ws" / "memory" / "places.md"
    note.write_text(
        "---\ntitle: Owl tower\ntags: [owl, night]\n---\n# Owl\n\n- the owl sits there\n\n## Other\n\n- a mouse\n"
    )
    chat = talk(services, "Birds", "hello you", "Hello.")
    path = services.workspace.chats.path(chat)
    path.write_text(path.read_text() + "\n## Key points\n\n> - saw an owl\n> - saw a cat\n")
    services.forgetting.now(services.forgetting.plan("owl"))
    assert note.read_text() == (
        "---\ntitle: «forgotten»\ntags: «forgotten»\n---\n# «forgotten»\n\n\n## Other\n\n- a mouse\n"
    )
    assert path.read_text().endswith("> - «forgotten»\n> - saw a cat\n")
    assert services.workspace.problems() == []
