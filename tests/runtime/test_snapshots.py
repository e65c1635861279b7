"""When snapshots are written, and what makes them go: with a keeper that says what it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import ModelLoading
from assistant.engine.snapshot_file import Identity
from assistant.engine.snapshots import ROW, Place, SnapshotStore, left_in, model_identity
from assistant.runtime import checks, distilling
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.runtime.conftest import Stage


class Keeper:
    """In the place of the engine: writes a small snapshot of what it is asked to keep."""

    def __init__(self, stage: Stage) -> None:
        self.asked: list[list[str]] = []
        self.before: Callable[[CancelToken], None] = lambda _: None
        service = stage.services.snapshots
        service._engine = self
        self._place = service.place

    def keep_at(self, place: Callable[[], Place | None]) -> None:
        self._place = place

    def keep(self, conversations: Sequence[str], cancel: CancelToken) -> None:
        self.asked.append(list(conversations))
        self.before(cancel)
        cancel.check()
        place = self._place()
        assert place is not None
        store = SnapshotStore(place, Identity("model", "settings"))
        for chat in conversations:
            store.save(chat, [1, 2, 3], (), memoryview(b"state"), cancel)


@pytest.fixture
def keeper(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    monkeypatch.setattr(distilling, "QUIET_SECONDS", 0.0)
    return Keeper(stage)


def _talk(stage: Stage, *, private: bool = False) -> str:
    chat = stage.services.new_chat("Talk", private)
    _say(stage, chat)
    return chat


def _say(stage: Stage, chat: str) -> None:
    stage.services.send(chat, "Hello!")
    stage.wait_for_end(len(stage.ends()) + 1)
    stage.settle()


def _kept(stage: Stage) -> list[Path]:
    return left_in(stage.services.snapshots.folder)


def _quiet(stage: Stage) -> None:
    stage.services._look()
    stage.settle()


def test_a_turn_is_kept_when_it_is_quiet_and_once(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    assert keeper.asked == []
    _quiet(stage)
    _quiet(stage)
    assert keeper.asked == [[chat]]
    assert len(_kept(stage)) == 1


def test_while_the_person_may_be_writing_nothing_is_kept(stage: Stage) -> None:
    keeper = Keeper(stage)
    _talk(stage)
    _quiet(stage)
    assert keeper.asked == []
    stage.services.snapshots.close()
    assert len(keeper.asked) == 1


def test_of_private_and_temporary_chats_nothing_is_kept(stage: Stage, keeper: Keeper) -> None:
    _talk(stage, private=True)
    hidden = stage.services.temporary.create()
    _say(stage, hidden)
    _quiet(stage)
    stage.services.snapshots.close()
    assert keeper.asked == []


def test_a_turn_that_comes_meanwhile_goes_first_and_it_is_kept_later(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    stopped: list[CancelToken] = []

    def interrupted(cancel: CancelToken) -> None:
        keeper.before = lambda _: None
        stopped.append(cancel)
        stage.services.send(chat, "And now?")
        assert cancel.wait(30)

    keeper.before = interrupted
    _quiet(stage)
    stage.wait_for_end(2)
    assert stopped[0].cancelled and _kept(stage) == []
    _quiet(stage)
    assert len(_kept(stage)) == 1


def test_it_is_kept_before_another_model_takes_the_models_place(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    stage.services._emit(ModelLoading("another", 0.0))
    stage.services._emit(ModelLoading("another", 0.5))
    assert keeper.asked == [[chat]]


def test_it_is_kept_at_the_end_but_the_end_waits_for_nobody(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    tokens: list[CancelToken] = []

    def slow(cancel: CancelToken) -> None:
        tokens.append(cancel)
        if not cancel.wait(30):
            raise AssertionError("the end waits")
        raise Cancelled

    keeper.before = slow
    stage.services.snapshots.close()
    assert keeper.asked == [[chat]] and tokens[0].cancelled


def test_they_go_when_the_chat_is_deleted_or_made_private(stage: Stage, keeper: Keeper) -> None:
    one, two = _talk(stage), _talk(stage)
    _quiet(stage)
    assert len(_kept(stage)) == 2
    stage.services.delete_chat(one)
    assert len(_kept(stage)) == 1
    stage.services.set_private(two, True)
    assert _kept(stage) == []
    _quiet(stage)
    assert _kept(stage) == []


@pytest.mark.parametrize("private", [True, False])
def test_those_of_chats_that_were_told_of_it_go_with_it(stage: Stage, keeper: Keeper, private: bool) -> None:
    one, two = _talk(stage), _talk(stage)
    assert one in {line.unit.partition("#")[0] for line in stage.services.receipt(two, 1).lines}
    _quiet(stage)
    keeper.keep([ROW], CancelToken())
    if private:
        stage.services.set_private(one, True)
    else:
        stage.services.delete_chat(one)
        assert len(_kept(stage)) == 1  # it can be brought back, and is in the trash as it was
        stage.services.deletion.purge_all()
    assert _kept(stage) == []


def test_one_that_is_deleted_while_it_is_written_is_gone(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    keeper.before = lambda _: stage.services.workspace.chats.purge(stage.services.workspace.chats.delete(chat))
    _quiet(stage)
    assert keeper.asked == [[chat]]
    assert _kept(stage) == []


def test_forgetting_removes_all_of_them_and_proves_it(stage: Stage, keeper: Keeper) -> None:
    _talk(stage)
    _quiet(stage)
    stage.services.remember("the quixotonal soup")
    before = stage.services.snapshots.place()
    assert before is not None
    epoch = before.epoch
    report = stage.services.forgetting.now(stage.services.forgetting.plan("the quixotonal soup"))
    assert {each.place: each.remaining for each in report.searched}["snapshots"] == 0
    assert _kept(stage) == []
    assert before.epoch != epoch  # so no worker writes what it read before


def test_those_of_nothing_any_more_are_found(stage: Stage, keeper: Keeper) -> None:
    chat = _talk(stage)
    _quiet(stage)
    keeper.keep(["a chat that is gone"], CancelToken())
    (stage.services.snapshots.folder / "spoilt.kv").write_bytes(b"no snapshot")
    assert stage.services.snapshots.drop_foreign() == 2
    assert stage.services.snapshots.usage()[0] == 1
    assert stage.services.snapshots.drop_models([]) == 1
    assert stage.services.snapshots.drop_models([]) == 0
    keeper.keep([chat], CancelToken())
    stage.services.settings.update("model", snapshot_mb=0)
    assert stage.services.snapshots.place() is None
    stage.services.snapshots.drop_foreign()
    assert _kept(stage) == []


def test_they_go_with_their_model(stage: Stage, keeper: Keeper) -> None:
    model = stage.services.paths.models / "Tiny.gguf"
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(gguf_bytes(chat_facts()))
    place = stage.services.snapshots.place()
    assert place is not None
    for weights, chat in ((model_identity(model), "one"), ("others", "two")):
        SnapshotStore(place, Identity(weights, "")).save(chat, [1, 2, 3], (), memoryview(b"state"), CancelToken())
    assert stage.services.snapshots.drop_models(stage.services.models()) == 1
    stage.services.remove_model("Tiny")
    assert _kept(stage) == []


def test_a_model_that_cannot_be_deleted_stays_the_chosen_one(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    model = stage.services.paths.models / "Tiny.gguf"
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(gguf_bytes(chat_facts()))
    stage.services.choose_model("Tiny")

    unlink = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self == model:
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(AssistantError) as failed:
            stage.services.remove_model("Tiny")
    assert failed.value.code == "model.delete"
    assert stage.services.settings.load().model.name == "Tiny"
    stage.services.remove_model("Tiny")
    assert stage.services.settings.load().model.name == ""


def test_the_doctor_says_how_much_it_is_and_clears_up(stage: Stage, keeper: Keeper) -> None:
    _talk(stage)
    _quiet(stage)
    check = checks._snapshots(stage.services)
    assert check.ok and "1 that belonged to nothing any more" in check.detail  # its model is not there
    assert checks._snapshots(stage.services).detail.startswith("0 states")
