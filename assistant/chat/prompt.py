"""Assembling the exact prompt of a turn, so that what was read before stays valid.

    [persona][facts][tail][brief]                                    fixed for the chat, one system message
    [turn 1][recalled block + turn 2] ... [recalled block + new message]       only appended to

When it no longer fits, the oldest turns leave in one step down to half of the window and the fixed row is renewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assistant.chat.never import NEVER_HERE, Never, is_stale
from assistant.chat.private import HiddenChats
from assistant.chat.prompt_blocks import blocks_of
from assistant.chat.recalled import (
    EMPTY,
    RecalledBlock,
    block_text,
    memory_changes,
    new_day,
    recalled_block,
    relevant,
)
from assistant.chat.receipts import ReceiptStore
from assistant.chat.row import FixedRow, take_row
from assistant.chat.texts import text
from assistant.chat.tokens import TokenCounter, too_long
from assistant.chat.tool_results import messages_of, said_before
from assistant.core.values import Hit, LeftOut, Message, Prompt, PromptLine, RecallQuery, Role, ToolSpec
from assistant.recall.search import Recall
from assistant.workspace.budget import Limits
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.forgetting import FORGOTTEN
from assistant.workspace.layout import MEMORY
from assistant.workspace.workspace import Workspace

_RECALL_SHARE = 8  # at most an eighth of the window for one turn's recalled block
_REPLY_SHARE = 4  # at least a quarter of the window stays free for the reply, unless replies are set shorter
_PATIENCE_MS = 600.0
_HIDDEN = 20  # hits looked for beyond the wanted ones where some are never to be told
_MESSAGE_TOKENS = 8  # role marks of the usual chat templates; the final count is the template's own


@dataclass(frozen=True, slots=True)
class PromptRules:
    """window, reply: tokens; hits: recalled lines a turn; memory False: neither injected nor recalled.

    private: what was said in private chats may be told in others. host: the server that gets it, "" for none. tools:
    what the model may call. client: as in take_row.
    """

    window: int
    reply: int
    hits: int = 6
    limits: Limits = field(default_factory=Limits)
    memory: bool = True
    private: bool = False
    tools: tuple[ToolSpec, ...] = ()
    host: str = ""
    client: str = ""

    @property
    def room(self) -> int:
        """Tokens that a prompt may have."""
        return self.window - min(self.reply or self.window, self.window // _REPLY_SHARE)


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt and what must be kept with it. new_row: the fixed row was taken (or renewed) for this turn.

    left: turns that are on this branch but no longer in the window, oldest first. seen: units of those that are.
    """

    prompt: Prompt
    row: FixedRow
    new_row: bool
    recalled: RecalledBlock
    mode: str
    left: tuple[Turn, ...]
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """message, said after ``branch`` in ``chat``. turn: its own number where it is saved already, else 0.

    hits, notes: what was found for it, or is to be said of it, before: told first.
    patient: nobody waits for an answer, so the search may wait for the message's meaning, which is remembered then.
    """

    chat: Chat
    branch: Sequence[Turn]
    message: str
    turn: int = 0
    patient: bool = False
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()


