"""A session loads one model, and gives back what it took where that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import EngineSettings, ModelInfo
from assistant.engine import session as sessions
from assistant.engine.library import Library, LoadPlan
from assistant.engine.llama import LlamaModel
from assistant.engine.session import EngineSession
from tests.real_models import starter_model_path


@pytest.fixture
def session() -> Iterator[EngineSession]:
    made = EngineSession()
    yield made
    made.unload()


def load(session: EngineSession, **settings: int) -> ModelInfo:
    wanted = EngineSettings(window=512, threads=1, threads_batch=1, **settings)
    return session.load(starter_model_path(), wanted, CancelToken(), lambda _: None)


def test_a_load_that_fails_late_gives_the_memory_back(session: EngineSession, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[LlamaModel] = []
    close = LlamaModel.close

    def noted(model: LlamaModel) -> None:
        closed.append(model)
        close(model)

    def fails(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(LlamaModel, "close", noted)
        patched.setattr(sessions, "choose_template", fails)
        with pytest.raises(MemoryError):
            load(session)
        assert len(closed) == 1
    assert load(session).window == 512


def test_a_stop_is_no_fault_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    library = Library()
    model = LlamaModel(library, LoadPlan(starter_model_path(), 512, 64, 1, 1), lambda _: True)
    tokens = model.tokenise("The river runs past the old mill.", False)
    model.stop()
    assert model._decode(tokens, False) != 0  # llama.cpp begins it and is stopped within
    with pytest.raises(Cancelled):
        model.append(tokens)
    assert "llama.cpp" not in caplog.text
    model.resume()
    model.append(tokens)
    assert model.cached == tokens
    model.close()
    library.close()


def test_what_a_graphics_card_takes_is_not_asked_of_the_memory(
    session: EngineSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "available_memory", lambda: 1_000)
    with pytest.raises(AssistantError) as caught:
        load(session, gpu_layers=1)  # this build has none
    assert caught.value.code == "model.too_big"
    monkeypatch.setattr(EngineSession, "has_gpu", lambda _: True)
    assert load(session, gpu_layers=1).window == 512
