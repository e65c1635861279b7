"""``keepsake import SYSTEM PATH``: bring memory and chats over from another assistant, and take that back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path
from typing import Any

from assistant.cli.context import Context
from assistant.runtime.importing import ImportUndone
from assistant.workspace.imports.report import ImportReport
from assistant.workspace.imports.values import AUTO, SYSTEMS

_SHOWN = 5  # examples of what is skipped, in words; JSON has them all
_NAMES = {
    "entries": ("entry", "entries"),
    "facts": ("page of facts", "pages of facts"),
    "notes": ("note", "notes"),
    "logs": ("day log", "day logs"),
    "chats": ("chat", "chats"),
}


def add_commands(commands: Any) -> None:
    importing = commands.add_parser("import", help="bring memory and chats over from another assistant")
    importing.add_argument("system", nargs="?", choices=[*SYSTEMS, AUTO], metavar="SYSTEM", help=", ".join(SYSTEMS))
    importing.add_argument("path", nargs="?", type=Path, metavar="PATH", help="its folder or file")
    how = importing.add_mutually_exclusive_group()
    how.add_argument("--dry-run", action="store_true", help="say what would be written; write nothing")
    how.add_argument("--apply", action="store_true", help="write it (the default)")
    how.add_argument("--undo", metavar="ID", help="take an import back")
    how.add_argument("--list", action="store_true", help="the imports that were made")
    importing.set_defaults(run=run_import, check=partial(_check, importing))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if not options.list and not options.undo and (options.system is None or options.path is None):
        parser.error("the system and the path of its files are needed, as in: keepsake import nanobot FOLDER")


def run_import(context: Context, options: Namespace) -> int:
    if options.list:
        return _list(context)
    if options.undo:
        return _undo(context, options.undo)
    service = context.services.importing
    do = service.look if options.dry_run else service.run
    report = do(options.system, options.path, context.cancel, context.output.progress)
    context.output.value(_value(report, options.dry_run), _words(report, options.dry_run))
    return 0


def _value(report: ImportReport, dry_run: bool) -> dict[str, Any]:
    return {
        "id": report.id,
        "system": report.system,
        "dry_run": dry_run,
        "new": report.new,
        "known": report.known,
        "turns": report.turns,
        "redacted": report.redacted,
        "superseded": report.struck,
        "files": report.files,
        "diff": report.diff,
        "chats": report.chats,
        "skipped": [
            {"reason": group.reason, "words": group.words, "count": group.count, "examples": group.examples}
            for group in report.skipped
        ],
    }


def _words(report: ImportReport, dry_run: bool) -> str:
    name = SYSTEMS[report.system]
    lines = [f"{name}: {'would import' if dry_run else 'imported'} {_counts(report.new)}."]
    if report.new["chats"]:
        lines.append("The chat holds 1 turn." if report.turns == 1 else f"The chats hold {report.turns} turns.")
    if any(report.known.values()):
        lines.append(f"Here already: {_counts(report.known)}.")
    if report.struck:
        lines.append(f"{report.struck} older facts are struck, because newer ones say otherwise.")
    if report.redacted:
        lines.append(f"{report.redacted} secret(s) are replaced.")
    for group in report.skipped:
        examples = ", ".join(group.examples[:_SHOWN])
        more = ", …" if len(group.examples) > _SHOWN else ""
        lines.append(f"Skipped {group.count}: {group.words} ({examples}{more})")
    if report.id:
        lines.append(f"Take it back with: keepsake import --undo {report.id}")
    return "\n".join([*lines, *(["", report.diff.rstrip("\n")] if dry_run and report.diff else [])])


def _counts(counts: Any) -> str:
    return ", ".join(_count(kind, count) for kind, count in counts.items() if count) or "nothing"


def _count(kind: str, count: int) -> str:
    return f"{count} {_NAMES[kind][count != 1]}"


def _undo(context: Context, ident: str) -> int:
    undone = context.services.importing.undo(ident)
    value = {
        "undone": undone.id,
        "journal_id": undone.memory,
        "deleted": undone.deleted,
        "kept": undone.kept,
        "gone": undone.gone,
        "left": undone.left,
    }
    context.output.value(value, _undone_words(undone))
    return 0


def _undone_words(undone: ImportUndone) -> str:
    lines = [f"Undone: {undone.id}"]
    if undone.deleted:
        lines.append(f"{len(undone.deleted)} chats are in the trash for a day.")
    if undone.left:
        lines.append(f"Something of it was forgotten, so what else it wrote here stays: {', '.join(undone.left)}")
    if undone.kept:
        lines.append(f"These went on since and stay: {', '.join(undone.kept)}")
    return "\n".join(lines)


def _list(context: Context) -> int:
    records = context.services.importing.list()
    value = [
        {
            "id": record.id,
            "system": record.system,
            "time": record.time,
            "entries": record.entries,
            "notes": record.notes,
            "chats": [chat.id for chat in record.chats],
            "done": record.done,
            "undone": record.undone,
        }
        for record in records
    ]
    words = "\n".join(
        f"{record.id}  {record.time}  {SYSTEMS.get(record.system, record.system)}  {_count('chats', len(record.chats))}"
        f"{'  (taken back)' if record.undone else '' if record.done else '  (cut off)'}"
        for record in records
    )
    context.output.value({"imports": value}, words or "No imports yet.")
    return 0
