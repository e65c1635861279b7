"""One command tells whether everything is well, and never says so when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Programs that succeed in place of the real ones."""
    stand_ins = {name: ["-c", "import sys; sys.exit(0)"] for name in check.START}
    monkeypatch.setattr(check, "START", stand_ins)
    return stand_ins


def test_all_well_is_zero(commands: dict[str, list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    assert check.main([]) == 0
    told = capfd.readouterr().out
    assert [line.split()[1] for line in told.splitlines()] == ["ruff", "ruff", "mypy", "lint-imports", "pytest"]


@pytest.mark.parametrize("broken", ["ruff", "mypy", "lint-imports", "pytest"])
def test_one_failure_is_told_and_the_others_still_run(
    commands: dict[str, list[str]], broken: str, capfd: pytest.CaptureFixture[str]
) -> None:
    commands[broken] = ["-c", "import sys; sys.exit(1)"]
    assert check.main([]) == 1
    told = capfd.readouterr().out
    assert f"Failed: {broken}" in told
    assert "==> pytest" in told


def test_no_tests_at_all_is_a_failure_but_no_long_ones_is_not(commands: dict[str, list[str]]) -> None:
    commands["pytest"] = ["-c", f"import sys; sys.exit({check.NO_TESTS})"]
    assert check.main(["tests"]) == 1
    assert check.main(["long"]) == 0


@pytest.mark.parametrize("what", [[], ["tests"], ["long"]])
def test_what_is_said_to_pytest_comes_last_and_wins(
    commands: dict[str, list[str]], what: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    commands["pytest"] = ["-c", "import sys; print(sys.argv[1:])"]
    check.main([*what, "-n", "0"])
    assert capfd.readouterr().out.splitlines()[-1].endswith("'-n', '0']")


def test_tests_run_without_a_window_and_with_the_cached_models(tmp_path: Path) -> None:
    environ = check.test_environ({"XDG_CACHE_HOME": str(tmp_path)})
    assert environ["QT_QPA_PLATFORM"] == "offscreen"
    assert Path(environ["KEEPSAKE_STARTER_MODEL"]).is_relative_to(tmp_path)
    assert Path(environ["KEEPSAKE_EMBEDDING_MODEL"]).is_relative_to(tmp_path)
