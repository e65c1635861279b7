"""Running ``keepsake`` as a script does: arguments in, exit code, stdout and stderr out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.runtime.composition import Places


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Keepsake = Callable[..., Result]


@pytest.fixture
def keepsake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keepsake:
    """Runs one command in a workspace of the test's own; ``stdin`` is what it reads."""
    for name in ("KEEPSAKE_WORKSPACE", "KEEPSAKE_CONFIG", "KEEPSAKE_STATE", "KEEPSAKE_MODELS"):
        monkeypatch.delenv(name, raising=False)
    places = [
        "--workspace",
        str(tmp_path / "ws"),
        "--config",
        str(tmp_path / "config"),
        "--state",
        str(tmp_path / "st"),
    ]

    def run(*words: str, stdin: str = "") -> Result:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*places, *words], _no_window)
        return Result(code, out.getvalue(), err.getvalue())

    return run


def _no_window(places: Places) -> int:
    raise AssertionError("a command opens no window")
