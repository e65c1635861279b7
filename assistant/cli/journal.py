"""``keepsake memory journal|undo|tidy``: what changed, the way back, and tidying up."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Any

from assistant.cli.context import Context, natural
from assistant.cli.days import add_range, day_range
from assistant.cli.output import plain
from assistant.core.errors import AssistantError
from assistant.workspace.journal import Journal, JournalEntry
from assistant.workspace.memory_values import Conflict, undo_clash

_ACTORS = ("you", "assistant", "upkeep", "import", "disk", "undo")


def add_actions(memory: Any) -> None:
    """Below ``keepsake memory``."""
    journal = memory.add_parser("journal", help="every change, newest first")
    journal.add_argument("--limit", type=natural, default=50, metavar="N", help="at most so many (50)")
    journal.add_argument("--actor", choices=_ACTORS, metavar="A", help=f"{', '.join(_ACTORS[:-1])} or {_ACTORS[-1]}")
    journal.add_argument("--file", metavar="F", help="changes of this file only")
    journal.add_argument("--before", metavar="ID", help="only changes older than this one: for paging")
    add_range(journal)
    journal.set_defaults(run=run_journal, reads=True)
    undo = memory.add_parser("undo", help="take one change back, or all changes of a batch as one")
    undo.add_argument("id", metavar="ID", help="of the change or the batch, as memory journal gives it")
    undo.set_defaults(run=run_undo)
    tidy = memory.add_parser("tidy", help="show what tidying up would do: what is over to the archive, doubles merged")
    tidy.add_argument("--apply", action="store_true", help="do it")
    tidy.set_defaults(run=run_tidy)


def run_journal(context: Context, options: Namespace) -> int:
    journal = context.services.workspace.journal
    if options.before and journal.get(options.before) is None:
        raise AssistantError("journal.missing", "This change is not in the journal.", "Reload the journal.")
    first, last = day_range(options.since, options.until, context.services.workspace.clock().date())
    entries = list(islice(_between(journal, options, first, last), options.limit))
    value = [
        {
            "id": e.id,
            "time": e.time,
            "actor": e.actor,
            "path": e.path,
            "diff": e.diff,
            "can_undo": e.can_undo,
            "summary": e.summary,
            "batch": e.batch,
        }
        for e in entries
    ]
    words = "\n".join(f"{e.id}  {e.time}  {e.actor}  {e.path}  {e.summary}" for e in entries)
    context.output.value({"entries": value}, words or "No changes.")
    return 0


def _between(journal: Journal, options: Namespace, first: date | None, last: date | None) -> Iterator[JournalEntry]:
    """The changes of these days, newest first; pages are read until one is older."""
    before = options.before
    while page := journal.entries(max(options.limit, 50), options.file, options.actor, before):
        for entry in page:
            if first and entry.time[:10] < first.isoformat():
                return
            if not last or entry.time[:10] <= last.isoformat():
                yield entry
        before = page[-1].id


def run_undo(context: Context, options: Namespace) -> int:
    outcome = context.services.workspace.memory.undo(options.id)
    if isinstance(outcome, Conflict):
        return refuse(context, undo_clash(outcome), outcome)
    context.output.value({"undone": options.id, "journal_id": outcome.journal_id}, f"Undone: {options.id}")
    return 0


def run_tidy(context: Context, options: Namespace) -> int:
    services = context.services
    plan = services.tidying.plan()
    batch = services.tidying.apply(plan) if options.apply else ""
    conflicts = services.tidying.conflicts()
    services.self_test.settle()
    value = {
        "moved": plan.moved,
        "merged": plan.merged,
        "conflicts": len(conflicts),
        "contradictions": conflicts,
        "lost": services.self_test.state().lost,
        "diff": plan.diff,
        "over": plan.over,
        "applied": bool(batch),
        "batch": batch,
    }
    if not plan.edits:
        words = "Nothing to tidy up."
    elif batch:
        words = f"{plan.summary}. To take it back: keepsake memory undo {batch}"
    else:
        counts = f"{len(plan.moved)} to move to the archive, {len(plan.merged)} to merge"
        words = f"{plan.diff}\n{counts}. To do it: keepsake memory tidy --apply"
    waiting = "".join(f"\ncannot both hold: {each}" for each in conflicts)
    context.output.value(value, words + waiting + ("\nTo settle them: keepsake memory conflicts" if waiting else ""))
    return 0


def refuse(context: Context, error: AssistantError, conflict: Conflict) -> int:
    """The error of a clash, with both texts for a script; 1."""
    if context.output.as_json:
        context.output.line({"error": error.as_dict(), **plain(conflict)})
        context.output.note_error(error)
    else:
        context.output.error(error)
    return 1
