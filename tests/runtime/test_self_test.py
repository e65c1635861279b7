"""The recall self-test: pinned questions, asked again after what may change what memory finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import ChecksRan, Event
from assistant.core.values import RecallQuery
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.workspace.memory import Saved


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), environ={})
    made.remember("the boiler is in the cellar")
    made.remember("flies to Shanghai on 4 December")
    yield made
    made.close()


def settle(services: Services) -> None:
    for _ in range(3):
        services.lanes.index.submit(lambda: None).result()


def drop(services: Services, word: str) -> None:
    memory = services.workspace.memory
    file = memory.read("MEMORY.md")
    kept = "".join(line for line in file.text.splitlines(keepends=True) if word not in line)
    assert isinstance(memory.save("MEMORY.md", kept, file.sha256), Saved)


def test_a_pinned_unit_and_pinned_words_are_found(services: Services) -> None:
    hit = services.search(RecallQuery("boiler")).hits[0]
    assert services.self_test.add("where is the boiler?", hit.id, hit.text).now == 1
    words = services.self_test.add("when is the flight?", "4 december")
    assert (words.before, words.now, words.lost) == (None, services.self_test.run().states[1].now, False)
    assert services.self_test.add("where is the boiler?", hit.id, hit.text).check.id, "the same check is kept once"
    assert len(services.self_test.state().states) == 2


def test_a_pinned_unit_is_found_again_by_its_words(services: Services) -> None:
    hit = services.search(RecallQuery("boiler")).hits[0]
    services.self_test.add("where is the boiler?", hit.id, hit.text)
    memory = services.workspace.memory
    file = memory.read("MEMORY.md")
    memory.save("MEMORY.md", file.text.replace("|you|the boiler", "|me|the boiler"), file.sha256)
    assert services.self_test.run().states[0].now == 1


def test_what_is_lost_is_told_and_stays_lost_until_it_is_found(services: Services) -> None:
    events: list[Event] = []
    services.subscribe(events.append)
    services.self_test.add("where is the boiler?", "cellar")
    drop(services, "boiler")
    for _ in range(2):
        test = services.self_test.run()
        assert (test.states[0].before, test.states[0].now, test.lost) == (1, 0, 1)
    assert [event.lost for event in events if isinstance(event, ChecksRan)] == [0, 1, 1]
    services.remember("the boiler is in the cellar")
    assert services.self_test.run().lost == 0


def test_a_tidy_up_that_loses_something_is_rolled_back(services: Services) -> None:
    services.self_test.add("where is the boiler?", "cellar")
    drop(services, "boiler")
    change = services.workspace.journal.entries(1)[0]
    services.self_test.run_later("tidy", change.id)
    settle(services)
    test = services.self_test.state()
    assert (test.lost, test.cause) == (1, "tidy")
    assert "taken back" in services.self_test.rollback()
    assert services.self_test.state().lost == 0
    assert "cellar" in services.workspace.memory.read("MEMORY.md").text


def test_a_rebuild_is_noticed_and_has_nothing_to_roll_back(services: Services) -> None:
    services.self_test.add("where is the boiler?", "cellar")
    services.self_test.start()
    settle(services)
    assert services.self_test.state().last.reason == "asked"  # type: ignore[union-attr]
    drop(services, "boiler")
    services.recall.rebuild(CancelToken())
    services.self_test.start()
    settle(services)
    assert services.self_test.state().last.reason == "rebuild"  # type: ignore[union-attr]
    with pytest.raises(AssistantError) as caught:
        services.self_test.rollback()
    assert caught.value.code == "check.rebuild"


def test_another_embedding_model_is_noticed_and_the_setting_comes_back(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.settings.update("embedding", model="first-model")
    services.self_test.add("where is the boiler?", "cellar")
    services.settings.update("embedding", model="other-model")
    index, _ = services.recall.identity()
    monkeypatch.setattr(services.recall, "identity", lambda: (index, "other"))
    drop(services, "boiler")
    services.self_test.start()
    settle(services)
    test = services.self_test.state()
    assert (test.cause, test.lost) == ("model", 1)
    assert "model" in services.self_test.rollback()
    assert services.settings.load().embedding.model == "first-model"


def test_nothing_to_roll_back_is_said(services: Services) -> None:
    services.self_test.add("where is the boiler?", "cellar")
    with pytest.raises(AssistantError) as caught:
        services.self_test.rollback()
    assert caught.value.code == "check.nothing_lost"


def test_checks_are_redacted_forgotten_and_survive_a_damaged_file(services: Services) -> None:
    services.self_test.add("what is my password: hunter2secret?", "the boiler")
    store = services.self_test.store
    file = services.workspace.data / "checks.json"
    assert "hunter2secret" not in file.read_text()
    services.self_test.add("where is the boiler?", "cellar")
    assert store.remaining(["the boiler"]) == 2
    store.scrub(["cellar"])
    assert store.remaining(["cellar"]) == 0 and len(store.checks()) == 1
    file.write_text("{broken")
    assert services.self_test.state().states == ()


def test_an_empty_check_and_an_unknown_one_are_refused(services: Services) -> None:
    for question, expect in (("", "x"), ("x", " ")):
        with pytest.raises(AssistantError) as caught:
            services.self_test.add(question, expect)
        assert caught.value.code == "check.empty"
    with pytest.raises(AssistantError) as caught:
        services.self_test.remove("nope")
    assert caught.value.code == "check.missing"


def test_a_real_tidy_up_is_noticed_and_its_batch_is_undone(services: Services) -> None:
    memory = services.workspace.memory
    file = memory.read("MEMORY.md")
    memory.save(
        "MEMORY.md", file.text + "2026-01-02|you|the dentist moved to Rua Augusta · until 2026-02-01\n", file.sha256
    )
    hit = next(hit for hit in services.search(RecallQuery("dentist Rua Augusta")).hits if "dentist" in hit.text)
    services.self_test.store.add("where is the dentist of Rua Augusta?", hit.id, "", "")
    assert services.self_test.run().lost == 0
    services.tidying.apply(services.tidying.plan())
    settle(services)
    test = services.self_test.state()
    assert test.last is not None
    assert (test.last.reason, test.lost, test.cause) == ("tidy", 1, "tidy")
    assert services.workspace.journal.batch(test.last.undo)
    services.self_test.rollback()
    assert services.self_test.state().lost == 0
    assert "dentist" in memory.read("MEMORY.md").text and "dentist" not in memory.read("memory/archive.md").text


def test_words_alone_are_not_held_against_meaning(services: Services) -> None:
    check = services.self_test.add("where is the boiler?", "cellar").check
    last = services.self_test.store.runs()[-1]
    services.self_test.store.add_run(replace(last, mode="hybrid", ranks={check.id: 1}))
    services.self_test.store.add_run(replace(last, mode="keyword", ranks={check.id: 0}))
    services.self_test.store.add_run(replace(last, mode="hybrid", ranks={check.id: 0}))
    assert services.self_test.state().lost == 1
    services.self_test.store.add_run(replace(last, mode="keyword", ranks={check.id: 3}))
    state = services.self_test.state().states[0]
    assert (state.before, state.now) == (0, 3)
