"""``keepsake remember`` and ``keepsake memory ...``: what the memory panel does, for scripts."""

from __future__ import annotations

from argparse import Namespace
from datetime import date
from typing import Any

from assistant.cli import checks, conflicts, inbox, timeline
from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.workspace.layout import MEMORY


def add_commands(commands: Any) -> None:
    remember = commands.add_parser("remember", help="write one entry into memory")
    remember.add_argument("text", metavar="TEXT")
    remember.add_argument("--source", metavar="S", default="you")
    remember.add_argument("--topic", metavar="T", help="into this topic note instead of MEMORY.md")
    remember.add_argument(
        "--until", metavar="D", help="a date or words (tomorrow, 下周五): not told to the model after it"
    )
    remember.set_defaults(run=run_remember)
    memory = commands.add_parser("memory", help="look at memory and take changes back")
    actions = memory.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("show", help="MEMORY.md and the other files").set_defaults(run=run_show)
    actions.add_parser("budget", help="what of MEMORY.md loads, and what does not").set_defaults(run=run_budget)
    journal = actions.add_parser("journal", help="every change, newest first")
    journal.add_argument("--limit", type=int, default=50, metavar="N")
    journal.set_defaults(run=run_journal)
    checks.add_actions(actions)
    timeline.add_actions(actions)
    undo = actions.add_parser("undo", help="take one change back")
    undo.add_argument("id", metavar="ID")
    undo.set_defaults(run=run_undo)
    inbox.add_actions(actions)
    conflicts.add_actions(actions)


def run_remember(context: Context, options: Namespace) -> int:
    until = _day(context, options.until) if options.until else None
    written = context.services.workspace.memory.remember(
        options.text, source=options.source, topic=options.topic, until=until
    )
    value = {
        "id": written.id,
        "file": written.file,
        "line": written.line,
        "text": written.text,
        "redacted": written.redacted,
        "duplicate": written.duplicate,
        "superseded": written.superseded,
    }
    known = "Known already" if written.duplicate else "Remembered"
    redacted = f" {written.redacted} secret(s) were replaced." if written.redacted else ""
    context.output.value(value, f"{known}: {written.text} ({written.file}:{written.line}).{redacted}")
    return 0


def run_show(context: Context, options: Namespace) -> int:
    memory = context.services.workspace.memory
    file, document = memory.read(MEMORY), memory.document()
    today = context.services.workspace.clock().date()
    entries = [
        {"line": e.line, "date": e.date, "source": e.source, "items": e.items, "live": e.live(today)}
        for e in document.entries
    ]
    value = {
        "file": MEMORY,
        "text": file.text,
        "facts": [{"line": n, "text": line} for n, line in document.fact_lines],
        "entries": entries,
        "files": memory.files(),
        "problem": file.problem,
    }
    context.output.value(value, file.text or "MEMORY.md is empty. `keepsake remember TEXT` writes the first entry.")
    return 0


def run_budget(context: Context, options: Namespace) -> int:
    loaded = context.services.budget()
    value = {
        "lines": loaded.lines_used,
        "bytes": loaded.bytes_used,
        "tokens": loaded.tokens_used,
        "tokens_allowed": loaded.tokens_allowed,
        "share": round(loaded.share, 4),
        "entries": len(loaded.entries),
        "left_out": loaded.left_out,
    }
    left = "".join(f"\ndoes not load: {lo.file}:{lo.line} ({lo.why})" for lo in loaded.left_out)
    words = (
        f"{loaded.lines_used} lines, {loaded.bytes_used} bytes, {loaded.tokens_used} of {loaded.tokens_allowed} tokens"
    )
    context.output.value(value, f"{words} ({loaded.share:.0%}){left}")
    return 0


def run_journal(context: Context, options: Namespace) -> int:
    entries = context.services.workspace.journal.entries(options.limit)
    value = [
        {
            "id": e.id,
            "time": e.time,
            "actor": e.actor,
            "path": e.path,
            "diff": e.diff,
            "can_undo": e.can_undo,
            "summary": e.summary,
        }
        for e in entries
    ]
    words = "\n".join(f"{e.id}  {e.time}  {e.actor}  {e.path}  {e.summary}" for e in entries)
    context.output.value({"entries": value}, words or "No changes yet.")
    return 0


def run_undo(context: Context, options: Namespace) -> int:
    from assistant.workspace.memory import Conflict

    outcome = context.services.workspace.memory.undo(options.id)
    if isinstance(outcome, Conflict):
        raise AssistantError(
            "memory.conflict",
            "The file has changed since in the same place, so this change cannot be taken back by itself.",
            "Open the journal in the window: it shows both texts side by side.",
        )
    context.output.value({"undone": options.id, "journal_id": outcome.journal_id}, f"Undone: {options.id}")
    return 0


def _day(context: Context, words: str) -> date:
    from assistant.recall.dates import parse_range

    found = parse_range(words, context.services.workspace.clock().date())
    if found is None:
        raise AssistantError(
            "memory.date", f"{words!r} is no day.", "Use a date like 2026-12-24, or words like tomorrow."
        )
    return found.last
