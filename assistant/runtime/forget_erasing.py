"""The end of a forgetting: out of every place, then the search of every place that proves it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from assistant.core.errors import AssistantError
from assistant.recall.index.forgotten_index import found_again
from assistant.recall.search import Recall
from assistant.runtime.forget_places import Places
from assistant.workspace import layout
from assistant.workspace.declined import Declined
from assistant.workspace.forget_edits import find_place, is_forgotten, memory_without
from assistant.workspace.forget_pending import Pending
from assistant.workspace.forget_values import ForgetPlan, Searched, Target
from assistant.workspace.forgetting import ForgetPlace
from assistant.workspace.forgotten_text import found_in_bytes
from assistant.workspace.safe_files import locked, write_atomic
from assistant.workspace.text_files import exact_bytes, exact_text, read_text, sha
from assistant.workspace.workspace import Workspace

_HINTS = {
    "files": "A file beside MEMORY.md that is not Keepsake's still says it: change or delete it by hand.",
    "index": "Close other Keepsake windows, then run `keepsake index rebuild`.",
}
_HINT = "Close what holds the file, then forget it once more."
_log = logging.getLogger(__name__)
Failures = Mapping[str, AssistantError]


class Eraser:
    """Everything in it may be done again and again: a process that was killed is followed by one that does it all."""

    def __init__(self, workspace: Workspace, places: Places, recall: Recall, declined: Declined) -> None:
        self._workspace = workspace
        self._places = places
        self._recall = recall
        self._declined = declined

    # --- erasing -------------------------------------------------------------------------------------------------

    def erase(self, pending: Pending) -> dict[str, AssistantError]:
        """Take it out of every place; says which places failed. One that fails keeps no other from being cleaned."""
        plan = pending.plan
        self._erase_logs(plan)
        failed: dict[str, AssistantError] = {}
        for place in self._places.all():
            try:
                self._scrub(place, pending)
            except AssistantError as error:
                _log.info("the place %s could not be cleaned: %s", place.name, error.code)
                failed[place.name] = error
        self._workspace.chats.list()  # its cache follows the files
        turns = [(target.chat, target.number, target.number) for target in plan.turns]
        self._declined.add(turns, plan.same)
        return failed

    def _scrub(self, place: ForgetPlace, pending: Pending) -> None:
        plan, long_files = pending.plan, pending.long_files
        if place is self._places.receipts:
            self._places.receipts.scrub(plan.texts, told_as(plan))
        elif place is self._places.index and plan.texts:
            units = [unit for each in long_files.values() for unit in each]
            self._places.index.erase(plan.texts, units, long_files)
        else:
            place.scrub(plan.texts)

    def _erase_logs(self, plan: ForgetPlan) -> None:
        """Day logs are appended to without a journal, under a lock of their own; so they are rewritten."""
        workspace, seen = self._workspace, self._workspace.journal.seen
        with workspace.memory.held(), locked(workspace.state / "locks" / "log.lock"):
            known = seen.files() or {}
            for file in layout.log_files(workspace.root):
                path = workspace.root / file
                current = read_text(path)
                text = exact_text(current)
                if current.writable and (left := memory_without(file, text, plan)) != text:
                    raw = exact_bytes(left, current)
                    write_atomic(path, raw)
                    if file in known:
                        seen.note(file, raw, path, sha(raw))

    # --- the proof -----------------------------------------------------------------------------------------------

    def search(self, plan: ForgetPlan, failed: Failures | None = None) -> list[Searched]:
        """How much of it every place holds."""
        found = [_searched(place, self._remaining(place, plan), failed or {}) for place in self._places.all()]
        again = found_again(self._recall, plan.texts, plan.units)
        return [*found, Searched("search", again, _HINTS["index"] if again else "")]

    def _remaining(self, place: ForgetPlace, plan: ForgetPlan) -> int:
        if place is self._places.receipts:
            return self._places.receipts.remaining(plan.texts, told_as(plan))
        count = place.remaining(plan.texts)
        if place.name == "files":
            return max(count, sum(1 for target in plan.targets if self._stands(target, plan)))
        if place.name == "chats":
            return max(count, sum(1 for target in plan.turns if self._stands(target, plan)))
        return count

    def _stands(self, target: Target, plan: ForgetPlan) -> bool:
        """Whether a target is still where it was, whatever it says."""
        try:
            if target.kind == "turn":
                turn = self._workspace.chats.read(target.chat).by_number.get(target.number)
                return turn is not None and not is_forgotten(turn.user)
            if target.kind == "memory" and not found_in_bytes(target.text.encode("utf-8", "replace"), plan.texts):
                text = self._workspace.memory.read(target.file).text  # too short to be looked for by its words
                return find_place(target.file, text, target.id) is not None
        except AssistantError:
            return False
        return False


def told_as(plan: ForgetPlan) -> frozenset[str]:
    """The ids under which receipts name what goes."""
    return plan.units | {f"gone:{unit}" for unit in plan.units}


def _searched(place: ForgetPlace, remaining: int, failed: Failures) -> Searched:
    if not remaining:
        return Searched(place.name, 0)
    if error := failed.get(place.name):
        return Searched(place.name, remaining, str(error))
    own: str = getattr(place, "hint", "")
    return Searched(place.name, remaining, own or _HINTS.get(place.name, _HINT))
