"""Stand-ins for logic tests: an engine that says what it is told to and counts words as tokens; a keyring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Progress
from assistant.core.values import (
    ChatEvent,
    Delta,
    Done,
    EngineSettings,
    GenerateOptions,
    Message,
    ModelInfo,
    PromptRead,
    StopReason,
    ToolCall,
    ToolSpec,
)
from assistant.settings.secrets import SecretStore


@dataclass(frozen=True)
class Reply:
    """A scripted reply: what is said, what is thought before, and the tools that are asked for after it."""

    text: str
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()


def asks(name: str, *, said: str = "", **arguments: object) -> Reply:
    """A reply that asks for one tool."""
    return Reply(said, calls=(ToolCall(name, arguments),))


Answer = str | AssistantError | Reply
Script = Callable[[Sequence[Message]], Answer]


class FakeEngine:
    """Implements core.ports.Engine. script: gives the reply to each call's messages, or the error it fails with;
    a Reply also thinks and calls tools.

    A token is a word or a CJK character; ``asked`` holds the messages of every call, ``options`` what it asked for.
    tools: whether its template can call tools.
    """

    def __init__(self, script: Script | Sequence[Answer] = (), window: int = 4096, tools: bool = False) -> None:
        self._script = script if callable(script) else _in_turn(script)
        self.asked: list[list[Message]] = []
        self.options: list[GenerateOptions] = []
        self.tools = tools
        self.window = window
        self.before_reply: Callable[[], None] = lambda: None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            "fake", Path("fake.gguf"), "fake", "none", 1, self.window, self.window, "own", tools=self.tools
        )

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        return self.info

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        self.asked.append(list(messages))
        self.options.append(options)
        prompt = self.count_prompt(messages, options.tools)
        yield PromptRead(prompt, prompt, 0)
        self.before_reply()
        answer = self._script(messages)
        reply = answer if isinstance(answer, Reply) else Reply("" if isinstance(answer, AssistantError) else answer)
        if reply.thought:
            yield Delta(reply.thought, thought=True)
        said = ""
        for piece in reply.text.splitlines(keepends=True):
            if cancel.cancelled:
                yield Done(StopReason.STOPPED, said, self.count([said])[0], prompt, 0, 1.0, 10.0)
                return
            said += piece
            yield Delta(piece)
        if isinstance(answer, AssistantError):
            raise answer
        stop = StopReason.CALLS if reply.calls else StopReason.END
        yield Done(stop, said, self.count([said])[0], prompt, 0, 1.0, 10.0, reply.thought, reply.calls)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + sum("\u3400" <= c <= "\u9fff" for c in text) for text in texts]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        said = [m.text for m in messages] + [str(call.arguments) for m in messages for call in m.calls]
        return sum(self.count([text])[0] + 2 for text in [*said, *(t.description for t in tools)])

    def keep_at(self, place: Callable[[], object]) -> None:
        """Nothing is kept."""

    def keep(self, conversations: Sequence[str], cancel: CancelToken) -> None:
        """Nothing is kept."""

    def unload(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing runs."""


def _in_turn(answers: Sequence[Answer]) -> Script:
    waiting = list(answers)
    return lambda _messages: waiting.pop(0) if waiting else "Fine."


class Keyring(SecretStore):
    """A keyring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        return self.held.get(name)

    def set(self, name: str, secret: str) -> None:
        self.held[name] = secret

    def delete(self, name: str) -> bool:
        return self.held.pop(name, None) is not None
