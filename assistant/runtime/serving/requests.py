"""Requests as OpenAI's chat interface has them, as far as a local model has a use for them.

https://platform.openai.com/docs/api-reference/chat as of 2026. What makes no great difference is passed over and named
in the answer (``keepsake.ignored``); what would change the answer and cannot be done is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from assistant.core.values import Message, Role
from assistant.workspace.chat_head import printable

Json = dict[str, Any]
MOST_STOPS, MOST_INPUTS = 16, 256
MOST_MESSAGES = 4_000
"""Each costs tokens for its role alone, so windows hold fewer; reading 50 000 took minutes, and all others waited."""
_SEEDS = 2**63
_MOST_TOKENS = 2**31 - 1
_ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
_KNOWN = frozenset(
    (
        "model messages stream stream_options temperature top_p max_tokens max_completion_tokens seed stop n keepsake"
    ).split()
)


class ApiError(Exception):
    """A refusal in OpenAI's form. status: of HTTP; code: stable, for programs; param: the field that is wrong."""

    def __init__(
        self, status: int, message: str, code: str = "", param: str = "", kind: str = "invalid_request_error"
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.kind = kind

    def as_json(self) -> Json:
        error = {"message": self.message, "type": self.kind, "param": self.param or None, "code": self.code or None}
        return {"error": error}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat that wants its next reply. messages: as given, the last one is the user's but for system messages.

    sampling: fields of GenerateOptions that the client wants otherwise. usage: a stream is to end with the counts.
    memory: as asked for in the request. ignored: fields that were passed over.
    """

    model: str
    messages: tuple[Message, ...]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    usage: bool = False
    memory: bool = True
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts that want vectors; packed: as base64 of little-endian float32 instead of numbers."""

    model: str
    texts: tuple[str, ...]
    packed: bool = False


def read_chat(value: Any) -> ChatRequest:
    """The request in a body that was JSON. Raises ApiError, and nothing else, for whatever is wrong with it."""
    body = _object(value, "")
    _refuse_what_cannot_be(body)
    memory, ignored = _keepsake(body.get("keepsake"))
    messages = _messages(body.get("messages"))
    unknown = [name for name, each in body.items() if name not in _KNOWN and each is not None]
    options = _object(body.get("stream_options") or {}, "stream_options")
    return ChatRequest(
        _text(body.get("model") or "", "model"),
        messages,
        _sampling(body),
        _flag(body.get("stream"), "stream"),
        _flag(options.get("include_usage"), "stream_options.include_usage"),
        memory,
        tuple(sorted(printable(name)[:100] for name in [*unknown, *ignored])),
    )


def read_embeddings(value: Any) -> EmbeddingRequest:
    """As read_chat, for texts that want vectors."""
    body = _object(value, "")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_INPUTS:
        _wrong("input", f"must be a text, or a list of 1 to {MOST_INPUTS} texts")
    form = body.get("encoding_format") or "float"
    if form not in ("float", "base64"):
        _wrong("encoding_format", "must be float or base64")
    if body.get("dimensions") is not None:
        _wrong("dimensions", "cannot be chosen", "unsupported_value")
    model = _text(body.get("model") or "", "model")
    return EmbeddingRequest(model, tuple(_text(text, "input") for text in texts), form == "base64")


def _refuse_what_cannot_be(body: Json) -> None:
    """What a client must not believe to have been done."""
    if body.get("n") not in (None, 1) or isinstance(body.get("n"), bool):
        _wrong("n", "must be 1: there is one reply to a request", "unsupported_value")
    if body.get("tool_choice") not in (None, "none", "auto"):
        _wrong("tool_choice", "cannot be held to: tools are not called here", "unsupported_value")
    form = body.get("response_format")
    if form is not None and form != {"type": "text"}:
        _wrong("response_format", 'can only be {"type": "text"}', "unsupported_value")
    if body.get("logprobs"):
        _wrong("logprobs", "are not given here", "unsupported_value")


def _keepsake(value: Any) -> tuple[bool, list[str]]:
    if value is None:
        return True, []
    own = _object(value, "keepsake")
    wanted = own.get("memory")
    memory = True if wanted is None else _flag(wanted, "keepsake.memory")
    return memory, [f"keepsake.{name}" for name in own if name != "memory"]


def _sampling(body: Json) -> Json:
    most = body.get("max_completion_tokens")
    name = "max_tokens" if most is None else "max_completion_tokens"
    found = {
        "temperature": _number(body.get("temperature"), "temperature", 0, 2),
        "top_p": _number(body.get("top_p"), "top_p", 0, 1),
        "max_tokens": _whole(body.get(name), name, 1, _MOST_TOKENS),
        "seed": _whole(body.get("seed"), "seed", -_SEEDS, _SEEDS - 1),
        "stop": _stops(body.get("stop")),
    }
    return {name: each for name, each in found.items() if each is not None}


def _stops(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or len(stops) > MOST_STOPS:
        _wrong("stop", f"must be a text, or a list of at most {MOST_STOPS} texts")
    return tuple(text for stop in stops if (text := _text(stop, "stop")))


def _messages(value: Any) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        _wrong("messages", "must be a list of messages")
    if len(value) > MOST_MESSAGES:
        _wrong("messages", f"must be at most {MOST_MESSAGES} messages", "context_length_exceeded")
    messages = tuple(_message(each, f"messages[{at}]") for at, each in enumerate(value))
    said = [message for message in messages if message.role is not Role.SYSTEM]
    if not said or said[-1].role is not Role.USER:
        _wrong("messages", "must end with a message of the user")
    return messages


def _message(value: Any, where: str) -> Message:
    message = _object(value, where)
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        _wrong(f"{where}.role", f"must be one of {', '.join(_ROLES)}", "unsupported_value")
    if message.get("tool_calls") or message.get("function_call"):
        _wrong(where, "calls tools, which cannot be told here", "unsupported_value")
    content = message.get("content")
    if content is None and role == "assistant":
        content = ""
    return Message(_ROLES[role], _content(content, f"{where}.content"))


def _content(value: Any, where: str) -> str:
    if isinstance(value, list):
        return "\n".join(_part(part, f"{where}[{at}]") for at, part in enumerate(value))
    return _text(value, where)


def _part(value: Any, where: str) -> str:
    part = _object(value, where)
    if part.get("type") != "text":
        _wrong(where, "must be of the type text: pictures, sounds and files are not read here", "unsupported_value")
    return _text(part.get("text"), f"{where}.text")


def _object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        _wrong(where, "must be a JSON object")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        _wrong(where, "must be a text")
    return printable(value)


def _flag(value: Any, where: str) -> bool:
    if value is not None and not isinstance(value, bool):
        _wrong(where, "must be true or false")
    return bool(value)


def _number(value: Any, where: str, least: float, most: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        _wrong(where, f"must be a number from {least} to {most}")
    return float(value)


def _whole(value: Any, where: str, least: int, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        _wrong(where, f"must be a whole number from {least} to {most}")
    return value


def _wrong(where: str, what: str, code: str = "invalid_value") -> NoReturn:
    raise ApiError(400, f"{where or 'The body'} {what}.", code, where)
