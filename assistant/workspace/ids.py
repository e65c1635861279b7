"""Unit ids that stay the same as long as the text does."""

from __future__ import annotations

import hashlib


def line_id(file: str, text: str) -> str:
    """``<file>:<10 hex digits>``: the SHA-256 of the line without the white space around it.

    file: name relative to the workspace, with ``/``. Lone surrogates in ``text`` are hashed as they stand.
    """
    digest = hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()
    return f"{file}:{digest[:10]}"
