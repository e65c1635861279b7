"""The benchmarks run and print what the contract names; their figures are judged in docs/benchmarks.md, not here."""

from __future__ import annotations

import pytest

from tests.cli.test_real import Script, script

__all__ = ["script"]
pytestmark = pytest.mark.real


def _run(script: Script, *words: str) -> dict[str, float]:
    (report,) = script.run("bench", *words)
    assert report.keys() == {"name", "figures", "ratios", "machine"}
    assert report["name"] == words[0]
    assert report["machine"]["cores"] >= 1
    ratios: dict[str, float] = report["ratios"]
    assert all(ratio > 0 for ratio in ratios.values())
    return ratios


def test_store(script: Script) -> None:
    assert _run(script, "store", "--size", "200", "--runs", "1").keys() == {"append_200_over_10"}


def test_startup_reports_a_window_that_takes_text_without_heavy_libraries(script: Script) -> None:
    (report,) = script.run("bench", "startup", "--size", "5", "--runs", "1")
    assert report["figures"]["heavy_modules"] == []
    assert report["figures"]["usable_s"] > 0


def test_ui(script: Script) -> None:
    assert _run(script, "ui", "--size", "30", "--runs", "1")


def test_memory(script: Script) -> None:
    (report,) = script.run("bench", "memory", "--size", "30", "--runs", "1")
    figures = report["figures"]
    assert (figures["files"], figures["journal_lines"]) == (30, 600)
    for name in ("panel_open_ms", "journal_open_ms", "save_to_hit_ms", "forget_s"):
        assert figures[name] > 0, name


def test_recall(script: Script) -> None:
    assert {"vs_fts5", "vs_embedding"} <= _run(script, "recall", "--size", "40", "--runs", "1").keys()


@pytest.mark.long
def test_engine(script: Script) -> None:
    names = {"tokens_per_s", "first_token", "next_turn_first_token", "restart_speedup", "reread", "busy_tokens_per_s"}
    assert names <= _run(script, "engine", "--size", "4", "--runs", "1").keys()
