"""The benchmarks run and print what the contract names; their figures are judged in docs/benchmarks.md, not here."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_labelled_set import write as write_set
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


@pytest.mark.long  # one of the policies it is compared with collapses beside whatever else runs
def test_engine_is_compared_with_the_library_in_every_way(script: Script) -> None:
    ratios = _run(script, "engine", "--size", "2", "--runs", "1")
    assert ratios.keys() >= {
        "tokens_per_s",
        "first_token",
        "next_turn_first_token",
        "restart_speedup",
        "reread",
        "busy_tokens_per_s",
    }


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


def test_recall(script: Script, tmp_path: Path) -> None:
    """Speed and quality in one report; a small set of one's own instead of the one that ships with the program."""
    folder = write_set(tmp_path / "frogs")
    (report,) = script.run("bench", "recall", "--size", "40", "--runs", "1", "--set", str(folder))
    assert {"vs_fts5", "vs_embedding", "mrr_vs_fts5"} <= report["ratios"].keys()
    quality = report["figures"]["quality"]
    assert quality["set"] == "frogs"
    for way in ("recall", "fts5", "embedding"):
        assert quality[way]["kinds"]["exact"] == {
            "questions": 1, "recall_1": 1.0, "recall_5": 1.0, "recall_10": 1.0, "mrr": 1.0
        }  # fmt: skip


def test_a_set_that_is_not_there_is_said_before_anything_is_measured(script: Script, tmp_path: Path) -> None:
    done = subprocess.run(
        [*script.base, "bench", "recall", "--size", "100000000", "--set", str(tmp_path)],
        env=script.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "bench.set"
    assert str(tmp_path) in done.stderr


def test_recall_of_a_set_alone_is_a_table(script: Script, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "frogs")
    script.base.remove("--json")
    done = subprocess.run(
        [*script.base, "bench", "recall", "--set", str(folder)],
        env=script.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "recall_p95_ms" not in done.stdout
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("exact")]
    assert row.split() == ["exact", "1", *["1.00"] * 12]


@pytest.mark.long
def test_engine(script: Script) -> None:
    names = {"tokens_per_s", "first_token", "next_turn_first_token", "restart_speedup", "reread", "busy_tokens_per_s"}
    assert names <= _run(script, "engine", "--size", "4", "--runs", "1").keys()


@pytest.mark.long
def test_stop(script: Script) -> None:
    (report,) = script.run("bench", "stop", "--size", "40", "--runs", "2")
    figures = report["figures"]
    assert figures["stops"] == 2
    assert 0 <= figures["reading_ms"] <= figures["reading_max_ms"]
    assert 0 <= figures["writing_ms"] <= figures["writing_max_ms"]
