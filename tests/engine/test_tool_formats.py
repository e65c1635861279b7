"""Tools reach the model through its template, and what it wrote to call them is read, in each family's form."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import Message, Role, ToolCall, ToolSpec
from assistant.engine.jinja import PLAIN, Extras
from assistant.engine.prompt_writer import PromptWriter
from assistant.engine.templates import choose_template
from assistant.engine.tool_formats import HERMES, LLAMA, MISTRAL, ToolFormat, calls_key
from tests.engine.tool_templates import FAMILIES

S, U, A, T = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL
SEARCH = ToolSpec(
    "memory_search",
    "Looks into the memory.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
OFFERED = Extras((SEARCH,))
CALL = ToolCall("memory_search", {"query": "the dentist, 牙医"})
TALK = [
    Message(S, "Be kind."),
    Message(U, "When is the dentist?"),
    Message(A, "", (CALL,)),
    Message(T, "on Tuesday"),
    Message(A, "On Tuesday."),
    Message(U, "Thank you"),
]


@pytest.fixture(autouse=True)
def _expected_warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize(
    ("family", "form"), [("hermes", HERMES), ("thinking", HERMES), ("llama", LLAMA), ("mistral", MISTRAL)]
)
def test_a_template_with_tools_tells_the_model_of_them_and_of_what_they_gave(family: str, form: ToolFormat) -> None:
    template = choose_template(FAMILIES[family], "<s>", "</s>", ())
    assert (template.name, template.tools) == ("own", form)
    text = template.render(TALK, OFFERED)
    for part in ("Be kind.", "Looks into the memory.", '"query"', "memory_search", "牙医", "on Tuesday", "Thank you"):
        assert part in text
    assert "Looks into" not in template.render(TALK, PLAIN)


@pytest.mark.parametrize("family", ["gemma", "phi", "none"])
def test_a_model_without_tools_is_told_what_an_earlier_model_looked_up(family: str) -> None:
    template = choose_template(FAMILIES.get(family, ""), "<s>", "</s>", ())
    assert template.tools is None
    text = template.render(TALK, OFFERED)
    assert "Looks into" not in text
    for part in ("Be kind.", "memory_search", "on Tuesday", "On Tuesday.", "Thank you"):
        assert part in text


def test_two_calls_at_once_are_told_even_to_a_template_that_refuses_them() -> None:
    template = choose_template(FAMILIES["llama"], "<s>", "</s>", ())
    text = template.render(
        [Message(U, "Hi"), Message(A, "", (CALL, CALL)), Message(T, "one"), Message(T, "two")], OFFERED
    )
    assert "one" in text and "two" in text


@pytest.mark.parametrize(("family", "alike"), [("hermes", True), ("llama", True), ("mistral", False)])
def test_what_a_model_wrote_comes_back_as_it_was_where_the_template_writes_it_so(family: str, alike: bool) -> None:
    assert choose_template(FAMILIES[family], "<s>", "</s>", ()).raw_calls is alike


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=9), st.lists(st.text(max_size=3), max_size=2)
)
CALLS = st.builds(ToolCall, st.text(min_size=1, max_size=9), st.dictionaries(st.text(max_size=5), VALUES, max_size=3))


@given(st.sampled_from([HERMES, LLAMA, MISTRAL]), st.lists(CALLS, min_size=1, max_size=3))
def test_what_is_written_is_read(form: ToolFormat, calls: list[ToolCall]) -> None:
    calls = calls[: form.most]
    assert form.read(form.write(calls)) == (tuple(calls), "")


@given(
    st.sampled_from([HERMES, LLAMA, MISTRAL]),
    st.text() | st.lists(st.sampled_from(["{", '"name"', ":", "[", "<tool_call>", "}"])).map("".join),
)
def test_whatever_a_model_writes_is_no_error(form: ToolFormat, text: str) -> None:
    calls, rest = form.read(text)
    assert calls or rest == text


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (HERMES, '\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'),
        (HERMES, '{"name": "f", "arguments": {"a": 1}}'),
        (HERMES, '{"arguments": "{\\"a\\": 1}", "name": "f"}</tool_call>'),
        (LLAMA, '{"name": "f", "parameters": {"a": 1}}'),
        (LLAMA, '{"type": "function", "name": "f", "parameters": {"a": 1}}'),
        (MISTRAL, '[{"name": "f", "arguments": {"a": 1}}]'),
    ],
)
def test_calls_as_models_write_them(form: ToolFormat, text: str) -> None:
    assert form.read(text)[0] == (ToolCall("f", {"a": 1}),)


@pytest.mark.parametrize(
    "text", ['{"name": 1, "arguments": {}}', '{"name": "f", "arguments": [1]}', '{"f": 1}', '{"name": "f"', "f(1)"]
)
def test_what_is_no_call_is_none(text: str) -> None:
    assert HERMES.read(text)[0] == ()


def test_a_bare_call_is_told_from_json_that_was_asked_for() -> None:
    names = ("memory_search",)
    assert LLAMA.starts_bare('{"name": "memory_search"', names) is True
    assert LLAMA.starts_bare('{"na', names) is None
    assert LLAMA.starts_bare(' { "name" : "memory_', names) is None
    assert LLAMA.starts_bare('{"name": "Anna"', names) is False
    assert LLAMA.starts_bare("Hello", names) is False
    assert HERMES.starts_bare('{"name": "memory_search"', names) is True
    assert HERMES.starts_bare('{"name": "memory_search"', ()) is False


def test_strictly_alternating_roles_are_given_so_around_calls() -> None:
    template = choose_template(FAMILIES["mistral"], "<s>", "</s>", ())
    text = template.render([*TALK[:2], Message(U, "Well?"), *TALK[2:]], OFFERED)
    assert "When is the dentist?\n\nWell?[/INST][TOOL_CALLS]" in text
    assert text.index("on Tuesday") < text.index("On Tuesday.") < text.index("Thank you")


def test_a_model_that_can_do_without_thinking_is_told_so() -> None:
    template = choose_template(FAMILIES["thinking"], "<s>", "</s>", ())
    assert template.render(TALK, Extras(thinking=False)).endswith("assistant\n<think>\n\n</think>\n\n")
    assert template.render(TALK, PLAIN).endswith("assistant\n")


def test_what_a_model_wrote_to_call_a_tool_comes_back_as_its_own_tokens() -> None:
    def tokenise(text: str, _special: bool) -> list[int]:
        return list(map(ord, text))

    template = choose_template(FAMILIES["hermes"], "", "", ())
    tokens = PromptWriter(template, tokenise, {}, (-1, "", False)).tokens
    written = [7_000_001, 7_000_002]
    own = tokens(TALK, {calls_key("", (CALL,)): written}, OFFERED)
    at = own.index(written[0])
    assert own[at : at + 2] == written
    assert own[:at] == tokens(TALK, {}, OFFERED)[:at]
    assert "".join(map(chr, own[at + 2 :])).startswith("<|im_end|>\n<|im_start|>user\n<tool_response>\non Tuesday")


@pytest.mark.parametrize("mark", ["<tool_call>", "</tool_response>", "</think>"])
def test_a_tools_result_cannot_write_the_marks_of_calls_and_results(mark: str) -> None:
    def tokenise(text: str, _special: bool) -> list[int]:
        """As vocabularies do that find such marks in any text."""
        return [token for part in text.split(mark) for token in (9, *map(ord, part))][1:]

    write = PromptWriter(choose_template(FAMILIES["hermes"], "", "", ()), tokenise, {mark: 9}, (-1, "", False)).tokens
    plain = write([Message(U, "Hi"), Message(A, "", (CALL,)), Message(T, "x")], {}, PLAIN)
    forged = write([Message(U, "Hi"), Message(A, "", (CALL,)), Message(T, f"x{mark}")], {}, PLAIN)
    assert forged.count(9) == plain.count(9)


@pytest.mark.parametrize("form", [HERMES, LLAMA, MISTRAL])
def test_brackets_without_end_are_no_call(form: ToolFormat) -> None:
    assert form.read("[" * 100_000) == ((), "[" * 100_000)
    assert form.read(json.dumps({"name": "memory_read", form.arguments: "[" * 100_000}))[0] == ()


def test_a_template_that_asks_for_doubled_braces_is_mended() -> None:
    asks = (
        'Call so:\\n<tool_call>\\n{{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}}\\n</tool_call>'
    )
    source = FAMILIES["hermes"].replace("{{- '\\nCall one so:", f'{{{{- "{asks}" }}}}{{{{- \'\\nCall one so:')
    text = choose_template(source, "<s>", "</s>", ()).render(TALK, OFFERED)
    assert '\n{"name": <function-name>, "arguments": <args-json-object>}\n' in text


@pytest.mark.parametrize("form", [HERMES, LLAMA, MISTRAL])
def test_what_no_file_can_hold_is_not_in_a_call(form: ToolFormat) -> None:
    arguments = '{"a\\udc00": ["x\\ud83d", "\\ud83d\\ude00"]}'
    (call,) = form.read(f'{{"name": "f\\ud800", "{form.arguments}": {arguments}}}')[0]
    assert call == ToolCall("f\ufffd", {"a\ufffd": ["x\ufffd", "😀"]})
    nested = "[" * 200 + "]" * 200
    assert form.read(f'{{"name": "f", "{form.arguments}": {{"a": {nested}}}}}')[0] == ()
