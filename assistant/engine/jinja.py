"""A stranger's Jinja template, run by llama-cpp-python's formatter, and messages as such templates want them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.core.values import Message, Role, ToolSpec
from assistant.engine.jinja_limits import LimitedTemplate

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extras:
    """What a prompt carries beside its messages: tools that may be called, and whether the model may think first."""

    tools: tuple[ToolSpec, ...] = ()
    thinking: bool = True


PLAIN = Extras()


def jinja_render(source: str, bos: str, eos: str) -> Callable[[Sequence[Message], Extras], str] | None:
    """What renders with this template, None where it cannot be read; it may raise whatever the template raises."""
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    try:
        formatter: Any = Jinja2ChatFormatter(template="", eos_token=eos, bos_token=bos)
        # WORKAROUND: the formatter compiles and renders without limits and lets no environment be given to it;
        # drop when llama-cpp-python (0.3.36) takes one.
        formatter._environment = LimitedTemplate(formatter._environment.environment, source)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's template raises, another takes its place
        _log.warning("the model's chat template cannot be read: %s", error)
        return None

    def render(messages: Sequence[Message], extras: Extras) -> str:
        said: Any = messages_for(messages)  # its TypedDicts ask for less
        offered: Any = [tool_for(tool) for tool in extras.tools] or None
        more = {} if extras.thinking else {"enable_thinking": False}  # unset it means "as the template likes"
        return str(formatter(messages=said, tools=offered, **more).prompt)

    return render


def messages_for(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as templates, and servers that speak OpenAI's protocol, take them.

    Calls are numbered through, in nine letters and digits: Mistral's templates refuse any other id.
    """
    given: list[dict[str, Any]] = []
    waiting: list[tuple[str, str]] = []
    number = 0
    for message in messages:
        item: dict[str, Any] = {"role": message.role.value, "content": message.text}
        if message.role is Role.TOOL:
            name, id_ = waiting.pop(0) if waiting else ("tool", _call_id(0))
            item |= {"name": name, "tool_call_id": id_}
        else:
            waiting = []
        if message.calls:
            waiting = [(call.name, _call_id(number + at)) for at, call in enumerate(message.calls, 1)]
            number += len(message.calls)
            item["tool_calls"] = [
                {"type": "function", "id": id_, "function": {"name": call.name, "arguments": dict(call.arguments)}}
                for call, (_name, id_) in zip(message.calls, waiting, strict=True)
            ]
        given.append(item)
    return given


def tool_for(tool: ToolSpec) -> dict[str, Any]:
    """A tool as templates, and servers that speak OpenAI's protocol, take it."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _call_id(number: int) -> str:
    return f"call{number:05d}"
