"""What the person did not want in memory: turns that are not distilled again, and texts that are not written again.

On disk are turn numbers and hashes only, never a word that was declined.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.workspace.contradiction import plain_form
from assistant.workspace.safe_files import append_lines, as_error, read_bytes
from assistant.workspace.sources import Turns, run_of_turns

_log = logging.getLogger(__name__)


@dataclass
class _Known:
    """What the file says when it had this mark (size, time of change)."""

    mark: tuple[int, int]
    turns: dict[str, set[int]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)


class Declined:
    """Append-only, in the data folder. Safe to use from several threads and processes: a line is one write.

    A damaged line costs only itself.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "declined.jsonl"
        self._known = _Known((-1, -1))

    def add(self, turns: Iterable[Turns] = (), texts: Iterable[str] = ()) -> None:
        """Turns count as distilled, for good; what says the same as a text is not to be written by the assistant again.

        Durable when it returns; of one call all or nothing survives a crash. Raises AssistantError.
        """
        known = self._read()
        new_turns = [run for run in turns if not known.turns.get(run[0], set()).issuperset(run_of_turns(run))]
        new_texts = [key for key in dict.fromkeys(map(_key, texts)) if key not in known.texts]
        self._append({"turns": new_turns, "texts": new_texts})

    def take_back(self, turns: Iterable[Turns] = (), texts: Iterable[str] = ()) -> None:
        """The person wants it after all."""
        known = self._read()
        old_turns = [run for run in turns if not known.turns.get(run[0], set()).isdisjoint(run_of_turns(run))]
        old_texts = [key for key in dict.fromkeys(map(_key, texts)) if key in known.texts]
        self._append({"turns_back": old_turns, "texts_back": old_texts})

    def turns(self, chat: str) -> set[int]:
        """The declined turns of a chat."""
        return set(self._read().turns.get(chat, ()))

    def holds(self, text: str) -> bool:
        """Whether a text was declined; width, case, spaces and articles do not matter."""
        return _key(text) in self._read().texts

    def _append(self, record: dict[str, Sequence[Any]]) -> None:
        record = {name: list(value) for name, value in record.items() if value}
        if record:
            append_lines(self._path, json.dumps(record).encode() + b"\n")

    def _read(self) -> _Known:
        mark = self._mark()
        if mark != self._known.mark:
            known = _Known(mark)
            for line in read_bytes(self._path).split(b"\n"):
                _take_in(line, known)
            self._known = known
        return self._known

    def _mark(self) -> tuple[int, int]:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return 0, 0
        except OSError as error:
            raise as_error(error, self._path) from error
        return stat.st_size, stat.st_mtime_ns


def _key(text: str) -> str:
    return hashlib.sha256(plain_form(text).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _take_in(line: bytes, known: _Known) -> None:
    if not line.strip():
        return
    try:
        record = parse_json(line)
        turns = [(str(chat), int(first), int(last)) for chat, first, last in record.get("turns", [])]
        back = [(str(chat), int(first), int(last)) for chat, first, last in record.get("turns_back", [])]
        texts, texts_back = set(record.get("texts", [])), set(record.get("texts_back", []))
    except (ValueError, TypeError, AttributeError, AssistantError):
        _log.debug("a line of what was declined cannot be read")
        return
    for run in turns:
        known.turns.setdefault(run[0], set()).update(run_of_turns(run))
    for run in back:
        known.turns.setdefault(run[0], set()).difference_update(run_of_turns(run))
    known.texts |= texts
    known.texts -= texts_back
