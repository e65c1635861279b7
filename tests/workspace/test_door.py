"""The door's work on single units and on several files at once: found by id, changed in place, taken back as one."""

from __future__ import annotations

import pytest

from assistant.core.errors import AssistantError
from assistant.recall.units.making import units_of
from assistant.workspace.ids import line_id
from assistant.workspace.memory import Conflict, Edit, Located, Saved

MEMORY, ARCHIVE, NOTE = "MEMORY.md", "memory/archive.md", "memory/boats.md"
FACTS = """# Me

- lives in Lisbon
  with a cat
- drinks tea

| who | age |
|---|---|
| Ann | 7 |

2026-02-01|you|likes boats；hates rain · until 2027-01-01
2026-02-01|you|likes boats；hates rain · until 2027-01-01
"""


def put(ws, file: str, text: str | bytes) -> None:
    raw = text.encode() if isinstance(text, str) else text
    (ws.root / file).write_bytes(raw)


def raw(ws, file: str = MEMORY) -> bytes:
    return (ws.root / file).read_bytes()


def ids(ws, file: str = MEMORY) -> dict[str, str]:
    """Unit ids by their texts, as recall gives them."""
    return {unit.uid: unit.text for unit in units_of(file, ws.memory.read(file).text)[0]}


def test_every_unit_that_recall_knows_is_found_in_its_file(ws):
    put(ws, MEMORY, FACTS)
    put(ws, NOTE, "---\ntitle: Boats\n---\n\n- kayak\n\n# Old\nrowing\nboat\n")
    for file in (MEMORY, NOTE):
        lines = ws.memory.read(file).text.split("\n")
        for unit in units_of(file, "\n".join(lines))[0]:
            place = ws.memory.locate(unit.uid)
            assert place is not None
            assert (place.file, place.first) == (file, unit.line)
            assert place.text.strip() == "\n".join(lines[place.first - 1 : place.last]).strip()
    assert ws.memory.locate(line_id(MEMORY, "with a cat")) == Located(MEMORY, 4, 4, "with a cat")
    second = line_id(MEMORY, FACTS.splitlines()[-1]) + "-2"
    assert ws.memory.locate(second) == Located(MEMORY, 12, 12, FACTS.splitlines()[-1])


@pytest.mark.parametrize("uid", ["", "20261129_153022#3", f"{MEMORY}:0123456789", "../x.md:0123456789", "a:b"])
def test_an_id_that_names_nothing_is_refused_in_words(ws, uid):
    assert ws.memory.locate(uid) is None
    for work in (ws.memory.strike, ws.memory.remove, lambda unit: ws.memory.rewrite(unit, "x")):
        with pytest.raises(AssistantError) as refused:
            work(uid)
        assert refused.value.code == "memory.unit"


def test_a_receipts_line_is_found_also_where_it_moved(ws):
    put(ws, MEMORY, FACTS)
    assert ws.memory.locate_line(MEMORY, 99, "- drinks tea") == Located(MEMORY, 5, 5, "- drinks tea")
    entry = ws.memory.locate_line(MEMORY, 12, FACTS.splitlines()[-1])
    assert entry is not None
    assert entry.first == 12
    assert ws.memory.locate_line(MEMORY, 1, "drinks coffee") is None
    assert ws.memory.locate_line("../x", 1, "x") is None


