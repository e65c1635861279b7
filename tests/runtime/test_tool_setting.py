"""Who wants no tools has none: the setting is heeded from the next message on."""

from __future__ import annotations

from assistant.core.cancel import CancelToken
from tests.fakes import FakeEngine
from tests.runtime.conftest import Stage


def test_a_model_is_told_of_tools_unless_the_person_wants_none(stage: Stage) -> None:
    engine = FakeEngine(tools=True)
    stage.use(engine)
    chat = stage.services.new_chat()
    stage.services.turns.send_now(chat, "Good morning", CancelToken())
    stage.services.settings.update("model", tools="off")
    stage.services.turns.send_now(chat, "Remember that my dog is called Rex", CancelToken())
    assert [bool(options.tools) for options in engine.options] == [True, False]
    assert "my dog is called Rex" in stage.services.workspace.memory.read("MEMORY.md").text
