"""What a person who searches would notice."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace, found, quiet, texts

FILLER = [
    f"2026-{n % 10 + 1:02d}-{n % 28 + 1:02d}|you|remark {n} about the weather over town and sea" for n in range(400)
]


@pytest.mark.parametrize("with_vectors", [True, False])
def test_an_exact_rare_token_comes_first(workspace: SmallWorkspace, recall: Recall, with_vectors: bool) -> None:
    workspace.remember(*(f"{line} x{n}" for n, line in enumerate(FILLER * 25)))
    workspace.remember("2025-01-01|you|the meter box has the key TW-0273", "2025-01-02|you|zorblax is the town's ferry")
    if with_vectors:
        recall.sync(CancelToken(), quiet)
    for query in (
        "TW-0273",
        "what was TW-0273 about the weather in town?",
        "zorblax",
        "remark about zorblax and weather",
    ):
        hits = found(recall, query)
        assert ("TW-0273" in hits[0].text) if "TW" in query else ("zorblax" in hits[0].text), query


def test_meaning_finds_other_words(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*FILLER[:40], "2026-11-01|you|espresso without milk")
    recall.sync(CancelToken(), quiet)
    answer = recall.search(RecallQuery("coffee"))
    assert answer.mode == "hybrid"
    assert answer.hits[0].text == "espresso without milk"
    assert answer.hits[0].why["meaning"] > 0


def test_a_hit_says_its_place_by_words_and_by_meaning(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*FILLER[:40], "2026-11-01|you|espresso without milk", "2026-11-01|you|coffee grinder broke")
    recall.sync(CancelToken(), quiet)
    why = {hit.text: hit.why for hit in recall.search(RecallQuery("coffee")).hits}
    assert why["espresso without milk"]["meaning_rank"] in (1, 2)
    assert "keyword_rank" not in why["espresso without milk"], "it was not found by words"
    assert why["coffee grinder broke"]["keyword_rank"] == 1
    assert len({each["meaning_rank"] for each in why.values()}) == len(why)


def test_a_question_that_is_written_down_already_does_not_count(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(*FILLER[:40])
    workspace.write("memory/hotel.md", "# Hotels\n\n- Zephyrina has the code QX77\n")
    question = "And Zephyrina, then, what did she say of it all?"
    chat = workspace.chat("20261129_101010", ("Hello", "Hi."))
    before = found(by_words, question)
    with chat.open("a", encoding="utf-8") as file:
        file.write(f"### 2026-11-30T10:00:00+01:00 · #2\n\n**User**:\n\n> {question}\n")
    assert found(by_words, question, asked="20261129_101010#2") == before
    assert "20261129_101010#2" in [hit.id for hit in found(by_words, question)], "it is there for other searches"


def test_a_question_is_answered_while_somebody_else_writes(
    workspace: SmallWorkspace, by_words: Recall, tmp_path: Path
) -> None:
    workspace.write("memory/hotel.md", "# Hotels\n\n- Zephyrina has the code QX77\n")
    workspace.chat("20261129_101010", ("And Zephyrina?", "Hm."))
    assert found(by_words, "Zephyrina")
    (index,) = tmp_path.rglob("index.sqlite3")
    with contextlib.closing(sqlite3.connect(index, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        hits = found(by_words, "Zephyrina", asked="20261129_101010#1")
        other.execute("ROLLBACK")
    assert [hit.file for hit in hits] == ["memory/hotel.md"]


def test_equal_words_share_their_place(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|walked the dog", "2026-11-02|you|walked the dog", "2026-11-03|you|the dog slept")
    ranks = [hit.why["keyword_rank"] for hit in by_words.search(RecallQuery("walked dog")).hits]
    assert ranks == [1, 3, 1], "the same words again go behind what says something else"


@pytest.mark.parametrize("query", ["flibbergast qworp zandrel", "咕噜哔啵呜啦啦"])
def test_nonsense_is_not_known(workspace: SmallWorkspace, by_words: Recall, query: str) -> None:
    workspace.remember(*FILLER[:40])
    answer = by_words.search(RecallQuery(query))
    assert answer.abstained and answer.hits == () and answer.mode == "keyword"


def test_an_empty_workspace_knows_nothing(recall: Recall) -> None:
    assert recall.search(RecallQuery("tea")).abstained


def test_many_matches_give_the_newest_first(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(*(f"2026-{n // 4 + 1:02d}-{n % 4 * 7 + 1:02d}|you|walked the dog {n:02d}" for n in range(40)))
    got = texts(by_words, "walked dog", limit=15)
    assert len(got) == 15
    assert got == [f"walked the dog {n:02d}" for n in range(39, 24, -1)]


def test_struck_and_expired_rank_last(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(
        "2026-11-20|you|~~dentist on Tuesday dentist~~ · superseded 2026-11-29",
        "2026-11-19|you|dentist dentist dentist voucher · until 2026-11-25",
        "2026-01-02|you|my dentist has a long waiting list for people who are new in town",
    )
    kinds = [hit.text.split()[0] for hit in found(by_words, "dentist")]
    assert kinds[0] == "my" and len(kinds) == 3


def test_an_item_that_still_holds_keeps_its_entry_alive(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|parking free · until 2026-11-05；parking card is in the drawer")
    workspace.remember("2026-10-01|you|~~parking on the left side of the big house~~ · superseded 2026-11-01")
    assert texts(by_words, "parking")[0].startswith("parking free")


def test_the_archive_ranks_last(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/archive.md", "2025-01-01|you|piano tuner piano\n")
    workspace.remember("2024-01-01|you|the piano is in the room upstairs by the window")
    assert [hit.kind for hit in found(by_words, "piano")] == ["entry", "archive"]


def test_newer_word_goes_above_the_older(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*FILLER[:60])
    workspace.remember(
        "2025-02-01|you|my dentist is Doctor Okafor", "2026-06-01|you|new dentist now: Doctor Sandgren instead"
    )
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "my dentist is who", limit=2) == [
        "new dentist now: Doctor Sandgren instead",
        "my dentist is Doctor Okafor",
    ]


def test_range_of_days(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-03-01|you|tea in March", "2026-05-01|you|tea in May")
    workspace.write("memory/tea.md", "- tea without a date\n")
    assert set(texts(by_words, "tea", until=date(2026, 3, 1))) == {"tea in March", "- tea without a date"}
    assert set(texts(by_words, "tea", since=date(2026, 3, 2))) == {"tea in May", "- tea without a date"}


def test_an_empty_query_with_a_range_is_a_time_search(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-03-01|you|first", "2026-03-05|you|second", "2026-05-01|you|third")
    answer = by_words.search(RecallQuery("", since=date(2026, 3, 1), until=date(2026, 3, 31)))
    assert [hit.text for hit in answer.hits] == ["second", "first"]
    assert answer.mode == "time" and not answer.abstained


def test_words_for_a_day_prefer_that_day(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(
        "2026-01-31|mail|meter reading 14210",
        "2026-02-28|mail|meter reading 14390",
        "2026-03-31|mail|meter reading 14561",
    )
    assert texts(by_words, "meter reading in February")[0] == "meter reading 14390"
    now = datetime.fromisoformat("2026-04-10T09:00:00")
    assert texts(by_words, "last month's meter reading", now=now)[0] == "meter reading 14561"


def test_scope(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|kayak in the shed")
    workspace.chat("20261101_100000", ("Where is my kayak?", "In the shed."))
    assert {hit.kind for hit in found(by_words, "kayak")} == {"entry", "turn"}
    assert {hit.kind for hit in found(by_words, "kayak", scope="memory")} == {"entry"}
    assert {hit.kind for hit in found(by_words, "kayak", scope="chats")} == {"turn"}


def test_what_is_in_the_window_is_not_recalled_again(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|kayak one", "2026-11-02|you|kayak two")
    first = found(by_words, "kayak")[0]
    rest = found(by_words, "kayak", exclude=frozenset({first.id}))
    assert len(rest) == 1 and rest[0].id != first.id


def test_the_same_thing_again_goes_behind(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(
        "2026-11-03|you|kayak paddle blue", "2026-11-02|chat|kayak paddle blue", "2026-11-01|you|kayak repair shop"
    )
    workspace.remember(*FILLER[:30])
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "kayak paddle", limit=2) == ["kayak paddle blue", "kayak repair shop"]


def test_one_chat_does_not_take_all_places(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.chat("20261101_100000", *((f"kayak kayak question {n}", "yes") for n in range(8)))
    workspace.remember("2026-01-01|you|the kayak is somewhere under the old green boat cover")
    kinds = [hit.kind for hit in found(by_words, "kayak", limit=5)]
    assert "entry" in kinds


def test_hits_say_where_they_come_from(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("MEMORY.md", "# Memory\n\n- likes kayaks\n\n2026-11-01|you|kayak lesson booked\n")
    workspace.write("memory/sport.md", "---\ntitle: Sports\n---\n## Boats\n\n- kayak: red\n")
    workspace.chat("20261101_100000", ("kayak?", "Yes."), title="Boats and more")
    hits = {hit.kind: hit for hit in found(by_words, "kayak kayaks")}
    assert (hits["fact"].file, hits["fact"].line, hits["fact"].title) == ("MEMORY.md", 3, "Memory")
    assert (hits["entry"].line, hits["entry"].date, hits["entry"].text) == (5, "2026-11-01", "kayak lesson booked")
    assert (hits["note"].file, hits["note"].line, hits["note"].title) == ("memory/sport.md", 6, "Sports › Boats")
    assert (hits["turn"].id, hits["turn"].title) == ("20261101_100000#1", "Boats and more")
    assert hits["turn"].text == "you: kayak?\nKeepsake: Yes."


class SlowEmbedder:
    """An embedder that is not ready until told so, and then may take too long."""

    identity, dimensions, query_map = "slow", 2, None

    def __init__(self) -> None:
        self.ready = False
        self.in_time = True
        self.asked: list[float] = []

    def warm_up(self) -> None:
        self.asked.append(-1.0)

    def embed(self, texts: list[str], cancel: CancelToken) -> object:
        import numpy as np

        return np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1))

    def embed_passages(self, passages: list[object], cancel: CancelToken) -> list[object]:
        return [self.embed(["one window"], cancel) for _ in passages]

    def embed_pieces(self, passages: list[object], cancel: CancelToken) -> list[object]:
        return [self.embed([], cancel) for _ in passages]

    def embed_query(self, text: str, seconds: float) -> object:
        self.asked.append(seconds)
        return self.embed([text], CancelToken())[0] if self.in_time else None  # type: ignore[index]


def test_search_goes_by_words_until_the_embedder_is_ready(workspace: SmallWorkspace, state: object) -> None:
    slow = SlowEmbedder()
    recall = Recall(workspace, state, slow, CLOCK)  # type: ignore[arg-type]
    workspace.remember("2026-11-01|you|kayak")
    recall.sync(CancelToken(), quiet)
    assert recall.search(RecallQuery("kayak")).mode == "keyword"
    slow.ready, slow.in_time = True, False
    late = recall.search(RecallQuery("kayak"), budget_ms=80)
    assert late.mode == "keyword" and late.hits
    slow.in_time = True
    assert recall.search(RecallQuery("kayak")).mode == "hybrid"
    assert slow.asked == [-1.0, 0.08, 0.15]
    recall.close()


def test_the_newest_of_several_words_stands_first(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*FILLER[:60])
    workspace.remember(
        "2026-01-01|you|Heron launch is on 12 January",
        "2026-02-01|you|Heron launch pushed to 9 March",
        "2026-03-01|you|Heron launch moved to 23 March",
    )
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "Heron launch", limit=1) == ["Heron launch moved to 23 March"]


def test_what_answers_a_question_stands_above_the_same_question_asked_before(
    workspace: SmallWorkspace, recall: Recall
) -> None:
    workspace.remember("2026-11-01|you|the boiler is in the cellar", *FILLER[:20])
    workspace.chat("20261102_100000", ("Where is the boiler?", "Where the boiler is, nobody said."))
    recall.sync(CancelToken(), quiet)
    hits = found(recall, "where is the boiler")
    assert [hits[0].text, hits[1].id] == ["the boiler is in the cellar", "20261102_100000#1"]
    assert hits[1].why["echo"] < 0


@pytest.mark.parametrize(
    ("said", "replied", "only_asks"),
    [
        ("Where is the boiler?", "The one I am is a.", True),
        ("锅炉 boiler 在哪里？", "我不知道。", True),
        ("Where is the boiler?", "The boiler is in the cellar.", False),
        ("The boiler is in the cellar. Is that safe?", "It is.", False),
        ("The boiler is in the cellar", "Good.", False),
    ],
)
def test_a_turn_that_only_asks_about_a_word_stands_below_what_says_something_about_it(
    workspace: SmallWorkspace, recall: Recall, said: str, replied: str, only_asks: bool
) -> None:
    workspace.remember(*FILLER[:20])
    workspace.chat("20261102_100000", (said, replied))
    recall.sync(CancelToken(), quiet)
    assert ("echo" in found(recall, "boiler")[0].why) is only_asks


def test_a_query_map_that_comes_later_turns_the_next_questions(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    workspace.remember("2026-11-01|you|rent", "2026-11-01|you|dentist", *FILLER[:20])
    recall.sync(CancelToken(), quiet)
    before = found(recall, "teeth")
    assert before[0].text == "dentist"
    rent, teeth = embedder.embed(["rent", "teeth"], CancelToken())
    embedder.query_map = np.outer(teeth, 20 * rent).astype(np.float32)
    recall.sync(CancelToken(), quiet)
    assert found(recall, "teeth", anyway=True)[0].text == "rent"


def test_what_happened_on_a_day_comes_newest_first_however_it_was_read(
    workspace: SmallWorkspace, by_words: Recall
) -> None:
    for clock, when in ("090000", "morning"), ("180000", "evening"), ("130000", "noon"):
        workspace.chat(f"20261101_{clock}", (f"a walk in the {when}", "Nice."))
    workspace.remember("2026-11-01|you|first noted", "2026-11-01|you|last noted")
    said = texts(by_words, "", since=date(2026, 11, 1), until=date(2026, 11, 1))
    assert [text.partition("\n")[0].rpartition(" ")[2] for text in said[2:]] == ["evening", "noon", "morning"]
    assert said[:2] == ["last noted", "first noted"]
    assert texts(by_words, "what happened on 1 November?", limit=3) == said[:3]


def test_an_embedder_that_answers_again_is_not_called_failing(workspace: SmallWorkspace, state: Path) -> None:
    class Stumbling(FakeEmbedder):
        stumbles = False

        def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
            if self.stumbles:
                raise AssistantError("embedding.test", "It stumbled.")
            return super().embed(texts, cancel)

    embedder = Stumbling()
    recall = Recall(workspace, state, embedder, CLOCK)
    workspace.remember("2026-11-01|you|kayak")
    recall.sync(CancelToken(), quiet)
    embedder.stumbles = True
    assert recall.search(RecallQuery("a kayak")).by_words == "failing" and recall.status().problem == "It stumbled."
    embedder.stumbles = False
    assert recall.search(RecallQuery("the kayak")).mode == "hybrid" and recall.status().problem == ""
    recall.close()
