"""``keepsake index ...``: the derived index."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from assistant.cli.context import Context
from assistant.cli.output import plain
from assistant.cli.tables import line_width, shorten, table, wrap
from assistant.recall.index.file_states import FileState, State
from assistant.recall.index.verification import Verification
from assistant.runtime.index_state import IndexState, describe_index

_ORDER: tuple[State, ...] = ("failed", "partly", "indexed", "private", "ignored")
_SHOWN = 20  # files that are as they should be; of the others all are shown
_LONGEST_PATH = 48


def add_commands(commands: Any) -> None:
    index = commands.add_parser("index", help="the derived search index")
    actions = index.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = actions.add_parser("status", help="what is indexed of each file, and what failed and why")
    status.add_argument("path", nargs="?", default="", metavar="PATH", help="only files with this in their name")
    status.add_argument("--failed", action="store_true", help="only files with which something is wrong")
    status.set_defaults(run=run_status, reads=True)
    actions.add_parser("sync", help="bring words and vectors up to date").set_defaults(run=run_sync)
    actions.add_parser("rebuild", help="build it anew from the files").set_defaults(run=run_rebuild)


def run_status(context: Context, options: Namespace) -> int:
    recall = context.services.recall
    recall.warm(context.cancel)  # whether its worker answers is what one wants to know
    state = describe_index(recall)
    files = [file for file in recall.file_states() if options.path.casefold() in file.path.casefold()]
    files = [file for file in files if file.has_problem or not options.failed]
    value = {**_value(state), "per_file": [plain(file) for file in files]}
    asked = bool(options.path or options.failed)
    context.output.value(value, "\n".join([*_table(files, asked), *_summary(state, files, asked)]))
    return 0


def run_sync(context: Context, options: Namespace) -> int:
    recall = context.services.recall
    recall.verify(Verification(context.services.workspace.root), context.cancel)
    report = recall.sync(context.cancel, context.output.progress)
    return _totals(context, report.errors)


def run_rebuild(context: Context, options: Namespace) -> int:
    context.services.recall.rebuild(context.cancel, context.output.progress)
    lost = context.services.self_test.run("rebuild").lost
    if lost:
        context.output.note(f"{lost} pinned question(s) are not answered any more: `keepsake memory check list`.")
    return _totals(context)


def _totals(context: Context, errors: Sequence[str] = ()) -> int:
    state = describe_index(context.services.recall)
    known = state.status.errors
    problems = "".join(f"\n{error}" for error in dict.fromkeys((*known, *errors)))
    context.output.value(_value(state), "\n".join(_summary(state, [], True)) + problems)
    return 0


def _value(state: IndexState) -> dict[str, Any]:
    meaning = {"state": state.meaning, "done": state.done, "total": state.total, "why": state.why}
    return {**plain(state.status), "meaning": meaning}


# --- words --------------------------------------------------------------------------------------------------------


def _table(files: Sequence[FileState], asked: bool) -> Iterator[str]:
    """What is not as it should be first; of the rest only some, unless it was asked for."""
    ordered = sorted(files, key=lambda file: (not file.has_problem, _ORDER.index(file.state), file.path))
    fine = [file for file in ordered if not file.has_problem and file.state in ("indexed", "ignored")]
    left_out = set() if asked else {file.path for file in fine[_SHOWN:]}
    shown = [file for file in ordered if file.path not in left_out]
    rows = [("FILE", "KIND", "UNITS", "VECTORS", "STATE")]
    rows += [
        (shorten(file.path, _LONGEST_PATH), file.kind, _number(file.units), _number(file.vectors), file.state)
        for file in shown
    ]
    lines = table(rows, frozenset((2, 3)))
    if not shown:
        yield "No file is like that." if asked else "There is nothing to index yet."
        return
    yield lines[0]
    for file, line in zip(shown, lines[1:], strict=True):
        yield line
        for words in (file.why, file.fix):
            if words:
                yield from (f"    {part}" for part in wrap(words, line_width() - 4))
    if left_out:
        yield f"… and {len(left_out):,} more that are as they should be; name a part of a path to see them."


def _summary(state: IndexState, files: Sequence[FileState], asked: bool) -> Iterator[str]:
    status = state.status
    if files and not asked:
        counts = Counter(file.state for file in files)
        yield ""
        yield ", ".join(f"{counts[name]:,} {name}" for name in _ORDER if counts[name]) + "."
    yield f"{status.files:,} files, {status.units:,} units, {status.vectors:,} vectors."
    yield meaning_words(state)


def meaning_words(state: IndexState) -> str:
    """Whether search goes by meaning, and if not why."""
    model = state.status.model.partition("@")[0]
    match state.meaning:
        case "none":
            return "Meaning: there is no embedding model; search goes by words."
        case "failing":
            return f"Meaning: the embedding model does not answer; search goes by words. {state.why}"
        case "building" | "paused":
            return (
                f"Meaning: being learnt, {state.done:,} of {state.total:,}; search goes by words meanwhile."
                " `keepsake index sync` finishes it."
            )
    if state.status.stale:
        return f"Meaning: ready ({model}); {state.status.stale:,} new units are still to be learnt."
    return f"Meaning: ready ({model})."


def _number(count: int) -> str:
    return f"{count:,}" if count else "–"
