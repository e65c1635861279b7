"""``keepsake memory timeline``: when what was written by whom, and what the budget is used for."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.workspace.timeline import Period, best_zoom, periods

_WIDTH = 40


def add_actions(actions: Any) -> None:
    """Add ``timeline`` to the actions of ``memory``."""
    timeline = actions.add_parser("timeline", help="memory by day and source, and how the budget is used")
    timeline.add_argument("--by", choices=("day", "week", "month"), help="the default fits the time that is spanned")
    timeline.set_defaults(run=run_timeline, reads=True)


def run_timeline(context: Context, options: Namespace) -> int:
    picture = context.services.picture.take()
    by = options.by or best_zoom(picture.moments)
    shown = [period for period in periods(picture.moments, by) if period.total]
    use = picture.use
    value = {
        "by": by,
        "periods": [
            {"first": p.first, "last": p.last, "total": p.total, "counts": p.counts, "entries": p.moments}
            for p in shown
        ],
        "budget": {
            "facts": use.facts,
            "entries": use.entries,
            "free": use.free,
            "allowed": use.allowed,
            "left_out": use.left_out,
            "sections": use.sections,
        },
    }
    most = max((period.total for period in shown), default=1)
    lines = [_line(period, most) for period in shown] or ["No dated entries yet."]
    budget = f"Tokens: {use.facts} facts, {use.entries} entries, {use.free} free of {use.allowed}."
    context.output.value(value, "\n".join([*lines, budget]))
    return 0


def _line(period: Period, most: int) -> str:
    bar = "#" * max(1, round(_WIDTH * period.total / most))
    counts = ", ".join(f"{kind} {n}" for kind, n in period.counts.items())
    return f"{period.first.isoformat()}  {bar} {period.total} ({counts})"