@pytest.mark.parametrize(
    ("line", "struck"),
    [
        ("- drinks tea", "- ~~drinks tea~~ · superseded 2026-11-29"),
        ("  * [ ] buy milk  ", "  * [ ] ~~buy milk~~ · superseded 2026-11-29  "),
        ("> said so", "> ~~said so~~ · superseded 2026-11-29"),
        ("1. first · until 2027-01-01", "1. ~~first~~ · until 2027-01-01 · superseded 2026-11-29"),
        ("- one\n  two", "- ~~one~~\n  ~~two~~ · superseded 2026-11-29"),
        ("| a | b |\n|---|---|\n| c | d |", "| ~~a~~ | ~~b~~ |\n|---|---|\n| ~~c~~ | ~~d~~ · superseded 2026-11-29 |"),
        ("```\ncode\n```", "```\n~~code~~ · superseded 2026-11-29\n```"),
        ("2026-01-01|you|tea；~~milk~~", "2026-01-01|you|~~tea~~ · superseded 2026-11-29；~~milk~~"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_striking_touches_the_words_alone(ws, line, struck, ending):
    around = "\ufeffbefore\n\n{}\n\nafter"
    put(ws, MEMORY, around.format(line).replace("\n", ending))
    (uid,) = [uid for uid, text in ids(ws).items() if text not in ("before", "after")]
    done = ws.memory.strike(uid)
    assert raw(ws).decode() == around.format(struck).replace("\n", ending)
    (unit,) = [
        unit for unit in units_of(MEMORY, ws.memory.read(MEMORY).text)[0] if unit.text not in ("before", "after")
    ]
    assert unit.struck
    assert ws.memory.strike(unit.uid).journal_id == ""
    ws.memory.undo(done.journal_id)
    assert raw(ws).decode() == around.format(line).replace("\n", ending)


def test_one_item_of_an_entry_can_be_struck(ws):
    put(ws, MEMORY, FACTS)
    ws.memory.strike(line_id(MEMORY, FACTS.splitlines()[-1]), item=1)
    line = "2026-02-01|you|likes boats；~~hates rain~~ · until 2027-01-01 · superseded 2026-11-29\n"
    assert raw(ws).decode() == FACTS.replace(FACTS.splitlines(keepends=True)[-1], line, 1)


def test_a_file_in_gbk_or_with_bad_bytes_is_changed_in_that_line_only(ws):
    put(ws, MEMORY, "我喜欢喝茶，不喝咖啡。\n\n狗叫来福\n".encode("gbk"))
    ws.memory.strike(line_id(MEMORY, "狗叫来福"))
    assert raw(ws).decode("gbk") == "我喜欢喝茶，不喝咖啡。\n\n~~狗叫来福~~ · superseded 2026-11-29\n"
    put(ws, NOTE, "- 中文很好，很好\n- b\xff\n".encode("utf-8", "surrogatepass").replace(b"\xc3\xbf", b"\xff"))
    bad = next(uid for uid, text in ids(ws, NOTE).items() if "b" in text)
    ws.memory.strike(bad)
    assert raw(ws, NOTE) == "- 中文很好，很好\n- ~~b".encode() + b"\xff" + "~~ · superseded 2026-11-29\n".encode()


def test_other_words_keep_bullet_date_and_source(ws):
    put(ws, MEMORY, FACTS)
    ws.memory.rewrite(line_id(MEMORY, "- drinks tea"), "drinks coffee")
    ws.memory.rewrite(line_id(MEMORY, "- lives in Lisbon\n  with a cat"), "- lives in Porto")
    entry = line_id(MEMORY, FACTS.splitlines()[-1])
    ws.memory.rewrite(f"{entry}-2", "likes ships\n；loves rain")
    ws.memory.rewrite(entry, "2020-01-01|somebody|whole | line")
    assert raw(ws).decode() == (
        "# Me\n\n- lives in Porto\n- drinks coffee\n\n| who | age |\n|---|---|\n| Ann | 7 |\n\n"
        "2026-02-01|you|whole | line\n2026-02-01|you|likes ships ；loves rain\n"
    )
    with pytest.raises(AssistantError):
        ws.memory.rewrite(line_id(MEMORY, "- drinks coffee"), " \n")
    assert ws.memory.rewrite(line_id(MEMORY, "- drinks coffee"), "password: hunter2").redacted == 1
    assert b"hunter2" not in raw(ws)


@pytest.mark.parametrize("text", ["a\n\nb\n\nc", "a\r\n\r\nb\r\n\r\nc\r\n"])
@pytest.mark.parametrize("line", ["a", "b", "c"])
def test_removing_takes_the_line_and_undo_brings_it_back(ws, text, line):
    put(ws, MEMORY, text)
    done = ws.memory.remove(line_id(MEMORY, line))
    expected = [each for each in text.encode().splitlines(keepends=True) if each.strip() != line.encode()]
    assert raw(ws) == b"".join(expected)
    assert ws.journal.entries(limit=1)[0].summary == f"Removed: {line}"
    ws.memory.undo(done.journal_id)
    assert raw(ws) == text.encode()


def test_of_a_long_paragraph_only_the_piece_goes(ws):
    sentences = [f"Sentence {n} goes on {'and on ' * 60}." for n in range(6)]
    put(ws, NOTE, " ".join(sentences) + "\n")
    pieces = ids(ws, NOTE)
    assert len(pieces) > 1
    uid, text = list(pieces.items())[1]
    ws.memory.remove(uid)
    assert text not in raw(ws, NOTE).decode()
    assert all(other in raw(ws, NOTE).decode() for other in list(pieces.values())[2:])
    assert next(iter(pieces.values())) in raw(ws, NOTE).decode()


def batch(ws) -> str:
    """Moves a line of MEMORY.md to a new archive and removes a note."""
    put(ws, MEMORY, "stays\r\nmoves\r\n")
    put(ws, NOTE, "- old\n")
    read = ws.memory.read
    edits = [
        Edit(MEMORY, "stays\n", read(MEMORY).sha256),
        Edit(NOTE, None, read(NOTE).sha256),
        Edit(ARCHIVE, "moves\n", ""),
    ]
    return ws.memory.change_many(edits, "upkeep", "Tidied up")


def test_several_files_change_as_one_and_are_taken_back_as_one(ws):
    heard = []
    ws.memory.subscribe(lambda file, *_: heard.append(file))
    ident = batch(ws)
    assert (raw(ws), raw(ws, ARCHIVE), (ws.root / NOTE).exists()) == (b"stays\r\n", b"moves\n", False)
    entries = ws.journal.entries(limit=3)
    assert {entry.batch for entry in entries} == {ident}
    assert [entry.path for entry in reversed(entries)] == [ARCHIVE, MEMORY, NOTE]
    assert heard[-3:] == [ARCHIVE, MEMORY, NOTE]
    undone = ws.memory.undo(ident)
    assert isinstance(undone, Saved)
    assert (raw(ws), (ws.root / ARCHIVE).exists(), raw(ws, NOTE)) == (b"stays\r\nmoves\r\n", False, b"- old\n")
    assert undone.journal_id != ident
    assert not any(entry.can_undo for entry in ws.journal.batch(ident))
    ws.memory.undo(undone.journal_id)
    assert (raw(ws), raw(ws, ARCHIVE), (ws.root / NOTE).exists()) == (b"stays\r\n", b"moves\n", False)


def test_a_batch_that_clashes_in_one_file_is_not_taken_back_at_all(ws):
    ident = batch(ws)
    put(ws, ARCHIVE, "moves on\n")
    answer = ws.memory.undo(ident)
    assert isinstance(answer, Conflict)
    assert answer.file == ARCHIVE
    assert (raw(ws), (ws.root / NOTE).exists()) == (b"stays\r\n", False)


def test_of_a_batch_one_file_can_be_taken_back_alone_and_the_rest_later(ws):
    ident = batch(ws)
    memory = next(entry for entry in ws.journal.batch(ident) if entry.path == MEMORY)
    assert isinstance(ws.memory.undo(memory.id), Saved)
    assert (raw(ws), raw(ws, ARCHIVE)) == (b"stays\r\nmoves\r\n", b"moves\n")
    assert isinstance(ws.memory.undo(ident), Saved)
    assert (raw(ws), (ws.root / ARCHIVE).exists()) == (b"stays\r\nmoves\r\n", False)
    with pytest.raises(AssistantError) as done:
        ws.memory.undo(ident)
    assert done.value.code == "journal.undone"


def test_a_batch_on_files_that_changed_is_refused(ws):
    put(ws, MEMORY, "one\n")
    with pytest.raises(AssistantError) as refused:
        ws.memory.change_many([Edit(ARCHIVE, "x\n", ""), Edit(MEMORY, "two\n", "another")], "upkeep", "s")
    assert refused.value.code == "memory.changed"
    assert (raw(ws), (ws.root / ARCHIVE).exists()) == (b"one\n", False)


@pytest.mark.parametrize("failing", ["archive", "memory", "journal"])
def test_a_batch_that_fails_half_way_changes_nothing(ws, monkeypatch, failing):
    from assistant.workspace import journal, standing

    put(ws, MEMORY, "stays\nmoves\n")
    ws.memory.note_disk_changes()
    original = standing.write_over
    calls = []

    def write_over(path, data, expected, aside=None):
        calls.append(path.name)
        if (failing, len(calls)) in (("archive", 1), ("memory", 2)):
            raise AssistantError("disk.full", "The disk is full.")
        return original(path, data, expected, aside)

    def refuse(*_):
        raise AssistantError("disk.full", "The disk is full.")

    monkeypatch.setattr(standing, "write_over", write_over)
    if failing == "journal":
        monkeypatch.setattr(journal, "append_lines", refuse)
    edits = [Edit(MEMORY, "stays\n", ws.memory.read(MEMORY).sha256), Edit(ARCHIVE, "moves\n", "")]
    with pytest.raises(AssistantError):
        ws.memory.change_many(edits, "upkeep", "s")
    assert calls[0] == "archive.md"
    assert (raw(ws), (ws.root / ARCHIVE).exists()) == (b"stays\nmoves\n", False)
    assert ws.memory.note_disk_changes() == []


def test_entries_are_filtered_and_paged(ws):
    for n in range(6):
        ws.memory.remember(f"thing number{n} is here", actor="you" if n % 2 else "assistant")
    ws.memory.save(NOTE, 'a "actor": "assistant" b\n', "")
    all_of_them = ws.journal.entries()
    page = ws.journal.entries(limit=2, before=all_of_them[1].id)
    assert page == all_of_them[2:4]
    assert [entry.actor for entry in ws.journal.entries(actor="assistant")] == ["assistant"] * 3
    assert [entry.path for entry in ws.journal.entries(path=NOTE)] == [NOTE]
    assert ws.journal.entries(path=MEMORY, actor="you", limit=1, before=all_of_them[1].id) == [all_of_them[3]]


@pytest.mark.parametrize("way", ["save", "topic", "batch"])
def test_a_note_is_not_named_after_a_secret(ws, way):
    secret = "sk-proj-abcdEFGH1234567890abcdEFGH1234567890abcdEFGH12"
    doing = {
        "save": lambda: ws.memory.save(f"memory/{secret}.md", "x\n", ""),
        "topic": lambda: ws.memory.remember("x", topic=secret),
        "batch": lambda: ws.memory.change_many(
            [Edit(NOTE, "n\n", ""), Edit(f"memory/{secret}.md", "x\n", "")], "you", "s"
        ),
    }
    with pytest.raises(AssistantError) as refused:
        doing[way]()
    assert refused.value.code == "workspace.path" and secret not in refused.value.message
    assert not list((ws.root / "memory").glob("*.md")) and ws.journal.entries() == []
    assert not [path for path in ws.data.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
