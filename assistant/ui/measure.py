"""For ``keepsake bench ui``: what a person waits for in the transcript and the composer.

Run as ``python -m assistant.ui.measure TURNS RUNS``; prints one JSON object of lists of milliseconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from assistant.ui.application import build_application, find_theme
from assistant.ui.chat.composer import Composer
from assistant.ui.chat.shown import Phase, ShownTurn
from assistant.ui.chat.transcript import Transcript
from assistant.ui.theme import Theme

_REPLY = (
    "Here are **three** teas and a `snippet`:\n\n1. oolong\n2. sencha\n3. assam, *strong*\n\n"
    "```python\ndef steep(minutes: int) -> str:\n    return f'{minutes} minutes'\n```\n\n"
    "| tea | degrees |\n|---|--:|\n| oolong | 90 |\n| sencha | 70 |\n"
)
_PASTE_LINES = 20_000
_STREAMED = "Another word of the answer, and one more. "


def main(turns: int, runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run, by what was measured."""
    app = build_application([], "en", "light")
    theme = find_theme(app)
    times: dict[str, list[float]] = {}
    with TemporaryDirectory(prefix="keepsake-bench-") as folder:
        for _ in range(runs + 1):
            for name, took in _one_run(theme, Path(folder), turns).items():
                times.setdefault(name, []).append(took)
    return {name: values[1:] for name, values in times.items()}


def _one_run(theme: Theme, root: Path, turns: int) -> dict[str, float]:
    shown = [ShownTurn(n, f"Question {n} about tea?", _REPLY, after=n - 1 or None) for n in range(1, turns + 1)]
    transcript = Transcript(theme, root)
    transcript.resize(800, 700)
    transcript.show()
    _settle()
    found = {"open_chat_ms": _milliseconds(lambda: transcript.show_turns(shown, fresh=True))}
    found["resize_ms"] = _milliseconds(lambda: transcript.resize(620, 700))
    found["streamed_frame_ms"] = _streamed_frame(transcript, shown)
    transcript.close()
    transcript.deleteLater()
    composer = Composer(theme)
    composer.show()
    _settle()
    paste = "a line of a long paste\n" * _PASTE_LINES
    found["paste_20000_lines_ms"] = _milliseconds(lambda: composer.edit.insertPlainText(paste))
    composer.close()
    composer.deleteLater()
    found["bare_document_ms"] = _milliseconds(lambda: QTextDocument().setMarkdown(_REPLY))
    _settle()
    return found


def _streamed_frame(transcript: Transcript, shown: list[ShownTurn]) -> float:
    """The mean of 50 frames of a reply that grows."""
    live = ShownTurn(len(shown) + 1, "Go on", "", after=len(shown), phase=Phase.WRITING)
    transcript.show_turns([*shown, live])
    _settle()
    began = time.perf_counter()
    for count in range(1, 51):
        transcript.update_turn(replace(live, reply=_STREAMED * count))
        QCoreApplication.processEvents()
    return (time.perf_counter() - began) * 1000 / 50


def _milliseconds(work: Callable[[], object]) -> float:
    """Until what was asked for is on screen."""
    began = time.perf_counter()
    work()
    _settle()
    return (time.perf_counter() - began) * 1000


def _settle() -> None:
    for _ in range(3):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
