"""The fixed texts given to a model, kept as files in resources/prompts."""

from __future__ import annotations

from functools import cache

from assistant.core.resources import resource


@cache
def text(name: str) -> str:
    """The prompt text ``name`` (without ``.md``), without the final newline."""
    return resource(f"prompts/{name}.md").read_text(encoding="utf-8").rstrip("\n")
