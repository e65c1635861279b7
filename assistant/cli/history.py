"""``keepsake history``: an optional git repository of the workspace."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context, natural


def add_commands(commands: Any) -> None:
    history = commands.add_parser("history", help="an optional git repository of your folder, a commit a change")
    actions = history.add_subparsers(dest="action", metavar="ACTION", required=True)
    on = actions.add_parser("on", help="begin, or go on")
    on.add_argument("--existing", action="store_true", help="add commits to the git repository that is there already")
    on.set_defaults(run=run_on)
    actions.add_parser("off", help="commit nothing any more; what is there stays").set_defaults(run=run_off)
    log = actions.add_parser("log", help="the commits, newest first")
    log.add_argument("--limit", type=natural, default=50, metavar="N", help="at most so many (50)")
    log.set_defaults(run=run_log)


def run_on(context: Context, options: Namespace) -> int:
    history = context.services.history
    files = history.turn_on(existing=options.existing)
    value = {"git": "on", "files": files, "folder": history.repository.folder}
    many = "1 file" if files == 1 else f"{files} files"
    context.output.value(value, f"History is on: {many} in {history.repository.folder}.")
    return 0


def run_off(context: Context, options: Namespace) -> int:
    history = context.services.history
    history.turn_off()
    value = {"git": "off", "folder": history.repository.folder}
    words = f"History is off. The commits so far stay in {history.repository.folder}; delete it if you want."
    context.output.value(value, words)
    return 0


def run_log(context: Context, options: Namespace) -> int:
    history = context.services.history
    entries = history.log(options.limit)
    value = {"git": "on" if history.on else "off", "commits": entries}
    lines = [f"{each.id[:10]}  {each.time}  {each.author}  {each.message}" for each in entries]
    context.output.value(value, "\n".join(lines) or "There are no commits. `keepsake history on` begins.")
    return 0
