"""What recall finds in a labelled set, beside plain FTS5 and the embedding model alone, in the same run.

Recall searches the set written out as a workspace. The raw ways get every item and every turn on its own: FTS5 with
``unicode61``, the words joined by OR and in the order of ``bm25``; the model with the cosine of the bare texts, its own
prefix before each and nothing else. They offer something whenever they can, so on negatives they are rarely silent.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.cli.bench.figures import Report
from assistant.cli.bench.labelled_set import LabelledSet, LabelledUnit, Places, Question, load_set, write_set
from assistant.cli.bench.recall_score import ALL, Score, score
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.clock import system_clock
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder, Progress
from assistant.core.resources import resource
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np

_MOST = 20
"""Hits a question, as the labelled sets are scored."""
_PATIENCE_MS = 10_000.0
"""Quality is measured with every query's vector there; how fast that is, the other half of the benchmark says."""
_TEXTS_AT_ONCE = 64
_NAMES = {"recall": "Keepsake", "fts5": "FTS5 alone", "embedding": "embedding alone"}

Answers = dict[str, list[str]]


def load(folder: Path | None) -> LabelledSet:
    """The set in ``folder``, else the one that ships with the program. Raises ("bench.set")."""
    return load_set(folder or resource("recall/everyday"))


def add_to(report: Report, context: Context, labelled: LabelledSet) -> Report:
    """The report with what is found in the set."""
    embedder = context.services.embedder
    if embedder is None:
        raise AssistantError("recall.no_model", "There is no embedding model to measure with.", "Run `make run` once.")
    scores = measure(labelled, embedder, context.cancel, context.output.progress)
    figures = {"set": labelled.name, **{way: dataclasses.asdict(one) for way, one in scores.items()}}
    return dataclasses.replace(
        report,
        figures={**report.figures, "quality": figures},
        ratios={**report.ratios, **_ratios(scores)},
        words=f"{report.words}\nWhat is found in the set {labelled.name}:\n\n{table(scores)}",
    )


def measure(labelled: LabelledSet, embedder: Embedder, cancel: CancelToken, progress: Progress) -> dict[str, Score]:
    """Every question by each way."""
    units = list(labelled.units())
    found = {
        "recall": ask_recall(labelled, embedder, cancel, progress),
        "fts5": _ask_fts5(units, labelled.questions),
        "embedding": _ask_vectors(units, labelled.questions, embedder, cancel),
    }
    return {way: score(labelled.questions, answers) for way, answers in found.items()}


def table(scores: Mapping[str, Score]) -> str:
    """The scores side by side: a row a kind, for each way recall@1, @5, @10 and MRR."""
    ours = scores["recall"]
    lines = [f"{'':22}" + "".join(f"  {_NAMES[way]:^23}" for way in scores)]
    lines.append(f"{'kind':16}{'n':>6}" + "".join(f"  {'@1':>5}{'@5':>6}{'@10':>6}{'MRR':>6}" for _ in scores))
    for kind, row in ours.kinds.items():
        cells = [f"{kind:16}{row.questions:>6}"]
        for one in scores.values():
            it = one.kinds[kind]
            cells.append(f"  {it.recall_1:>5.2f}{it.recall_5:>6.2f}{it.recall_10:>6.2f}{it.mrr:>6.2f}")
        lines.append("".join(cells))
    rest: tuple[tuple[str, int, Callable[[Score], str]], ...] = (
        ("current first", ours.superseded, lambda one: f"{one.current_first:.2f}"),
        ("nothing known", ours.negatives, lambda one: f"{one.silent:.2f}"),
        ("wrongly silent", ours.kinds[ALL].questions if ours.kinds else 0, lambda one: str(one.gave_up)),
    )
    lines.append("")
    lines += [
        f"{name:16}{count:>6}" + "".join(f"  {get(one):>5}{'':18}" for one in scores.values())
        for name, count, get in rest
        if count
    ]
    notes = "current first, nothing known: shares of n done right; wrongly silent: questions answered with nothing."
    return "\n".join([*(line.rstrip() for line in lines), "", notes])


# --- the three ways -----------------------------------------------------------------------------------------------


def ask_recall(labelled: LabelledSet, embedder: Embedder | None, cancel: CancelToken, progress: Progress) -> Answers:
    """The product's own answers, from a workspace of its own; what is dated after a question's day is left out."""
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        workspace = Workspace(Path(folder) / "workspace", Path(folder) / "data", Path(folder) / "state", system_clock)
        places = write_set(labelled, workspace.root)
        workspace.prepare()
        recall = Recall(workspace, Path(folder) / "index", embedder, system_clock, _PATIENCE_MS)
        try:
            recall.sync(cancel, progress)
            return {question.id: _answer(recall, question, places) for question in labelled.questions}
        finally:
            recall.close()
            workspace.close()


def _answer(recall: Recall, question: Question, places: Places) -> list[str]:
    noon = datetime.combine(question.as_of, time(12)).astimezone()
    answer = recall.search(RecallQuery(question.text, limit=_MOST, until=question.as_of, now=noon))
    if answer.abstained:
        return []
    return [unit for hit in answer.hits for unit in places.ids(hit, question.labelled)]


def _ask_fts5(units: Sequence[LabelledUnit], questions: Sequence[Question]) -> Answers:
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table plain using fts5(id unindexed, day unindexed, text, tokenize='unicode61')")
    rows = ((unit.id, unit.day.isoformat(), unit.text) for unit in units)
    connection.executemany("insert into plain values (?, ?, ?)", rows)
    answers: Answers = {}
    for question in questions:
        words = " OR ".join(f'"{word}"' for word in question.text.replace('"', " ").split())
        found = connection.execute(
            "select id from plain where plain match ? and day <= ? order by bm25(plain) limit ?",
            (words or '""', question.as_of.isoformat(), _MOST),
        )
        answers[question.id] = [row[0] for row in found]
    connection.close()
    return answers


def _ask_vectors(
    units: Sequence[LabelledUnit], questions: Sequence[Question], embedder: Embedder, cancel: CancelToken
) -> Answers:
    import numpy as np

    matrix = _embedded(embedder, [unit.text for unit in units], cancel)
    asked = _embedded(embedder, [question.text for question in questions], cancel)
    days = np.array([unit.day.toordinal() for unit in units])
    answers: Answers = {}
    for question, vector in zip(questions, asked, strict=True):
        cosines = np.where(days <= question.as_of.toordinal(), matrix @ vector, -2.0)
        best = np.argsort(-cosines, kind="stable")[:_MOST]
        answers[question.id] = [units[at].id for at in best if cosines[at] >= -1.0]
    return answers


def _embedded(embedder: Embedder, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
    import numpy as np

    starts = range(0, len(texts), _TEXTS_AT_ONCE)
    return np.concatenate([embedder.embed(texts[at : at + _TEXTS_AT_ONCE], cancel) for at in starts])


def _ratios(scores: Mapping[str, Score]) -> dict[str, float]:
    """Ours over raw; none where the raw way found nothing at all."""
    ratios: dict[str, float] = {}
    ours: Any = scores["recall"].kinds.get(ALL)
    for way in ("fts5", "embedding"):
        raw: Any = scores[way].kinds.get(ALL)
        for name in ("recall_5", "mrr"):
            if raw and getattr(raw, name):
                ratios[f"{name}_vs_{way}"] = round(getattr(ours, name) / getattr(raw, name), 3)
    return ratios
