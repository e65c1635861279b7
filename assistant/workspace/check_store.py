"""The recall self-test on disk: questions that memory must be able to answer, and what was found each time."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.workspace.forgotten_text import holds
from assistant.workspace.json_file import JsonFile

_RUNS = 30  # the last so many are kept


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
        self._file = JsonFile(folder / "checks.json", lock)

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
        gone = {check.id for check in self.checks() if _holds(check, texts)}
        if gone:
            self._change(
                lambda checks, runs: ([c for c in checks if c.id not in gone], [_without(r, gone) for r in runs])
            )

    def remaining(self, texts: Sequence[str]) -> int:
        return sum(_holds(check, texts) for check in self.checks())

    def _change(self, edit: Callable[[list[Check], list[Run]], tuple[list[Check], list[Run]]]) -> None:
        def changed(stored: Any) -> dict[str, Any]:
            checks, runs = edit(*_taken_apart(stored))
            return {"checks": [asdict(c) for c in checks], "runs": [_plain(r) for r in runs]}

        self._file.change(changed)

    def _read(self) -> tuple[list[Check], list[Run]]:
        return _taken_apart(self._file.read())


def _taken_apart(stored: Any) -> tuple[list[Check], list[Run]]:
    found = stored if isinstance(stored, dict) else {}
    return list(_each(found.get("checks"), Check)), list(_each(found.get("runs"), Run))


def _each(values: Any, kind: Callable[..., Any]) -> Iterator[Any]:
    """Those that have all fields, of the right types."""
    for fields in values if isinstance(values, list) else ():
        with contextlib.suppress(TypeError):
            if _fits(fields):
                yield kind(**fields)


def _fits(fields: Any) -> bool:
    ranks = fields.get("ranks", {}) if isinstance(fields, dict) else None
    if not isinstance(ranks, dict) or not all(type(rank) is int for rank in ranks.values()):
        return False
    return all(isinstance(value, str) for name, value in fields.items() if name != "ranks")


def _plain(run: Run) -> dict[str, Any]:
    return {**asdict(replace(run, ranks={})), "ranks": dict(run.ranks)}


def _without(run: Run, gone: set[str]) -> Run:
    return replace(run, ranks={ident: rank for ident, rank in run.ranks.items() if ident not in gone})


def _holds(check: Check, texts: Sequence[str]) -> bool:
    return any(holds(text, texts) for text in (check.question, check.text, check.unit))
