"""``keepsake remember`` and ``keepsake memory ...``: what the memory panel does, for scripts."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli import checks, conflicts, inbox, journal, lines, notes, timeline
from assistant.cli.context import Context
from assistant.cli.days import last_day


def add_commands(commands: Any) -> None:
    remember = commands.add_parser("remember", help="write one entry into memory")
    remember.add_argument("text", metavar="TEXT", help="one thing, in a sentence")
    remember.add_argument("--source", metavar="S", default="you", help="who or what says so (you)")
    remember.add_argument("--topic", metavar="T", help="into this topic note instead of MEMORY.md")
    remember.add_argument(
        "--until", metavar="D", help="a date or words (tomorrow, 下周五): not told to the model after it"
    )
    remember.set_defaults(run=run_remember)
    memory = commands.add_parser("memory", help="look at memory and take changes back")
    actions = memory.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("budget", help="what of MEMORY.md loads, and what does not").set_defaults(
        run=run_budget, reads=True
    )
    lines.add_actions(actions)
    journal.add_actions(actions)
    checks.add_actions(actions)
    timeline.add_actions(actions)
    inbox.add_actions(actions)
    conflicts.add_actions(actions)
    notes.add_actions(actions)


def run_remember(context: Context, options: Namespace) -> int:
    today = context.services.workspace.clock().date()
    until = last_day(options.until, today) if options.until else None
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
