"""``keepsake forget ID|QUERY``: takes it out of every place, then proves it by a search."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.core.values import RecallQuery
from assistant.workspace.entries import SEPARATOR, shortened
from assistant.workspace.forget_values import ForgetPlan, ForgetReport, Target

_NEAREST = 3
_MOST_WORDS = 8
_SHOWN = 100  # characters of a line
_KINDS = {"memory": "memory", "turn": "chat", "log": "day log", "title": "title of a chat", "line": "line"}


def add_commands(commands: Any) -> None:
    forget = commands.add_parser("forget", help="remove something everywhere, with proof")
    forget.add_argument("what", metavar="ID|QUERY", help="a unit or a turn by its id, or all that holds these words")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument("--all", action="store_true", help="also what was remembered from the turns that go")
    forget.set_defaults(run=run_forget)


def run_forget(context: Context, options: Namespace) -> int:
    service = context.services.forgetting
    plan = _plan(context, options.what)
    if options.all:
        plan = service.widened(plan, plan.also)
    if not options.yes and not _agreed(context, plan):
        return 1
    report = service.now(plan)
    value = {
        "removed": [_as_json(target) for target in report.removed],
        "searched": [_without_empty_hint(place) for place in report.searched],
        "also": [_as_json(target) for target in plan.also if not options.all],
    }
    context.output.value(value, _words(report, plan if not options.all else None))
    if report.clean:
        return 0
    left = ", ".join(place.place for place in report.searched if place.remaining)
    context.output.note_error(
        AssistantError("forget.left", f"It is still said in: {left}.", "See above, then try again.")
    )
    return 1


def _plan(context: Context, what: str) -> ForgetPlan:
    try:
        return context.services.forgetting.plan(what)
    except AssistantError as error:
        if error.code != "forget.nothing":
            raise
        found = _nearest(context, what)
        if not found:
            raise
        near = "; ".join(f"{ident} (“{shortened(text, _SHOWN)}”)" for ident, text in found)
        raise AssistantError(error.code, error.message, f"Nearest, by id: {near}.") from error


def _nearest(context: Context, what: str) -> list[tuple[str, str]]:
    """Id and text of what comes nearest, by a search, else by single words."""
    recall = context.services.recall
    if not what.strip():
        return []
    if hits := recall.search(RecallQuery(what, limit=_NEAREST)).hits:
        return [(hit.id, hit.text) for hit in hits]
    words = sorted(what.split(), key=len, reverse=True)
    found = dict(unit for word in words[:_MOST_WORDS] for unit in recall.with_words(word)[:_NEAREST])
    if found:
        return list(found.items())[:_NEAREST]
    return [(hit.id, hit.text) for hit in recall.search(RecallQuery(what, limit=_NEAREST, anyway=True)).hits]


def _agreed(context: Context, plan: ForgetPlan) -> bool:
    """Ask on a terminal; elsewhere say what would go."""
    output = context.output
    error = AssistantError(
        "forget.confirm", f"Nothing was removed: {len(plan.targets)} would go.", "Add --yes to forget them for good."
    )
    if output.as_json:
        output.line({"error": error.as_dict(), "would_remove": [_as_json(target) for target in plan.targets]})
        output.note_error(error)
        return False
    output.text("".join(f"{target_words(target)}\n" for target in plan.targets))
    if not on_terminal():
        output.error(error)
        return False
    output.text(f"Forget {len(plan.targets)} for good? [y/N] ")
    if sys.stdin.readline().strip().casefold() in ("y", "yes", "是"):
        return True
    output.note("Nothing was removed.")
    return False


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def _as_json(target: Target) -> dict[str, Any]:
    return {
        "id": target.id,
        "kind": target.kind,
        "file": target.file,
        "line": target.line,
        "text": target.text,
        "items": target.items,
    }


def _without_empty_hint(place: Any) -> dict[str, Any]:
    value = {"place": place.place, "remaining": place.remaining}
    return {**value, "hint": place.hint} if place.hint else value


def _words(report: ForgetReport, plan: ForgetPlan | None) -> str:
    lines = [f"Forgotten: {target_words(target)}" for target in report.removed]
    lines.append("searched: " + ", ".join(f"{place.place} {place.remaining}" for place in report.searched))
    lines += [f"{place.place}: {place.hint}" for place in report.searched if place.hint]
    also = plan.also if plan else ()
    lines += [f"also remembered from it, and kept: {target_words(target)}" for target in also]
    if also:
        lines.append("Forget these too with --all, or by their ids.")
    return "\n".join(lines)


def target_words(target: Target) -> str:
    """What would go, on one line."""
    where = target.id or f"{target.file}:{target.line}"
    return f"{_KINDS[target.kind]} {where}: {shortened(SEPARATOR.join(target.gone), _SHOWN)}"
