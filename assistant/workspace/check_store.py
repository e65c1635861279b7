"""The recall self-test on disk: questions that memory must be able to answer, and what was found each time."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error
from assistant.workspace.forgotten_text import found_in_bytes, holds
from assistant.workspace.safe_files import locked, read_bytes, write_atomic
from assistant.workspace.stored import damaged_copy, fits, keep_damaged

_RUNS = 30  # the last so many are kept
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """A question and what must be found for it: the unit of that id, or a line that holds ``text``.

    A pinned unit has both: its id changes with its words, and the same words may stand elsewhere later.
    """

    id: str
    question: str
    unit: str
    text: str
    added: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run over all checks. ranks: by check id, from 1; 0: not found. reason: "asked", "rebuild", "model", "tidy".

    index, model: identities of the build of the index and of the embedding model; setting: the setting that chose the
    model; undo: the batch of a tidy-up, "" otherwise; mode: "hybrid" or "keyword".
    """

    time: str
    reason: str
    mode: str
    index: str
    model: str
    setting: str
    ranks: Mapping[str, int] = field(default_factory=dict)
    undo: str = ""


class CheckStore:
    """One JSON file, safe to use from several threads and processes; also a ForgetPlace."""

    name = "self-test"

    def __init__(self, folder: Path, lock: Path) -> None:
        self._path = folder / "checks.json"
        self._lock = lock

    def checks(self) -> list[Check]:
        """In the order in which they were added."""
        return self._read()[0]

    def runs(self) -> list[Run]:
        """Oldest first."""
        return self._read()[1]

    def add(self, question: str, unit: str, text: str, added: str) -> Check:
        """Keep a check. The same question with the same expectation is kept once."""
        made = Check(secrets.token_hex(3), question, unit, text, added)
        kept = [made]

        def edit(checks: list[Check], runs: list[Run]) -> tuple[list[Check], list[Run]]:
            same = [c for c in checks if (c.question, c.unit, c.text) == (question, unit, text)]
            kept[0] = same[0] if same else made
            return (checks if same else [*checks, made]), runs

        self._change(edit)
        return kept[0]

    def remove(self, ident: str) -> None:
        """Raises ("check.missing") for an id that is not there."""
        if all(check.id != ident for check in self.checks()):
            raise AssistantError("check.missing", f"There is no check {ident}.", "List them to see their ids.")
        self._change(lambda checks, runs: ([c for c in checks if c.id != ident], [_without(r, {ident}) for r in runs]))

    def add_run(self, run: Run) -> None:
        """Keep the results of a run, and of the last ones before it."""
        self._change(lambda checks, runs: (checks, [*runs, run][-_RUNS:]))

    def scrub(self, texts: Sequence[str]) -> None:
        """Remove the checks whose question or expectation holds a forgotten text."""
        if found_in_bytes(self._damaged(), texts):
            damaged_copy(self._path).unlink(missing_ok=True)
        gone = {check.id for check in self.checks() if _holds(check, texts)}
        if gone:
            self._change(
                lambda checks, runs: ([c for c in checks if c.id not in gone], [_without(r, gone) for r in runs])
            )

    def remaining(self, texts: Sequence[str]) -> int:
        damaged = 1 if found_in_bytes(self._damaged(), texts) else 0
        return damaged + sum(_holds(check, texts) for check in self.checks())

    def _damaged(self) -> bytes:
        return read_bytes(damaged_copy(self._path))

    def _change(self, edit: Callable[[list[Check], list[Run]], tuple[list[Check], list[Run]]]) -> None:
        try:
            make_private(self._path.parent)
        except OSError as error:
            raise as_error(error, self._path) from error
        with locked(self._lock):
            checks, runs = edit(*self._read())
            keep_damaged(self._path)
            value = {"checks": [asdict(c) for c in checks], "runs": [_plain(r) for r in runs]}
            write_atomic(self._path, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace"))

    def _read(self) -> tuple[list[Check], list[Run]]:
        try:
            stored = parse_json(read_bytes(self._path) or b"{}")
            return list(_each(stored.get("checks", []), Check)), list(_each(stored.get("runs", []), Run))
        except (AssistantError, ValueError, AttributeError) as error:
            _log.info("the self-test cannot be read: %s", error)
            return [], []


def _each(values: Any, kind: type) -> Iterator[Any]:
    """Those that have all fields, of the right types."""
    for each in values if isinstance(values, list) else ():
        if fits(each, kind) and _ranked(each.get("ranks", {})):
            yield kind(**each)


def _ranked(ranks: Any) -> bool:
    return isinstance(ranks, dict) and all(type(rank) is int and rank >= 0 for rank in ranks.values())


def _plain(run: Run) -> dict[str, Any]:
    return {**asdict(replace(run, ranks={})), "ranks": dict(run.ranks)}


def _without(run: Run, gone: set[str]) -> Run:
    return replace(run, ranks={ident: rank for ident, rank in run.ranks.items() if ident not in gone})


def _holds(check: Check, texts: Sequence[str]) -> bool:
    return any(holds(text, texts) for text in (check.question, check.text, check.unit))