class PromptBuilder:
    """Builds prompts from the workspace, the recall index and the receipts of earlier turns; cheap to make."""

    def __init__(
        self, workspace: Workspace, recall: Recall, receipts: ReceiptStore, counter: TokenCounter, rules: PromptRules
    ) -> None:
        self._workspace = workspace
        self._recall = recall
        self._receipts = receipts
        self._counter = counter
        self._rules = rules
        self._hidden = HiddenChats(workspace.chats.is_private if not rules.private else lambda _: False)

    @property
    def reads_memory(self) -> bool:
        """Whether memory may be told to the model."""
        return self._rules.memory

    @property
    def tells_private(self) -> bool:
        """Whether what was said in private chats may be told."""
        return self._rules.private

    def build(self, question: Question) -> Draft:
        """The prompt of a turn. Raises AssistantError("prompt.too_long") when the message alone does not fit."""
        draft = self._fitting(question)
        return replace(draft, prompt=replace(draft.prompt, host=self._rules.host))

    def _fitting(self, question: Question) -> Draft:
        self._check_length(question.message)
        row, is_new = self._row(question)
        draft = self._assemble(question, row, self._rules.hits)
        if draft.prompt.tokens <= self._rules.room:
            return replace(draft, new_row=is_new)
        return self._cut(question, draft.row)

    def _check_length(self, message: str) -> None:
        """Megabytes are counted once and not with every prompt that is tried: each time takes seconds."""
        if len(message) > self._rules.room and (tokens := self._counter.count([message])[0]) > self._rules.room:
            raise too_long(tokens, self._rules.room)

    def renewed(self, question: Question) -> FixedRow:
        """The chat's row as it would be taken now, with the history cut where it is cut."""
        new, row = self._take(question), self._receipts.row(question.chat.id)
        return replace(new, start=row.start, bare=row.bare, cut_at=row.cut_at) if row else new

    def _row(self, question: Question) -> tuple[FixedRow, bool]:
        """The chat's row, and whether it is a new one: the first, or one without what must not be told any more."""
        row = self._receipts.row(question.chat.id)
        if row is None:
            return self._take(question), True
        if row.stale:
            return self.renewed(question), True
        kept = self._hidden.row(row, question.chat.id, self._counter)
        if not is_stale(row.lines, row.without, self._receipts.never(question.chat.id)):
            return kept, kept is not row
        new = self.renewed(question)
        changed = (new.system_text, new.without) != (row.system_text, row.without)
        return (new, True) if changed else (kept, kept is not row)

    def _take(self, question: Question) -> FixedRow:
        rules = self._rules
        return take_row(
            self._workspace,
            self._counter,
            rules.limits,
            rules.window,
            question.chat.id,
            with_memory=rules.memory,
            never=self._receipts.never(question.chat.id),
            client=rules.client,
        )

    def _cut(self, question: Question, row: FixedRow) -> Draft:
        """Renew the row and let the oldest turns leave until the prompt takes at most half of the window."""
        branch, rules = question.branch, self._rules
        last = branch[-1].n if branch else 0
        staying = turns_in_window(branch, row)
        row = replace(self._take(question), bare=last, cut_at=last)
        staying = _newest_that_fit(staying, row, question.message, rules, self._counter)
        row = replace(row, start=staying[0].n if staying else last + 1)
        draft = self._assemble(question, row, rules.hits)
        if draft.prompt.tokens > rules.room:
            draft = self._assemble(question, replace(row, start=last + 1), 0)
        if draft.prompt.tokens > rules.room:
            raise too_long(draft.prompt.tokens, rules.room)
        return replace(draft, new_row=True)

    def _assemble(self, question: Question, row: FixedRow, hits: int) -> Draft:
        chat, branch, message = question.chat, question.branch, question.message
        staying = turns_in_window(branch, row)
        recalled, mode = self._recalled(question, staying, row, hits)
        history = [(t, self._before(chat.id, t, row) + t.user, *self._after(chat.id, t, row)) for t in staying]
        tools, words = self._rules.tools, text("tools") if self._rules.tools else ""
        messages = [Message(Role.SYSTEM, f"{row.system_text}\n\n{words}" if words else row.system_text)]
        for _, said, called, reply in history:
            messages += [Message(Role.USER, said)] if said else []
            messages += [*called, Message(Role.ASSISTANT, reply)] if reply else []
        messages.append(Message(Role.USER, recalled.text + message))
        tokens = self._counter.count_prompt(messages, tools)
        blocks = blocks_of(row, tools, words, history, recalled, message, self._counter)
        left_out = row.left_out + recalled.left_out
        prompt = Prompt(blocks, tuple(messages), left_out, tokens, self._rules.window, mode, tools)
        left = tuple(branch[: len(branch) - len(staying)])
        seen = frozenset(f"{chat.id}#{t.n}" for t in staying)
        return Draft(prompt, row, False, recalled, mode, left, seen)

    def _before(self, chat: str, turn: Turn, row: FixedRow) -> str:
        """The block that stands with a turn, as it was told then, but for what is not to be told here any more."""
        if turn.n <= row.bare or not self._rules.memory:
            return ""
        block, lines = self._receipts.recalled_block(chat, turn.n), self._receipts.recalled_lines(chat, turn.n)
        never = self._receipts.never(chat)
        kept = [line for line in lines if not never.holds(line.unit) and line.text != FORGOTTEN]
        return self._hidden.block(block if len(kept) == len(lines) else block_text(kept), kept, chat)

    def _after(self, chat: str, turn: Turn, row: FixedRow) -> tuple[list[Message], str]:
        """The tools that the model used in a turn, as it read them, and its reply behind them.

        They leave the window before the turn does, and go where the model cannot call any.
        """
        calls = self._receipts.calls(chat, turn.n) if self._rules.tools and turn.n > row.bare else ()
        reply = turn.reply or ""
        before = said_before(calls)
        if not calls or not reply.startswith(before):
            return [], reply
        never = self._receipts.never(chat)
        kept = [self._hidden.call(call, never, chat) for call in calls]
        return messages_of(kept), reply.removeprefix(before)

    def _recalled(
        self, question: Question, staying: Sequence[Turn], row: FixedRow, hits: int
    ) -> tuple[RecalledBlock, str]:
        if not self._rules.memory:
            return EMPTY, "off"
        chat = question.chat.id
        told = {line.unit for line in row.memory_lines}
        told |= {f"{chat}#{t.n}" for t in staying} | {f"{chat}#{question.turn}"}
        never = self._receipts.never(chat)
        recalled = self._receipts.recalled_units(chat, {t.n for t in staying if t.n > row.bare})
        told |= {unit for unit in recalled if not never.holds(unit)}
        memory, today = self._workspace.memory, self._workspace.clock().date()
        changes = new_day(row, today, frozenset(told))
        document, _, _ = never.parted(memory.document())
        changes += memory_changes(row, document, memory.read(MEMORY).sha256, frozenset(told), today)
        changes = [line for line in changes if not never.holds(line.unit)]
        told |= {line.unit for line in changes}
        changes += [PromptLine("", 0, note, "tool") for note in question.notes]
        query = RecallQuery(question.message, hits, exclude=frozenset(told), asked=f"{chat}#{question.turn}")
        found, hidden, mode = self._found(query, never, _PATIENCE_MS if question.patient else None)
        share = self._rules.window // _RECALL_SHARE
        if question.hits and hits:
            first = [hit for hit in question.hits if hit.id not in told]
            known = {hit.id for hit in first}
            found = [*first, *(hit for hit in found if hit.id not in known)]
        block = recalled_block(question.message, found, changes, self._counter, share)
        left_out = tuple(left for left in hidden if left not in row.left_out)
        return replace(block, left_out=block.left_out + left_out), mode

    def _found(
        self, query: RecallQuery, never: Never, budget_ms: float | None
    ) -> tuple[list[Hit], tuple[LeftOut, ...], str]:
        """The hits worth telling, those that would be but are never to be told here, and how was searched."""
        if query.limit <= 0 or not query.text.strip():
            return [], (), "off"
        more = min(len(never.units), _HIDDEN)
        answer = self._recall.search(replace(query, limit=query.limit + more), budget_ms)
        may_tell = [hit for hit in answer.hits if self._rules.private or not hit.private]
        shown = [hit for hit in may_tell if not never.hides(hit)][: query.limit]
        hidden = [hit for hit in relevant(may_tell, query.text) if never.hides(hit)] if never else []
        left_out = tuple(LeftOut(hit.file, hit.line, NEVER_HERE) for hit in hidden)
        return relevant(shown, query.text), left_out, answer.mode


def turns_in_window(branch: Sequence[Turn], row: FixedRow) -> list[Turn]:
    """The turns of the branch that the next prompt carries."""
    if row.cut_at and any(t.n == row.cut_at for t in branch):
        return [t for t in branch if t.n >= row.start]
    return list(branch)


def _newest_that_fit(
    turns: Sequence[Turn], row: FixedRow, message: str, rules: PromptRules, counter: TokenCounter
) -> list[Turn]:
    """Those with which the prompt takes at most half of the window."""
    room = rules.window // 2
    fixed = counter.count_prompt([Message(Role.SYSTEM, row.system_text), Message(Role.USER, message)], rules.tools)
    sizes = counter.count([f"{t.user}\n{t.reply or ''}" for t in turns])
    staying: list[Turn] = []
    for turn, size in zip(reversed(turns), reversed(sizes), strict=True):
        fixed += size + 2 * _MESSAGE_TOKENS
        if fixed > room:
            break
        staying.insert(0, turn)
    return staying
