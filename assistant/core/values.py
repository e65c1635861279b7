"""Frozen values that more than one layer speaks of. Validation happens where they enter the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal


class Role(StrEnum):
    """Who speaks in a message given to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call. parameters: the JSON schema of its arguments, an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool. arguments: as its schema wants them, a JSON object."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a chat template takes it.

    calls: what an assistant's message asks tools for; the messages of Role.TOOL that follow answer them in this order.
    """

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()


# --- engine -------------------------------------------------------------------------------------------------------


class StopReason(StrEnum):
    """Why a reply ended."""

    END = "end"  # the model said it was done
    LENGTH = "length"  # max_tokens reached
    WINDOW = "window"  # the context window is full; the text so far is kept
    STOPPED = "stopped"  # the person pressed Stop
    INTERRUPTED = "interrupted"  # the worker or the app died
    CALLS = "calls"  # the model asks for tools; see Done.calls


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How a model is loaded. window, batch: tokens. threads 0: chosen by the engine for this machine.

    flash_attention: "auto" (the library decides), "on" or "off". kv_type: the cache's type in GGML's words: "f16",
    "q8_0", "q4_0"; other than f16 only with flash attention. mmap: the file is mapped rather than copied; mlock: its
    pages stay in memory. wait: how threads wait for each other: "passive" (asleep), "active" (spinning), a number (they
    spin that often, then sleep), "library" (as it was built), "" for the policy of engine.threads; a worker takes it up
    when it starts. give_way: fewer threads while other programs need the cores. draft: at most so many tokens are
    guessed ahead from what was said before, 0: none; see engine.lookup.
    """

    window: int = 4096
    threads: int = 0
    threads_batch: int = 0
    batch: int = 512
    gpu_layers: int = 0
    seed: int | None = None
    flash_attention: str = "off"
    kv_type: str = "f16"
    mmap: bool = True
    mlock: bool = False
    wait: str = ""
    give_way: bool = True
    draft: int = 0


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How a reply is sampled; temperature 0 is greedy. max_tokens 0: until the window is full.

    tools: what the model may call, where its template can. conversation: names the conversation that the prompt
    continues, whose cache it may use and leave; "" for a prompt that stands alone, as a summary's, which must not cost
    any conversation its cache. thinking: whether the model may think first, where it can do without. must: names of the
    tools of which the reply has to begin with one, for an engine that can see to that.
    """

    max_tokens: int = 1024
    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.1
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    conversation: str = ""
    thinking: bool = True
    must: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model. window: tokens it runs with; window_trained: tokens it was trained for.

    host: the server that it runs on, "" where Keepsake runs it itself; here: that server is on this machine; private:
    it answers private chats, too.
    """

    name: str
    path: Path
    architecture: str
    quantisation: str
    size_bytes: int
    window: int
    window_trained: int
    template: str  # "own", or the name of the fall-back that stands in for a missing or broken one
    licence: str = ""
    tools: bool = False  # its template can call tools
    host: str = ""
    here: bool = False
    private: bool = True


@dataclass(frozen=True, slots=True)
class PromptRead:
    """Progress while the prompt is read, in tokens; ``reused`` of them were still in the cache."""

    read: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Delta:
    """New text of a reply; whole characters only. thought: of what the model thinks before it replies."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a reply. text: all of it; tokens: generated; times measured inside the worker.

    thought: what the model thought before, never sent to it again; thought_s: for how long, in seconds; calls: the
    tools that it asks for.
    """

    stop: StopReason
    text: str
    tokens: int
    prompt_tokens: int
    reused_tokens: int
    ttft_ms: float
    tokens_per_s: float
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    thought_s: float = 0.0


ChatEvent = PromptRead | Delta | Done


# --- recall -------------------------------------------------------------------------------------------------------

