"""``keepsake ask`` with tools and plain requests, and what the other commands show of them; a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.fakes import FakeEngine, asks

from .conftest import Keepsake


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    models = tmp_path / "st" / "models"
    models.mkdir(parents=True)
    (models / "Tiny.gguf").write_bytes(gguf_bytes(chat_facts(), {"token_embd.weight": (64, 4)}))
    made = FakeEngine([asks("memory_search", query="hydrangea", said="Let me look."), "In March."], tools=True)
    monkeypatch.setattr("assistant.runtime.workers.WorkerEngine", lambda *_: made)
    return made


def everything(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_the_last_line_says_which_tools_were_used_and_the_text_is_what_streamed(
    keepsake: Keepsake, engine: FakeEngine
) -> None:
    keepsake("remember", "The hydrangea needs lime in March", "--topic", "garden")
    *deltas, done = keepsake("ask", "When do I lime the hydrangea?", "--json").lines
    assert {line["type"] for line in deltas} == {"delta"}
    assert "".join(line["text"] for line in deltas) == done["text"] == "Let me look.\n\nIn March."
    (tool,) = done["tools"]
    assert (tool["name"], tool["arguments"], tool["outcome"]) == ("memory_search", {"query": "hydrangea"}, "found")
    assert "lime in March" in tool["result"]
    assert [line["file"] for line in done["receipt"] if line["why"] == "tool"] == ["memory/garden.md"]
    turn = keepsake("chats", "show", done["chat"], "--json").json["turns"][0]
    assert [tool["detail"] for tool in turn["tools"]] == ["memory/garden.md:1"]
    assert "**Tool** (memory_search):" in keepsake("chats", "export", done["chat"]).out


def test_a_temporary_question_may_look_but_never_write(keepsake: Keepsake, engine: FakeEngine, tmp_path: Path) -> None:
    keepsake("remember", "The hydrangea needs lime in March", "--topic", "garden")
    done = keepsake("ask", "When do I lime the quixotic hydrangea?", "--temporary", "--json").lines[-1]
    assert (done["chat"], done["turn"], done["tools"][0]["outcome"]) == (None, 0, "found")
    assert "memory_write" not in [tool.name for tool in engine.options[0].tools]
    done = keepsake("ask", "Remember that I like quixotic opera", "--temporary", "--json").lines[-1]
    assert done["tools"][0]["outcome"] == "refused"
    assert "quixotic" not in everything(tmp_path)


def test_from_a_private_chat_only_the_persons_own_words_write(keepsake: Keepsake, engine: FakeEngine) -> None:
    done = keepsake("ask", "Remember that I like opera", "--private", "--json").lines[-1]
    assert done["tools"][0]["outcome"] == "written"
    assert "memory_write" not in [tool.name for tool in engine.options[0].tools]


def test_without_memory_there_are_no_tools(keepsake: Keepsake, engine: FakeEngine) -> None:
    keepsake("ask", "hello", "--no-memory")
    assert engine.options[0].tools == ()


def test_forget_says_what_it_found_and_how_and_forgets_nothing(
    keepsake: Keepsake, engine: FakeEngine, tmp_path: Path
) -> None:
    keepsake("remember", "my old address was Elm Street 5")
    asked = keepsake("ask", "Forget my old address")
    assert "Nothing is forgotten yet" in asked.out
    assert "my old address was Elm Street 5" in asked.err
    assert "keepsake forget 'my old address'" in asked.err
    assert engine.asked == []
    assert "Elm Street 5" in (tmp_path / "ws" / "MEMORY.md").read_text()
    assert keepsake("forget", "my old address", "--yes").code == 0
    assert "Elm Street" not in everything(tmp_path)


def test_the_prompt_shows_what_the_model_is_told_of_tools(keepsake: Keepsake, engine: FakeEngine) -> None:
    blocks = {block["name"]: block for block in keepsake("prompt", "hello", "--json").json["blocks"]}
    assert "memory_search" in blocks["tools"]["text"]
    assert blocks["tools"]["tokens"] > 50


def test_forgetting_a_memory_takes_it_out_of_what_tools_found(
    keepsake: Keepsake, engine: FakeEngine, tmp_path: Path
) -> None:
    keepsake("remember", "The hydrangea needs lime in March", "--topic", "garden")
    keepsake("ask", "When do I lime it?")
    assert "hydrangea needs lime" in everything(tmp_path)
    assert keepsake("forget", "hydrangea needs lime", "--yes").code == 0
    assert "hydrangea needs lime" not in everything(tmp_path)
