"""Turning turns that left the window into memory: in batches, checked, each turn exactly once.

The entry's source ``chat:<id>#a-b`` is the proof that those turns are done; the chat's pointer moves after the entry is
durable. Whoever is killed in between finds the proof and does not distil again. A proposal that waits in the inbox, and
turns that the person declined, are such a proof too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.chat.distil_check import Checked, check
from assistant.chat.distil_reply import NOTHING, parse_notes
from assistant.chat.texts import text
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.core.ports import Engine, Progress
from assistant.core.values import Done, GenerateOptions, Message, Role
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.entries import parse_memory
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.safe_files import as_error, locked, write_atomic
from assistant.workspace.sources import distilled_source, distilled_turns, run_of_turns
from assistant.workspace.workspace import Workspace

FALLBACK_MARK = "(as said)"
_TRIES = 3
_MOST_NOTES = 8
_REPLY_TOKENS = 320  # eight notes of 20 words, in any language
_OPTIONS = (  # the first try is the model's best guess; the others must differ from it
    GenerateOptions(max_tokens=_REPLY_TOKENS, temperature=0.0, repeat_penalty=1.1, thinking=False),
    GenerateOptions(max_tokens=_REPLY_TOKENS, temperature=0.5, seed=2, thinking=False),
    GenerateOptions(max_tokens=_REPLY_TOKENS, temperature=0.9, seed=3, thinking=False),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of a run of turns. entries: unit ids written (none: nothing to keep); fallback: the model failed.

    proposal: the id in the inbox of what waits for the person's yes, "" where nothing does.
    """

    chat: str
    turns: tuple[int, int]
    entries: tuple[str, ...]
    covered: int
    dropped: tuple[str, ...]
    fallback: bool
    proposal: str = ""


