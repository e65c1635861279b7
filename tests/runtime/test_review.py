"""The person's word on conflicts: picked, let stand, with a second opinion; and what was said is still found."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import InboxChanged, MemoryChanged
from assistant.core.values import Hit, RecallQuery
from assistant.recall.meaning.embedders import OnnxEmbedder
from assistant.recall.pairs import NearPair
from assistant.recall.search import Recall
from assistant.runtime.composition import Places, compose
from assistant.runtime.conflict_finder import ConflictFinder
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine
from tests.real_embeddings import embedding_model_path
from tests.real_models import starter_model_path
from tests.runtime.conftest import Stage

MAY, SEPTEMBER = "2026-05-03|you|lives in Lisbon", "2026-09-09|you|I live in Graz"


def write(stage: Stage, text: str, file: str = "MEMORY.md") -> None:
    (stage.services.workspace.root / file).write_text(text, encoding="utf-8")


def texts(stage: Stage) -> list[tuple[str, str]]:
    return [(conflict.older.text, conflict.newer.text) for conflict in stage.services.review.conflicts()]


def asked(stage: Stage, question: str, since: str = "", until: str = "") -> tuple[Hit, ...]:
    query = RecallQuery(
        question,
        scope="memory",
        since=date.fromisoformat(since) if since else None,
        until=date.fromisoformat(until) if until else None,
        now=datetime.fromisoformat("2026-11-30T12:00:00+01:00"),
    )
    return stage.services.search(query).hits


def test_the_one_that_holds_stays_and_the_other_is_struck_with_a_date(stage: Stage) -> None:
    write(stage, f"{MAY}\n{SEPTEMBER}\n")
    conflict = stage.services.review.conflicts()[0]
    assert (conflict.how, conflict.older.day, conflict.newer.day) == ("rule", date(2026, 5, 3), date(2026, 9, 9))
    stage.services.review.keep(conflict.id, "newer")
    today = stage.services.workspace.clock().date()
    lines = stage.services.workspace.memory.read("MEMORY.md").text.splitlines()
    assert lines == [f"2026-05-03|you|~~lives in Lisbon~~ · superseded {today}", SEPTEMBER]
    assert texts(stage) == []
    assert stage.of(MemoryChanged)[-1].actor == "you"


def test_what_was_said_in_may_is_still_answered_with_its_date(stage: Stage) -> None:
    """By a question, by a question about that time, and by time alone."""
    write(stage, f"{MAY}\n2026-06-01|you|likes tea\n{SEPTEMBER}\n")
    stage.services.review.keep(stage.services.review.conflicts()[0].id, "newer")
    now = asked(stage, "where do I live, Lisbon or Graz?")
    assert now[0].text == "I live in Graz"
    assert "Lisbon" in " ".join(hit.text for hit in now)
    for hits in (
        asked(stage, "where do I live?", "2026-05-01", "2026-05-31"),
        asked(stage, "", "2026-05-01", "2026-05-31"),
        asked(stage, "what did I say in May about Lisbon?"),
    ):
        assert (hits[0].date, hits[0].line) == ("2026-05-03", 1)
        assert "lives in Lisbon" in hits[0].text
        assert "superseded" in hits[0].text


def test_the_older_one_may_hold_too_and_it_can_be_taken_back(stage: Stage) -> None:
    write(stage, "- I live in Lisbon\n\n2026-09-09|you|likes tea；lives in Graz；has a cat\n")
    conflict = stage.services.review.conflicts()[0]
    saved = stage.services.review.keep(conflict.id, "older")
    text = stage.services.workspace.memory.read("MEMORY.md").text
    assert "likes tea；~~lives in Graz~~ · superseded" in text
    assert text.endswith("；has a cat\n")
    stage.services.workspace.memory.undo(saved.journal_id)
    assert len(texts(stage)) == 1


def test_a_hand_written_fact_that_lost_is_struck_too(stage: Stage) -> None:
    write(stage, "# About me\n\n- I live in Lisbon\n\n" + SEPTEMBER + "\n")
    stage.services.review.keep(stage.services.review.conflicts()[0].id, "newer")
    assert "- ~~I live in Lisbon~~ · superseded" in stage.services.workspace.memory.read("MEMORY.md").text
    assert texts(stage) == []


def test_of_entries_of_several_things_those_are_compared_that_share_words(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = "2026-05-03|chat:x#1-4|dentist appointment is on Tuesday；the cat weighs 4 kg；rents a garage for 60 euros"
    write(
        stage,
        f"{may}\n2026-09-09|chat:y#1-4|the garage costs 75 euros now；cat is 6 years old；dentist moved me to Friday\n",
    )
    units = list(dict.fromkeys(claim.unit for claim in stage.services.workspace.conflicts.claims()))
    near = NearPair(units[0], units[1], 0.6)
    monkeypatch.setattr(stage.services.recall, "near_pairs", lambda least, most: [near])
    assert set(texts(stage)) == {
        ("dentist appointment is on Tuesday", "dentist moved me to Friday"),
        ("rents a garage for 60 euros", "the garage costs 75 euros now"),
    }


def test_both_hold_ends_it(stage: Stage) -> None:
    write(stage, f"{MAY}\n{SEPTEMBER}\n")
    conflict = stage.services.review.conflicts()[0]
    stage.services.review.both_hold(conflict.id)
    assert texts(stage) == []
    assert stage.services.workspace.memory.read("MEMORY.md").text == f"{MAY}\n{SEPTEMBER}\n"
    with pytest.raises(AssistantError) as caught:
        stage.services.review.keep(conflict.id, "newer")
    assert caught.value.code == "conflict.missing"


def test_a_line_that_changed_meanwhile_is_not_struck(stage: Stage) -> None:
    write(stage, f"{MAY}\n{SEPTEMBER}\n")
    conflict = stage.services.review.conflicts()[0]
    write(stage, f"2026-05-03|you|lives in Lisbon, mostly\n{SEPTEMBER}\n")
    with pytest.raises(AssistantError) as caught:
        stage.services.review.keep(conflict.id, "newer")
    assert caught.value.code == "memory.unit"


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        (["yes", "No."], "yes"),
        (["No, they do not.", "Yes"], "no"),
        (["是", "不能"], "yes"),
        (["no", "no"], "unclear"),
        (["yes", "yes"], "unclear"),
        (["Perhaps", "no"], "unclear"),
    ],
)
def test_the_models_opinion_is_only_an_opinion(stage: Stage, replies: list[str], verdict: str) -> None:
    """It is asked in two ways: a model that says one word to everything has no opinion."""
    stage.use(FakeEngine(replies))
    write(stage, f"{MAY}\n{SEPTEMBER}\n")
    conflict = stage.services.review.conflicts()[0]
    opinion = stage.services.review.opinion(conflict.id, CancelToken())
    assert (opinion.verdict, opinion.model) == (verdict, "fake")
    for asked_for in stage.engine.asked:
        assert "lives in Lisbon" in asked_for[-1].text
        assert "I live in Graz" in asked_for[-1].text
    assert len(texts(stage)) == 1


def test_a_model_that_fails_changes_nothing(stage: Stage) -> None:
    stage.use(FakeEngine([AssistantError("engine.died", "The model stopped.")]))
    write(stage, f"{MAY}\n{SEPTEMBER}\n")
    conflict = stage.services.review.conflicts()[0]
    with pytest.raises(AssistantError):
        stage.services.review.opinion(conflict.id, CancelToken())
    assert len(texts(stage)) == 1
    assert stage.services.workspace.memory.read("MEMORY.md").text == f"{MAY}\n{SEPTEMBER}\n"


def test_the_window_hears_what_waits(stage: Stage) -> None:
    stage.services.workspace.inbox.propose(["likes tea", "likes coffee"], source="chat:x#1-2", actor="upkeep")
    assert stage.of(InboxChanged)[-1].waiting == 2
    assert stage.services.review.accept_all() == 1
    assert stage.of(InboxChanged)[-1].waiting == 0
    stage.services.workspace.inbox.propose(["likes milk"], source="chat:x#3-4", actor="upkeep")
    assert stage.services.review.decline_all() == 1
    assert stage.services.workspace.declined.turns("x") == {3, 4}


@pytest.mark.real
def test_the_real_starter_model_gives_an_opinion(tmp_path: Path) -> None:
    (tmp_path / "state" / "models").mkdir(parents=True)
    (tmp_path / "state" / "models" / "Starter.gguf").symlink_to(starter_model_path())
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text("[model]\nthreads = 1\nwindow = 1024\n")
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    (services.workspace.root / "MEMORY.md").write_text(f"{MAY}\n{SEPTEMBER}\n", encoding="utf-8")
    conflict = services.review.conflicts()[0]
    opinion = services.review.opinion(conflict.id, CancelToken())
    services.close()
    assert opinion.verdict in ("yes", "no", "unclear")
    assert opinion.model == "Starter"


@pytest.fixture
def meaning(tmp_path: Path) -> ConflictFinder:
    """Over the real embedding model, in this process."""
    from assistant.core.clock import fixed_clock

    workspace = Workspace(
        tmp_path / "ws", tmp_path / "data", tmp_path / "state", fixed_clock(datetime(2026, 11, 30).astimezone())
    )
    workspace.prepare()
    pairs = [
        "2026-05-03|you|the flight to Shanghai leaves on 4 December at 14:30",
        "2026-05-04|you|dentist appointment is on Tuesday",
        "2026-05-05|you|my sister Ines lives in Graz",
        "2026-05-06|you|妹妹七月结婚",
        "2026-05-07|you|allergic to penicillin",
        "2026-06-01|you|likes tea；the bicycle stands in the yard",
        "2026-06-02|you|the boiler was serviced by Ann",
        "2026-06-03|you|flight KL0896 back on 24 February",
        "2026-06-04|you|flight KL0895 out on 7 February",
        "2026-09-01|you|we fly to Shanghai on the 6th of December",
        "2026-09-02|you|the dentist moved me to Friday",
        "2026-09-03|you|my sister Ines has moved to Vienna",
        "2026-09-04|you|妹妹的婚礼改到九月",
        "2026-09-05|you|is fond of tea",
        "2026-09-06|you|not allergic to penicillin after all",
        "2026-09-07|you|dog is called Rex",
        "2026-09-08|you|the name of my dog is Rex",
    ]
    (workspace.root / "MEMORY.md").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    recall = Recall(workspace, tmp_path / "state", OnnxEmbedder(embedding_model_path()), workspace.clock)
    recall.sync(CancelToken())
    yield ConflictFinder(workspace.conflicts, recall)
    recall.close()


@pytest.mark.real
def test_what_contradicts_by_meaning_is_found_with_the_real_embedding_model(meaning: ConflictFinder) -> None:
    pairs = meaning.find()
    assert [(c.older.line, c.newer.line) for c in pairs if c.how == "same"] == [(16, 17)]
    found = {(c.older.line, c.newer.line): c for c in pairs if c.how != "same"}
    assert {(1, 10), (2, 11), (4, 13), (5, 15)} <= set(found)
    assert set(found) <= {(1, 10), (2, 11), (3, 12), (4, 13), (5, 15)}
    assert {conflict.how for conflict in found.values()} <= {"meaning", "rule"}
