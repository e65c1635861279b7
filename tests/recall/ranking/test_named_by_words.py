"""A question that names a chat, searched by words alone."""

from __future__ import annotations

import pytest

from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace, found

STANDUP, OTHER = "20261101_100000", "20261102_100000"


@pytest.fixture
def talked(workspace: SmallWorkspace) -> SmallWorkspace:
    said = ["the build is red since the new compiler came", "the release slips by a week", "Ana takes over the tests"]
    workspace.chat(STANDUP, *((text, "Noted.") for text in said), title="Stand-up")
    workspace.chat(
        OTHER, ("the build of the shed is done", "Fine."), ("a bench for it comes later", "Good."), title="Shed"
    )
    workspace.remember(*(f"2026-11-01|you|remark {n} about weather and the sea" for n in range(80)))
    return workspace


@pytest.mark.parametrize(
    "question",
    [
        "what was decided about the schedule in the standup chat",
        "in the standup chat, who is responsible for quality?",
        "what was the trouble with the build in the standup chat",
        "在standup那个聊天里说了什么问题",
        "在 standup 那个聊天里说了什么问题",
    ],
)
def test_it_gets_what_was_said_there(talked: SmallWorkspace, by_words: Recall, question: str) -> None:
    hits = found(by_words, question)
    assert hits and hits[0].id.startswith(STANDUP)


@pytest.mark.parametrize("question", ["what was decided in the budget chat", "who is responsible for quality?"])
def test_without_such_a_chat_nothing_is_known(talked: SmallWorkspace, by_words: Recall, question: str) -> None:
    assert not found(by_words, question)
