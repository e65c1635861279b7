"""``keepsake bench ...``: the figures of docs/benchmarks.md, with ratios against the raw library in the same run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assistant.cli.bench.figures import Report, machine
from assistant.cli.context import Context, natural


def add_commands(commands: Any) -> None:
    bench = commands.add_parser("bench", help="measure on this machine")
    names = bench.add_subparsers(dest="bench", metavar="NAME", required=True)
    for name, words in (
        ("startup", "process start to usable window, with --size chats (and ten entries for each)"),
        ("engine", "speed, first tokens, what is not read twice; beside llama-cpp-python and a llama.cpp server"),
        ("stop", "how long Stop takes while a prompt of --size sentences is read, and while a reply is written"),
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
        if name == "recall":
            one.add_argument(
                "--set",
                type=Path,
                metavar="DIR",
                help="a labelled set to search; alone, without the searches for speed",
            )
        one.set_defaults(run=run_bench)


def run_bench(context: Context, options: Namespace) -> int:
    report = _measure(context, options)
    value = {"name": options.bench, "figures": report.figures, "ratios": report.ratios, "machine": machine()}
    lines = [
        f"{name:32} {value}"
        for name, value in (*report.figures.items(), *report.ratios.items())
        if not isinstance(value, Mapping)
    ]
    context.output.value(value, "\n".join(lines) + (f"\n{report.words}" if report.words else ""))
    return 0


def _measure(context: Context, options: Namespace) -> Report:
    runs = max(1, options.runs)
    if options.bench != "recall":
        return _bench(options.bench)(context, options.size, runs)
    from assistant.cli.bench import recall_quality

    labelled = recall_quality.load(options.set)  # what is wrong with it is said before anything is measured
    only_quality = options.set and not options.size
    speed = Report({}, {}) if only_quality else _bench("recall")(context, options.size, runs)
    return recall_quality.add_to(speed, context, labelled)


def _bench(name: str) -> Callable[[Context, int, int], Report]:
    """Imported when chosen: a benchmark brings libraries that no other command needs."""
    match name:
        case "startup":
            from assistant.cli.bench import startup

            return startup.run
        case "engine":
            from assistant.cli.bench import engine

            return engine.run
        case "stop":
            from assistant.cli.bench import stop

            return stop.run
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
