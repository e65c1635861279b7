"""The chats of a workspace: the person's words are on disk first, and nothing is ever overwritten."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from assistant.core.clock import Clock, stamp
from assistant.core.errors import AssistantError
from assistant.workspace import chat_files as files
from assistant.workspace.append_log import AppendLog
from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.chat_format import format_call, format_reply, format_turn
from assistant.workspace.chat_head import (
    clean_title,
    format_head,
    parse_head,
    printable,
    with_pointer,
    with_private,
    with_title,
)
from assistant.workspace.chat_list import ChatInfo, ChatList
from assistant.workspace.chats import Chat, Turn, parse_chat
from assistant.workspace.disk import as_error
from assistant.workspace.layout import make_folder
from assistant.workspace.pending import PendingReplies
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import locked, read_bytes, read_text, write_atomic
from assistant.workspace.thoughts import NO_THOUGHT, Thought, written_thought
from assistant.workspace.trash import DeletedChat, Trash
from assistant.workspace.turn_writer import TurnWriter

__all__ = ["ChatInfo", "ChatStore", "DeletedChat", "TurnStart"]
_log = logging.getLogger(__name__)
_Paths = list[Path]  # the class has a method called list


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A turn whose user message is on disk. text: as written; redacted: secrets replaced in it."""

    n: int
    text: str
    redacted: int


