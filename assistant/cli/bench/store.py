"""Appending a turn: what it costs in a short chat and in a very long one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median, milliseconds
from assistant.cli.context import Context
from assistant.core.clock import system_clock
from assistant.workspace.workspace import Workspace

_APPENDS = 40  # a run; the median of them all is taken, in turn between the two chats


def run(context: Context, size: int, runs: int) -> Report:
    """size: turns of the long chat (0: 10 000). Times begin_turn and end_turn together, both fsynced."""
    size = size or 10_000
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        root = Path(folder) / "workspace"
        workspace = Workspace(root, Path(folder) / "data", Path(folder) / "state", system_clock)
        workspace.prepare()
        short, long = _chat(workspace, 10), _chat(workspace, size)
        times: dict[str, list[float]] = {short: [], long: []}
        for _ in range(runs * _APPENDS):
            for chat in (short, long):
                times[chat].append(milliseconds(lambda chat=chat: _append(workspace, chat)))  # type: ignore[misc]
    at_10, at_size = median(times[short]), median(times[long])
    figures: dict[str, float | int | str | list[str]] = {
        "turns": size,
        "append_10_ms": at_10,
        f"append_{size}_ms": at_size,
        "appends": runs * _APPENDS,
    }
    return Report(figures, {f"append_{size}_over_10": round(at_size / at_10, 3)})


def _chat(workspace: Workspace, turns: int) -> str:
    chat = workspace.chats.create(f"{turns} turns")
    path = workspace.chats.path(chat)
    blocks = []
    for number, text in enumerate(corpus.sentences(turns), 1):
        blocks.append(
            f"### 2026-01-01T10:00:00+00:00 · #{number}\n\n**User**:\n\n> {text}\n\n**Assistant**:\n\n> Noted.\n\n"
        )
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(blocks))
    return chat


def _append(workspace: Workspace, chat: str) -> None:
    turn = workspace.chats.begin_turn(chat, "One more thing to keep.", None)
    workspace.chats.end_turn(chat, turn.n, "Kept.")
