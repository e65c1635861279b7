"""Units of what other assistants left in the workspace, and the days that Markdown lines begin with."""

from __future__ import annotations

import re
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assistant.core.values import Passage
from assistant.recall.units.unit import Unit
from assistant.workspace.ids import UnitNames
from assistant.workspace.imports.times import make_day

if TYPE_CHECKING:
    from assistant.workspace.foreign import Record

_LEADING = re.compile(
    r"\s*(?:[-*+]\s+|#{1,6}\s+)?\[?(\d{4})-(\d{2})-(\d{2})(?:[ T]\d{2}:\d{2}(?::\d{2})?)?(?:\]|\s*[·:：—|-]|\s*$)"
)
_CONTEXT_CHARACTERS = 300
_NAMED = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def foreign_units(file: str, text: str) -> tuple[list[Unit], str]:
    """A unit a record, by the day and under the name that it has there."""
    from assistant.workspace.foreign import foreign_records  # parsers that few workspaces need

    records, problem = foreign_records(file, text)
    names = UnitNames()
    return [_unit(file, names, record) for record in records], problem


def day_of_block(file: str, text: str, headings: tuple[str, ...]) -> date | None:
    """The day that a bullet or paragraph begins with, or its headings, or the file's name."""
    for words in (text, *reversed(headings)):
        if (found := _LEADING.match(words)) and (day := make_day(*found.groups())):
            return day
    named = _NAMED.fullmatch(PurePosixPath(file).stem)
    return make_day(*named.groups()) if named else None


def _unit(file: str, names: UnitNames, record: Record) -> Unit:
    title = record.title or PurePosixPath(file).stem
    return Unit(
        uid=names(file, record.raw),
        file=file,
        line=record.line,
        kind="note",
        day=record.day,
        title=title,
        text=record.text,
        words=record.text,
        context="\n".join(part for part in (title, record.before[-_CONTEXT_CHARACTERS:]) if part),
        passage=Passage(f"{title}: ", record.text),
    )