Scope = Literal["memory", "chats", "all"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to the memory.

    since, until: local days, both inclusive; units outside are left out. now: the asker's time (None: the clock).
    exclude: unit ids that must not come back (they are in the window already). asked: the unit that the question itself
    is by now; neither found nor counted, so that it is answered the same before and after it was written down. anyway:
    the nearest units are wanted also where none of them answers.
    """

    text: str
    limit: int = 10
    scope: Scope = "all"
    since: date | None = None
    until: date | None = None
    now: datetime | None = None
    exclude: frozenset[str] = frozenset()
    asked: str = ""
    anyway: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What is embedded of a unit: windows of the body, each with the head (and its separator) right in front."""

    head: str
    body: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A unit that answers a query. id: ``<file>:<short hash>`` or ``<chat id>#<n>``; line counts from 1.

    why: each factor of the score by name (keyword, meaning, recency, ...), and its place among what was found by words
    alone and by meaning alone (keyword_rank, meaning_rank; 1 is the first, absent where it was not found that way).
    private: it stands in a private chat. One that came along with another hit (see recall.along) has that one's score
    under "linked" or "neighbour", and no factors.
    """

    id: str
    file: str
    line: int
    kind: str  # "fact", "entry", "note", "archive", "turn"
    date: str  # ISO day, or "" where none is known
    title: str
    text: str
    score: float
    why: Mapping[str, float] = field(default_factory=dict)
    private: bool = False


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Hits best first. mode: "hybrid", "keyword" (no vectors yet, or now) or "time" (an empty query with a range).

    by_words: why it went by words alone, as in recall.modes; "" where it did not. unsure: nothing known answers; these
    are the nearest, which were wanted anyway.
    """

    hits: tuple[Hit, ...]
    abstained: bool
    took_ms: float
    mode: str
    by_words: str = ""
    unsure: bool = False


# --- prompt -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptLine:
    """One line of memory that stands in a prompt, where it comes from and why. file: relative to the workspace.

    keyword_rank, meaning_rank: as in a Hit, 0 where it was not found that way; private: from a private chat.
    """

    file: str
    line: int
    text: str
    why: str  # "pinned", "tail", "brief", "keyword", "meaning", "linked", "neighbour", "recent", "date", "tool"
    unit: str = ""  # the recall unit's id, where it is one
    tokens: int = 0
    score: float = 0.0
    keyword_rank: int = 0
    meaning_rank: int = 0
    private: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A line that did not load, and the rule that left it out. line 0: the whole file."""

    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the prompt. name: persona, facts, tail, brief, client, tools, history, recalled or message."""

    name: str
    role: Role
    text: str
    tokens: int
    lines: tuple[PromptLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact prompt of a turn. messages is what the template gets; tokens counts it after the template.

    mode: how memory was searched for it, as in RecallAnswer; "off" when it was not. tools: what the model may call.
    host: the server that it goes to, "" where it stays on this machine without one.
    """

    blocks: tuple[Block, ...]
    messages: tuple[Message, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    window: int
    mode: str = "off"
    tools: tuple[ToolSpec, ...] = ()
    host: str = ""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A tool that was used in a turn. asked: not the model called it, the person's own words asked for it; of these one
    may be "forget", which only asks: its detail names what was found, "" where its words alone find it.

    outcome: "found", "nothing", "written", "known", "waits", "refused" or "failed". detail: where (``MEMORY.md:12``,
    several parted by "; "), or in words why not. result: what the model read of it, byte for byte; "" where that stands
    in the recalled block. lines: what the result tells. said: what the model wrote in front of the call; step: which of
    the turn's messages it was in, from 1. journal: what undo takes, "" where there is nothing to take back.
    """

    name: str
    arguments: Mapping[str, Any]
    outcome: str
    detail: str = ""
    result: str = ""
    lines: tuple[PromptLine, ...] = ()
    said: str = ""
    step: int = 1
    journal: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was told to the model for one turn, kept for ever.

    lines: injected and recalled ones, as they were then, and behind them those that tools found (why: "tool").
    host: the server that all of it went to, "" where the model ran on this machine without one.
    """

    chat: str
    turn: int
    model: str
    lines: tuple[PromptLine, ...]
    left_out: tuple[LeftOut, ...]
    prompt_tokens: int
    reused_tokens: int
    recall_mode: str
    recalled_block: str = ""  # the text that stood before the message, byte for byte
    calls: tuple[MadeCall, ...] = ()
    host: str = ""
