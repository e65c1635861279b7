"""What prompts and replies run with: the settings, the loaded model, and the builder made of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from assistant.chat.prompt import PromptBuilder, PromptRules, Question, turns_in_window
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tokens import EstimatedTokens, TokenCounter
from assistant.core.ports import Engine
from assistant.core.values import GenerateOptions, Prompt
from assistant.recall.search import Recall
from assistant.runtime.engines import here_only, kept_here, tells_private
from assistant.runtime.models import is_asleep
from assistant.runtime.tool_calls import ToolCalls
from assistant.settings.schema import Settings
from assistant.workspace.budget import Limits, Loaded, load_memory
from assistant.workspace.chat_head import printable
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.entries import parse_memory
from assistant.workspace.redaction import redact
from assistant.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What the next turns run with. options None: those of the settings."""

    model: str = ""
    options: GenerateOptions | None = None
    memory: bool = True


DEFAULT_PLAN = TurnPlan()


class PromptService:
    """Cheap to ask at any time; what it answers follows the settings and the model as they are then."""

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        receipts: ReceiptStore,
        engine: Engine,
        settings: Callable[[], Settings],
        *,
        keeps: bool = True,
    ) -> None:
        """keeps: what is said may be written down; of temporary chats nothing is."""
        self._workspace = workspace
        self._recall = recall
        self._receipts = receipts
        self.engine = engine
        self._settings = settings
        self.tools = ToolCalls(workspace, recall, receipts, settings, keeps=keeps)

    def kept_here(self, private: bool) -> AbstractContextManager[None]:
        """For what is done for a chat; private: that chat is."""
        return kept_here(self.engine, self._settings(), private)

    def here_only(self) -> AbstractContextManager[None]:
        """For what no server is ever told."""
        return here_only(self.engine)

    @property
    def asks_server(self) -> bool:
        """Whether a server is in use: what is sent there, is sent because the person wants an answer."""
        return bool(self.engine.info and self.engine.info.host)

    @property
    def may_tell_private(self) -> bool:
        """Whether the engine in use may be told what is said in private chats."""
        return tells_private(self.engine, self._settings())

    def options(self) -> GenerateOptions:
        """How replies are sampled, by the settings."""
        m = self._settings().model
        thinking = m.thinking != "off"
        return GenerateOptions(
            m.max_tokens, m.temperature, m.top_p, m.top_k, m.min_p, m.repeat_penalty, thinking=thinking
        )

    def limits(self) -> Limits:
        """How much of memory goes into a prompt, by the settings."""
        memory = self._settings().memory
        return Limits(memory.fact_lines, memory.fact_bytes, memory.entries, memory.window_share)

    def rules(self, plan: TurnPlan = DEFAULT_PLAN, chat: str | None = None) -> PromptRules:
        """What the next prompt of a chat ("": of a new one) keeps to. None: of what can use no tools."""
        settings = self._settings()
        info = self.engine.info
        window = info.window if info else settings.model.window
        reply = (plan.options or self.options()).max_tokens
        private = settings.memory.private_recall == "on" and self.may_tell_private
        host = info.host if info else ""
        tools = self.tools.offered(chat, info, window) if plan.memory and chat is not None else ()
        hits = settings.memory.recall_hits
        return PromptRules(window, reply, hits, self.limits(), plan.memory, private, tools, host)

    def counter(self) -> TokenCounter:
        """The loaded model's own count, an estimate while there is none or it rests."""
        return self.engine if self.engine.info and not is_asleep(self.engine) else EstimatedTokens()

    def budget(self, text: str | None = None) -> Loaded:
        """What of MEMORY.md loads with the present settings and model. text: of it as if that were its text."""
        today = self._workspace.clock().date()
        document = self._workspace.memory.document() if text is None else parse_memory(text)
        return load_memory(document, self.limits(), today, self.counter().count, self.rules().window)

    def builder(self, plan: TurnPlan = DEFAULT_PLAN, chat: str | None = None) -> PromptBuilder:
        """chat: as for rules."""
        return PromptBuilder(self._workspace, self._recall, self._receipts, self.counter(), self.rules(plan, chat))

    def preview(self, chat: Chat, text: str, after: int | None = None, plan: TurnPlan = DEFAULT_PLAN) -> Prompt:
        """The exact prompt that ``text``, redacted as sending it does, would have as the chat's next turn.

        after: the turn it would follow, None for the newest, 0 for none.
        """
        said = redact(printable(text)).text
        with self.kept_here(chat.private):
            return self.builder(plan, chat.id).build(Question(chat, chat.branch(after), said, patient=True)).prompt

    def renew(self, chat: Chat, plan: TurnPlan = DEFAULT_PLAN) -> None:
        """Take the chat's fixed row as memory is now; its next turn is read from the start once."""
        self._receipts.add_row(chat.id, self.builder(plan, chat.id).renewed(Question(chat, chat.branch(), "")))

    def left(self, chat: Chat) -> Sequence[Turn]:
        """The turns of the newest branch that are out of the window."""
        branch = chat.branch()
        row = self._receipts.row(chat.id)
        if row is not None and row.cut_at:
            staying = turns_in_window(branch, row)
            return branch[: len(branch) - len(staying)]
        return self.builder(chat=chat.id).build(Question(chat, branch, "")).left

    def was_cut(self, chat: str) -> bool:
        """Whether turns of this chat have ever left the window; costs no look at the chat itself."""
        row = self._receipts.row(chat)
        return row is not None and row.cut_at > 0
