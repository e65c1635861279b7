"""What comes along with a hit, what is thinned, where the list ends, and the nearest lines all the same."""

from __future__ import annotations

import sqlite3

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.recall.words.tokens import words_of
from tests.recall.helpers import SmallWorkspace, found, quiet, texts

CHAT = "20261101_100000"


def test_a_linked_note_comes_along_by_name_title_or_alias(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/hotel one.md", "the quiet room")
    workspace.write("memory/h2.md", "---\ntitle: Hotel Two\naliases: [Second, 第二]\n---\n\nthe loud room")
    for link, note in (("hotel one", "quiet"), ("Hotel Two", "loud"), ("second", "loud"), ("第二", "loud")):
        workspace.write("MEMORY.md", f"2026-11-01|you|zephyria is [[{link}|there]]\n")
        hit, linked = found(by_words, "zephyria")
        assert note in linked.text
        assert linked.why == {"linked": pytest.approx(hit.score, abs=1e-3)} and linked.score < hit.score


def test_links_in_a_circle_end_and_a_note_that_went_is_not_linked(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/a.md", "zephyria, see [[b]] and [[a]]")
    note = workspace.write("memory/b.md", "the quiet room, see [[a]]")
    assert [hit.file for hit in found(by_words, "zephyria")] == ["memory/a.md", "memory/b.md"]
    note.unlink()
    assert [hit.file for hit in found(by_words, "zephyria")] == ["memory/a.md"]


def test_neighbours_come_along_after_the_hits(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.chat(CHAT, ("one", "yes"), ("zephyria", "fine"), ("three", "no"), ("four", "so"))
    workspace.write("memory/n.md", "- first\n- second\n- the zephyria bullet\n- last\n")
    hits = found(by_words, "zephyria")
    beside = [hit for hit in hits if "neighbour" in hit.why]
    assert {hit.text for hit in beside} >= {"- second", "- last"} and hits[-len(beside) :] == tuple(beside)
    assert {hit.id for hit in hits if hit.kind == "turn"} >= {f"{CHAT}#{n}" for n in (1, 2, 3)}
    assert {hit.text for hit in hits if hit.kind == "note"} == {"- second", "- the zephyria bullet", "- last"}
    assert max(hit.score for hit in beside) < min(hit.score for hit in hits if hit not in beside)
    assert len(found(by_words, "zephyria", limit=2)) == 2


def test_what_is_over_excluded_or_out_of_scope_never_comes_along(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/n.md", "- ~~first~~\n- the zephyria bullet [[o]]\n- last\n")
    workspace.write("memory/o.md", "- other\n")
    ids = {hit.text: hit.id for hit in found(by_words, "zephyria")}
    assert ids.keys() == {"- the zephyria bullet [[o]]", "- last", "- other"}
    left = texts(by_words, "zephyria", exclude=frozenset([ids["- last"], ids["- other"]]))
    assert left == ["- the zephyria bullet [[o]]"]


def test_what_says_the_same_five_times_takes_one_place(workspace: SmallWorkspace, recall: Recall) -> None:
    said = [("I am allergic to hazelnuts", "noted") for _ in range(4)]
    workspace.chat(CHAT, *said)
    workspace.remember("2026-10-01|you|I am allergic to hazelnuts", "2026-10-02|you|hazelnuts grow beside the shed")
    recall.sync(CancelToken(), quiet)
    hits = found(recall, "hazelnuts")
    assert [hit.kind for hit in hits[:2]] == ["entry", "entry"], "memory stands for all, the other line is next"
    assert {hit.kind for hit in hits[2:]} == {"turn"}


def test_fifth_hits_of_a_chat_go_behind_but_not_where_it_is_named(workspace: SmallWorkspace, by_words: Recall) -> None:
    turns = [(f"kayak colour {word}", "ok") for word in "red blue green white black pink".split()]
    workspace.chat(CHAT, *turns, title="Boats")
    workspace.remember("2026-11-01|you|the kayak stands in a shed by the lake")
    workspace.remember(*(f"2026-11-01|you|remark {n} about weather and the sea" for n in range(60)))
    kinds = [hit.kind for hit in found(by_words, "kayak", limit=7)]
    assert sorted(kinds[:5]) == ["entry", *["turn"] * 4] and kinds[5:] == ["turn", "turn"]
    only = [hit.id for hit in found(by_words, "kayak", limit=6, scope="chats")]
    assert len(only) == 6
    named = [hit.kind for hit in found(by_words, "kayak colour in the Boats chat", limit=7)]
    assert named[:6] == ["turn"] * 6


def test_the_list_ends_where_hits_are_far_behind(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*(f"2026-11-01|you|remark {n} about weather and the sea" for n in range(60)))
    workspace.remember("2026-11-02|you|the kayak is red", "2026-11-03|you|a kayak of wood")
    recall.sync(CancelToken(), quiet)
    assert {"the kayak is red", "a kayak of wood"} <= set(texts(recall, "kayak", limit=30)[:2])
    assert len(texts(recall, "kayak", limit=30)) < 10


def test_the_nearest_lines_are_there_for_who_wants_them_anyway(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*(f"2026-11-01|you|remark {n} about weather and the sea" for n in range(60)))
    recall.sync(CancelToken(), quiet)
    assert recall.search(RecallQuery("zorblax quibble")).abstained
    answer = recall.search(RecallQuery("zorblax quibble", anyway=True))
    assert answer.hits and answer.unsure and not answer.abstained
    assert not recall.search(RecallQuery("weather", anyway=True)).unsure


def test_a_hit_that_another_process_takes_out_meanwhile_stops_no_search(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("memory/a.md", "- zephyria\n- beside it\n")

    def take_out(connection: sqlite3.Connection, text: str) -> list[int]:
        connection.execute("DELETE FROM places")
        return []

    monkeypatch.setattr("assistant.recall.ranking.along.linked_files", take_out)
    assert found(by_words, "zephyria") == ()


def test_pasted_texts_are_told_apart_by_their_beginning_and_their_length(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def words(text: str) -> tuple[list[str], list[str]]:
        read.append(len(text))
        return words_of(text)

    monkeypatch.setattr("assistant.recall.ranking.thinning.words_of", words)
    monkeypatch.setattr("assistant.recall.ranking.echoes.words_of", words)
    log = "pump stopped again " * 20_000
    for day, said in enumerate((log, log, f"{log} and the kayak"), 1):
        workspace.chat(f"202611{day:02d}_100000", (said, "I see."))
    assert [hit.id[:8] for hit in found(by_words, "pump stopped")] == ["20261102", "20261103", "20261101"]
    assert read and max(read) <= 2_000
