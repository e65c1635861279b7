"""Conversations that clients lead. They send all of it each time; what memory told along with it is kept here.

So the prompt of a conversation only grows, as in the window: its fixed row stays, each recalled block stays with its
turn, and the model reads what is new. It is kept in this process alone, on no disk, and of the newest conversations.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assistant.chat.prompt import Draft, PromptBuilder, PromptRules, Question
from assistant.chat.receipts import MemoryReceipts
from assistant.chat.row import brief_words
from assistant.chat.turn import receipt_of
from assistant.core.errors import AssistantError
from assistant.core.values import GenerateOptions, Message, PromptLine, Role
from assistant.recall.search import Recall
from assistant.runtime.prompts import PromptService, TurnPlan
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.ids import line_id, split_id
from assistant.workspace.layout import MEMORY
from assistant.workspace.temporary import PREFIX
from assistant.workspace.workspace import Workspace

_MOST = 64
_MOST_TURNS = 4_000


@dataclass(frozen=True, slots=True)
class Talk:
    """A client's messages as a chat has them. client: what its system messages say; turns: (said, reply) before."""

    client: str
    turns: tuple[tuple[str, str], ...]
    message: str


def as_talk(messages: Sequence[Message]) -> Talk:
    """The talk in messages of which the last one that is not of the system is the user's.

    A system message further down goes in front of what the user says next, or said last: so it keeps its place, and
    what was read before it stays valid. Neighbours of one role become turns without a reply, or without a question.
    """
    client: list[str] = []
    waiting: list[str] = []
    turns: list[tuple[str, str]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            (waiting if turns else client).append(message.text)
        elif message.role is Role.USER:
            turns.append(("\n\n".join([*waiting, message.text]), ""))
            waiting.clear()
        elif turns and turns[-1][0] and not turns[-1][1]:
            turns[-1] = (turns[-1][0], message.text)
        else:
            turns.append(("", message.text))
    *before, (last, _) = turns
    return Talk("\n\n".join(filter(None, client)), tuple(before), "\n\n".join([*waiting, last]))


def conversation_of(talk: Talk) -> str:
    """What names a conversation: how it began. By its form it is that of a temporary chat, so it reaches no disk."""
    return f"{PREFIX}served-{_steps(talk)[0].hex()[:32]}"


@dataclass
class _Known:
    """numbers: of the turns, by all that was said up to each."""

    numbers: dict[bytes, int] = field(default_factory=dict)


class Conversations:
    """Makes prompts of clients' conversations. For one thread at a time: the chat lane's."""

    def __init__(self, workspace: Workspace, recall: Recall, prompts: PromptService) -> None:
        self._workspace = workspace
        self._recall = recall
        self._prompts = prompts
        self._receipts = MemoryReceipts()
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def draft(self, talk: Talk, options: GenerateOptions) -> Draft:
        """The prompt of the talk's next reply, memory included. Raises AssistantError("prompt.too_long")."""
        ident = conversation_of(talk)
        if not talk.turns or self._is_over(ident):
            self._forget(ident)
        numbers = self._numbers(ident, talk)
        branch = tuple(
            Turn(n, after, "", said, reply or None)
            for n, after, (said, reply) in zip(numbers, (None, *numbers), talk.turns, strict=False)
        )
        chat = replace(Chat.empty(), id=ident, private=True, turns=branch)
        builder = PromptBuilder(
            self._workspace, self._recall, self._receipts, self._prompts.counter(), self._rules(talk, options)
        )
        draft = builder.build(Question(chat, branch, talk.message, numbers[-1], patient=True))
        if draft.new_row:
            self._receipts.add_row(ident, draft.row)
        self._receipts.add(receipt_of(draft, ident, numbers[-1]))
        return draft

    def _rules(self, talk: Talk, options: GenerateOptions) -> PromptRules:
        """As in other chats, but that no private chat is told to another program, whatever the setting."""
        usual = self._prompts.rules(TurnPlan(options=options))
        return PromptRules(usual.window, usual.reply, usual.hits, usual.limits, host=usual.host, client=talk.client)

    def _numbers(self, ident: str, talk: Talk) -> list[int]:
        """The numbers of the talk's turns, the new one last; the same ones whenever the same was said before."""
        known = self._known.setdefault(ident, _Known())
        if len(known.numbers) > _MOST_TURNS:
            self._forget(ident)
            known = self._known.setdefault(ident, _Known())
        self._known.move_to_end(ident)
        while len(self._known) > _MOST:
            self._forget(next(iter(self._known)))
        return [known.numbers.setdefault(step, len(known.numbers) + 1) for step in _steps(talk)]

    def _forget(self, ident: str) -> None:
        self._known.pop(ident, None)
        self._receipts.forget(ident)

    # --- what memory no longer has -----------------------------------------------------------------------------------

    def _is_over(self, ident: str) -> bool:
        """Whether something that was told has left memory since: then all is told anew, and not even as gone."""
        row, known = self._receipts.row(ident), self._known.get(ident)
        if row is None or known is None:
            return False
        recalled = [line for n in known.numbers.values() for line in self._receipts.recalled_lines(ident, n)]
        lines = [line for line in (*row.lines, *recalled) if line.file]
        document = self._workspace.memory.document()
        texts = [*(entry.raw for entry in document.entries), *(line for _, line in document.fact_lines)]
        here = {line_id(MEMORY, text) for text in texts}
        if any(split_id(line.unit)[1] not in here for line in lines if line.file == MEMORY):
            return True
        if not all(self._is_said(line) for line in lines if line.why == "brief"):
            return True
        others = {line.unit for line in lines if line.file != MEMORY and line.why != "brief"}
        return self._recall.known(others) != others

    def _is_said(self, line: PromptLine) -> bool:
        """Whether a line about another chat still says what stands there, in a chat that may be told of."""
        ident, _, number = line.unit.partition("#")
        try:
            chat = self._workspace.chats.read(ident)
        except AssistantError:
            return False
        turn = chat.by_number.get(int(number))
        return turn is not None and not chat.private and line.text.endswith(brief_words(chat.title, turn.user))


def _steps(talk: Talk) -> list[bytes]:
    """For each turn a digest of all that was said up to its question."""
    steps: list[bytes] = []
    before, reply = talk.client, ""
    for said, answer in (*talk.turns, (talk.message, "")):
        step = json.dumps([before, reply, said]).encode()
        steps.append(hashlib.sha256(step).digest())
        before, reply = steps[-1].hex(), answer
    return steps
