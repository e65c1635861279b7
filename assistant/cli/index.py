"""``keepsake index ...``: the derived index."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context


def add_commands(commands: Any) -> None:
    index = commands.add_parser("index", help="the derived search index")
    actions = index.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("status", help="what is indexed, and what failed and why").set_defaults(run=run_status)
    actions.add_parser("sync", help="bring words and vectors up to date").set_defaults(run=run_sync)
    actions.add_parser("rebuild", help="build it anew from the files").set_defaults(run=run_rebuild)


def run_status(context: Context, options: Namespace) -> int:
    return _status(context)


def run_sync(context: Context, options: Namespace) -> int:
    context.services.recall.sync(context.cancel, context.output.progress)
    return _status(context)


def run_rebuild(context: Context, options: Namespace) -> int:
    context.services.recall.rebuild(context.cancel, context.output.progress)
    lost = context.services.self_test.run("rebuild").lost
    if lost:
        context.output.note(f"{lost} pinned question(s) are not answered any more: `keepsake memory check list`.")
    return _status(context)


def _status(context: Context) -> int:
    status = context.services.recall.status()
    words = (
        f"{status.files} files, {status.units} units, {status.vectors} vectors ({status.model or 'no embedding model'})"
    )
    errors = "".join(f"\n{error}" for error in status.errors)
    context.output.value(status, words + (", out of date" if status.stale else "") + errors)
    return 0
