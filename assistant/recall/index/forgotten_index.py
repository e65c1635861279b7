"""The index after a forgetting: nothing to be found by a search, and nothing in the bytes of its files."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.workspace.disk import read_bytes
from assistant.workspace.forgotten_text import found_in_bytes, holds

_MOST_LOOKS = 50  # of many lines that go at once the longest ones are looked for
_QUERY_CHARACTERS = 200
_LONG = 20


class IndexPlace:
    """Units, keywords and the write-ahead log. It follows the files, so they are scrubbed first."""

    name = "index"

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def scrub(self, texts: Sequence[str]) -> None:
        self._recall.erase()

    def erase(self, texts: Sequence[str], units: Collection[str], skip: Collection[str]) -> None:
        """As scrub; of the long files ``skip`` only these units go, the rest is read again later."""
        self._recall.erase(units, skip)
        if any(holds(said, texts) for text in texts[:_MOST_LOOKS] for _, said in self._recall.with_words(text)):
            self._recall.erase()  # the index was of an older text of those files

    def remaining(self, texts: Sequence[str]) -> int:
        """SQLite stores text as UTF-8, and the texts of a row without a gap, so that their words may run on."""
        files = (read_bytes(path) for path in self._recall.files)
        return sum(1 for data in files if found_in_bytes(data, texts, ("utf-8",)) or _runs_on(data, texts))


def _runs_on(data: bytes, texts: Sequence[str]) -> bool:
    """Whether a text that is too long for chance stands there, whatever stands around it."""
    lowered = data.lower()
    return any(text.encode("utf-8", "replace").lower() in lowered for text in texts if len(text) >= _LONG)


class VectorPlace:
    """Vectors of texts that no unit holds any more."""

    name = "vectors"

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def scrub(self, texts: Sequence[str]) -> None:
        """IndexPlace has done it."""

    def remaining(self, texts: Sequence[str]) -> int:
        return self._recall.lone_vectors()


def found_again(recall: Recall, texts: Sequence[str], units: Collection[str]) -> int:
    """How many units the index still has that say one of the texts for all its words, or that are one of the units.

    Where a search is ready, it is asked too: all that it can find are units of the index.
    """
    found = {unit for text in texts[:_MOST_LOOKS] for unit, said in recall.with_words(text) if holds(said, texts)}
    found |= recall.known(unit for unit in units if "#" not in unit)  # a turn stays, and says «forgotten»
    if texts and recall.is_ready:
        hits = recall.search(RecallQuery(texts[0][:_QUERY_CHARACTERS], limit=10), 0.0).hits
        found |= {hit.id for hit in hits if holds(hit.text, texts)}
    return len(found)
