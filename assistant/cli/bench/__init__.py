"""``keepsake bench ...``: the figures of docs/benchmarks.md, with ratios against the raw library in the same run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from assistant.cli.bench.figures import Report, machine
from assistant.cli.context import Context, natural


def add_commands(commands: Any) -> None:
    bench = commands.add_parser("bench", help="measure on this machine")
    names = bench.add_subparsers(dest="bench", metavar="NAME", required=True)
    for name, words in (
        ("startup", "process start to usable window, with --size chats (and ten entries for each)"),
        ("engine", "tokens a second and time to first token, beside llama-cpp-python itself"),
        ("recall", "searches in --size units, beside plain FTS5 and the embedding model alone"),
        ("store", "appending a turn to a chat of 10 and of --size turns"),
        ("memory", "the memory panel with --size files, a save that is found, a long journal, forgetting with proof"),
        ("ui", "opening a chat of --size turns, resizing, streaming, pasting"),
    ):
        one = names.add_parser(name, help=words)
        one.add_argument("--size", type=natural, metavar="N", default=0, help="how much of it: see what each measures")
        one.add_argument(
            "--runs", type=natural, metavar="N", default=5, help="pairs or repetitions; medians are printed"
        )
        one.set_defaults(run=run_bench)


def run_bench(context: Context, options: Namespace) -> int:
    report: Report = _bench(options.bench)(context, options.size, max(1, options.runs))
    value = {"name": options.bench, "figures": report.figures, "ratios": report.ratios, "machine": machine()}
    words = "\n".join(f"{name:32} {value}" for name, value in (*report.figures.items(), *report.ratios.items()))
    context.output.value(value, words)
    return 0


def _bench(name: str) -> Callable[[Context, int, int], Report]:
    """Imported when chosen: a benchmark brings libraries that no other command needs."""
    match name:
        case "startup":
            from assistant.cli.bench import startup

            return startup.run
        case "engine":
            from assistant.cli.bench import engine

            return engine.run
        case "recall":
            from assistant.cli.bench import recall

            return recall.run
        case "memory":
            from assistant.cli.bench import memory

            return memory.run
        case "ui":
            from assistant.cli.bench import ui

            return ui.run
        case _:
            from assistant.cli.bench import store

            return store.run