class ChatStore:
    """Reads and writes chats; safe to use from several threads and processes.

    root: the workspace; data: keeps deleted chats; state: locks, pending replies, the cache of the list; speaker: who
    answers, as new files name the two.
    """

    def __init__(self, root: Path, data: Path, state: Path, clock: Clock, speaker: str = "Keepsake") -> None:
        self._root = root
        self._locks = state / "locks"
        self._clock = clock
        self._speaker = speaker
        self._list = ChatList(root, state / "chat_list.json")
        self._pending = PendingReplies(state / "pending")
        self._appends = AppendLog(state / "pending")
        self._writer = TurnWriter(self._appends)
        self._trash = Trash(root, data / "trash")

    def create(self, title: str = "", private: bool = False, body: str = "") -> str:
        """A new chat's file, with its metadata; returns its id. body: blocks that it begins with."""
        head, at = redact(clean_title(title)).text, stamp(self._clock)
        who = self._speaker
        return self.place(self._clock(), lambda ident: [format_head(ident, head, at, private, speaker=who) + body])

    def place(self, created: datetime, make: Callable[[str], Sequence[str]]) -> str:
        """Write a whole chat that began at ``created``; ``make(id)`` gives its parts, redacted. Returns its id."""
        with locked(self._locks / "chats.lock"):
            ident = base = created.strftime("%Y%m%d_%H%M%S")
            number = 2
            while files.find_parts(self._root, ident):
                ident, number = f"{base}_{number}", number + 1
            first = files.month_folder(self._root, ident) / f"{ident}.md"
            make_folder(self._root, first.parent)
            texts = list(enumerate(make(ident), 1))
            for part, text in reversed(texts):  # the first one last: a chat is there when all of it is
                write_atomic(first if part == 1 else files.part_path(first, part), text.encode())
        return ident

    def adopt(self, chat: Chat) -> str:
        """Write a chat that was on no disk, whole, with its times and branches, as an ordinary one; returns its id."""
        body, last = "", 0
        for turn in chat.turns:
            after = turn.after or 0
            body += format_turn(turn.at, turn.n, turn.user, None if after == last else after)
            body += "".join(map(format_call, turn.calls))
            body += format_reply(turn.reply, turn.mark, thought=turn.thought) if turn.reply is not None else ""
            last = turn.n
        return self.create(chat.title, body=body)

    def list(self) -> list[ChatInfo]:
        """All chats, the last active first."""
        return self._list.list()

    def path(self, ident: str) -> Path:
        """The chat's first file. Raises ("chat.missing")."""
        return self._parts(ident)[0]

    def paths(self, ident: str) -> _Paths:
        """All its files in order. Raises ("chat.missing")."""
        return self._parts(ident)

    def read(self, ident: str) -> Chat:
        """The whole chat. Raises ("chat.missing"); what is wrong in the files is in problems."""
        texts = [read_text(path) for path in self._parts(ident)]
        chat = parse_chat([text.text for text in texts], ident)
        wrong = tuple(text.problem for text in texts if text.problem)
        return replace(chat, problems=chat.problems + wrong) if wrong else chat

    def last_turn(self, ident: str) -> Turn | None:
        """The newest turn; None in a chat without one. Raises ("chat.missing")."""
        turns = self.read(ident).turns
        return turns[-1] if turns else None

    def begin_turn(self, ident: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> TurnStart:
        """Write the person's message, durably, before anything else; the cost does not depend on the chat's length.

        after: the turn it follows; None the newest one, 0 nothing (another first message). Lone surrogates become
        U+FFFD. keep_secrets: the person chose to keep what looks like a secret. Raises ("chat.turn") for an ``after``
        that is not there.
        """
        safe = printable(text)
        redacted = redact(safe)
        said, count = (safe, 0) if keep_secrets else (redacted.text, redacted.count)
        with self._locked(ident):
            parts = self._parts(ident)
            last = self._writer.last_number(parts, lambda: self.read(ident))
            if after is not None and not 0 <= after <= last:
                raise AssistantError("chat.turn", f"There is no turn #{after} in this chat.", "Reload the chat.")
            follows = None if after == last else after
            self._writer.add_turn(ident, parts, last + 1, said, follows, stamp(self._clock))
        return TurnStart(last + 1, said, count)

    def keep_partial(self, ident: str, n: int, text: str) -> None:
        """Put the reply so far where a crash of this process cannot take it; call it as often as text may be lost."""
        self._pending.keep(files.check_id(ident), n, redact(printable(text)).text)

    def add_call(self, ident: str, n: int, call: SavedCall) -> None:
        """Write down that a tool was used for turn ``n``. Raises ("chat.missing") or ("chat.turn")."""
        with self._locked(ident):
            self._writer.add_call(ident, self._parts(ident), n, safe_call(call))

    def end_turn(self, ident: str, n: int, text: str, mark: str = "", thought: Thought = NO_THOUGHT) -> None:
        """Write the reply under turn ``n``, also when another turn began meanwhile. mark: "", "stopped", "interrupted".

        Raises ("chat.missing") or ("chat.turn"); the partial reply is then kept.
        """
        with self._locked(ident):
            self._write_reply(ident, n, redact(printable(text)).text, mark, written_thought(thought))
        self._pending.drop(ident, n)

    def recover(self) -> Sequence[tuple[str, int]]:
        """End what processes that died were writing, and write their partial replies into the chats, marked
        interrupted; says which.
        """
        for ident in self._appends.begun():
            with self._locked(ident):
                _log.info("an append to the chat %s was finished", ident)
        recovered = []
        for reply in self._pending.left_behind():
            if not files.find_parts(self._root, reply.chat):
                if all(deleted.id != reply.chat for deleted in self._trash.list()):
                    reply.file.unlink(missing_ok=True)  # the chat was deleted for good
                continue  # or it is in the trash: the reply is still there should the chat be restored
            with self._locked(reply.chat):
                turn = self.read(reply.chat).by_number.get(reply.turn)
                if turn and turn.reply is None and reply.text:
                    self._write_reply(reply.chat, reply.turn, reply.text, "interrupted")
                    recovered.append((reply.chat, reply.turn))
            reply.file.unlink(missing_ok=True)
        return recovered

    def rename(self, ident: str, title: str) -> None:
        """Give a chat another title; line breaks become spaces, 300 characters are kept."""
        wanted = redact(clean_title(title)).text
        self._rewrite(ident, lambda text: with_title(text, wanted))

    def set_summarized(self, ident: str, n: int) -> None:
        """Move the pointer “Summarized through”."""
        self._rewrite(ident, lambda text: with_pointer(text, n))

    def set_private(self, ident: str, private: bool) -> None:
        """Mark a chat as private, or not."""
        self._rewrite(ident, lambda text: with_private(text, private))

    def is_private(self, ident: str) -> bool:
        """Whether it is marked private, at the cost of one look at its head; also of one in the trash.

        False for a chat that is not there.
        """
        if parts := files.find_parts(self._root, ident):
            return parse_head(files.read_head(parts[0])).private
        return any(self.read_deleted(each).private for each in self._trash.list() if each.id == ident)

    def markdown(self, ident: str) -> str:
        """The chat as it stands in its files; bytes that are no characters are lone surrogates."""
        with self._locked(ident):
            parts = [read_bytes(path).decode("utf-8", "surrogateescape") for path in self._parts(ident)]
        return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts)

    def rewrite(
        self, ident: str, change: Callable[[Sequence[str]], Sequence[str]], keep: Callable[[Path, bytes, bytes], None]
    ) -> None:
        """Change the texts of a chat's parts; ``keep`` gets each file and its bytes before and after,
        before it is written.

        Bytes that are no characters reach ``change`` as lone surrogates. For forgetting: nothing else changes what
        was said.
        """
        with self._locked(ident):
            paths = self._parts(ident)
            before = [read_bytes(path) for path in paths]
            after = change([raw.decode("utf-8", "surrogateescape") for raw in before])
            for path, old, text in zip(paths, before, after, strict=True):
                if (new := text.encode("utf-8", "surrogateescape")) != old:
                    keep(path, old, new)
                    write_atomic(path, new)

    def delete(self, ident: str) -> DeletedChat:
        """Move a chat to the trash; restore brings it back, purge ends it."""
        with self._locked(ident):
            parts = self._parts(ident)
            title = parse_head(files.read_head(parts[0])).title
            return self._trash.put(ident, title, parts, stamp(self._clock))

    def restore(self, deleted: DeletedChat) -> None:
        """Undo a deletion. Raises ("chat.exists") or, when it was purged, ("chat.missing")."""
        with self._locked(deleted.id):
            self._trash.restore(deleted)

    def read_deleted(self, deleted: DeletedChat) -> Chat:
        """A chat in the trash; empty once it was purged."""
        return parse_chat(self._trash.read(deleted), deleted.id)

    def purge(self, deleted: DeletedChat) -> None:
        """Delete for good: the files, what was pending, and what the list remembered."""
        with self._locked(deleted.id):
            self._trash.purge(deleted)
            if not files.find_parts(self._root, deleted.id):
                self._pending.drop_chat(deleted.id)
        self._list.list()

    def deleted(self) -> Sequence[DeletedChat]:
        """The chats in the trash, newest deletion first."""
        return self._trash.list()

    def close(self) -> None:
        """No reply is under way any more."""
        self._pending.close()

    def _write_reply(self, ident: str, n: int, text: str, mark: str, thought: Thought = NO_THOUGHT) -> None:
        self._writer.add_reply(ident, self._parts(ident), n, text, mark, thought)

    def _rewrite(self, ident: str, change: Callable[[str], str]) -> None:
        with self._locked(ident):
            path = self._parts(ident)[0]
            text = read_bytes(path).decode("utf-8", "surrogateescape")
            changed = change(text)
            if changed != text:
                write_atomic(path, changed.encode("utf-8", "surrogateescape"))

    def _parts(self, ident: str) -> _Paths:
        if parts := files.find_parts(self._root, ident):
            return parts
        if not self._root.is_dir():
            make_folder(self._root, self._root)
        raise AssistantError("chat.missing", "The chat is not there any more.", "It may have been deleted or moved.")

    @contextlib.contextmanager
    def _locked(self, ident: str) -> Iterator[None]:
        digest = hashlib.sha256(files.check_id(ident).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        with locked(self._locks / f"chat-{digest}.lock"):
            try:
                if self._appends.waits(ident) and self._root.is_dir():
                    self._appends.finish(ident, files.find_parts(self._root, ident))
                yield
            except OSError as error:
                raise as_error(error, self._root) from error


def safe_call(call: SavedCall) -> SavedCall:
    """The call without what looks like a secret."""
    said = tuple((printable(name), redact(printable(value)).text) for name, value in call.arguments)
    return replace(call, arguments=said, detail=redact(printable(call.detail)).text)
