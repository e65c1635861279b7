"""Where the real models are that tests use. A missing one is a failure, never a skip: it would hide what it tests."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

STARTER_BYTES = 98_362_432


def starter_model_path() -> Path:
    """The starter model's GGUF: ``KEEPSAKE_STARTER_MODEL``, else the first of its size in the platform's models folder.

    Fails with what to do when there is none.
    """
    named = os.environ.get("KEEPSAKE_STARTER_MODEL", "")
    models = Path(platformdirs.user_data_dir("keepsake", appauthor=False)) / "models"
    candidates = [Path(named)] if named else sorted(models.glob("**/*.gguf"))
    for path in candidates:
        if path.is_file() and path.stat().st_size == STARTER_BYTES:
            return path
    raise AssertionError(
        f"The starter model is not in {named or models}. Fetch it, or name its file in KEEPSAKE_STARTER_MODEL."
    )
