"""What a window looked like when it was closed, and what was written but not sent: one small JSON file."""

from __future__ import annotations

import base64
import binascii
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import as_error, write_atomic

FILE = "window.json"
_MAX_BYTES = 8_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WindowState:
    """geometry: Qt's own bytes, empty for none; widths in pixels, 0 for the default; drafts by chat ("": a new one)."""

    geometry: bytes = b""
    sidebar: bool = True
    sidebar_width: int = 0
    memory: bool = False
    memory_width: int = 0
    chat: str = ""
    drafts: dict[str, str] = field(default_factory=dict)


def load_state(path: Path, workspace: Path) -> WindowState:
    """The state kept for a workspace. A file that is missing, broken or made by hand gives the default."""
    kept = _read(path)
    window = _dict(kept.get("window"))
    own = _dict(_dict(kept.get("workspaces")).get(str(workspace)))
    chat = own.get("chat")
    drafts = {name: _text(text) for name, text in _dict(own.get("drafts")).items() if isinstance(text, str)}
    return WindowState(
        _bytes(window.get("geometry")),
        window.get("sidebar") is not False,
        _pixels(window.get("sidebar_width")),
        window.get("memory") is True,
        _pixels(window.get("memory_width")),
        chat if isinstance(chat, str) else "",
        drafts,
    )


def save_state(path: Path, workspace: Path, state: WindowState) -> None:
    """Keep ``state`` beside other workspaces' parts; drafts without their secrets. Raises AssistantError."""
    kept = _read(path)
    own = {"chat": state.chat, "drafts": {chat: redact(text).text for chat, text in state.drafts.items()}}
    window = {
        "geometry": base64.b64encode(state.geometry).decode("ascii"),
        "sidebar": state.sidebar,
        "sidebar_width": state.sidebar_width,
        "memory": state.memory,
        "memory_width": state.memory_width,
    }
    others = _dict(kept.get("workspaces"))
    whole = {**kept, "window": window, "workspaces": {**others, str(workspace): own}}
    _write(path, whole)


def load_assistant(path: Path, base: Path) -> str:
    """The assistant of the folder ``base`` that was open last, "" for the default one or none."""
    name = _dict(_read(path).get("assistants")).get(str(base))
    return name if isinstance(name, str) else ""


def save_assistant(path: Path, base: Path, name: str) -> None:
    """Keep which assistant is open. Raises AssistantError."""
    kept = _read(path)
    _write(path, {**kept, "assistants": {**_dict(kept.get("assistants")), str(base): name}})


def forget_workspace(path: Path, workspace: Path) -> None:
    """Keep nothing of a workspace that is deleted, its drafts least of all. Raises AssistantError."""
    kept = _read(path)
    others = {root: own for root, own in _dict(kept.get("workspaces")).items() if root != str(workspace)}
    _write(path, {**kept, "workspaces": others})


def _write(path: Path, whole: dict[str, Any]) -> None:
    try:
        make_private(path.parent)
    except OSError as error:
        raise as_error(error, path.parent) from error
    write_atomic(path, json.dumps(whole, ensure_ascii=True, indent=1).encode("ascii"))


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        return _dict(parse_json(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.info("the window's state is not used: %s", error)
        return {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


def _pixels(value: Any) -> int:
    return value if type(value) is int and 0 < value < 10_000 else 0


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except (binascii.Error, ValueError):
        return b""
