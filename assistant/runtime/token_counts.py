"""Tokens of texts that were counted before: prompts are made of the same lines again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

_KEPT, _LONGEST = 20_000, 2_000


class TokenCounts:
    """Counts of one model's, for any thread; ``forget`` before another model counts. Long texts are not kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, int] = OrderedDict()
        self._model = 0  # each is another one

    def of(
        self,
        texts: Sequence[str],
        ask: Callable[[list[str]], Sequence[int]],
        otherwise: Callable[[str], int] | None = None,
    ) -> list[int]:
        """Tokens of each text. ask: counts of those that are new, in order; none where nobody counts now: then each has
        ``otherwise`` of it, which is not kept.
        """
        with self._lock:
            model = self._model
            known = {text: self._known[text] for text in texts if text in self._known}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            counts = ask(new)
            if otherwise and not counts:
                known |= {text: otherwise(text) for text in new}
            else:
                fresh = dict(zip(new, counts, strict=True))
                self._keep(fresh, model)
                known |= fresh
        return [known[text] for text in texts]

    def forget(self) -> None:
        """Another model's counts are others, also those that are just being made."""
        with self._lock:
            self._known.clear()
            self._model += 1

    def _keep(self, counts: dict[str, int], model: int) -> None:
        with self._lock:
            if model != self._model:
                return
            self._known.update((text, count) for text, count in counts.items() if len(text) <= _LONGEST)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
