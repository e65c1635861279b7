"""Forgetting with proof: first hidden, which can be undone; then erased everywhere, which is shown by a search."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, EventSink, WorkspaceChanged
from assistant.recall.search import Recall
from assistant.runtime.forget_erasing import Eraser, told_as
from assistant.runtime.forget_places import Places
from assistant.workspace import layout
from assistant.workspace.changes import merge
from assistant.workspace.chat_files import chat_of, scan_chats
from assistant.workspace.declined import Declined
from assistant.workspace.disk import read_bytes
from assistant.workspace.forget_edits import chat_without, may_say, memory_without, units_gone
from assistant.workspace.forget_finder import ForgetFinder
from assistant.workspace.forget_pending import Pending, PendingForgets
from assistant.workspace.forget_values import ForgetPlan, ForgetReport, Target, Thing
from assistant.workspace.forgotten_text import found_in_bytes
from assistant.workspace.memory_values import Conflict, Edit, undo_clash
from assistant.workspace.text_files import TextFile, read_text
from assistant.workspace.workspace import Workspace

_LONG_FILE = 1_000_000  # bytes; taking such a file apart again takes longer than forgetting a line of it
_SUMMARY = "Forgotten"
_log = logging.getLogger(__name__)


class ForgetService:
    """Blocking, from any thread. end_chat: stops what runs in a chat before its turns go."""

    def __init__(
        self,
        workspace: Workspace,
        places: Places,
        recall: Recall,
        declined: Declined,
        end_chat: Callable[[str], None],
        emit: EventSink,
    ) -> None:
        self._workspace = workspace
        self._places = places
        self._eraser = Eraser(workspace, places, recall, declined)
        self._end_chat = end_chat
        self._emit = emit
        self._pending = PendingForgets(workspace.data)
        self._begun: list[Pending] = []
        self.finder = ForgetFinder(workspace)

    # --- what will go --------------------------------------------------------------------------------------------

    def plan(self, what: str) -> ForgetPlan:
        """What an id or a query means, with nothing done. Raises ("forget.nothing")."""
        return self.finder.plan(what)

    def plan_things(self, things: Sequence[Thing]) -> ForgetPlan:
        """The plan for what a person pointed at. Raises ("forget.gone") where none of it is there any more."""
        found = [target for thing in things for target in self._targets(thing)]
        if not found:
            raise _gone()
        return self.finder.plan_for("", tuple(dict.fromkeys(found)))

    def widened(self, plan: ForgetPlan, more: Sequence[Target]) -> ForgetPlan:
        """The plan with further targets, such as those of ``also``."""
        return self.finder.plan_for(plan.what, [*plan.targets, *more], plan.texts) if more else plan

    def _targets(self, thing: Thing) -> list[Target]:
        return self.finder.by_id(thing) if isinstance(thing, str) else self.finder.by_line(*thing)

    def counted(self, plan: ForgetPlan) -> list[tuple[str, int]]:
        """How much of it each place holds now, the places with nothing left out."""
        return [(each.place, each.remaining) for each in self._eraser.search(plan) if each.remaining]

    # --- doing it ------------------------------------------------------------------------------------------------

    def now(self, plan: ForgetPlan) -> ForgetReport:
        """All at once, without a way back."""
        return self._finish(self.begin(plan))

    def begin(self, plan: ForgetPlan) -> Pending:
        """Take it out of memory and chats, so that it is neither shown nor recalled; undo brings it back."""
        for chat in dict.fromkeys(target.chat for target in plan.turns):
            self._end_chat(chat)
        pending = self._pending.begin(plan)
        self._begun.append(pending)
        try:
            self._hide(pending)
        except AssistantError:
            self.undo(pending)
            raise
        self._tell()
        return pending

    def undo(self, pending: Pending) -> None:
        """Bring it back, byte for byte where nothing changed since.

        Raises ("memory.conflict"), ("forget.conflict") of a chat, ("forget.late").
        """
        if pending.erasing or pending not in self._begun:
            raise AssistantError("forget.late", "It is forgotten already.", "Nothing can bring it back.")
        self._take_back(pending)
        self._end(pending)

    def finish(self, pending: Pending) -> ForgetReport:
        """Erase it everywhere, prove it, and forget that it was to be forgotten.

        What the person brought back through the journal meanwhile stays.
        """
        if not pending.erasing and self._was_undone(pending):
            self._take_back(pending)
            self._end(pending)
            return ForgetReport((), ())
        self._hide(pending)  # also what was written of it meanwhile
        return self._finish(pending)

    def _finish(self, pending: Pending) -> ForgetReport:
        pending.erasing = True
        pending.write()
        failed = self._eraser.erase(pending)
        report = ForgetReport(pending.plan.targets, tuple(self._eraser.search(pending.plan, failed)))
        if failed:  # the next start tries again
            pending.release()
            self._leave(pending)
        else:
            self._end(pending)
        return report

    def finish_left(self) -> list[ForgetReport]:
        """Complete what a process that died had begun."""
        reports = []
        for pending in self._pending.left_behind():
            pending.erasing = True
            reports.append(self.finish(pending))
        return reports

    def close(self) -> None:
        """The window closes: what waits for its grace period is erased now."""
        for pending in list(self._begun):
            try:
                self.finish(pending)
            except AssistantError as error:  # the next start does it
                _log.warning("something could not be forgotten yet: %s", error)
                pending.release()

    def _end(self, pending: Pending) -> None:
        pending.destroy()
        self._leave(pending)

    def _leave(self, pending: Pending) -> None:
        if pending in self._begun:
            self._begun.remove(pending)
        self._tell()

    def _was_undone(self, pending: Pending) -> bool:
        entries = self._workspace.journal.batch(pending.batch) if pending.batch else []
        return bool(entries) and not any(entry.can_undo for entry in entries)

    def _take_back(self, pending: Pending) -> None:
        undone = not pending.batch or self._was_undone(pending)
        if not undone and isinstance(outcome := self._workspace.memory.undo(pending.batch), Conflict):
            raise undo_clash(outcome)
        for file in pending.chats:
            self._restore_chat(pending, file)

    # --- hiding --------------------------------------------------------------------------------------------------

    def _hide(self, pending: Pending) -> None:
        plan = pending.plan
        edits = [edit for file in layout.memory_files(self._workspace.root) if (edit := self._edit(file, pending))]
        if edits:
            batch = self._workspace.memory.change_many(edits, "you", _SUMMARY, keep_secrets=True)
            pending.batch = pending.batch or batch
            pending.write()
        for chat in self._chats_with(plan):
            self._hide_in_chat(pending, chat)
        self._places.receipts.renew(plan.texts, told_as(plan))

    def _edit(self, file: str, pending: Pending) -> Edit | None:
        plan = pending.plan
        path = self._workspace.root / file
        if layout.is_conflict_copy(file) or not path.exists():
            return None
        current = read_text(path)
        if not current.writable or not self._may_hold(file, current, plan):
            return None
        text = memory_without(file, current.text, plan)
        if text == current.text:
            return None
        if len(current.raw) > _LONG_FILE and (gone := units_gone(file, current.text, text)):
            pending.long_files[file] = gone
        return Edit(file, text, current.sha256)

    def _may_hold(self, file: str, current: TextFile, plan: ForgetPlan) -> bool:
        named = any(target.file == file for target in plan.targets)
        return named or may_say(current.text, plan) or bool(found_in_bytes(current.raw, plan.texts))

    def _chats_with(self, plan: ForgetPlan) -> list[str]:
        chats = {target.chat for target in plan.targets if target.kind in ("turn", "title", "line") and target.chat}
        for ident, files in scan_chats(self._workspace.root).items():
            if ident not in chats and any(found_in_bytes(read_bytes(path), plan.texts) for path, _ in files):
                chats.add(ident)
        return sorted(chats)

    def _hide_in_chat(self, pending: Pending, chat: str) -> None:
        def keep(path: Path, before: bytes, after: bytes) -> None:
            file = path.relative_to(self._workspace.root).as_posix()
            if file not in pending.chats:
                pending.keep_chat(file, before, after)

        try:
            self._workspace.chats.rewrite(chat, lambda texts: chat_without(chat, texts, pending.plan), keep)
        except AssistantError as error:
            if error.code != "chat.missing":
                raise

    def _restore_chat(self, pending: Pending, file: str) -> None:
        before, hidden = pending.chat_texts(file)
        chats, chat = self._workspace.chats, chat_of(file)
        names = [path.name for path in chats.paths(chat)]  # its folder may be another one by now
        name = file.rpartition("/")[2]
        if name not in names:
            raise _gone()
        at = names.index(name)

        def back(texts: Sequence[str]) -> list[str]:
            return [_put_back(hidden, text, before) if n == at else text for n, text in enumerate(texts)]

        chats.rewrite(chat, back, lambda *_: None)

    def _tell(self) -> None:
        self._emit(WorkspaceChanged())
        self._emit(ChatsChanged())


def _gone() -> AssistantError:
    return AssistantError("forget.gone", "This is not there any more.", "Search for it: it was moved or changed.")


def _put_back(hidden: str, now: str, before: str) -> str:
    """A chat that may have gone on since with what it said before."""
    if now.startswith(hidden):
        return before + now[len(hidden) :]
    merged = merge(hidden, now, before)
    if merged is None:
        raise AssistantError("forget.conflict", "The chat has changed since in the same place.", "Its file has both.")
    return merged
