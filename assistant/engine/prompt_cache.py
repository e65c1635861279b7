"""What the model has read and need not read again: of the conversation that goes on, of those set aside, on disk.

A model has one cache. Before a prompt is read in it, the best beginning is sought by tokens alone: what is in the cache
now, states of other conversations and branches in memory, and snapshots on disk. A conversation that has to leave the
cache for another prompt is copied out first, which takes some 10 ms for 1 000 tokens; a prompt that stands alone (a
summary, a title) is never copied out, so it costs no conversation anything. Why this and not two sequences in one
cache: docs/decisions/0036.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.core.cancel import CancelToken
from assistant.engine.llama import common_length
from assistant.engine.snapshot_file import Identity, Snapshot, runs_in
from assistant.engine.snapshots import ROW, Place, SnapshotStore

_log = logging.getLogger(__name__)

_WORTH, _WORTH_ON_DISK = 16, 64
"""Tokens from which on a state is fetched, not read: reading 64 takes 0.4 s with a small model, fetching a long chat
from disk half of that, from memory a tenth.
"""
_BRANCH = 256
"""Tokens of a branch that are worth a copy of it before it is cut off: a regenerated short reply is not."""
_HELD_AT_MOST = 512_000_000
_SHARE = 4
"""States held in memory take at most this part of what is free."""

Replies = Mapping[str, Sequence[int]]


class CachedModel(Protocol):
    """What is needed of a model: llama.LlamaModel, or a scripted one in tests."""

    cached: list[int]
    keeps_part: bool

    def keep_first(self, count: int) -> int: ...
    def take_state(self) -> memoryview: ...
    def put_state(self, state: bytearray | memoryview, tokens: Sequence[int]) -> bool: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """A state that left the cache."""

    conversation: str
    tokens: Sequence[int]
    state: memoryview


class PromptCache:
    """The caches of one loaded model. For one thread.

    free: bytes of memory that are free, None where nobody knows. identity: of the model, for snapshots on disk.
    """

    def __init__(self, model: CachedModel, identity: Identity, free: Callable[[], int | None]) -> None:
        self._model = model
        self._identity = identity
        self._free = free
        self._held: list[_Held] = []  # the latest used last
        self._conversation = ""
        self._store: SnapshotStore | None = None
        self._epoch = ""

    # --- where snapshots are --------------------------------------------------------------------------------------

    def keep_at(self, place: Place | None) -> None:
        """Use this place from now on. What belongs to another one, or was read before something was forgotten, goes."""
        current = self._store.place if self._store else None
        epoch = place.epoch if place else ""
        if (current, self._epoch) == (place, epoch):
            return
        if current is None or place is None or current.folder != place.folder:
            self._held.clear()
            self._conversation = ""
        elif self._epoch != epoch:
            self.forget()
        self._store = SnapshotStore(place, self._identity, epoch) if place and place.limit else None
        self._epoch = epoch

    def snapshots(self) -> list[Snapshot]:
        """Those on disk that fit."""
        return self._store.look() if self._store else []

    def forget(self) -> None:
        """Nothing of what was read stays in memory."""
        self._held.clear()
        self._conversation = ""
        self._model.keep_first(0)

    # --- reading --------------------------------------------------------------------------------------------------

    def prepare(self, tokens: Sequence[int], conversation: str, cancel: CancelToken) -> None:
        """Put the best beginning of a prompt into the model's cache, and what leaves it for that aside.

        Raises Cancelled while a state is fetched from disk.
        """
        model = self._model
        have = self._usable(model.cached, tokens)
        better = self._better(tokens, have)
        cut = len(model.cached) - have
        if better or cut >= _BRANCH or (conversation != self._conversation and cut > 0):
            self._set_aside()
        for source in better:
            if self._fetch(source, tokens, conversation, cancel):
                break
        self._conversation = conversation

    def _better(self, tokens: Sequence[int], have: int) -> list[_Held | Snapshot]:
        """What serves a prompt better than the ``have`` tokens of it in the cache, the best first."""
        states: list[tuple[int, _Held | Snapshot]] = []
        states += [(self._usable(each.tokens, tokens) - _WORTH, each) for each in self._held]
        states += [(self._usable(each.tokens, tokens) - _WORTH_ON_DISK, each) for each in self.snapshots()]
        return [each for gain, each in sorted(states, key=lambda state: -state[0]) if gain >= have]

    def _usable(self, have: Sequence[int], wanted: Sequence[int]) -> int:
        """How much of a state serves a prompt; of a model that keeps no part of one, all or nothing."""
        length = common_length(have, wanted)
        return length if self._model.keeps_part or length == len(have) < len(wanted) else 0

    def _set_aside(self) -> None:
        """Copy the conversation's state out of the cache, where it is nowhere else and there is room."""
        tokens = self._model.cached
        if not self._conversation or len(tokens) < _WORTH or self._is_kept(tokens):
            return
        free = self._free()
        room = _HELD_AT_MOST if free is None else min(_HELD_AT_MOST, free // _SHARE)
        try:
            state = self._model.take_state()
        except MemoryError:
            return
        while self._held and sum(len(each.state) for each in self._held) + len(state) > room:
            self._held.pop(0)
        if len(state) <= room:
            self._held.append(_Held(self._conversation, tuple(tokens), state))

    def _is_kept(self, tokens: Sequence[int]) -> bool:
        return any(_same(each.tokens, tokens) for each in self._held) or self._on_disk(tokens)

    def _fetch(self, source: _Held | Snapshot, tokens: Sequence[int], conversation: str, cancel: CancelToken) -> bool:
        """Into the cache, if it is what it says."""
        if isinstance(source, Snapshot):
            store = self._store
            state = store.load(source, cancel) if store else None
            if store is None or state is None:
                return False
            if not self._model.put_state(state, source.tokens):
                store.reject(source, "the library refused it")
                return False
            return True
        fetched = self._model.put_state(source.state, source.tokens)
        self._held = [each for each in self._held if each is not source]
        if fetched and self._is_worth_keeping(source, tokens, conversation):
            self._held.append(source)
        return fetched

    def _is_worth_keeping(self, source: _Held, tokens: Sequence[int], conversation: str) -> bool:
        """Whether a state that serves a prompt holds more than the cache will: of another conversation all counts."""
        left = len(source.tokens) - common_length(source.tokens, tokens)
        least = _BRANCH if source.conversation == conversation else 1
        return left >= least or not self._model.keeps_part

    # --- keeping --------------------------------------------------------------------------------------------------

    def keep(self, conversations: Collection[str], replies: Replies, row: Sequence[int], cancel: CancelToken) -> None:
        """Write the states of these conversations to disk; those in memory are given back then.

        replies: digests of what the model's own replies are known by -> their tokens. row: what prompts begin with, for
        chats that begin later. Raises Cancelled; what is not on disk then is as before.
        """
        store = self._store
        if store is None:
            return
        for held in [each for each in self._held if each.conversation in conversations]:
            if self._write(store, held.conversation, held.tokens, replies, held.state, cancel):
                self._held.remove(held)
        if self._conversation not in conversations or len(self._model.cached) < _WORTH_ON_DISK:
            return
        tokens = list(self._model.cached)
        row_length = common_length(row, tokens) if self._model.keeps_part else 0
        wants_row = row_length >= _WORTH_ON_DISK and not self._on_disk(tokens[:row_length])
        if self._on_disk(tokens) and not wants_row:
            return
        state = self._model.take_state()
        if wants_row:
            self._write_row(store, tokens[:row_length], state, cancel)
        self._write(store, self._conversation, tokens, replies, state, cancel)

    def _on_disk(self, tokens: Sequence[int]) -> bool:
        return any(_same(each.tokens, tokens) for each in self.snapshots())

    def _write(
        self,
        store: SnapshotStore,
        conversation: str,
        tokens: Sequence[int],
        replies: Replies,
        state: memoryview,
        cancel: CancelToken,
    ) -> bool:
        """Whether it is on disk now."""
        if self._on_disk(tokens):
            return True
        return store.save(conversation, tokens, runs_in(tokens, replies), state, cancel)

    def _write_row(self, store: SnapshotStore, row: Sequence[int], state: memoryview, cancel: CancelToken) -> None:
        """The cache holds only the row for a moment, for the library writes whole states."""
        tokens = list(self._model.cached)
        self._model.keep_first(len(row))
        try:
            store.save(ROW, row, (), self._model.take_state(), cancel)
        finally:
            self._model.put_state(state, tokens)


def _same(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) == common_length(one, other)