class Distiller:
    """Distils turns of one workspace. state: folder for the count of tries, so that no batch is tried for ever.

    asks: whether what is to be remembered waits in the inbox for the person's yes.
    """

    def __init__(self, workspace: Workspace, state: Path, asks: Callable[[], bool] = lambda: False) -> None:
        self._workspace = workspace
        self._state = state / "distil"
        self._asks = asks

    def due(self, chat: Chat, left: Sequence[Turn]) -> list[Turn]:
        """Of the turns that left the window those that are not memory yet, by the pointer and by the proofs."""
        proven = self._proven(chat.id)
        return [t for t in left if t.n > chat.summarized and t.n not in proven]

    def run(
        self, chat: Chat, left: Sequence[Turn], engine: Engine, window: int, cancel: CancelToken, progress: Progress
    ) -> Iterator[Batch]:
        """Distil what is due, a batch at a time. Raises Cancelled or the engine's AssistantError; nothing is lost."""
        due = self.due(chat, left)
        if not due:
            if left and left[-1].n > chat.summarized:  # killed between entry and pointer: only the pointer is missing
                self._workspace.chats.set_summarized(chat.id, left[-1].n)
            return
        done = 0
        for turns in _batches(due, engine, window // 2):
            progress(done, len(due), chat.id)
            batch = self._batch(chat, turns, engine, window // 2, cancel)
            if batch is None:
                return
            yield batch
            done += len(turns)
        progress(len(due), len(due), chat.id)

    def _batch(self, chat: Chat, turns: Sequence[Turn], engine: Engine, room: int, cancel: CancelToken) -> Batch | None:
        """None: another process distilled some of these turns meanwhile, and what it left is due the next time; or the
        person made the chat private, and nothing of it becomes memory.
        """
        said = [t.user for t in turns if t.user.strip()]
        checked, fallback = self._checked(chat.id, turns, said, engine, room, cancel)
        first, last = turns[0].n, turns[-1].n
        entry = proposal = ""
        with locked(self._state / "distil.lock"):
            now = self._workspace.chats.read(chat.id)
            if (now.private and not chat.private) or len(self.due(now, turns)) < len(turns):
                return None
            if items := [item for item in checked.items if not self._workspace.declined.holds(item)]:
                source, lead = distilled_source(chat.id, first, last), FALLBACK_MARK if fallback else ""
                entry, proposal = self._keep(items, source, lead)
            self._workspace.chats.set_summarized(chat.id, last)
        self._forget_tries(chat.id)
        entries = (entry,) if entry else ()
        return Batch(chat.id, (first, last), entries, len(turns), checked.dropped, fallback, proposal)

    def _keep(self, items: Sequence[str], source: str, lead: str) -> tuple[str, str]:
        """Durable when it returns: (unit id of the entry, id of the proposal), one of them ""."""
        if self._asks():
            proposal = self._workspace.inbox.propose(items, source=source, actor="upkeep", lead=lead)
            return "", proposal.id if proposal else ""
        whole = [lead, *items] if lead else items
        return self._workspace.memory.append_entry(whole, source=source, actor="upkeep").id, ""

    def _checked(
        self, chat: str, turns: Sequence[Turn], said: Sequence[str], engine: Engine, room: int, cancel: CancelToken
    ) -> tuple[Checked, bool]:
        """The checked notes, and whether they are the fall-back's."""
        while (tries := self._tries(chat, turns[0].n)) < _TRIES:
            self._count_try(chat, turns[0].n, tries + 1)
            try:
                notes = _notes(turns, engine, room, _OPTIONS[tries], cancel)
            except Cancelled:
                self._count_try(chat, turns[0].n, tries)
                raise
            if notes is None:
                continue
            checked = check(notes, said)
            if not notes or len(checked.refused) < len(notes):
                return checked, False
        return check((), said), True

    def _proven(self, chat: str) -> set[int]:
        proven = self._workspace.declined.turns(chat) | self._workspace.inbox.turns(chat)
        for file in (MEMORY, ARCHIVE):
            for entry in parse_memory(self._workspace.memory.read(file).text).entries:
                run = distilled_turns(entry.source)
                if run and run[0] == chat:
                    proven.update(run_of_turns(run))
        return proven

    def _path(self, chat: str) -> Path:
        return self._state / f"{chat}.json"

    def _tries(self, chat: str, first: int) -> int:
        try:
            kept = parse_json(self._path(chat).read_bytes())
            return max(0, int(kept["tries"])) if kept["first"] == first else 0
        except (OSError, ValueError, KeyError, TypeError):  # missing or damaged: derived state, counted anew
            return 0

    def _count_try(self, chat: str, first: int, tries: int) -> None:
        try:
            make_private(self._state)
        except OSError as error:
            raise as_error(error, self._state) from error
        write_atomic(self._path(chat), json.dumps({"first": first, "tries": tries}).encode())

    def _forget_tries(self, chat: str) -> None:
        try:
            self._path(chat).unlink(missing_ok=True)
        except OSError as error:
            raise as_error(error, self._state) from error


def _batches(turns: Sequence[Turn], engine: Engine, room: int) -> Iterator[list[Turn]]:
    """Runs of whole turns of at most ``room`` tokens; a turn that is larger stands alone and is sent in pieces."""
    sizes = engine.count([_shown(t) for t in turns])
    batch: list[Turn] = []
    used = 0
    for turn, size in zip(turns, sizes, strict=True):
        if batch and used + size > room:
            yield batch
            batch, used = [], 0
        batch.append(turn)
        used += size
    if batch:
        yield batch


def _shown(turn: Turn) -> str:
    reply = f"\nAssistant: {turn.reply}" if turn.reply else ""
    return f"Person: {turn.user}{reply}"


def _notes(
    turns: Sequence[Turn], engine: Engine, room: int, options: GenerateOptions, cancel: CancelToken
) -> list[str] | None:
    """The model's notes on all of the turns; None when one of its answers was no answer."""
    notes: list[str] = []
    for piece in _split("\n".join(map(_shown, turns)), engine, room):
        answer = parse_notes(_ask(piece, engine, options, cancel), _MOST_NOTES)
        if answer is None:
            return None
        notes += answer
    return notes


def _ask(conversation: str, engine: Engine, options: GenerateOptions, cancel: CancelToken) -> str:
    example, example_notes = text("distil_example").split("\n---\n")
    request = text("distil_request")
    messages = [
        Message(Role.SYSTEM, text("distil").format(most=_MOST_NOTES, nothing=NOTHING)),
        Message(Role.USER, request.format(conversation=example)),
        Message(Role.ASSISTANT, example_notes),
        Message(Role.USER, request.format(conversation=conversation)),
    ]
    reply = ""
    for event in engine.chat(messages, options, cancel):
        if isinstance(event, Done):
            reply = event.text
    cancel.check()
    return reply


def _split(conversation: str, engine: Engine, room: int) -> Iterator[str]:
    """The text in pieces of at most ``room`` tokens, parted between lines or words; all of it is sent."""
    if engine.count([conversation])[0] <= room:
        yield conversation
        return
    if len(conversation) < 2:
        raise AssistantError("distil.window", "The context window is too small to distil.", "Choose a larger one.")
    half = len(conversation) // 2
    ends = (conversation.rfind(mark, half // 2, half + 1) for mark in ("\n", "。", " "))
    middle = next((end + 1 for end in ends if end > 0), half)
    yield from _split(conversation[:middle], engine, room)
    yield from _split(conversation[middle:], engine, room)
