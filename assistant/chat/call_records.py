"""Tools that were used, as a receipt keeps them: their lines stand behind the turn's others, in the calls' order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.core.values import MadeCall, PromptLine
from assistant.workspace.chat_calls import SavedCall


def call_to_json(call: MadeCall) -> dict[str, Any]:
    """lines: only how many of the turn's there are."""
    return {
        "name": call.name,
        "arguments": dict(call.arguments),
        "outcome": call.outcome,
        "detail": call.detail,
        "result": call.result,
        "lines": len(call.lines),
        "said": call.said,
        "step": call.step,
        "journal": call.journal,
        "asked": call.asked,
    }


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
