"""Chat templates: how messages become one text.

A model's own template comes with it as Jinja source and may be missing, cut, or refuse what we have to say: a system
role, two messages of one role in a row, a tool's result. Each template is tried once when the model is loaded, and is
adapted to.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.core.values import Message, Role, ToolCall, ToolSpec
from assistant.engine.jinja import PLAIN, Extras, jinja_render
from assistant.engine.tool_formats import ToolFormat, format_of, mended

_log = logging.getLogger(__name__)

Render = Callable[[Sequence[Message], Extras], str]
"""Messages, and what stands beside them, to the text of the prompt, ready for a reply. May raise anything."""

_CHATML_MARK = "<|im_start|>"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """name: "own", "chatml" or "plain". stops: texts that end a reply, where the template has no token for it.

    tools: how the model calls tools, None where its template cannot. raw_calls: what the model wrote to call them reads
    the same in the next prompt when it is given as the text of its message.
    """

    name: str
    render: Render
    stops: tuple[str, ...] = ()
    tools: ToolFormat | None = None
    raw_calls: bool = False


def choose_template(source: str, bos: str, eos: str, control_texts: Iterable[str]) -> ChatTemplate:
    """The model's own template if it works in some way, else one that fits the vocabulary."""
    if _CHATML_MARK in control_texts:
        stand_in = ChatTemplate("chatml", _toolless(_chatml), ("<|im_end|>",))
    else:
        stand_in = ChatTemplate("plain", _toolless(_plain), ("\nUser:", "\nSystem:"))
    if not source.strip():
        return stand_in
    if own := jinja_render(mended(source), bos, eos):
        form = _tools_of(source, own)
        if render := _working(own if form else _toolless(own)):
            forgiving = _forgiving(render, stand_in.render)
            return ChatTemplate("own", forgiving, (), form, form is not None and _takes_raw_calls(own, form))
    _log.warning("the model's own chat template does not work; %s stands in for it", stand_in.name)
    return stand_in


def _working(own: Render) -> Render | None:
    """The template with the least adaptation with which all that is said to the model reaches it."""
    ways: tuple[Render, ...] = (
        own,
        lambda messages, extras: own(merge_roles(messages), extras),
        lambda messages, extras: own(fold_system(messages), extras),
        lambda messages, extras: own(merge_roles(fold_system(messages)), extras),
    )
    return next((way for way in ways if _says_all(way)), None)


def _forgiving(render: Render, stand_in: Render) -> Render:
    """For messages that the template refuses after all, such as a chat that begins with a reply."""
    ways: tuple[Render, ...] = (
        render,
        lambda said, extras: render(fold_tools(said), extras),
        lambda said, extras: render(merge_roles(fold_system(fold_tools(said))), extras),
    )

    def render_somehow(messages: Sequence[Message], extras: Extras) -> str:
        for way in ways:
            try:
                return way(messages, extras)
            except Exception as error:  # noqa: BLE001 - templates raise whatever they like to refuse
                # Its words may quote the chat, and logs hold nothing of what was said.
                _log.warning("the chat template refused the messages (%s)", type(error).__name__)
        return stand_in(messages, extras)

    return render_somehow


# --- trying a template --------------------------------------------------------------------------------------------

_PROBE_TOOL = ToolSpec(
    "probe_tool",
    "probe-description",
    {"type": "object", "properties": {"probe_argument": {"type": "string", "description": "probe-argument"}}},
)
_OFFERED = Extras((_PROBE_TOOL,))
_PROBE_CALL = ToolCall("probe_tool", {"probe_argument": "probe-value"})
_ASKED = (Message(Role.SYSTEM, "probe-system"), Message(Role.USER, "probe-one"))
_ANSWERED = (
    Message(Role.TOOL, "probe-result"),
    Message(Role.ASSISTANT, "probe-two"),
    Message(Role.USER, "probe-three"),
)


def _says_all(render: Render) -> bool:
    probe = [
        *_ASKED,
        Message(Role.USER, "probe-two"),
        Message(Role.ASSISTANT, "probe-three"),
        Message(Role.USER, "probe-four"),
    ]
    talks = (probe, probe[:2], probe[1:2])
    return all(_says(render, said, PLAIN, [message.text for message in said]) for said in talks)


def _says(render: Render, messages: Sequence[Message], extras: Extras, expected: Iterable[str]) -> bool:
    try:
        text = render(messages, extras)
    except Exception as error:  # noqa: BLE001 - templates raise to refuse; the next way is tried
        _log.info("a way to fill the chat template was refused: %s", error)
        return False
    return all(part in text for part in expected)


def _tools_of(source: str, own: Render) -> ToolFormat | None:
    """How the template's model calls tools, if the template tells it of tools, of its calls and of their results."""
    form = format_of(source)
    asked = [message for message in _ASKED if message.role is Role.USER]
    talk = [*asked, Message(Role.ASSISTANT, "", (_PROBE_CALL,)), *_ANSWERED]
    offered = ("probe_tool", "probe-description", "probe-argument")
    works = form and _says(own, asked, _OFFERED, offered) and _says(own, talk, _OFFERED, _parts(talk))
    return form if works else None


def _parts(talk: Sequence[Message]) -> list[str]:
    return [*(message.text for message in talk), "probe-value"]


def _takes_raw_calls(own: Render, form: ToolFormat) -> bool:
    """Whether calls given as the text of a message make the very prompt that calls given as calls make."""
    called = Message(Role.ASSISTANT, "", (_PROBE_CALL,))
    written = Message(Role.ASSISTANT, form.write((_PROBE_CALL,)))
    asked, answer = [m for m in _ASKED if m.role is Role.USER], [m for m in _ANSWERED if m.role is Role.TOOL]
    try:
        return own([*asked, called, *answer], _OFFERED) == own([*asked, written, *answer], _OFFERED)
    except Exception:  # noqa: BLE001 - templates raise whatever they like
        return False


# --- adapting messages --------------------------------------------------------------------------------------------


def merge_roles(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role become one message, as templates that demand strictly alternating roles want it.

    Calls and their results stay as they are.
    """
    merged: list[Message] = []
    for message in messages:
        plain = message.role is not Role.TOOL and not message.calls
        if plain and merged and merged[-1].role == message.role and not merged[-1].calls:
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


def fold_tools(messages: Sequence[Message]) -> list[Message]:
    """Calls and results as ordinary text, for templates without tools: a chat may have begun with another model."""
    names: list[str] = []
    folded: list[Message] = []
    for message in messages:
        if message.role is Role.TOOL:
            name = names.pop(0) if names else "a tool"
            folded.append(Message(Role.USER, f"(Result of {name})\n{message.text}"))
            continue
        names = [call.name for call in message.calls]
        asked = [f"({call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)})" for call in message.calls]
        text = "\n".join([message.text, *asked]) if message.text else "\n".join(asked)
        folded.append(Message(message.role, text))
    return folded


# --- standing in --------------------------------------------------------------------------------------------------


def _toolless(render: Render) -> Render:
    return lambda messages, extras: render(fold_tools(messages), replace(extras, tools=()))


def _chatml(messages: Sequence[Message], _extras: Extras = PLAIN) -> str:
    turns = "".join(f"<|im_start|>{message.role.value}\n{message.text}<|im_end|>\n" for message in messages)
    return f"{turns}<|im_start|>assistant\n"


def _plain(messages: Sequence[Message], _extras: Extras = PLAIN) -> str:
    names = {Role.SYSTEM: "System", Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "User"}
    turns = "".join(f"{names[message.role]}: {message.text}\n" for message in messages)
    return f"{turns}Assistant:"
