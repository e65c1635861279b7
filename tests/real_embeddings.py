"""Where the real embedding model is that tests use. A missing one is a failure, never a skip."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

NAME = "multilingual-e5-small"


def embedding_model_path() -> Path:
    """The model's folder: ``KEEPSAKE_EMBEDDING_MODEL``, else the one in the platform's models folder."""
    named = os.environ.get("KEEPSAKE_EMBEDDING_MODEL", "")
    folder = Path(named) if named else Path(platformdirs.user_data_dir("keepsake", appauthor=False)) / "models" / NAME
    if not (folder / "onnx").is_dir():
        raise AssertionError(
            f"The embedding model is not in {folder}. Build it with tools/build_embedding_model.py, or name its folder "
            "in KEEPSAKE_EMBEDDING_MODEL."
        )
    return folder
