"""A workspace keeps its id, and with it its journal and index, when its folder is moved or renamed."""

from __future__ import annotations

import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import as_error, locked, read_bytes, write_atomic

_Record = dict[str, Any]
_CHILDREN = ("chats", "memory")


def workspace_id(root: Path, data_root: Path) -> str:
    """The stable id of a workspace, made on the first call. data_root: where the registry of all workspaces is.

    A folder counts as one that was moved when its inode is known, the old path is gone, and a folder inside it is the
    same one too: a new folder may be given the inode of a deleted one.
    """
    try:
        make_private(data_root)
    except OSError as error:
        raise as_error(error, data_root) from error
    path = Path(os.path.realpath(root))
    registry = data_root / "workspaces.json"
    with locked(data_root / "workspaces.lock"):
        known = _load(registry)
        ident = _find(known, path) or _new_id(path, known)
        record = _describe(path)
        if known.get(ident) != record:
            write_atomic(registry, json.dumps({**known, ident: record}, indent=1).encode())
    return ident


def known_id(root: Path, data_root: Path) -> str:
    """The same without writing anything: "" for a workspace that was never opened."""
    found = _find(_load(data_root / "workspaces.json"), Path(os.path.realpath(root)))
    return found or ""


def move_record(data_root: Path, old: Path, new: Path | None) -> None:
    """The workspace that was at ``old`` is at ``new`` now; None: it is gone, and what comes to be there is another one.

    For moves of our own, which may be between disks, where no inode tells the one from the other.
    """
    registry = data_root / "workspaces.json"
    with locked(data_root / "workspaces.lock"):
        known = _load(registry)
        was = str(Path(os.path.realpath(old.parent)) / old.name)
        moved = [ident for ident, record in known.items() if record.get("path") == was]
        for ident in moved:
            known[ident] = _describe(Path(os.path.realpath(new))) if new else {**known[ident], "path": "", "inode": ""}
        if moved:
            write_atomic(registry, json.dumps(known, indent=1).encode())


def drop_record(data_root: Path, path: Path) -> list[str]:
    """Forget the workspace at ``path``; the ids it had, whose folders may be deleted then."""
    registry = data_root / "workspaces.json"
    with locked(data_root / "workspaces.lock"):
        known = _load(registry)
        gone = [ident for ident, record in known.items() if record.get("path") == os.path.realpath(path)]
        if gone:
            kept = {ident: record for ident, record in known.items() if ident not in gone}
            write_atomic(registry, json.dumps(kept, indent=1).encode())
    return gone


def ids_of(data_root: Path, path: Path) -> list[str]:
    """The ids under which something is kept about the workspace at ``path``."""
    with locked(data_root / "workspaces.lock"):
        known = _load(data_root / "workspaces.json")
    return [ident for ident, record in known.items() if record.get("path") == os.path.realpath(path)]


def workspace_around(data_root: Path, path: Path) -> bool:
    """Whether a path lies inside a workspace that is known here."""
    make_private(data_root)
    with locked(data_root / "workspaces.lock"):
        known = _load(data_root / "workspaces.json")
    roots = {str(record.get("path")) for record in known.values()}
    return any(str(each) in roots and each.is_dir() for each in Path(os.path.realpath(path)).parents)


def _find(known: dict[str, _Record], path: Path) -> str | None:
    here = _describe(path)
    by_path = next((ident for ident, record in known.items() if record.get("path") == str(path)), None)
    moved = next((ident for ident, record in known.items() if _is_moved(record, here)), None)
    if by_path and here["inode"] and known[by_path].get("inode") == here["inode"]:
        return by_path
    return moved or by_path


def _is_moved(record: _Record, here: _Record) -> bool:
    if not here["inode"] or record.get("inode") != here["inode"] or record.get("path") == here["path"]:
        return False
    inside = record.get("inside", {})
    same_inside = any(inode and here["inside"].get(name) == inode for name, inode in inside.items())
    return same_inside and not Path(str(record.get("path"))).exists()


def _describe(path: Path) -> _Record:
    inside = {name: _inode(path / name) for name in _CHILDREN}
    return {"path": str(path), "inode": _inode(path), "inside": {name: n for name, n in inside.items() if n}}


def _inode(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_dev}:{stat.st_ino}" if stat.st_ino else ""


def _new_id(path: Path, known: dict[str, _Record]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", path.name.casefold()).strip("-")[:24] or "workspace"
    while (ident := f"{name}-{secrets.token_hex(4)}") in known:
        continue
    return ident


def _load(registry: Path) -> dict[str, _Record]:
    try:
        known = parse_json(read_bytes(registry) or b"{}")
        return {ident: record for ident, record in known.items() if isinstance(record, dict)}
    except (ValueError, AttributeError) as error:
        raise AssistantError(
            "workspace.registry", f"{registry} cannot be read: {error}.", "Move it away; the workspaces get new ids."
        ) from error
