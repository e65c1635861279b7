"""``keepsake memory inbox``: what the assistant wants to remember waits for a yes or a no."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.workspace.inbox_files import Proposal

_MODES = {
    "show": "What the assistant wants to remember is written, and shown with a way back.",
    "ask": "What the assistant wants to remember waits for your yes.",
}


def add_actions(memory: Any) -> None:
    """Below ``keepsake memory``."""
    inbox = memory.add_parser("inbox", help="what the assistant wants to remember and waits for your yes")
    inbox.set_defaults(run=run_list)
    actions = inbox.add_subparsers(dest="inbox_action", metavar="ACTION")
    actions.add_parser("list", help="what waits, newest first").set_defaults(run=run_list)
    accept = _answer(actions, "accept", "write it into memory", run_accept)
    accept.add_argument("--text", metavar="T", help="in these words; for one item")
    _answer(actions, "decline", "never propose it again", run_decline)
    mode = actions.add_parser("mode", help="whether the assistant asks before it writes")
    mode.add_argument("mode", nargs="?", choices=sorted(_MODES), help="without: say which it is")
    mode.set_defaults(run=run_mode)


def _answer(actions: Any, name: str, words: str, run: Any) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=words)
    parser.add_argument("id", metavar="ID", nargs="?", help="as memory inbox gives it")
    parser.add_argument("--all", action="store_true", help="everything that waits")
    parser.add_argument("--item", type=int, metavar="N", help="only this item of it")
    parser.set_defaults(run=run, check=partial(_check, parser))
    return parser


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.all == (options.id is not None):
        parser.error("give either an ID or --all")
    if options.all and options.item is not None:
        parser.error("--item belongs to an ID")
    if getattr(options, "text", None) is not None and options.id is None:
        parser.error("--text belongs to an ID")


def run_list(context: Context, options: Namespace) -> int:
    services = context.services
    services.review.recover()
    waiting = services.review.waiting()
    mode = services.settings.load().memory.writes
    value = {"waiting": [_value(proposal) for proposal in waiting], "mode": mode}
    context.output.value(value, "\n".join(map(_words, waiting)) or "Nothing waits for your yes.")
    return 0


def run_accept(context: Context, options: Namespace) -> int:
    review = context.services.review
    if options.all:
        count = review.accept_all()
        context.output.value({"accepted": count}, f"Remembered: {count} proposal(s).")
        return 0
    written = review.accept(options.id, _texts(context, options))
    value = {
        "accepted": options.id,
        "id": written.id if written else "",
        "file": written.file if written else "",
        "line": written.line if written else 0,
        "text": written.text if written else "",
        "redacted": written.redacted if written else 0,
        "duplicate": written is None,
    }
    words = f"Remembered: {written.text} ({written.file}:{written.line})." if written else "Memory holds that already."
    context.output.value(value, words)
    return 0


def run_decline(context: Context, options: Namespace) -> int:
    review = context.services.review
    if options.all:
        count = review.decline_all()
        context.output.value({"declined": count}, f"Declined: {count} proposal(s).")
        return 0
    review.decline(options.id, None if options.item is None else [options.item])
    context.output.value({"declined": options.id}, f"Declined: {options.id}. It is not proposed again.")
    return 0


def run_mode(context: Context, options: Namespace) -> int:
    settings = context.services.settings
    if options.mode:
        settings.update("memory", writes=options.mode)
    mode = settings.load().memory.writes
    context.output.value({"mode": mode}, f"{mode}: {_MODES[mode]}")
    return 0


def _texts(context: Context, options: Namespace) -> dict[int, str] | None:
    """Which items in what words; None: all of them as they are."""
    if options.item is None and options.text is None:
        return None
    items = {item.n: item.text for item in context.services.workspace.inbox.get(options.id).items}
    if options.item is None and len(items) > 1:
        raise AssistantError("inbox.item", "There are several items in this proposal.", "Say which one with --item.")
    number = options.item if options.item is not None else next(iter(items))
    return {number: options.text if options.text is not None else items.get(number, "")}


def _value(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "time": proposal.time,
        "source": proposal.source,
        "actor": proposal.actor,
        "day": proposal.day,
        "items": [{"n": item.n, "text": item.text} for item in proposal.items],
    }


def _words(proposal: Proposal) -> str:
    items = "".join(f"\n  {item.n}. {item.text}" for item in proposal.items)
    return f"{proposal.id}  {proposal.day}  {proposal.source}{items}"
