"""Tools in a real model's prompt: told, counted, and read once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import EngineSettings, GenerateOptions, Message, ModelInfo, Role, ToolCall
from assistant.engine import session as sessions
from assistant.engine.session import EngineSession
from assistant.engine.templates import choose_template
from tests.engine.test_tool_formats import SEARCH
from tests.engine.tool_templates import HERMES
from tests.real_models import starter_model_path

ASKED = [Message(Role.SYSTEM, "You are brief."), Message(Role.USER, "When is the dentist?")]
USED = [
    Message(Role.ASSISTANT, "", (ToolCall("memory_search", {"query": "dentist"}),)),
    Message(Role.TOOL, "on Tuesday"),
]
OPTIONS = GenerateOptions(temperature=0.0, max_tokens=4, tools=(SEARCH,), conversation="c")


def loaded(session: EngineSession) -> ModelInfo:
    settings = EngineSettings(window=1024, threads=1, threads_batch=1)
    return session.load(starter_model_path(), settings, CancelToken(), lambda _: None)


@pytest.fixture
def session() -> Iterator[EngineSession]:
    made = EngineSession()
    yield made
    made.unload()


def test_a_model_without_tools_in_its_template_says_so(session: EngineSession) -> None:
    assert not loaded(session).tools
    assert session.count_prompt(ASKED, (SEARCH,)) == session.count_prompt(ASKED)
    assert session.count_prompt([*ASKED, *USED]) > session.count_prompt(ASKED)


def test_tools_are_counted_and_what_was_read_stays_valid_behind_a_call(
    session: EngineSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "choose_template", lambda _source, *rest: choose_template(HERMES, *rest))
    assert loaded(session).tools
    first = session.chat(ASKED, OPTIONS, CancelToken(), lambda _: None)
    assert first.prompt_tokens == session.count_prompt(ASKED, (SEARCH,)) > session.count_prompt(ASKED)
    then = session.chat([*ASKED, *USED], OPTIONS, CancelToken(), lambda _: None)
    assert then.prompt_tokens == session.count_prompt([*ASKED, *USED], (SEARCH,))
    assert then.reused_tokens >= first.prompt_tokens - 1
