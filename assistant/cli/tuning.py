"""``keepsake models tune``: measure a model's speed settings on this machine, and show what was measured."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli.context import Context
from assistant.cli.output import plain
from assistant.cli.tables import table
from assistant.core.errors import AssistantError
from assistant.engine.speed import Speed
from assistant.engine.tuning import Tuning

_WAITING = {"passive": "asleep", "library": "as built", "": "asleep"}


def add_tune(actions: Any) -> None:
    tune = actions.add_parser("tune", help="measure a model's speed settings here, once; it uses them from then on")
    tune.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="as models list gives it; without: the chosen"
    )
    tune.add_argument("--show", action="store_true", help="only show what was measured before")
    tune.set_defaults(run=run_tune)


def run_tune(context: Context, options: Namespace) -> int:
    service = context.services.tuning
    if options.show:
        tuning = service.of(options.name)
        if tuning is None:
            raise AssistantError("tuning.none", "This model was not measured here yet.", "Run `keepsake models tune`.")
    else:
        tuning = service.measure(options.name, context.cancel, context.output.progress)
    quiet, busy = tuning.reaches
    value = {**plain(tuning), "reaches": {"quiet": round(quiet, 3), "busy": round(busy, 3)}}
    context.output.value(value, words(tuning))
    return 0


def words(tuning: Tuning) -> str:
    """What was measured and chosen, for people. Speeds are tokens a second: read / written."""
    quiet, busy = tuning.reaches
    policies = [
        (_threads(figures.threads, figures.give_way), waits(figures.wait), _speed(figures.quiet), _speed(figures.busy))
        for figures in tuning.policies
    ]
    options = [(option.name, _speed(option.speed), f"{option.load_ms:.0f} ms") for option in tuning.options]
    return "\n".join(
        [
            f"{tuning.model}, measured {tuning.measured} in {tuning.seconds:.0f} s on {tuning.machine}",
            "Tokens a second, read / written:",
            "",
            *table([("threads", "waiting", "quiet", "beside a busy core"), *policies]),
            "",
            *table([("opened", "quiet", "to load"), *options]),
            "",
            f"Used from now on: {chosen_words(tuning)}.",
            f"Of the best speed it keeps {quiet:.2f} when quiet and {busy:.2f} beside a busy core.",
            *(
                [f"Other programs kept {tuning.others:.1f} cores busy: measure again when it is quiet."]
                * tuning.disturbed
            ),
        ]
    )


def chosen_words(tuning: Tuning) -> str:
    chosen = tuning.chosen
    write, read = int(chosen["threads"]), int(chosen["threads_batch"])
    parts = [f"threads: {write} to write, {read} to read"]
    if max(write, read) > 1:
        parts += ["fewer while others work"] if chosen["give_way"] else []
        parts.append(f"waiting {waits(str(chosen['wait']))}")
    parts += ["flash attention"] if chosen.get("flash_attention") == "on" else []
    parts += [f"steps of {chosen['batch']} tokens"] if "batch" in chosen else []
    parts += ["all layers on the graphics card"] if chosen.get("gpu_layers") else []
    draft = int(chosen.get("draft", 0))
    parts.append(f"up to {draft} tokens guessed ahead" if draft else "nothing guessed ahead")
    return ", ".join(parts)


def waits(wait: str) -> str:
    return _WAITING.get(wait, f"{wait} turns, then asleep")


def _threads(count: int, give_way: bool) -> str:
    return f"{count}" + (", fewer while others work" if give_way and count > 1 else "")


def _speed(speed: Speed) -> str:
    return f"{speed.read:.0f} / {speed.decode:.1f}"
