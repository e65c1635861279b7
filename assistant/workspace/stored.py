"""Values that were stored as JSON and that anybody may have edited since."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_type_hints

from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error, read_bytes


def fits(value: Any, kind: type) -> bool:
    """Whether a JSON value is an object with the fields of a dataclass, all that have no default, of the right types.

    Only fields of type str, int and bool are looked at.
    """
    if not isinstance(value, dict):
        return False
    types = get_type_hints(kind)
    needed = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    if not needed <= value.keys() <= types.keys():
        return False
    return all(type(each) is types[name] for name, each in value.items() if types[name] in (str, int, bool))


def damaged_copy(path: Path) -> Path:
    """Where keep_damaged puts it."""
    return path.with_name(f"{path.name}.damaged")


def keep_damaged(path: Path) -> None:
    """Put a file that is no JSON any more aside before it is written anew: nothing is lost.

    Raises AssistantError for one that cannot be read or moved: then it must not be written over either.
    """
    data = read_bytes(path)
    try:
        parse_json(data or b"0")
    except ValueError:
        try:
            path.replace(damaged_copy(path))
        except OSError as error:
            raise as_error(error, path) from error
