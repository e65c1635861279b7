"""Chat templates: how messages become one text, and that text tokens, with nothing in it that a person can forge.

A model's own template comes with it as Jinja source and may be missing, cut, or refuse what we have to say: a system
role, two messages of one role in a row. Each template is tried once when the model is loaded, and is adapted to.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistant.core.values import Message, Role

_log = logging.getLogger(__name__)

Render = Callable[[Sequence[Message]], str]
"""Messages to the text of the prompt, ready for a reply. May raise whatever a template raises."""

_CHATML_MARK = "<|im_start|>"
_THOUGHT_END = "</think>"
_PRIVATE_USE = range(0xF0000, 0xFFFFE)
"""Supplementary private use area A: characters that mean nothing, so that one that is free is always found."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """name: "own", "chatml" or "plain". stops: texts that end a reply, where the template has no token for it."""

    name: str
    render: Render
    stops: tuple[str, ...] = ()


def choose_template(source: str, bos: str, eos: str, control_texts: Iterable[str]) -> ChatTemplate:
    """The model's own template if it works in some way, else one that fits the vocabulary."""
    if _CHATML_MARK in control_texts:
        stand_in = ChatTemplate("chatml", _chatml, ("<|im_end|>",))
    else:
        stand_in = ChatTemplate("plain", _plain, ("\nUser:", "\nSystem:"))
    if not source.strip():
        return stand_in
    if render := _working(_own(source, bos, eos)):
        return ChatTemplate("own", _forgiving(render, stand_in.render))
    _log.warning("the model's own chat template does not work; %s stands in for it", stand_in.name)
    return stand_in


def _own(source: str, bos: str, eos: str) -> Render | None:
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    try:
        formatter = Jinja2ChatFormatter(template=source, eos_token=eos, bos_token=bos)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's template raises, another takes its place
        _log.warning("the model's chat template cannot be read: %s", error)
        return None

    def render(messages: Sequence[Message]) -> str:
        plain = [{"role": message.role.value, "content": message.text} for message in messages]
        return str(formatter(messages=plain).prompt)  # its TypedDicts ask for less

    return render


def _working(render: Render | None) -> Render | None:
    """The template with the least adaptation with which all that is said to the model reaches it."""
    if render is None:
        return None
    own = render
    ways: tuple[Render, ...] = (
        own,
        lambda messages: own(merge_roles(messages)),
        lambda messages: own(fold_system(messages)),
        lambda messages: own(merge_roles(fold_system(messages))),
    )
    return next((way for way in ways if _says_all(way)), None)


def _forgiving(render: Render, stand_in: Render) -> Render:
    """For messages that the template refuses after all, such as a chat that begins with a reply."""

    def render_somehow(messages: Sequence[Message]) -> str:
        for way in (render, lambda said: render(merge_roles(fold_system(said)))):
            try:
                return way(messages)
            except Exception as error:  # noqa: BLE001 - templates raise whatever they like to refuse
                _log.warning("the chat template refused the messages: %s", error)
        return stand_in(messages)

    return render_somehow


def _says_all(render: Render) -> bool:
    probe = [
        Message(Role.SYSTEM, "probe-system"),
        Message(Role.USER, "probe-one"),
        Message(Role.USER, "probe-two"),
        Message(Role.ASSISTANT, "probe-three"),
        Message(Role.USER, "probe-four"),
    ]
    try:
        texts = [render(probe), render(probe[:2]), render(probe[1:2])]
    except Exception as error:  # noqa: BLE001 - templates raise to refuse; the next way is tried
        _log.info("a way to fill the chat template was refused: %s", error)
        return False
    expected = (probe, probe[:2], probe[1:2])
    return all(message.text in text for text, said in zip(texts, expected, strict=True) for message in said)


