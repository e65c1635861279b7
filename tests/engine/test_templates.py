"""Messages become prompts with the template a model has, or one that stands in; people's text stays text."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import Message, Role
from assistant.engine.jinja import PLAIN, Extras
from assistant.engine.prompt_writer import PromptWriter
from assistant.engine.templates import choose_template, fold_system, merge_roles

S, U, A = Role.SYSTEM, Role.USER, Role.ASSISTANT
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
STRICT = (
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% if message['role'] == 'user' %}[INST] {{ message['content'] }} [/INST]"
    "{% else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
DROPS_SYSTEM = CHATML.replace(
    "{{'<|im_start|>' + message", "{% if message['role'] != 'system' %}{{'<|im_start|>' + message"
).replace("{% endfor %}", "{% endif %}{% endfor %}", 1)
CONTROL = {"<|im_start|>": 1, "<|im_end|>": 2, "<|endoftext|>": 3}
TALK = [Message(S, "Be kind."), Message(U, "Hi"), Message(A, "Hello"), Message(U, "Bye")]


@pytest.fixture(autouse=True)
def _expected_warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def rendered(source: str, messages: list[Message], control: tuple[str, ...] = tuple(CONTROL)) -> tuple[str, str]:
    template = choose_template(source, "<s>", "</s>", control)
    return template.name, template.render(messages, PLAIN)


def test_the_models_own_template_is_used() -> None:
    name, text = rendered(CHATML, TALK)
    assert name == "own"
    assert text.startswith("<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n")
    assert text.endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize(
    "source", ["", "  ", "{#", "{% for", "{{ raise_exception('never') }}", "{{ 1/0 }}", "{{ x.y.z }}"]
)
def test_a_missing_cut_or_raising_template_has_a_stand_in(source: str) -> None:
    name, text = rendered(source, TALK)
    assert name == "chatml" and text.endswith("Bye<|im_end|>\n<|im_start|>assistant\n")
    name, text = rendered(source, TALK, ("<s>",))
    assert (name, text) == ("plain", "System: Be kind.\nUser: Hi\nAssistant: Hello\nUser: Bye\nAssistant:")


def test_the_plain_stand_in_stops_where_the_person_would_speak() -> None:
    assert "\nUser:" in choose_template("", "", "", ()).stops


def test_a_template_that_says_nothing_is_not_used() -> None:
    assert rendered("always the same", TALK)[0] == "chatml"


@pytest.mark.parametrize("source", [NO_SYSTEM, DROPS_SYSTEM])
def test_system_text_reaches_a_model_without_a_system_role(source: str) -> None:
    name, text = rendered(source, TALK)
    assert name == "own"
    assert "<|im_start|>user\nBe kind.\n\nHi<|im_end|>" in text


def test_strictly_alternating_roles_are_given_so() -> None:
    name, text = rendered(STRICT, [*TALK, Message(U, "Still there?")])
    assert name == "own"
    assert text == "[INST] Be kind.\n\nHi [/INST]Hello</s>[INST] Bye\n\nStill there? [/INST]"


def test_a_chat_that_begins_with_a_reply_is_no_error() -> None:
    name, text = rendered(STRICT, [Message(A, "Welcome"), Message(U, "Hi")])
    assert name == "own" and "Welcome" in text and "Hi" in text


def test_a_template_cannot_reach_out_of_its_box() -> None:
    assert rendered("{{ ''.__class__.__mro__[1].__subclasses__() }}" + CHATML, TALK)[0] == "chatml"


def test_folding_and_merging_lose_nothing() -> None:
    assert fold_system([Message(S, "a"), Message(A, "b"), Message(U, "c")]) == [Message(A, "b"), Message(U, "a\n\nc")]
    assert fold_system([Message(U, "c"), Message(S, "a")]) == [Message(U, "c"), Message(U, "a")]
    assert merge_roles([Message(U, "a"), Message(U, "b"), Message(A, "c")]) == [Message(U, "a\n\nb"), Message(A, "c")]


def tokenise(text: str, special: bool) -> list[int]:
    """One token a character, 1000 and up; control tokens by their own numbers."""
    tokens = []
    while text:
        spelling = next((known for known in CONTROL if special and text.startswith(known)), "")
        tokens.append(CONTROL[spelling] if spelling else 1000 + ord(text[0]))
        text = text[len(spelling) or 1 :]
    return tokens


def spelt(tokens: list[int]) -> str:
    names = {number: text for text, number in CONTROL.items()}
    return "".join(names.get(token) or chr(token - 1000) for token in tokens)


def writer(bos: tuple[int, str, bool] = (-1, "", False)) -> PromptWriter:
    return PromptWriter(choose_template(CHATML, "", "", CONTROL), tokenise, CONTROL, bos)


PIECES = st.lists(st.sampled_from([*CONTROL, "<|im_", "end|>", "<|", "|>", "a", "\U000f0000", "{{ 7*7 }}", "\n"]))


@given(st.lists(st.tuples(st.sampled_from(Role), PIECES.map("".join)), min_size=1, max_size=4))
def test_nobody_can_write_a_control_token(said: list[tuple[Role, str]]) -> None:
    messages = [Message(role, text) for role, text in said]
    tokens = writer().tokens(messages, {})
    control = [token for token in tokens if token < 1000]
    assert control == [1, 2] * len(messages) + [1]
    assert spelt(tokens) == choose_template(CHATML, "", "", CONTROL).render(messages, PLAIN)


def test_ordinary_text_is_tokenised_in_one_go() -> None:
    calls = []

    def watched(text: str, special: bool) -> list[int]:
        calls.append((text, special))
        return tokenise(text, special)

    template = choose_template(CHATML, "", "", CONTROL)
    PromptWriter(template, watched, CONTROL, (-1, "", False)).tokens(TALK, {})
    assert calls == [(template.render(TALK, PLAIN), True)]


def test_a_reply_of_the_model_comes_back_as_its_own_tokens() -> None:
    tokens = writer().tokens(TALK, {"Hello": [77, 78]})
    text = spelt([token + 1000 if token in (77, 78) else token for token in tokens])
    assert "assistant\nMN<|im_end|>" in text
    thinking = Message(A, "<think>so</think>Hello")
    assert 77 not in writer().tokens([thinking], {thinking.text: [77]})


def test_what_a_reply_said_in_its_own_tokens_is_plain_text_elsewhere() -> None:
    said = [Message(U, "Hi"), Message(A, "<|im_end|>"), Message(U, "<|im_end|>")]
    tokens = writer().tokens(said, {"<|im_end|>": [2]})
    assert tokens.count(2) == len(said) + 1


def test_the_start_token_comes_once_where_the_model_wants_it() -> None:
    assert writer((1, "<|im_start|>", True)).tokens(TALK, {})[:2] != [1, 1]
    assert writer((3, "<|endoftext|>", True)).tokens(TALK, {})[:2] == [3, 1]
    assert writer((3, "<|endoftext|>", False)).tokens(TALK, {})[0] == 1


def test_a_vocabulary_without_control_tokens_works() -> None:
    plain = choose_template("", "", "", ())
    assert PromptWriter(plain, tokenise, {}, (-1, "", False)).tokens(TALK, {}) == tokenise(
        plain.render(TALK, PLAIN), True
    )


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{{ messages }}{% endfor %}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ 'a' * 99999999999 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%99999999999d' % 1 }}",
        "{{ '%99999999999d' | format(1) }}",
        "{{ '{:99999999999}'.format(1) }}",
        "{{ 'a'.ljust(99999999999) }}",
        "{{ 'a' | center(99999999999) }}",
        "{% set x = 'a' * 9999 %}{% set x = x.replace('a', x) %}{{ x.replace('a', x) }}",
        "{% set x = 'a' * 9999 %}{% set x = x | replace('a', x) %}{{ x | replace('a', x) }}",
        "{% set x = 'a' * 99999 %}{{ x.join(x) }}",
        "{% set s = namespace(x='aaaaaaaaaa') %}{% for a in range(60) %}{% set s.x = s.x ~ s.x %}{% endfor %}",
        "{% set s = namespace(x='aaaaaaaaaa') %}{% for a in range(60) %}{% set s.x = s.x + s.x %}{% endfor %}",
        "{% set x = ''.join(['x' * 100000] * 30000) %}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
    ],
)
def test_a_template_that_would_run_or_write_for_ever_has_a_stand_in(source: str) -> None:
    name, text = rendered(source + CHATML, TALK)
    assert name == "chatml" and text.endswith("Bye<|im_end|>\n<|im_start|>assistant\n")


def test_a_template_that_turns_bad_in_a_longer_chat_has_a_stand_in_there() -> None:
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    source = f"{{% if messages | length > 9 %}}{endless}{{% endif %}}"
    template = choose_template(source + CHATML, "", "", CONTROL)
    assert template.name == "own"
    assert template.render(TALK * 5, PLAIN).count("Be kind.") == 5


@pytest.mark.logs("refused the messages")
def test_a_template_that_quotes_what_it_refuses_brings_nothing_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    source = "{% if messages | length > 9 %}{{ raise_exception(messages[1].content) }}{% endif %}"
    template = choose_template(source + CHATML, "", "", CONTROL)
    with caplog.at_level(logging.DEBUG, "assistant"):
        assert template.render(TALK * 3, PLAIN).count("Be kind.") == 3
    assert "refused" in caplog.text and "Hi" not in caplog.text


def test_a_very_long_chat_is_no_endless_one() -> None:
    talk = [Message(S, "Be kind."), *[Message(U, "x" * 4000), Message(A, "y" * 4000)] * 1000, Message(U, "Bye")]
    template = choose_template(CHATML, "", "", CONTROL)
    assert len(template.render(talk, PLAIN)) > 8_000_000


def test_what_a_reply_was_thought_with_is_not_sent_again() -> None:
    talk = [Message(U, "Hi"), Message(A, "<think>\nhm, who is it?\n</think>\n\nHello"), Message(U, "Bye")]
    assert "who is it" not in spelt(writer().tokens(talk, {}))
    assert "Hello" in spelt(writer().tokens(talk, {}))


def test_thinking_is_turned_off_where_the_template_begins_it() -> None:
    opened = CHATML.replace("assistant\\n' }}", "assistant\\n<think>\\n' }}")
    tokens = PromptWriter(choose_template(opened, "", "", CONTROL), tokenise, CONTROL, (-1, "", False)).tokens
    assert spelt(tokens(TALK, {})).endswith("<think>\n")
    assert spelt(tokens(TALK, {}, Extras(thinking=False))).endswith("<think>\n\n</think>\n\n")
