"""``keepsake summarize``: distil what is due, now."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

from assistant.cli.context import Context


def add_commands(commands: Any) -> None:
    summarize = commands.add_parser("summarize", help="turn what has left the context window into memory")
    which = summarize.add_mutually_exclusive_group()
    which.add_argument("--chat", metavar="ID", help="this chat only")
    which.add_argument("--all", action="store_true", help="all chats (as without --chat)")
    summarize.add_argument("--private", action="store_true", help="also if the --chat is a private one")
    summarize.set_defaults(run=run_summarize, check=partial(_check, summarize))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.private and not options.chat:
        parser.error("--private is said for one chat: name it with --chat")


def run_summarize(context: Context, options: Namespace) -> int:
    services = context.services
    services.recover()
    chats = [options.chat] if options.chat else [info.id for info in services.list_chats() if not info.private]
    services.model_service.ensure()  # the window, and so what is due, is the model's
    distil = partial(services.distilling.now, private=options.private)
    batches = [batch for chat in chats for batch in distil(chat, context.cancel)]
    value = [
        {
            "chat": b.chat,
            "turns": list(b.turns),
            "entries": b.entries,
            "covered": b.covered,
            "dropped": b.dropped,
            "fallback": b.fallback,
            "proposal": b.proposal,
        }
        for b in batches
    ]
    words = "\n".join(
        f"{b.chat}#{b.turns[0]}-{b.turns[1]}: {len(b.entries)} entries"
        + (", in your own words" if b.fallback else "")
        + (f", {b.proposal} waits for your yes" if b.proposal else "")
        for b in batches
    )
    context.output.value({"batches": value}, words or "Nothing is due.")
    return 0
