"""``keepsake doctor``: is everything sound, and if not, what to do."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.runtime.checks import run_checks


def add_commands(commands: Any) -> None:
    doctor = commands.add_parser("doctor", help="check workspace, index, models and workers")
    doctor.set_defaults(run=run_doctor, reads=True)


def run_doctor(context: Context, options: Namespace) -> int:
    checks = list(run_checks(context.services))
    words = "\n".join(
        f"{'ok ' if c.ok else 'BAD'}  {c.name}: {c.detail}" + (f"\n     {c.fix}" if c.fix else "") for c in checks
    )
    context.output.value({"checks": checks}, words)
    wrong = [c.name for c in checks if not c.ok]
    if wrong:
        context.output.note_error(AssistantError("doctor", f"{len(wrong)} of {len(checks)} checks failed."))
    return 1 if wrong else 0
