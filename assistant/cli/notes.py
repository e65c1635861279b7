"""``keepsake memory new|rename|delete|link|drafts``: notes as whole files, as the files page of the window."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError


def add_actions(memory: Any) -> None:
    """Below ``keepsake memory``."""
    new = memory.add_parser("new", help="begin a note")
    new.add_argument("name", metavar="NAME", help="without memory/ and .md")
    new.set_defaults(run=run_new)
    rename = memory.add_parser("rename", help="give a note another name")
    rename.add_argument("file", metavar="FILE", help="the note, by its name or as memory files names it")
    rename.add_argument("name", metavar="NAME", help="the new one")
    rename.add_argument("--no-alias", action="store_true", help="links to the old name need not work any more")
    rename.set_defaults(run=run_rename)
    delete = memory.add_parser("delete", help="remove a note; memory undo brings it back")
    delete.add_argument("file", metavar="FILE", help="the note, by its name or as memory files names it")
    delete.set_defaults(run=run_delete)
    link = memory.add_parser("link", help="the file that [[NAME]] leads to")
    link.add_argument("name", metavar="NAME", help="a file name, a title or an alias")
    link.set_defaults(run=run_link)
    drafts = memory.add_parser("drafts", help="text that was typed in the window and not saved")
    drafts.add_argument("--discard", metavar="FILE", help="let go of the draft of this file")
    drafts.set_defaults(run=run_drafts)


def run_new(context: Context, options: Namespace) -> int:
    from assistant.workspace.layout import topic_file
    from assistant.workspace.memory_values import Conflict

    name = options.name.strip().removesuffix(".md")
    file = topic_file(name)
    saved = context.services.workspace.memory.save(file, f"# {name}\n\n", "")
    if isinstance(saved, Conflict):
        raise AssistantError("memory.taken", f"There is a note called {file} already.", "Choose another name.")
    context.output.value({"file": file, "journal_id": saved.journal_id}, f"Made {file}")
    return 0


def run_rename(context: Context, options: Namespace) -> int:
    from assistant.workspace.layout import topic_file
    from assistant.workspace.note_files import rename_note

    file = _named(options.file)
    name = options.name.removeprefix("memory/").removesuffix(".md")
    ident = rename_note(context.services.workspace.memory, file, name, not options.no_alias)
    to = topic_file(name)
    context.output.value({"file": to, "was": file, "journal_id": ident}, f"Renamed {file} to {to}")
    return 0


def run_delete(context: Context, options: Namespace) -> int:
    from assistant.workspace.note_files import delete_note

    file = _named(options.file)
    ident = delete_note(context.services.workspace.memory, file)
    words = f"Deleted {file}; `keepsake memory undo {ident}` brings it back"
    context.output.value({"file": file, "journal_id": ident}, words)
    return 0


def run_link(context: Context, options: Namespace) -> int:
    from assistant.workspace.links import link_target, resolve_link

    target = link_target(options.name.strip().removeprefix("[[").removesuffix("]]"))
    file = resolve_link(context.services.workspace.root, target)
    if file is None:
        raise AssistantError("memory.link", f"No note is called {target}.", "keepsake memory new NAME begins one.")
    context.output.value({"name": target, "file": file}, file)
    return 0


def run_drafts(context: Context, options: Namespace) -> int:
    drafts = context.services.workspace.drafts
    if options.discard:
        drafts.drop(_named(options.discard))
    found = drafts.all()
    value = {"drafts": [{"file": each.file, "time": each.time, "text": each.text} for each in found]}
    context.output.value(value, "\n".join(f"{each.file}  {each.time}" for each in found) or "Nothing is unsaved.")
    return 0


def _named(file: str) -> str:
    """A file by its path in the workspace; a bare name is a note's."""
    if "/" in file or file in ("MEMORY.md",):
        return file
    return f"memory/{file.removesuffix('.md')}.md"
