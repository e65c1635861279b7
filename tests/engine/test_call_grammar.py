"""Whatever the model would rather say: once it calls a tool, the call fits the tool. With the real starter model."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from assistant.chat.tools import ALL
from assistant.core.values import GenerateOptions, ToolSpec
from assistant.engine.call_grammar import BARE, MARKED, call_grammar
from assistant.engine.library import Library, LoadPlan
from assistant.engine.llama import LlamaModel
from assistant.engine.tool_formats import HERMES, LLAMA, MISTRAL, ToolFormat
from tests.real_models import starter_model_path

SEARCH = ToolSpec(
    "memory_search",
    "Looks into the memory.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 30},
            "scope": {"enum": ["memory", "chats"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            "since": {"type": "string", "format": "date"},
        },
        "required": ["query", "scope", "limit"],
    },
)
NOW = ToolSpec("now", "What time it is.", {"type": "object", "properties": {}})
TOOLS = (SEARCH, NOW)


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    library = Library()
    made = LlamaModel(library, LoadPlan(starter_model_path(), 1024, 64, 1, 1), lambda _: True)
    yield made
    made.close()
    library.close()


def said(
    model: LlamaModel, grammar: str, root: str, begun: str, seed: int, temperature: float = 1.5, most: int = 300
) -> str:
    """What the model says after ``begun`` until it may end, held to the grammar; all of the vocabulary is open."""
    prompt = model.tokenise("<|im_start|>user\nWhat day is it?<|im_end|>\n<|im_start|>assistant\n" + begun, True)
    model.read(prompt, lambda _read, _reused: None)
    options = GenerateOptions(temperature=temperature, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
    pieces = []
    with model.sampler(options) as source:
        source.hold_to(grammar, root, begun)
        while len(pieces) < most and not model.is_end(token := source.pick()):
            pieces.append(model.piece(token))
            model.append((token,))
    assert len(pieces) < most
    return begun + b"".join(pieces).decode()


def check(name: str, arguments: dict[str, object]) -> None:
    """The schemas above, read again."""
    if name == "now":
        assert arguments == {}
        return
    assert name == "memory_search"
    assert (
        arguments.keys() >= {"query", "scope", "limit"} and arguments.keys() <= SEARCH.parameters["properties"].keys()
    )
    assert 1 <= len(str(arguments["query"])) <= 30
    assert arguments["scope"] in ("memory", "chats")
    assert type(arguments["limit"]) is int and 1 <= arguments["limit"] <= 20


@pytest.mark.parametrize("form", [HERMES, LLAMA, MISTRAL])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_call_fits_its_tool_however_wild_the_sampling(model: LlamaModel, form: ToolFormat, seed: int) -> None:
    text = said(model, call_grammar(form, TOOLS), MARKED, "", seed)
    calls, rest = form.read(text)
    assert 1 <= len(calls) <= form.most and not rest.strip()
    for call in calls:
        check(call.name, dict(call.arguments))


def test_a_call_that_was_begun_without_its_mark_is_ended_rightly(model: LlamaModel) -> None:
    text = said(model, call_grammar(HERMES, TOOLS), BARE, '{"name": "memory_search", "', 3)
    ((call,), rest) = HERMES.read(text)
    assert not rest.strip()
    check(call.name, dict(call.arguments))


def test_a_call_that_was_begun_over_several_lines_is_ended_rightly(model: LlamaModel) -> None:
    text = said(model, call_grammar(HERMES, TOOLS), BARE, '{\n  "name": "memory_search",\n', 3)
    ((call,), rest) = HERMES.read(text)
    assert not rest.strip()
    check(call.name, dict(call.arguments))


def test_a_begin_that_fits_no_tool_leaves_the_model_free(model: LlamaModel) -> None:
    text = said(model, call_grammar(HERMES, TOOLS), MARKED, '{"nombre": ', 1, 0.0)
    assert text.startswith('{"nombre": ')


def test_a_schema_that_no_grammar_can_hold_is_said() -> None:
    with pytest.raises(ValueError, match="cannot be a grammar"):
        call_grammar(HERMES, (ToolSpec("f", "", {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}),))


def test_texts_in_calls_are_json(model: LlamaModel) -> None:
    free = ToolSpec("note", "", {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]})
    grammar = call_grammar(LLAMA, (free,))
    line = next(line for line in grammar.split("\n") if line.startswith("char ::="))
    assert "\\x00-\\x1F" in line
    assert json.loads(said(model, grammar, MARKED, '{"name": "note", "parameters": {"t": "Monday."}', 1, 0.0))


@pytest.mark.parametrize("form", [HERMES, LLAMA, MISTRAL])
def test_calls_of_the_assistants_own_tools_are_whole(model: LlamaModel, form: ToolFormat) -> None:
    grammar = call_grammar(form, ALL)
    (call, *_), rest = form.read(said(model, grammar, BARE, '{"name": "memory_write", "', 5, 1.5, most=1000))
    assert not rest.strip()
    assert call.name == "memory_write" and call.arguments.keys() <= {"text", "topic", "until"}
    assert all(len(str(value)) <= 600 for value in call.arguments.values()) and "text" in call.arguments
