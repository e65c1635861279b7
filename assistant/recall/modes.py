"""Why a search went by words alone, in words that follow "by words only:"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

WhyWords = Literal["", "none", "failing", "learning", "starting", "slow"]

WHY_WORDS: Mapping[str, str] = {
    "none": "there is no embedding model",
    "failing": "the embedding model does not answer",
    "learning": "the meaning of your notes is still being learnt",
    "starting": "the embedding model is still starting",
    "slow": "the embedding model took too long this time",
}


def why_by_words(identity: str, problem: str, has_vectors: bool, ready: bool) -> WhyWords:
    """identity: of the model, "" for none; problem: its last one; has_vectors: any that it made take part."""
    if problem:
        return "failing"
    if not identity:
        return "none"
    if not has_vectors:
        return "learning"
    return "slow" if ready else "starting"
