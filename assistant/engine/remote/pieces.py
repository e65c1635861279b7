"""One event of a streamed reply, checked and in our own values. Servers differ; what is missing is nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_THOUGHTS = ("reasoning_content", "reasoning")
"""llama-server, DeepSeek and LM Studio say the first, newer vLLM, Ollama and OpenRouter the second."""


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A part of a call. index: which call it is of; arguments: more of its JSON."""

    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens; reused: of the prompt's, those that were still in the server's cache. speed: tokens a second, or 0."""

    prompt: int = 0
    reused: int = 0
    reply: int = 0
    speed: float = 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """What an event adds. finish: the server's word for why the reply ended; read, total, reused: of the prompt.

    error: what the server says went wrong in the midst of a reply.
    """

    text: str = ""
    thought: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    progress: tuple[int, int, int] | None = None
    error: str = ""


class BadPieceError(ValueError):
    """An event that is of no known form."""


def read_piece(value: Any) -> Piece:
    """Also reads the whole reply of a server that does not stream. Raises BadPieceError."""
    event = _object(value)
    if event.get("error"):
        return Piece(error=error_words(event).strip() or "?")
    choices = _list(event.get("choices"))
    choice = _object(choices[0]) if choices else {}
    delta = _object(choice.get("delta") or choice.get("message") or {})
    thought = next((found for name in _THOUGHTS if (found := _text(delta.get(name)))), "")
    inner_thought, text = _content(delta.get("content"))
    return Piece(
        text,
        thought + inner_thought,
        _calls(delta),
        _text(choice.get("finish_reason")),
        _usage(event),
        _progress(event.get("prompt_progress")),
    )


def error_words(value: Any) -> str:
    """What a server's error says, in its own words; "" where it says nothing."""
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("type") or error.get("code") or ""
    if isinstance(error, list):  # vLLM's and FastAPI's, a list of what is wrong
        error = "; ".join(f"{each.get('loc', '')} {each.get('msg', '')}" for each in error if isinstance(each, dict))
    return str(error) if isinstance(error, str | int) and not isinstance(error, bool) else ""


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadPieceError("object")
    return value


def _list(value: Any) -> list[Any]:
    found = value or []
    if not isinstance(found, list):
        raise BadPieceError("list")
    return found


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadPieceError("text")
    return value


def _content(value: Any) -> tuple[str, str]:
    """(thought, text) of a content: a text, or a list of parts, as Mistral's thinking models have it."""
    if not isinstance(value, list):
        return "", _text(value)
    thought, text = "", ""
    for part in map(_object, value):
        if part.get("type") == "thinking":
            thought += "".join(_text(_object(inner).get("text")) for inner in _list(part.get("thinking")))
        else:
            text += _text(part.get("text"))
    return thought, text


def _calls(delta: dict[str, Any]) -> tuple[CallPiece, ...]:
    calls = _list(delta.get("tool_calls"))
    return tuple(_call(n, _object(each)) for n, each in enumerate(calls))


def _call(n: int, value: dict[str, Any]) -> CallPiece:
    import json

    function = _object(value.get("function") or {})
    arguments = function.get("arguments")
    if isinstance(arguments, dict):  # Ollama's older ones
        arguments = json.dumps(arguments, ensure_ascii=False)
    index = value.get("index", n)
    return CallPiece(index if _is_count(index) else n, _text(function.get("name")), _text(arguments))


def _usage(event: dict[str, Any]) -> Usage | None:
    """OpenAI's ``usage``, else llama-server's ``timings``; the speed of the latter in any case."""
    usage, timings = event.get("usage"), event.get("timings")
    spoken = timings if isinstance(timings, dict) else {}
    speed = spoken.get("predicted_per_second")
    tokens_per_s = float(speed) if isinstance(speed, int | float) and 0 < speed < 1e6 else 0.0
    if isinstance(usage, dict):
        details = usage.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        return Usage(
            _count(usage.get("prompt_tokens")),
            cached or _count(spoken.get("cache_n")),
            _count(usage.get("completion_tokens")),
            tokens_per_s,
        )
    if spoken:
        cached = _count(spoken.get("cache_n"))
        return Usage(_count(spoken.get("prompt_n")) + cached, cached, _count(spoken.get("predicted_n")), tokens_per_s)
    return None


def _progress(value: Any) -> tuple[int, int, int] | None:
    if not isinstance(value, dict):
        return None
    count: Callable[[str], int] = lambda name: _count(value.get(name))  # noqa: E731
    return (count("processed"), count("total"), count("cache")) if count("total") else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40


def _count(value: Any) -> int:
    return int(value) if _is_count(value) else 0
