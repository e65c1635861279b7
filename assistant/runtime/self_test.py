"""The recall self-test: after what may change what memory finds, ask the pinned questions again and compare."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.core.cancel import CancelToken
from assistant.core.clock import stamp
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import ChecksRan, Event, EventSink, IndexProgress, MemoryChanged, Notice
from assistant.core.values import Hit, RecallQuery
from assistant.recall.search import Recall
from assistant.runtime.lanes import Lane
from assistant.settings.store import SettingsStore
from assistant.workspace.check_store import Check, CheckStore, Run
from assistant.workspace.contradiction import normalise
from assistant.workspace.memory_values import Conflict, undo_clash
from assistant.workspace.redaction import redact
from assistant.workspace.tidy import TIDIED
from assistant.workspace.workspace import Workspace

LIMIT = 20
"""Hits that are looked at; what comes later nobody would see."""
_QUERY_MS = 10_000.0
_UNIT = re.compile(r".+\.md:[0-9a-f]{10}(?:-\d+)?|[0-9]{8}_[0-9]{6}\S*#\d+")
_ROLLED_BACK = ("tidy", "model", "rebuild")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckState:
    """A check and its ranks: now, and before (0: not found, None: never asked)."""

    check: Check
    before: int | None
    now: int | None

    @property
    def lost(self) -> bool:
        """It was found once and is not now."""
        return bool(self.before) and self.now == 0


@dataclass(frozen=True, slots=True)
class SelfTest:
    """All checks. last: the newest run; cause: what may have lost something, "" where nothing is lost."""

    states: tuple[CheckState, ...]
    last: Run | None
    cause: str

    @property
    def lost(self) -> int:
        return sum(state.lost for state in self.states)


class SelfTestService:
    """Blocking but for ``run_later``, ``start`` and ``noted``. lane: on which these run, behind the index's work."""

    def __init__(
        self, workspace: Workspace, recall: Recall, settings: SettingsStore, lane: Lane, emit: EventSink
    ) -> None:
        self._workspace = workspace
        self._recall = recall
        self._settings = settings
        self._lane = lane
        self._emit = emit
        self._cancel = CancelToken()
        self._waiting: dict[str, str] = {}
        self._guard = threading.Lock()
        self.store = CheckStore(workspace.data, workspace.state / "locks" / "checks.lock")

    def state(self) -> SelfTest:
        """The checks as the last runs found them."""
        runs = self.store.runs()
        states = tuple(_state(check, runs) for check in self.store.checks())
        lost = any(state.lost for state in states)
        causes = [run.reason for run in reversed(runs) if run.reason in _ROLLED_BACK]
        return SelfTest(states, runs[-1] if runs else None, causes[0] if lost and causes else "")

    def add(self, question: str, expect: str, text: str = "") -> CheckState:
        """Pin a question. expect: a unit's id (``text``: its words), or words that a found line must hold.

        Raises AssistantError: ``check.empty``.
        """
        question, expect = redact(question.strip()).text, redact(expect.strip()).text
        if not question or not expect:
            raise AssistantError(
                "check.empty", "A check needs a question and what must be found.", "Give both of them."
            )
        is_unit = bool(_UNIT.fullmatch(expect))
        words = redact(" ".join(text.split())).text if is_unit else expect
        check = self.store.add(question, expect if is_unit else "", words, stamp(self._workspace.clock))
        self.run()
        return next(state for state in self.state().states if state.check.id == check.id)

    def remove(self, ident: str) -> None:
        """Raises ("check.missing")."""
        self.store.remove(ident)
        self._emit(ChecksRan(self.state().lost))

    def run(self, reason: str = "asked", undo: str = "", cancel: CancelToken | None = None) -> SelfTest:
        """Ask all questions now; waits for the embedding model first. The results are kept and told."""
        cancel = cancel or self._cancel
        checks = self.store.checks()
        if checks:
            self._recall.warm(cancel)
            ranks, modes = {}, set()
            for check in checks:
                cancel.check()
                answer = self._recall.search(RecallQuery(check.question, limit=LIMIT), _QUERY_MS)
                modes.add(answer.mode)
                ranks[check.id] = rank_of(check, answer.hits)
            index, model = self._recall.identity()
            mode = "hybrid" if modes == {"hybrid"} else "keyword"
            setting = self._settings.load().embedding.model
            now = stamp(self._workspace.clock)
            reason = self._change(index, model) or reason if reason == "asked" else reason
            self.store.add_run(Run(now, reason, mode, index, model, setting, ranks, undo))
        state = self.state()
        self._emit(ChecksRan(state.lost))
        return state

    def rollback(self) -> str:
        """Undo what lost something, and run again; says in words what was done.

        Raises AssistantError: ``check.nothing_lost``, ``check.rebuild`` since there is nothing to undo then, and what
        undoing raises.
        """
        state = self.state()
        cause = next((run for run in reversed(self.store.runs()) if run.reason in _ROLLED_BACK), None)
        if not state.lost or cause is None:
            raise AssistantError("check.nothing_lost", "Nothing was lost that could be rolled back.")
        if cause.reason == "rebuild":
            raise AssistantError(
                "check.rebuild",
                "The index was built anew from files that did not change; there is nothing to roll back.",
                "Reword the question or the line, or give what must be found anew.",
            )
        done = self._undo_tidy(cause) if cause.reason == "tidy" else self._restore_model(cause)
        self.run("asked")
        return done

    def run_later(self, reason: str, undo: str = "") -> None:
        """Run behind what the index has to do now; returns at once. Several wishes become one."""
        with self._guard:
            first = not self._waiting
            self._waiting[reason] = undo
        if first:
            self._submit(self._run_waiting)

    def start(self) -> None:
        """Look whether index or model are others than at the last run; returns at once."""
        self._submit(self._compare)

    def noted(self, event: Event) -> None:
        """A tidy-up, or a finished indexing run, may be a reason to ask again. Never raises."""
        if isinstance(event, MemoryChanged) and event.summary.startswith(TIDIED):
            self.run_later("tidy", event.journal_id)
        elif isinstance(event, IndexProgress) and event.what == "vectors" and 0 < event.done == event.total:
            self._submit(self._compare)

    def settle(self) -> None:
        """Wait for what was put off by ``run_later`` or ``noted``: for a command that ends right after."""
        if self.store.checks():
            self._lane.submit(lambda: None).result()

    def close(self) -> None:
        """Stop what runs."""
        self._cancel.cancel()

    def _run_waiting(self) -> None:
        with self._guard:
            waiting, self._waiting = self._waiting, {}
        for reason, undo in waiting.items():
            if self.store.checks():
                entry = self._workspace.journal.get(undo) if undo else None
                self.run(reason, entry.batch or undo if entry else undo)

    def _compare(self) -> None:
        if self.store.checks() and (reason := self._change(*self._recall.identity())):
            self.run(reason)

    def _change(self, index: str, model: str) -> str:
        """ "model" or "rebuild" where either is another one than at the last run; "" otherwise."""
        runs = self.store.runs()
        if not runs or (index, model) == (runs[-1].index, runs[-1].model):
            return ""
        return "model" if model != runs[-1].model else "rebuild"

    def _submit(self, work: Callable[[], object]) -> None:
        try:
            self._lane.submit(self._quietly, work)
        except RuntimeError:  # the lane is closed
            _log.debug("the self-test is left for the next start")

    def _quietly(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Cancelled:
            _log.debug("the self-test was stopped")
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))

    def _undo_tidy(self, cause: Run) -> str:
        if isinstance(outcome := self._workspace.memory.undo(cause.undo), Conflict):
            raise undo_clash(outcome)
        return "The tidy-up was taken back."

    def _restore_model(self, cause: Run) -> str:
        runs = self.store.runs()
        before = next((run for run in reversed(runs) if run.model != cause.model), None)
        if before is None:
            raise AssistantError("check.nothing_lost", "Nothing was lost that could be rolled back.")
        self._settings.update("embedding", model=before.setting)
        return "The setting of the embedding model is back; it counts from the next start on."


def rank_of(check: Check, hits: Sequence[Hit]) -> int:
    """The place of the first right hit, from 1; 0 where there is none."""
    wanted = normalise(check.text)
    for rank, hit in enumerate(hits, 1):
        if check.unit and (hit.id == check.unit or (wanted and normalise(hit.text) == wanted)):
            return rank
        if not check.unit and wanted in normalise(hit.text):
            return rank
    return 0


def _state(check: Check, runs: Sequence[Run]) -> CheckState:
    """Before: the last time it was found, or the run before the last one.

    Runs by words alone are not compared with those by meaning too, where only the model's process was missing.
    """
    last = runs[-1] if runs else None
    alike = [run for run in runs if last and (run.mode == last.mode or run.model != last.model)]
    known = [run.ranks[check.id] for run in alike if check.id in run.ranks]
    if not known:
        return CheckState(check, None, None)
    *earlier, now = known
    before = next((rank for rank in reversed(earlier) if rank), earlier[-1] if earlier else None)
    return CheckState(check, earlier[-1] if earlier and now else before, now)
