"""Tools that were used, as a receipt keeps them: their lines stand behind the turn's others, in the calls' order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.core.values import MadeCall, PromptLine
from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.redaction import redact


def call_to_json(call: MadeCall) -> dict[str, Any]:
    """lines: only how many of the turn's there are. What the model wrote is kept without secrets, as replies are."""
    return {
        "name": call.name,
        "arguments": {name: _safe(value) for name, value in call.arguments.items()},
        "outcome": call.outcome,
        "detail": _safe(call.detail),
        "result": call.result,
        "lines": len(call.lines),
        "said": _safe(call.said),
        "step": call.step,
        "journal": call.journal,
        "asked": call.asked,
    }


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {name: _safe(each) for name, each in value.items()}
    return [_safe(each) for each in value] if isinstance(value, list | tuple) else value


def calls_from_json(values: Iterable[Mapping[str, Any]], lines: Sequence[PromptLine]) -> tuple[MadeCall, ...]:
    """lines: all of the turn's own. Raises KeyError, TypeError or ValueError for what is no call."""
    values = list(values)
    at = len(lines) - sum(int(value["lines"]) for value in values)
    if at < 0:
        raise ValueError("lines are missing")
    calls = []
    for value in values:
        end = at + int(value["lines"])
        calls.append(
            MadeCall(
                str(value["name"]),
                dict(value["arguments"]),
                str(value["outcome"]),
                str(value["detail"]),
                str(value["result"]),
                tuple(lines[at:end]),
                str(value["said"]),
                int(value["step"]),
                str(value["journal"]),
                bool(value["asked"]),
            )
        )
        at = end
    return tuple(calls)


def saved_call(call: MadeCall) -> SavedCall:
    """As the chat's file tells of it: without what the model read."""
    said = tuple((str(name), str(value)) for name, value in call.arguments.items() if value not in (None, ""))
    return SavedCall(call.name, said, call.outcome, call.detail)


def made_call(call: SavedCall) -> MadeCall:
    """What a chat's file tells of a call, where there is no receipt."""
    return MadeCall(call.name, dict(call.arguments), call.outcome, call.detail)
