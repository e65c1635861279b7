"""Replies that the model gave before the worker was started again, as the very tokens it gave.

Their texts come back with the chat's file; tokenised anew they could be other tokens, and the cache would end there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assistant.engine.snapshot_file import Snapshot, digest_of

_KEPT = 5_000


class RestoredReplies:
    """Learnt from snapshots, which know a reply by the digest of its text."""

    def __init__(self) -> None:
        self._by_digest: dict[str, Sequence[int]] = {}
        self._seen: set[str] = set()

    def learn(self, snapshots: Iterable[Snapshot]) -> None:
        for snapshot in snapshots:
            if snapshot.path.name in self._seen:
                continue
            self._seen.add(snapshot.path.name)
            for run in snapshot.replies:
                tokens = snapshot.tokens[run.start : run.start + run.length]
                self._by_digest.setdefault(run.digest, tokens.tolist())
        while len(self._by_digest) > _KEPT:
            self._by_digest.pop(next(iter(self._by_digest)))

    def behind(self, known: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """By the text of a reply: those that are known, and behind them these."""
        return _Both(known, self._by_digest)

    def by_digest(self, known: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """All of them by the digests that snapshots know them by."""
        return {**self._by_digest, **{digest_of(text): tokens for text, tokens in known.items()}}


class _Both(Mapping[str, Sequence[int]]):
    def __init__(self, known: Mapping[str, Sequence[int]], by_digest: Mapping[str, Sequence[int]]) -> None:
        self._known = known
        self._by_digest = by_digest

    def __getitem__(self, text: str) -> Sequence[int]:
        known = self._known.get(text)
        return self._by_digest[digest_of(text)] if known is None else known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
