"""``keepsake memory files|show|write|strike|edit|remove``: whole files, and single lines by the id recall gives."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.cli.journal import refuse
from assistant.core.errors import AssistantError
from assistant.workspace.ids import split_id
from assistant.workspace.layout import MEMORY
from assistant.workspace.memory_values import Conflict, Saved


def add_actions(memory: Any) -> None:
    """Below ``keepsake memory``."""
    memory.add_parser("files", help="all memory files: size, time, who changed each last").set_defaults(
        run=run_files, reads=True
    )
    show = memory.add_parser("show", help="MEMORY.md and the other files, or one file")
    show.add_argument(
        "file", nargs="?", metavar="FILE", help="as memory files names it; without: MEMORY.md, taken apart"
    )
    show.set_defaults(run=run_show, reads=True)
    write = memory.add_parser("write", help="write a whole file from stdin")
    write.add_argument("file", metavar="FILE", help="MEMORY.md, or memory/<note>.md")
    write.add_argument(
        "--base", default="", metavar="SHA", help="its sha256 when it was read; without: a file that is not there yet"
    )
    write.set_defaults(run=run_write)
    strike = _line(memory, "strike", "strike a line and mark it superseded today", run_strike)
    strike.add_argument("--item", type=int, metavar="N", help="only this item of an entry, from 1")
    _line(memory, "edit", "put other words in a line's place", run_edit).add_argument(
        "text", metavar="TEXT", help="the new words; an entry keeps its date and source"
    )
    _line(memory, "remove", "take a line out; undo brings it back", run_remove)


def _line(memory: Any, name: str, words: str, run: Any) -> Any:
    action = memory.add_parser(name, help=words)
    action.add_argument("id", metavar="ID", help="as recall gives it")
    action.set_defaults(run=run)
    return action


def run_files(context: Context, options: Namespace) -> int:
    files = context.services.workspace.memory.files()
    words = "\n".join(f"{f.size:>9}  {f.modified}  {f.actor or '-':<9}  {f.file}  {f.problem}".rstrip() for f in files)
    context.output.value({"files": files}, words or "No memory files yet.")
    return 0


def run_show(context: Context, options: Namespace) -> int:
    memory = context.services.workspace.memory
    file = memory.read(options.file or MEMORY)
    if options.file:
        if not file.sha256:
            raise AssistantError("memory.missing", f"{options.file} is not there.", "See `keepsake memory files`.")
        value = {"file": options.file, "text": file.text, "sha256": file.sha256, "problem": file.problem}
        context.output.value(value, file.text)
        return 0
    document = memory.document()
    today = context.services.workspace.clock().date()
    entries = [
        {"line": e.line, "date": e.date, "source": e.source, "items": e.items, "live": e.live(today)}
        for e in document.entries
    ]
    value = {
        "file": MEMORY,
        "text": file.text,
        "sha256": file.sha256,
        "facts": [{"line": n, "text": line} for n, line in document.fact_lines],
        "entries": entries,
        "files": memory.files(),
        "problem": file.problem,
    }
    context.output.value(value, file.text or "MEMORY.md is empty. `keepsake remember TEXT` writes the first entry.")
    return 0


def run_write(context: Context, options: Namespace) -> int:
    outcome = context.services.workspace.memory.save(options.file, sys.stdin.read(), options.base)
    if isinstance(outcome, Conflict):
        message = f"{options.file} is not as it was when it was read; nothing was written."
        hint = "Read it again (keepsake memory show FILE --json gives text and sha256), merge, then write."
        return refuse(context, AssistantError("memory.conflict", message, hint), outcome)
    return _done(context, options.file, outcome, f"Written: {options.file}")


def run_strike(context: Context, options: Namespace) -> int:
    item = None if options.item is None else options.item - 1
    saved = context.services.workspace.memory.strike(options.id, item=item)
    return _done(context, split_id(options.id)[0], saved, f"Struck: {options.id}")


def run_edit(context: Context, options: Namespace) -> int:
    saved = context.services.workspace.memory.rewrite(options.id, options.text)
    return _done(context, split_id(options.id)[0], saved, f"Reworded: {options.id}")


def run_remove(context: Context, options: Namespace) -> int:
    saved = context.services.workspace.memory.remove(options.id)
    return _done(context, split_id(options.id)[0], saved, f"Removed: {options.id}")


def _done(context: Context, file: str, saved: Saved, words: str) -> int:
    value = {"file": file, "journal_id": saved.journal_id, "sha256": saved.sha256, "redacted": saved.redacted}
    words = words if saved.journal_id else "It is so already."
    redacted = f" {saved.redacted} secret(s) were replaced." if saved.redacted else ""
    context.output.value(value, f"{words}{redacted}")
    return 0
