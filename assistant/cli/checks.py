"""``keepsake memory check ...``: questions that memory must be able to answer."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.runtime.self_test import CheckState, SelfTest


def add_actions(actions: Any) -> None:
    """Add ``check`` to the actions of ``memory``."""
    check = actions.add_parser("check", help="questions that memory must be able to answer")
    steps = check.add_subparsers(dest="step", metavar="STEP", required=True)
    add = steps.add_parser("add", help="pin a question")
    add.add_argument("question", metavar="QUESTION", help="as you would ask it")
    add.add_argument("--expect", metavar="ID|TEXT", required=True, help="a unit's id, or words that must be found")
    add.set_defaults(run=run_add)
    steps.add_parser("list", help="what was found, before and now").set_defaults(run=run_list)
    steps.add_parser("run", help="ask them all now").set_defaults(run=run_all)
    remove = steps.add_parser("remove", help="ask it no more")
    remove.add_argument("id", metavar="ID", help="as memory check list gives it")
    remove.set_defaults(run=run_remove)
    rollback = steps.add_parser("rollback", help="undo what lost an answer, where that can be undone")
    rollback.set_defaults(run=run_rollback)


def run_add(context: Context, options: Namespace) -> int:
    context.ready_recall()
    state = context.services.self_test.add(options.question, options.expect)
    context.output.value(_value(state), _words(state))
    return 0


def run_list(context: Context, options: Namespace) -> int:
    return _tell(context, context.services.self_test.state())


def run_all(context: Context, options: Namespace) -> int:
    context.ready_recall()
    return _tell(context, context.services.self_test.run(cancel=context.cancel))


def run_remove(context: Context, options: Namespace) -> int:
    context.services.self_test.remove(options.id)
    context.output.value({"removed": options.id}, f"Removed: {options.id}")
    return 0


def run_rollback(context: Context, options: Namespace) -> int:
    done = context.services.self_test.rollback()
    context.output.value({"done": done}, done)
    return 0


def _tell(context: Context, test: SelfTest) -> int:
    last = test.last
    value = {
        "checks": [_value(state) for state in test.states],
        "lost": test.lost,
        "cause": test.cause,
        "last": {"time": last.time, "reason": last.reason, "mode": last.mode, "model": last.model} if last else None,
    }
    lines = [_words(state) for state in test.states]
    if test.lost:
        lines.append(f"{test.lost} lost. `keepsake memory check rollback` undoes what did it, where it can be undone.")
    context.output.value(value, "\n".join(lines) or "There are no checks. `keepsake memory check add` pins a question.")
    return 0


def _value(state: CheckState) -> dict[str, Any]:
    check = state.check
    return {
        "id": check.id,
        "question": check.question,
        "expect": check.unit or check.text,
        "text": check.text,
        "before": state.before,
        "now": state.now,
        "lost": state.lost,
    }


def _words(state: CheckState) -> str:
    check = state.check
    return f"{check.id}  {_rank(state.before)} -> {_rank(state.now)}  {check.question}  [{check.text or check.unit}]"


def _rank(rank: int | None) -> str:
    if rank is None:
        return "-"
    return f"#{rank}" if rank else "not found"
