"""Values as JSON and back: what goes over the wire between the window process and the engine worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assistant.core.values import (
    ChatEvent,
    Delta,
    Done,
    EngineSettings,
    GenerateOptions,
    Message,
    ModelInfo,
    PromptRead,
    Role,
    StopReason,
    ToolCall,
    ToolSpec,
)
from assistant.engine.snapshots import Place

Json = dict[str, Any]

NO_MODEL = "engine.no_model"
"""Code of the worker's answer when it has no model: it was started anew, or none was loaded yet."""


def settings_to_json(settings: EngineSettings) -> Json:
    return asdict(settings)


def settings_from_json(data: Mapping[str, Any]) -> EngineSettings:
    return EngineSettings(**data)


def options_to_json(options: GenerateOptions) -> Json:
    return {**asdict(options), "stop": list(options.stop)}


def options_from_json(data: Mapping[str, Any]) -> GenerateOptions:
    tools = tools_from_json(data.get("tools", ()))
    stop, must = tuple(data.get("stop", ())), tuple(data.get("must", ()))
    return GenerateOptions(**{**data, "stop": stop, "must": must, "tools": tools})


def tools_to_json(tools: Sequence[ToolSpec]) -> list[Json]:
    return [asdict(tool) for tool in tools]


def tools_from_json(data: Iterable[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(**tool) for tool in data)


def place_to_json(place: Place | None) -> Json | None:
    return {"folder": str(place.folder), "limit": place.limit} if place else None


def place_from_json(data: Mapping[str, Any] | None) -> Place | None:
    return Place(Path(data["folder"]), int(data["limit"])) if data else None


def messages_to_json(messages: Sequence[Message]) -> list[Json]:
    return [
        {"role": message.role.value, "text": message.text, "calls": [asdict(call) for call in message.calls]}
        for message in messages
    ]


def messages_from_json(data: Iterable[Mapping[str, Any]]) -> list[Message]:
    return [Message(Role(item["role"]), item["text"], _calls(item)) for item in data]


def info_to_json(info: ModelInfo) -> Json:
    return {**asdict(info), "path": str(info.path)}


def info_from_json(data: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(**{**data, "path": Path(data["path"])})


def event_to_json(event: ChatEvent) -> tuple[str, Json]:
    """The event's name on the wire and its data; Done is the result of the request."""
    match event:
        case PromptRead():
            return "read", asdict(event)
        case Delta():
            return "delta", asdict(event)
        case Done():
            return "result", {**asdict(event), "stop": event.stop.value}


def event_from_json(name: str, data: Mapping[str, Any]) -> ChatEvent:
    """Raises ValueError for a name this version does not know."""
    match name:
        case "read":
            return PromptRead(**data)
        case "delta":
            return Delta(**data)
        case "result":
            return Done(**{**data, "stop": StopReason(data["stop"]), "calls": _calls(data)})
    raise ValueError(f"unknown chat event {name!r}")


def _calls(data: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in data.get("calls", ()))
