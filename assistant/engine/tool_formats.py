"""How models write down that they want a tool: the marks around a call, and calls read from a reply's text.

Nobody agreed on a form, so each family of models has its own; which one a model uses is told by its chat template.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assistant.core.values import ToolCall

_BLANK = " \t\r\n"
_FENCE = "```"
_DEEPEST = 16
"""Levels of lists and objects in the arguments of a call."""


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """One form of calls. opening, closing: the marks around each call ("" where there is none).

    arguments: the key of the arguments. listed: the calls stand in one JSON list. most: calls in one reply.
    """

    name: str
    opening: str
    closing: str
    arguments: str
    listed: bool = False
    most: int = 3

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(mark for mark in (self.opening, self.closing) if mark)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """The calls as the model itself would write them."""
        bodies = [
            json.dumps({"name": call.name, self.arguments: dict(call.arguments)}, ensure_ascii=False) for call in calls
        ]
        if self.listed:
            return f"{self.opening}[{', '.join(bodies)}]"
        if self.closing:
            return "\n".join(f"{self.opening}\n{body}\n{self.closing}" for body in bodies)
        return "; ".join(bodies)

    def starts_bare(self, text: str, names: Sequence[str]) -> bool | None:
        """Whether a reply that begins so is a call without a mark; None while that cannot be told yet.

        Llama's are meant to be, and small models forget the mark: Qwen2.5 0.5B does, more often than not, and writes a
        fence of code instead.
        """
        if not names or (body := unfenced(text)) is None:
            return None if names else False
        starts = [("{", '"name"', ":", json.dumps(name, ensure_ascii=False)) for name in names]
        said = [_match(_once_braced(body), parts) for parts in starts]
        return True if True in said else None if None in said else False

    def read(self, text: str) -> tuple[tuple[ToolCall, ...], str]:
        """The calls that a text holds from its start, and what comes after the last whole one."""
        calls: list[ToolCall] = []
        rest = text
        while len(calls) < self.most:
            body = _once_braced(_without(unfenced(rest) or rest, (self.opening, ",", ";")))
            try:
                value, end = json.JSONDecoder().raw_decode(body)
            except (ValueError, RecursionError):
                break
            found = _calls_of(value if isinstance(value, list) else [value])
            after = body[end:]
            for stray in ("}", _FENCE):  # see begun
                after = after.lstrip(_BLANK).removeprefix(stray).lstrip(_BLANK)
            if not found or not (after.startswith(self.closing) or self.closing.startswith(after)):
                break
            calls += found
            rest = after.removeprefix(self.closing)
        return tuple(calls[: self.most]), rest

    def goes_on(self, rest: str) -> bool:
        """Whether what comes after a call may be the beginning of another one."""
        rest = rest.lstrip(_BLANK)
        starts = [mark for mark in (self.opening, self.closing, ",", ";") if mark]
        return any(rest.startswith(start) or start.startswith(rest) for start in starts)


HERMES = ToolFormat("hermes", "<tool_call>", "</tool_call>", "arguments")
"""Qwen 2.5 and 3, Hermes, and what was trained after them."""
LLAMA = ToolFormat("llama", "<|python_tag|>", "", "parameters", most=1)
"""Llama 3.1 and 3.2: JSON alone or after a mark; their templates refuse two calls at once."""
RESULT_MARKS = ("<tool_response>", "</tool_response>", "[TOOL_RESULTS]", "[/TOOL_RESULTS]")
"""What templates put around a tool's result."""
MISTRAL = ToolFormat("mistral", "[TOOL_CALLS]", "", "arguments", listed=True)
"""Mistral 7B v0.3, Nemo, Small."""


def format_of(template: str) -> ToolFormat | None:
    """The form that a template's source speaks of; None for a template that knows of no tools."""
    if "tools" not in template:
        return None
    if HERMES.opening in template:
        return HERMES
    if MISTRAL.opening in template:
        return MISTRAL
    if LLAMA.opening in template or '"parameters": ' in template:
        return LLAMA
    return None


def begun(text: str) -> str:
    """A call without a mark as its JSON begins: without a fence, and without the second of two braces."""
    return _once_braced(unfenced(text) or text)


def mended(template: str) -> str:
    """WORKAROUND: Qwen2.5's first templates tell the model to write ``{{"name": ...}}``, and so it does: with doubled
    braces, and mostly without the mark. Drop when no file has them any more.
    """
    return template.replace(_DOUBLED[0], _DOUBLED[0][1:]).replace(_DOUBLED[1], _DOUBLED[1][:-1])


_DOUBLED = ('{{\\"name\\": <function-name>', "<args-json-object>}}")


def _once_braced(text: str) -> str:
    start = text.lstrip(_BLANK)
    return start[1:] if start.startswith("{{") else text


def unfenced(text: str) -> str | None:
    """The text behind the fence that a block of JSON begins with, or as it is; None while that cannot be told yet."""
    start = text.lstrip(_BLANK)
    if not start.startswith(_FENCE):
        return None if start and _FENCE.startswith(start) else text
    line, ended, rest = start.partition("\n")
    language = line.removeprefix(_FENCE).strip()
    if ended:
        return rest if language in ("", "json") else text
    return None if "json".startswith(language) else text


def calls_key(text: str, calls: Sequence[ToolCall]) -> str:
    """What a reply is known by: its text, and the calls in it."""
    if not calls:
        return text
    asked = [[call.name, dict(call.arguments)] for call in calls]
    return f"{text}\0{json.dumps(asked, ensure_ascii=False, sort_keys=True)}"


def _calls_of(values: Sequence[Any]) -> list[ToolCall]:
    """The calls among JSON values; none where one of them is none."""
    calls = [_call_of(value) for value in values]
    return [call for call in calls if call] if all(calls) else []


def _call_of(value: Any) -> ToolCall | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = arguments_of(value.get("arguments", value.get("parameters", {})))
    return None if arguments is None else ToolCall(_plain(value["name"]), arguments)


def arguments_of(said: Any) -> dict[str, Any] | None:
    """The arguments of a call, given as a JSON object or, as some models do, as a text that holds one.

    None for anything else, and for what is nested deeper than any tool takes it. Half a surrogate pair, which JSON can
    spell and no file can hold, is U+FFFD in it.
    """
    try:
        value = _plain(json.loads(said) if isinstance(said, str) else said)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _plain(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if not isinstance(value, dict | list):
        return value
    if not levels:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_plain(item, levels - 1) for item in value]
    return {_plain(key): _plain(item, levels - 1) for key, item in value.items()}


def _without(text: str, starts: Sequence[str]) -> str:
    """The text without blanks and any of these at its beginning."""
    text = text.lstrip(_BLANK)
    while start := next((one for one in starts if one and text.startswith(one)), ""):
        text = text[len(start) :].lstrip(_BLANK)
    return text


def _match(text: str, parts: Sequence[str]) -> bool | None:
    """Whether the text begins with the parts, blanks before each allowed; None where it ends too early to tell."""
    for part in parts:
        text = text.lstrip(_BLANK)
        if not text.startswith(part):
            return None if part.startswith(text) else False
        text = text[len(part) :]
    return True
