"""The open chat as it was read, and the branch of it that is shown; without the reply that is under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from assistant.chat.call_records import made_call, saved_call
from assistant.core.errors import AssistantError
from assistant.core.values import Receipt
from assistant.ui.chat.shown import ShownTurn, siblings_of
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.thoughts import Thought

Known = Callable[[int], tuple[AssistantError | None, Receipt | None]]
"""What is known of a turn of the open chat beside its file: why it failed, and its receipt."""


class Branch:
    """chat: None while it is read, and for a new one. turns: from the first to the newest."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.chat: Chat | None = None
        self.turns: list[ShownTurn] = []
        self._before_cut: list[ShownTurn] | None = None

    def clear(self) -> None:
        """No chat is open, or it is not read yet."""
        self.chat, self.turns, self._before_cut = None, [], None

    def show(self, leaf: int | None, live: ShownTurn | None) -> None:
        """Show the branch that ends in ``leaf`` (None: the newest), or the one that the reply under way belongs to."""
        self._before_cut = None
        if self.chat is None:
            return
        if live is not None and leaf is None:
            known = {turn.n for turn in self.chat.turns}
            leaf = next((n for n in (live.n, live.after) if n in known), None)
        turns = self.chat.branch(leaf) if self.chat.turns else ()
        siblings = siblings_of(self.chat.turns)
        self.turns = [
            self._shown(turn, siblings[turn.n]) for turn in turns if live is None or turn.n != live.n or live.n == 0
        ]

    def end(self) -> int | None:
        """The number of the newest turn that is shown."""
        return self.turns[-1].n if self.turns else None

    def find(self, n: int) -> ShownTurn | None:
        """The turn of that number, if it is shown."""
        return next((turn for turn in self.turns if turn.n == n), None)

    def cut_at(self, n: int) -> None:
        """What follows an edited turn leaves the screen; it stays in the file, on its own branch."""
        place = next((i for i, turn in enumerate(self.turns) if turn.n == n), len(self.turns))
        self._before_cut, self.turns = self.turns, self.turns[:place]

    def uncut(self) -> None:
        """What was to take the place was not saved: all is as it was."""
        if self._before_cut is not None:
            self.turns, self._before_cut = self._before_cut, None

    def join(self, turn: ShownTurn) -> None:
        """A turn came to rest: it joins the branch and the chat, at a cost that does not grow with the chat."""
        self.turns, self._before_cut = [*self.turns, turn], None
        if self.chat is not None:
            mark = turn.mark if turn.mark in ("stopped", "interrupted") else ""
            thought, calls = Thought(turn.thought, turn.thought_s), tuple(map(saved_call, turn.used))
            added = Turn(turn.n, turn.after, "", turn.user, turn.reply, mark, thought=thought, calls=calls)
            others = tuple(known for known in self.chat.turns if known.n != turn.n)
            self.read_again(replace(self.chat, turns=(*others, added)))

    def read_again(self, chat: Chat) -> None:
        """The chat as it is now: the newest turn may have come to stand beside others, which is said under it."""
        self.chat = chat
        if self.turns:
            last = self.turns[-1]
            self.turns[-1] = replace(last, siblings=tuple(chat.siblings(last.n)))

    def siblings_after(self, after: int | None) -> tuple[int, ...]:
        """The turns that follow the same one."""
        return () if self.chat is None else tuple(turn.n for turn in self.chat.turns if turn.after == (after or None))

    def put_receipts(self, found: Mapping[int, Receipt]) -> None:
        """Receipts that were found, by turn."""
        self.turns = [replace(turn, receipt=found.get(turn.n, turn.receipt)) for turn in self.turns]

    def _shown(self, turn: Turn, siblings: tuple[int, ...]) -> ShownTurn:
        error, receipt = self._known(turn.n)
        shown = ShownTurn(turn.n, turn.user, turn.reply, turn.mark, turn.after, siblings, error=error, receipt=receipt)
        calls = tuple(map(made_call, turn.calls))
        return replace(shown, calls=calls, thought=turn.thought.text, thought_s=turn.thought.seconds)
