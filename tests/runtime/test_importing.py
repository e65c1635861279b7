"""Import, from the files of another assistant to what recall finds, and back to the workspace as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import Hit, RecallQuery
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.workspace.chats import parse_chat
from assistant.workspace.imports.report import ImportReport
from assistant.workspace.memory_values import Edit
from tests import imported

ROOT = Path(__file__).parents[2]
Do = Callable[[str, Path], ImportReport]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    yield made
    made.close()


@pytest.fixture
def run(services: Services) -> Do:
    return lambda system, path: services.importing.run(system, path, CancelToken(), lambda *_: None)


@pytest.fixture
def look(services: Services) -> Do:
    return lambda system, path: services.importing.look(system, path, CancelToken(), lambda *_: None)


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def recall(services: Services, words: str) -> list[Hit]:
    services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
    return list(services.search(RecallQuery(words)).hits)


SAMPLES = [
    ("countbot", imported.countbot, "OpenWeatherMap", "2026-02-15", "|web-chat|"),
    ("nanobot", imported.nanobot, "PostgreSQL", "2026-04-03", "|import:nanobot|"),
    ("openmausbot", imported.openmausbot, "prefers short replies", "2026-09-10", '|chat "Follow-up"|'),
    ("atoms", imported.atoms, "Window seats", "2026-02-15", "|web-chat|"),
]


@pytest.mark.parametrize(("system", "make", "words", "day", "source"), SAMPLES)
def test_what_is_imported_is_found_with_its_day_and_source_and_can_be_taken_back(
    services: Services, run: Do, tmp_path: Path, system: str, make: Callable[[Path], Path], words: str, day: str,
    source: str,
) -> None:  # fmt: skip
    services.remember("the boiler is in the cellar")
    root = services.workspace.root
    before = tree(root)
    report = run(system, make(tmp_path / "old"))
    assert report.anything
    hit = recall(services, words)[0]
    assert hit.date == day
    assert source in (root / hit.file).read_text().split("\n")[hit.line - 1]
    undone = services.importing.undo(report.id)
    assert not undone.kept
    assert tree(root) == before
    with pytest.raises(AssistantError, match="taken back already"):
        services.importing.undo(report.id)


@pytest.mark.parametrize("system", ["countbot", "nanobot", "openmausbot", "atoms", "chatgpt"])
def test_a_second_import_writes_nothing_and_a_dry_run_never_does(
    services: Services, run: Do, look: Do, tmp_path: Path, system: str
) -> None:
    source = getattr(imported, system)(tmp_path / "old" / ("conversations.json" if system == "chatgpt" else "bot"))
    root = services.workspace.root
    before = tree(root)
    dry = look("auto", source)
    assert dry.system == system
    assert tree(root) == before
    done = run(system, source)
    assert (dry.new, dry.skipped, dry.files, dry.diff, dry.turns) == (
        done.new, done.skipped, done.files, done.diff, done.turns,
    )  # fmt: skip
    after = tree(root)
    again = run(system, source)
    assert not again.anything
    assert again.id == ""
    assert again.known == done.new
    assert tree(root) == after
    assert len(services.importing.list()) == 1


def test_entries_stand_by_date_and_newer_facts_strike_older_ones(services: Services, run: Do, tmp_path: Path) -> None:
    memory = services.workspace.root / "MEMORY.md"
    imported.write(memory, "# Me\n\n2026-01-01|you|the rent is 900 euros\n2026-06-01|you|the gym costs 30 euros\n")
    source = imported.write(
        tmp_path / "MEMORY.md",
        "2026-03-01|web-chat|the rent is 950 euros\n2026-02-01|web-chat|the gym costs 25 euros\n",
    )
    report = run("countbot", source)
    assert report.struck == 1
    assert memory.read_text().split("\n") == [
        "# Me",
        "",
        "2026-01-01|you|~~the rent is 900 euros~~ · superseded 2026-03-01",
        "2026-02-01|web-chat|~~the gym costs 25 euros~~ · superseded 2026-06-01",
        "2026-03-01|web-chat|the rent is 950 euros",
        "2026-06-01|you|the gym costs 30 euros",
        "",
    ]
    assert not run("countbot", source).anything


def test_facts_become_a_section_of_their_own_before_the_entries(services: Services, run: Do, tmp_path: Path) -> None:
    memory = services.workspace.root / "MEMORY.md"
    imported.write(memory, "- Short replies, metric units\n\n2026-01-01|you|tea\n")
    imported.write(tmp_path / "bot" / "memory" / "MEMORY.md", imported.NANOBOT_MEMORY)
    imported.write(tmp_path / "bot" / "SOUL.md", "x")
    report = run("nanobot", tmp_path / "bot")
    assert memory.read_text() == (
        "- Short replies, metric units\n\n## From nanobot\n\n### User Information\n\n"
        "- Name: 李雷, lives in Hangzhou\n- Works as a hydrologist\n\n2026-01-01|you|tea\n"
    )
    assert {group.reason: group.count for group in report.skipped} == {"template": 2, "character": 1}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_a_memory_of_any_form_keeps_every_byte(services: Services, run: Do, tmp_path: Path, encoding: str) -> None:
    memory = services.workspace.root / "MEMORY.md"
    mine = "# 我的记忆\r\n\r\n- 喜欢喝茶，不喝咖啡\r\n| a | b |\r\n2026-01-01 | 我 |  两个空格  \r\n没有换行".encode(
        encoding
    )
    imported.write(memory, mine)
    report = run("countbot", imported.countbot(tmp_path / "bot"))
    raw = memory.read_bytes()
    added = raw.decode(encoding).split("\r\n")
    assert [line for line in mine.decode(encoding).split("\r\n") if line not in added] == []
    assert "2026-02-16|dingtalk|用户偏好Python而非Java；常用Flask框架" in added
    services.importing.undo(report.id)
    assert memory.read_bytes() == mine


def test_a_note_of_the_same_name_is_never_overwritten(services: Services, run: Do, tmp_path: Path) -> None:
    root = services.workspace.root
    mine = imported.write(root / "memory" / "clients.md", "mine\n")
    log = imported.write(root / "memory" / "log" / "2026-09-10.md", "- 08:00 · mine\n")
    run("openmausbot", imported.openmausbot(tmp_path / "omb"))
    assert mine.read_text() == "mine\n"
    assert "Acme pays late" in (root / "memory" / "clients - openmausbot.md").read_text()
    assert log.read_text() == "- 08:00 · mine\n- 09:00 · answered the mail of Acme\n"
    assert '2025-01-02|chat "Old"|the car is a Volvo' in (root / "memory" / "archive.md").read_text()


def test_chats_keep_their_times_branches_and_words(services: Services, run: Do, tmp_path: Path) -> None:
    report = run("chatgpt", imported.chatgpt_zip(tmp_path / "export.zip", imported.conversation()))
    assert report.chats and report.turns == 5
    assert {group.reason: group.count for group in report.skipped} == {"system": 1, "tools": 2}
    chat = services.read_chat(report.chats[0])
    assert (chat.title, chat.participants, chat.problems) == ("Lisbon in March", ("you", "ChatGPT"), ())
    assert [turn.user for turn in chat.branch()] == [
        "A hotel in Lisbon?",
        "安静一点的？",
        "[picture]\n\nIs it this one?",
    ]
    assert [turn.reply for turn in chat.branch()] == ["Try Alfama.", "竹栖很安静。", None]
    replies = {chat.by_number[n].reply for n in chat.siblings(chat.branch()[0].n)}
    assert replies == {"Try Alfama.", "Try Belém."}
    assert chat.summarized == 5, "what another assistant heard is not distilled unasked"
    path = services.workspace.chats.path(chat.id)
    assert path.parent.name == chat.created[:7]
    assert recall(services, "竹栖")[0].date == chat.branch()[1].at[:10]
    assert not list(tmp_path.glob("evil*")) and not (tmp_path.parent / "evil.json").exists()


def test_a_conversation_that_went_on_brings_only_what_is_new(services: Services, run: Do, tmp_path: Path) -> None:
    first = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json"))
    grown = imported.conversation()
    grown["mapping"]["a3"] = imported.node("a3", "u3", imported.message("assistant", "Yes.", at=1_709_660_000))
    grown["mapping"]["u4"] = imported.node("u4", "a3", imported.message("user", "Book it.", at=1_709_660_100))
    grown["current_node"] = "u4"
    again = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json", grown))
    chat = services.read_chat(again.chats[0])
    assert chat.id not in first.chats
    assert [turn.user for turn in chat.turns] == ["[picture]\n\nIs it this one?", "Book it."]
    assert not run("chatgpt", tmp_path / "conversations.json").anything


def test_two_chats_of_one_second_and_a_long_one(services: Services, run: Do, tmp_path: Path) -> None:
    long = imported.conversation("Long", "long")
    long["mapping"]["u1"]["message"]["content"]["parts"] = ["word " * 300_000]
    report = run(
        "chatgpt", imported.chatgpt(tmp_path / "conversations.json", long, imported.conversation("Other", "other"))
    )
    assert report.chats[1] == f"{report.chats[0]}_2"
    assert len(services.workspace.chats.paths(report.chats[0])) > 1
    chat = services.read_chat(report.chats[0])
    assert chat.problems == () and len(chat.turns) == 5
    undone = services.importing.undo(report.id)
    assert set(undone.deleted) == set(report.chats)
    assert not any((services.workspace.root / "chats").iterdir())


def test_a_chat_that_went_on_since_stays_when_the_import_is_taken_back(
    services: Services, run: Do, tmp_path: Path
) -> None:
    other = imported.conversation("Other", "other")
    report = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json", imported.conversation(), other))
    services.workspace.chats.begin_turn(report.chats[0], "and breakfast?")
    undone = services.importing.undo(report.id)
    assert (undone.kept, undone.deleted) == (report.chats[:1], report.chats[1:])
    assert [info.id for info in services.list_chats()] == [report.chats[0]]
    deleted = services.workspace.chats.deleted()[0]
    services.restore_chat(deleted)
    assert services.read_chat(report.chats[1]).title == "Other"


def test_a_session_in_our_own_form_keeps_its_words(services: Services, run: Do, tmp_path: Path) -> None:
    source = imported.write(tmp_path / "s.md", imported.CHINESE_SESSION.replace("\n", "\r\n").encode("gb18030"))
    report = run("nanobot", source)
    text = services.workspace.chats.path(report.chats[0]).read_text()
    assert report.chats == ("20260214_101500",)
    kept = [line for line in text.split("\n") if "导入自" not in line and "已总结至" not in line]
    assert kept == imported.CHINESE_SESSION.split("\n")
    chat = parse_chat(text)
    assert (chat.title, chat.summarized, len(chat.turns)) == ("周末去莫干山", 2, 2)
    assert "竹栖民宿" in chat.key_points
    assert not run("nanobot", source).anything


def test_secrets_are_taken_out_everywhere(services: Services, run: Do, tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    talk = imported.conversation(f"my key {secret}")
    talk["mapping"]["u1"]["message"]["content"]["parts"] = [f"the key is {secret}"]
    root = imported.openmausbot(tmp_path / "omb")
    imported.write(root / "memory" / "keys.md", f"api {secret}\n")
    imported.write(root / "MEMORY.md", f"- 2026-09-10 · {secret} is the key\n- also {secret}\n")
    assert run("openmausbot", root).redacted == 3
    assert run("chatgpt", imported.chatgpt(tmp_path / "conversations.json", talk)).redacted == 2
    for place in (services.workspace.root, services.workspace.data):
        assert all(secret.encode() not in text for text in tree(place).values())


def test_a_cancelled_import_leaves_nothing(services: Services, tmp_path: Path) -> None:
    source = imported.chatgpt(
        tmp_path / "conversations.json", *[imported.conversation(f"n{n}", f"n{n}") for n in range(60)]
    )
    before = tree(services.workspace.root)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        services.importing.run("chatgpt", source, cancel, lambda *_: cancel.cancel())
    assert tree(services.workspace.root) == before
    assert [record.undone for record in services.importing.list()] == [True]


def test_a_file_that_changes_meanwhile_is_planned_anew(
    services: Services, run: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = services.workspace.memory
    change, calls = memory.change_many, []

    def meanwhile(edits: list[Edit], actor: str, summary: str, batch: str) -> str:
        calls.append(edits)
        if len(calls) == 1:
            memory.remember("written meanwhile")
        return change(edits, actor, summary, batch=batch)

    monkeypatch.setattr(memory, "change_many", meanwhile)
    report = run("countbot", imported.countbot(tmp_path / "bot"))
    text = (services.workspace.root / "MEMORY.md").read_text()
    assert "written meanwhile" in text and "OpenWeatherMap" in text
    assert report.new["entries"] == 4 and len(calls) == 2


def test_the_workspace_itself_is_not_imported(services: Services, look: Do, tmp_path: Path) -> None:
    for path in (services.workspace.root, tmp_path):
        with pytest.raises(AssistantError, match="own folder"):
            look("nanobot", path)


def test_the_folder_may_be_named_by_a_link(services: Services, run: Do, tmp_path: Path) -> None:
    imported.write(tmp_path / "real.md", "2026-01-01|you|tea\n")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    assert run("countbot", tmp_path / "link.md").new["entries"] == 1


@pytest.mark.parametrize("title", ["", " ", "a\nb", "## Conversation", "x" * 400, "CON", "../..", "🐘: *a* | b", None])
def test_any_title_is_kept_as_far_as_a_title_can(services: Services, run: Do, tmp_path: Path, title: str) -> None:
    report = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json", imported.conversation(title)))
    chat = services.read_chat(report.chats[0])
    assert chat.title == (title or "").replace("\n", " ").strip()[:300]
    assert chat.problems == () and len(chat.turns) == 5


def test_ten_thousand_memories(services: Services, run: Do, tmp_path: Path) -> None:
    lines = [f"2026-{n % 12 + 1:02d}-{n % 28 + 1:02d}|web-chat|thing {n} is in box {n * 7}" for n in range(10_000)]
    source = imported.write(tmp_path / "MEMORY.md", "\n".join(lines))
    assert run("countbot", source).new["entries"] == 10_000
    text = (services.workspace.root / "MEMORY.md").read_text().rstrip("\n").split("\n")
    assert len(text) == 10_000 and [line[:10] for line in text] == sorted(line[:10] for line in lines)


def test_the_ledger_holds_no_words(services: Services, run: Do, tmp_path: Path) -> None:
    report = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json"))
    text = (services.workspace.data / "imports" / f"{report.id}.jsonl").read_text()
    assert "Lisbon" not in text and str(tmp_path) not in text
    assert [set(json.loads(line)) for line in text.splitlines()][1] == {"chat"}


@pytest.mark.parametrize("ident", ["", "nope", "../../etc/passwd", "import-20260101000000-abcdef"])
def test_an_unknown_import_is_refused(services: Services, ident: str) -> None:
    with pytest.raises(AssistantError, match="There is no import"):
        services.importing.undo(ident)


def test_what_nobody_recognises_is_said(services: Services, look: Do, tmp_path: Path) -> None:
    with pytest.raises(AssistantError, match="does not recognise"):
        look("auto", imported.write(tmp_path / "x.bin", b"\0\1\2"))
    with pytest.raises(AssistantError, match="There is nothing"):
        look("auto", tmp_path / "missing")


def test_an_import_whose_memory_was_taken_back_in_the_journal(services: Services, run: Do, tmp_path: Path) -> None:
    report = run("nanobot", imported.nanobot(tmp_path / "bot"))
    record = services.importing.list()[0]
    services.workspace.memory.undo(record.batch)
    undone = services.importing.undo(report.id)
    assert (undone.memory, set(undone.deleted)) == ("", set(report.chats))
    assert services.list_chats() == []


def test_memory_that_changed_in_the_same_place_refuses_and_leaves_the_chats(
    services: Services, run: Do, tmp_path: Path
) -> None:
    report = run("nanobot", imported.nanobot(tmp_path / "bot"))
    path = services.workspace.root / "MEMORY.md"
    path.write_text(path.read_text().replace("hydrologist", "gardener"))
    with pytest.raises(AssistantError, match="changed since in the same place"):
        services.importing.undo(report.id)
    assert {info.id for info in services.list_chats()} == set(report.chats)
    assert "gardener" in path.read_text()


def test_a_chat_that_is_gone_already_is_said(services: Services, run: Do, tmp_path: Path) -> None:
    report = run("chatgpt", imported.chatgpt(tmp_path / "conversations.json"))
    services.deletion.purge(report.chats[0])
    assert services.importing.undo(report.id).gone == report.chats


def test_the_parsers_are_no_part_of_the_start() -> None:
    code = (
        "import sys, assistant.runtime.services; print([m for m in sys.modules if m.endswith(('chatgpt', 'foreign'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


class Killed(BaseException):
    """Stands for a process that ends at once: nothing that follows is done."""


def _killed(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize("at", ["place", "change_many", "finish"])
def test_a_killed_import_is_taken_back_whole(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """What is written is in the ledger before it is on the disk, so that no step of it is out of reach."""
    before = tree(services.workspace.root)
    importing, workspace = services.importing, services.workspace
    owner = {"place": workspace.chats, "change_many": workspace.memory, "finish": importing.ledger}[at]
    real = getattr(owner, at)

    def killed_behind(*given: object, **named: object) -> None:
        if at != "finish":
            real(*given, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, at, killed_behind)
        patched.setattr(importing, "_give_up", _killed)
        with pytest.raises(Killed):
            importing.run("nanobot", imported.nanobot(tmp_path / "bot"), CancelToken(), lambda *_: None)
    assert tree(services.workspace.root) != before
    importing.undo(importing.list()[0].id)
    assert tree(services.workspace.root) == before


def test_an_import_cut_off_just_before_it_wrote_can_be_taken_back(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(services.workspace.root)
    with monkeypatch.context() as patched:
        patched.setattr(services.workspace.memory, "change_many", _killed)
        patched.setattr(services.importing, "_give_up", _killed)
        with pytest.raises(Killed):
            services.importing.run("nanobot", imported.nanobot(tmp_path / "bot"), CancelToken(), lambda *_: None)
    services.importing.undo(services.importing.list()[0].id)
    assert tree(services.workspace.root) == before


def test_two_imports_at_once_bring_each_chat_once(services: Services, tmp_path: Path) -> None:
    source = imported.chatgpt(
        tmp_path / "conversations.json", *[imported.conversation(f"n{n}", f"n{n}") for n in range(60)]
    )
    other = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    try:
        with ThreadPoolExecutor(2) as pool:
            runs = [
                pool.submit(each.importing.run, "chatgpt", source, CancelToken(), lambda *_: None)
                for each in (services, other)
            ]
            new = sorted(run.result().new["chats"] for run in runs)
    finally:
        other.close()
    assert new == [0, 60] and len(services.workspace.chats.list()) == 60


def test_an_import_that_wrote_nothing_is_not_listed(services: Services, run: Do, tmp_path: Path) -> None:
    with pytest.raises(AssistantError, match=r"nothing at"):
        run("chatgpt", tmp_path / "missing")
    assert services.importing.list() == []


@pytest.mark.parametrize(
    "lines",
    [
        "5",
        "[1]",
        '"words"',
        "[" * 100_000,
        '{"id": 5, "system": [], "time": 3}',
        '{"id": "other", "system": "chatgpt", "time": "2026"}',
        '{"chat": {"id": "20260101_000000", "turns": 1, "digest": ""}}',
    ],
)
def test_a_ledger_that_somebody_edited_hides_only_itself(
    services: Services, run: Do, tmp_path: Path, lines: str
) -> None:
    done = run("countbot", imported.countbot(tmp_path / "bot"))
    (services.workspace.data / "imports" / "import-20200101000000-000000.jsonl").write_text(lines + "\n")
    assert [record.id for record in services.importing.list()] == [done.id]


@pytest.mark.parametrize(
    "line",
    ['{"batch": [1], "done": "yes"}', '{"chat": {"id": 5, "turns": "x", "digest": null}}', '{"chat": 7}', '{"cut'],
)
def test_a_wrong_line_in_a_ledger_costs_itself_alone(services: Services, run: Do, tmp_path: Path, line: str) -> None:
    before = tree(services.workspace.root)
    done = run("nanobot", imported.nanobot(tmp_path / "bot"))
    path = services.workspace.data / "imports" / f"{done.id}.jsonl"
    path.write_text(path.read_text() + line)  # no end of line, as a crash leaves it
    services.importing.undo(done.id)
    assert tree(services.workspace.root) == before
    assert [record.undone for record in services.importing.list()] == [True]


def test_what_was_forgotten_of_an_import_does_not_hide_that_the_rest_stays(
    services: Services, run: Do, tmp_path: Path
) -> None:
    done = run("countbot", imported.countbot(tmp_path / "bot"))
    forgetting = services.forgetting
    forgetting.now(forgetting.plan("OpenWeatherMap"))
    undone = services.importing.undo(done.id)
    assert undone.left == ("MEMORY.md",)
    assert (services.workspace.root / "MEMORY.md").read_text() != ""
