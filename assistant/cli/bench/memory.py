"""What a person waits for in memory: its panel, a save that is found again, a long journal, forgetting with proof."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median, milliseconds
from assistant.cli.bench.startup import window_env
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import RecallQuery
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.workspace.merged_save import save_merged

_MANY = 20  # journal lines, and units to forget one among, a file of --size
_NOTE_LINES = 1_000
Figures = dict[str, float | int | str | list[str]]


def run(context: Context, size: int, runs: int) -> Report:
    """size: files (0: 5 000); 20 journal lines and 20 units for each. Every figure is a median of ``runs``."""
    size = size or 5_000
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        figures = _panel(Path(folder) / "files", size, runs)
        figures |= _forgetting(Path(folder) / "units", size * _MANY, runs)
    return Report(figures, {})


# --- the panel, the journal, a save that is found ---


def _panel(root: Path, files: int, runs: int) -> Figures:
    services = _compose(root)
    try:
        _write_files(root / "workspace", files)
        services.workspace.memory.note_disk_changes()
        journal = services.workspace.data / "journal.jsonl"
        with journal.open("a", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(record)}\n" for record in _records(files * _MANY))
        services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
        saves = [_save_to_hit(services, n) for n in range(runs + 1)][1:]
        lists = [milliseconds(services.workspace.memory.files) for _ in range(runs)]
        nobody = partial(services.workspace.journal.entries, 200, None, "import")  # the whole file is looked through
        filters = [milliseconds(nobody) for _ in range(runs)]
    finally:
        services.close()
    shown = [_open(root, "files", files) for _ in range(runs + 1)][1:]
    journals = [_open(root, "journal", 100) for _ in range(runs + 1)][1:]
    return {
        "files": files,
        "journal_lines": files * _MANY,
        "panel_open_ms": median([each["open_ms"] for each in shown]),
        "panel_open_cpu_ms": median([each["open_cpu_ms"] for each in shown]),
        "panel_longest_stall_ms": median([each["longest_stall_ms"] for each in shown]),
        "journal_open_ms": median([each["open_ms"] for each in journals]),
        "journal_open_cpu_ms": median([each["open_cpu_ms"] for each in journals]),
        "save_to_hit_ms": median([took for took, _ in saves]),
        "save_to_hit_cpu_ms": median([busy for _, busy in saves]),
        "files_list_ms": median(lists),
        "journal_filter_ms": median(filters),
    }


def _write_files(workspace: Path, files: int) -> None:
    corpus.write_memory(workspace, 1_000)
    folder = workspace / "memory"
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(corpus.sentences(files, seed=5)):
        (folder / f"note {number:05}.md").write_text(f"# Note {number}\n\n- {text}\n", encoding="utf-8")


def _records(count: int) -> Iterator[dict[str, object]]:
    """Journal lines as appending to a long file leaves them."""
    began = datetime(2025, 1, 1, 8, 0, 0)
    for number, text in enumerate(corpus.sentences(count, seed=6)):
        line = f"2025-01-01|you|{text}\n"
        moment = began + timedelta(minutes=number)
        yield {
            "id": f"{moment:%Y%m%d%H%M%S}-{number:08x}",
            "time": f"{moment.isoformat()}+00:00",
            "path": "memory/gone.md",
            "actor": "you" if number % 3 else "assistant",
            "before": f"{number:064x}",
            "after": f"{number + 1:064x}",
            "summary": f"Remembered: {text}",
            "diff": f"--- a/memory/gone.md\n+++ b/memory/gone.md\n@@ -{number},3 +{number},4 @@\n+{line}",
            "start": number * 80,
            "removed": "",
            "added": line,
            "added_chars": len(line),
        }


def _save_to_hit(services: Services, number: int) -> tuple[float, float]:
    """From the save of MEMORY.md to the search that shows the new line: milliseconds, and those of the processor."""
    memory, word = services.workspace.memory, f"quixotonality{number}"
    read = memory.read("MEMORY.md")
    text = f"{read.text}2026-01-01|you|The rare word of this run is {word}.\n"

    def work() -> None:
        save_merged(memory, "MEMORY.md", text, read.sha256)
        found = services.recall.search(RecallQuery(word, limit=1)).hits
        if not found or word not in found[0].text:
            raise AssistantError("bench.lost", "What was just saved was not found.", "Please report this.")

    busy = time.process_time()
    took = milliseconds(work)
    return took, (time.process_time() - busy) * 1000


def _open(root: Path, page: str, rows: int) -> dict[str, float]:
    """A new process opens the window on the workspace, then the page."""
    command = [sys.executable, "-m", "assistant.ui.measure_memory"]
    command += [str(root / "workspace"), str(root / "state"), page, str(rows)]
    done = subprocess.run(command, env=window_env(os.environ), capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.strip().splitlines()[-1:])
        raise AssistantError("bench.window", f"The window could not be measured: {said}", "Try it with a screen.")
    times: dict[str, float] = json.loads(done.stdout)
    return times


# --- forgetting ---


def _forgetting(root: Path, units: int, runs: int) -> Figures:
    """One line among many, erased everywhere and searched for again; without a model there are no vectors."""
    services = _compose(root)
    try:
        words = _write_units(root / "workspace", units)
        services.workspace.memory.note_disk_changes()
        services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
        times = [_forget(services, words[n * len(words) // (runs + 1)]) for n in range(runs + 1)][1:]
        return {"units": services.recall.status().units, "forget_s": round(median(times) / 1000, 3)}
    finally:
        services.close()


def _write_units(workspace: Path, units: int) -> list[str]:
    """A tenth as entries of MEMORY.md, the rest as bullets of notes; a code of each."""
    texts = list(corpus.sentences(units, seed=7))
    entries = max(1, units // 10)
    lines = [f"2025-01-01|you|{text}" for text in texts[:entries]]
    (workspace / "MEMORY.md").write_text("\n".join(["# Memory", "", *lines, ""]), encoding="utf-8")
    for start in range(entries, units, _NOTE_LINES):
        bullets = "".join(f"- {text}\n" for text in texts[start : start + _NOTE_LINES])
        (workspace / "memory" / f"note {start}.md").write_text(f"# Note {start}\n\n{bullets}", encoding="utf-8")
    return [text.rpartition(" ")[2].rpartition("编号")[2] for text in texts]


def _forget(services: Services, code: str) -> float:
    def work() -> None:
        report = services.forgetting.now(services.forgetting.plan(code))
        if not report.removed or not report.clean:
            raise AssistantError("bench.lost", "What was forgotten is still there.", "Please report this.")

    return milliseconds(work)


def _compose(root: Path) -> Services:
    """Services with nothing of the person's own: their settings, models and state are left alone."""
    places = Places(root / "workspace", root / "state" / "config", root / "state")
    return compose(places, {**os.environ, "KEEPSAKE_MODELS": str(root / "models")})