def merge_roles(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role become one message, as templates that demand strictly alternating roles want it."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, f"{merged[-1].text}\n\n{message.text}")
        else:
            merged.append(message)
    return merged


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """System text goes to the front of the next message of the person, for templates without a system role."""
    folded: list[Message] = []
    waiting: list[str] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            waiting.append(message.text)
        elif message.role is Role.USER and waiting:
            folded.append(Message(Role.USER, "\n\n".join([*waiting, message.text])))
            waiting.clear()
        else:
            folded.append(message)
    return [*folded, Message(Role.USER, "\n\n".join(waiting))] if waiting else folded


def _chatml(messages: Sequence[Message]) -> str:
    turns = "".join(f"<|im_start|>{message.role.value}\n{message.text}<|im_end|>\n" for message in messages)
    return f"{turns}<|im_start|>assistant\n"


def _plain(messages: Sequence[Message]) -> str:
    names = {Role.SYSTEM: "System", Role.USER: "User", Role.ASSISTANT: "Assistant"}
    turns = "".join(f"{names[message.role]}: {message.text}\n" for message in messages)
    return f"{turns}Assistant:"


class PromptWriter:
    """Messages to tokens.

    The text of messages is data: where it spells a control token (``<|im_end|>``), the spelling is cut out of the
    rendered text and tokenised as ordinary text, so it can never end a turn or begin another. Everything else is
    tokenised in one go, as the model was trained. Replies that the model itself gave come back as the very tokens it
    gave, so that the cache stays valid: writing the same text as other tokens would cost reading it again.
    """

    def __init__(
        self,
        template: ChatTemplate,
        tokenise: Callable[[str, bool], list[int]],
        control_texts: Mapping[str, int],
        bos: tuple[int, str, bool],
    ) -> None:
        self._template = template
        self._tokenise = tokenise
        self._bos = bos
        # The longest first: where one control text begins another, the longer is what the tokeniser would take.
        texts = sorted(control_texts, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, texts))) if texts else None

    def tokens(self, messages: Sequence[Message], replies: Mapping[str, Sequence[int]]) -> list[int]:
        """The prompt. replies: texts the model gave -> their tokens. Raises what the template raises."""
        marks = _Marks(messages)
        said = [self._marked(message, replies, marks) for message in messages]
        rendered = self._template.render(said)
        tokens: list[int] = []
        for part, inserted in marks.split(rendered):
            tokens += self._tokenise(part, True) if part else []
            tokens += inserted
        token, _text, wanted = self._bos
        return [token, *tokens] if wanted and tokens[:1] != [token] else tokens

    def _marked(self, message: Message, replies: Mapping[str, Sequence[int]], marks: _Marks) -> Message:
        if reply := self._own_reply(message, replies):
            return Message(message.role, marks.mark(message.text, reply))
        if self._control is None:
            return message
        return Message(message.role, self._control.sub(lambda found: self._as_text(found[0], marks), message.text))

    def _own_reply(self, message: Message, replies: Mapping[str, Sequence[int]]) -> Sequence[int] | None:
        """Templates of thinking models look into a reply and leave its thoughts out: those they get as text."""
        if message.role is not Role.ASSISTANT or _THOUGHT_END in message.text:
            return None
        return replies.get(message.text)

    def _as_text(self, spelling: str, marks: _Marks) -> str:
        return marks.mark(spelling, self._tokenise(spelling, False))


class _Marks:
    """Characters that stand for tokens while a template is rendered; none of them occurs in the messages."""

    def __init__(self, messages: Sequence[Message]) -> None:
        used = set().union(*(message.text for message in messages))
        self._free = (chr(code) for code in _PRIVATE_USE if chr(code) not in used)
        self._of_text: dict[str, str] = {}
        self._tokens: dict[str, Sequence[int]] = {}

    def mark(self, text: str, tokens: Sequence[int]) -> str:
        if text not in self._of_text:
            self._of_text[text] = next(self._free)
            self._tokens[self._of_text[text]] = tokens
        return self._of_text[text]

    def split(self, text: str) -> Iterable[tuple[str, Sequence[int]]]:
        """Stretches of text, each with the tokens that follow it."""
        if not self._tokens:
            return [(text, ())]
        parts = re.split(f"([{''.join(self._tokens)}])", text)
        marks = [*parts[1::2], ""]
        return [(part, self._tokens.get(mark, ())) for part, mark in zip(parts[::2], marks, strict=True)]
