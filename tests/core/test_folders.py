"""Folders of our own are closed to everybody else, all the way up."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from assistant.core.folders import make_private


def test_every_folder_that_was_missing_is_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        make_private(tmp_path / "state" / "derived" / "w")
    finally:
        os.umask(before)
    for folder in ("state", "state/derived", "state/derived/w"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700 or os.name == "nt"
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755 or os.name == "nt"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    make_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750 or os.name == "nt"


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError):
            make_private(folder)
