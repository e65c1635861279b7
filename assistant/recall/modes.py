"""Why a search went by words alone, in words that follow "by words only:"; or that none could be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

WhyWords = Literal["", "none", "failing", "learning", "starting", "slow", "broken"]
BROKEN: WhyWords = "broken"
"""Nothing was found since nothing could be looked through."""

WHY_WORDS: Mapping[str, str] = {
    "none": "there is no embedding model",
    "failing": "the embedding model does not answer",
    "learning": "the meaning of your notes is still being learnt",
    "starting": "the embedding model is still starting",
    "slow": "the embedding model took too long this time",
    "broken": "the search index cannot be used just now",
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
