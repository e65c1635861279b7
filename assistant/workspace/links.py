"""Which note a ``[[wikilink]]`` leads to: by file name, then by title, then by alias."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from assistant.workspace import layout
from assistant.workspace.notes import parse_note
from assistant.workspace.text_files import read_text


def resolve_link(root: Path, target: str) -> str | None:
    """The memory file that ``target`` (without brackets, heading or shown text) names; None where none does.

    Upper and lower case are the same. Files are read only where no file name fits.
    """
    wanted = _key(target.strip().removesuffix(".md"))
    if not wanted:
        return None
    files = [*layout.memory_files(root), *layout.log_files(root)]
    for name in (_whole, _stem):
        if found := next((file for file in files if name(file) == wanted), None):
            return found
    by_alias = None
    for file in files:
        if not file.startswith(f"{layout.TOPICS}/") or file.startswith(f"{layout.LOGS}/"):
            continue
        note = parse_note(read_text(root / file).text)
        if _key(note.title) == wanted:
            return file
        if by_alias is None and wanted in map(_key, note.aliases):
            by_alias = file
    return by_alias


def link_target(inner: str) -> str:
    """What a link names, of what stands between its brackets: ``Travel#Hotels|hotels`` names ``Travel``."""
    return inner.partition("|")[0].partition("#")[0].strip()


def _whole(file: str) -> str:
    return _key(file.removeprefix(f"{layout.TOPICS}/").removesuffix(".md"))


def _stem(file: str) -> str:
    return _key(Path(file).stem)


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
