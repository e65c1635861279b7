"""``keepsake memory conflicts``: what in memory cannot both hold, and the person's word on it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.cli.context import Context
from assistant.runtime.review import Which

if TYPE_CHECKING:
    from assistant.workspace.claims import Claim
    from assistant.workspace.conflicts import MemoryConflict

_SAYS = {
    "yes": "The model thinks that they contradict each other.",
    "no": "The model thinks that both can hold.",
    "unclear": "The model gave no clear answer.",
}


def add_actions(memory: Any) -> None:
    """Below ``keepsake memory``."""
    conflicts = memory.add_parser("conflicts", help="what in memory cannot both hold")
    what = conflicts.add_mutually_exclusive_group()
    what.add_argument(
        "--keep", nargs=2, metavar=("ID", "WHICH"), help="the older or the newer one holds; the other is struck"
    )
    what.add_argument("--both", metavar="ID", help="both hold: never ask again")
    what.add_argument("--opinion", metavar="ID", help="ask the local model; it changes nothing")
    conflicts.set_defaults(run=run_conflicts, check=partial(_check, conflicts))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.keep and options.keep[1] not in ("older", "newer"):
        parser.error("--keep takes an ID, and older or newer")


def run_conflicts(context: Context, options: Namespace) -> int:
    context.ready_recall()
    review = context.services.review
    if options.keep:
        return _keep(context, options.keep[0], options.keep[1])
    if options.both:
        review.both_hold(options.both)
        context.output.value({"both": options.both}, "Both hold; you will not be asked again.")
        return 0
    if options.opinion:
        opinion = review.opinion(options.opinion, context.cancel)
        value = {"id": options.opinion, "verdict": opinion.verdict, "model": opinion.model}
        context.output.value(value, _SAYS[opinion.verdict])
        return 0
    pairs = review.pairs()
    conflicts = [pair for pair in pairs if pair.how != "same"]
    same = [pair for pair in pairs if pair.how == "same"]
    words = "\n".join(map(_words, conflicts)) or "Nothing in memory contradicts itself."
    twice = "\n".join(["", "Said twice in other words:", *map(_words, same)]) if same else ""
    value = {"conflicts": [_value(pair) for pair in conflicts], "same": [_value(pair) for pair in same]}
    context.output.value(value, words + twice)
    return 0


def _keep(context: Context, ident: str, which: Which) -> int:
    saved = context.services.review.keep(ident, which)
    value = {"kept": which, "id": ident, "journal_id": saved.journal_id}
    context.output.value(value, f"The {which} one holds; the other is struck. Undo: {saved.journal_id}")
    return 0


def _value(conflict: MemoryConflict) -> dict[str, Any]:
    return {
        "id": conflict.id,
        "subject": conflict.subject,
        "how": conflict.how,
        "older": _claim(conflict.older),
        "newer": _claim(conflict.newer),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    day = claim.day.isoformat() if claim.day else ""
    return {"id": claim.unit, "file": claim.file, "line": claim.line, "date": day, "text": claim.text}


def _words(conflict: MemoryConflict) -> str:
    sides = (
        f"  {name}: {claim.day or 'no date'}  {claim.text}  ({claim.file}:{claim.line})"
        for name, claim in (("older", conflict.older), ("newer", conflict.newer))
    )
    return "\n".join([f"{conflict.id}  {conflict.subject}", *sides])
