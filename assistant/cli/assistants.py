"""``keepsake assistants ...``: several assistants, each with its own memory and prompt."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

from assistant.cli.context import Context


def add_commands(commands: Any) -> None:
    assistants = commands.add_parser("assistants", help="several assistants, each with its own memory and prompt")
    actions = assistants.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="all assistants").set_defaults(run=run_list)
    add = actions.add_parser("add", help="a new one, with an empty memory")
    add.add_argument("name", metavar="NAME", help="what it is called, in any script")
    add.add_argument("--prompt", metavar="TEXT", default="", help="who it is and how it speaks; - reads standard input")
    add.set_defaults(run=run_add)
    prompt = actions.add_parser("prompt", help="show or replace what opens its prompts (PERSONA.md)")
    prompt.add_argument("name", metavar="NAME", help="as assistants list gives it")
    prompt.add_argument("text", metavar="TEXT", nargs="?", help="- reads standard input; an empty text removes it")
    prompt.set_defaults(run=run_prompt)
    rename = actions.add_parser("rename", help="call it otherwise")
    rename.add_argument("name", metavar="NAME", help="as assistants list gives it")
    rename.add_argument("new", metavar="NEW", help="what it is called from now on")
    rename.set_defaults(run=run_rename)
    delete = actions.add_parser("delete", help="move it, with its memory and chats, to the trash")
    delete.add_argument("name", metavar="NAME", help="as assistants list gives it")
    delete.add_argument("--yes", action="store_true", help="needed: nobody is asked")
    delete.add_argument("--for-good", action="store_true", help="not into the trash: it cannot come back")
    delete.set_defaults(run=run_delete, check=partial(_check, delete))
    restore = actions.add_parser("restore", help="bring the one of that name back that was deleted last")
    restore.add_argument("name", metavar="NAME", help="as assistants list gives it")
    restore.set_defaults(run=run_restore)
    purge = actions.add_parser("purge", help="end what is in the trash of that name for good")
    purge.add_argument("name", metavar="NAME", help="as assistants list gives it")
    purge.add_argument("--yes", action="store_true", help="needed: nobody is asked")
    purge.set_defaults(run=run_purge, check=partial(_check, purge))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if not options.yes:
        parser.error("this takes its memory and chats away: say --yes")


def run_list(context: Context, options: Namespace) -> int:
    infos = context.assistants.list()
    value = [{"name": i.name, "folder": i.folder, "current": i.current, "own_prompt": i.own_prompt} for i in infos]
    words = "\n".join(f"{'*' if i.current else ' '} {i.name}  {i.folder}" for i in infos)
    trash = context.assistants.deleted()
    words += "".join(f"\n  {each.name}  (in the trash)" for each in trash)
    context.output.value({"assistants": value, "deleted": [each.name for each in trash]}, words)
    return 0


def run_add(context: Context, options: Namespace) -> int:
    folder = context.services.assistants.add(options.name, _text(options.prompt))
    words = f"Added {options.name} ({folder}). Talk to it with --assistant {options.name!r}."
    context.output.value({"name": options.name, "folder": folder}, words)
    return 0


def run_prompt(context: Context, options: Namespace) -> int:
    assistants = context.assistants
    if options.text is not None:
        assistants.set_prompt(options.name, _text(options.text))
    text = assistants.prompt(options.name)
    context.output.value({"name": options.name, "prompt": text}, text.rstrip("\n") or "It has no prompt of its own.")
    return 0


def run_rename(context: Context, options: Namespace) -> int:
    folder = context.assistants.rename(options.name, options.new)
    context.output.value({"name": options.new, "folder": folder}, f"Renamed: {options.new}")
    return 0


def run_delete(context: Context, options: Namespace) -> int:
    deleted = context.assistants.delete(options.name)
    words = f"Deleted: {deleted.name}. It is in the trash: `keepsake assistants restore` brings it back."
    if options.for_good:
        context.assistants.purge(deleted)
        words = f"Deleted for good: {deleted.name}"
    context.output.value({"deleted": deleted.name, "for_good": options.for_good}, words)
    return 0


def run_restore(context: Context, options: Namespace) -> int:
    deleted = context.assistants.find_deleted(options.name)
    folder = context.assistants.restore(deleted)
    context.output.value({"name": deleted.name, "folder": folder}, f"Brought back: {deleted.name} ({folder})")
    return 0


def run_purge(context: Context, options: Namespace) -> int:
    deleted = context.assistants.find_deleted(options.name)
    context.assistants.purge(deleted)
    context.output.value({"purged": deleted.name}, f"Deleted for good: {deleted.name}")
    return 0


def _text(given: str) -> str:
    return sys.stdin.read() if given == "-" and sys.stdin else given
