"""Stand-ins for logic tests: an engine that says what it is told to and counts words as tokens; a keyring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    ToolSpec,
)
from assistant.settings.secrets import SecretStore

Script = Callable[[Sequence[Message]], str | AssistantError]


class FakeEngine:
    """Implements core.ports.Engine. script: gives the reply to each call's messages, or the error it fails with.

    A token is a word or a CJK character; ``asked`` holds the messages of every call.
    """

    def __init__(self, script: Script | Sequence[str | AssistantError] = (), window: int = 4096) -> None:
        self._script = script if callable(script) else _in_turn(script)
        self.asked: list[list[Message]] = []
        self.window = window
        self.before_reply: Callable[[], None] = lambda: None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("fake", Path("fake.gguf"), "fake", "none", 1, self.window, self.window, "own")

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        return self.info

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        self.asked.append(list(messages))
        prompt = self.count_prompt(messages)
        yield PromptRead(prompt, prompt, 0)
        self.before_reply()
        answer = self._script(messages)
        said = ""
        for piece in () if isinstance(answer, AssistantError) else answer.splitlines(keepends=True):
            if cancel.cancelled:
                yield Done(StopReason.STOPPED, said, self.count([said])[0], prompt, 0, 1.0, 10.0)
                return
            said += piece
            yield Delta(piece)
        if isinstance(answer, AssistantError):
            raise answer
        yield Done(StopReason.END, said, self.count([said])[0], prompt, 0, 1.0, 10.0)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + sum("\u3400" <= c <= "\u9fff" for c in text) for text in texts]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        said = [m.text for m in messages] + [str(call.arguments) for m in messages for call in m.calls]
        return sum(self.count([text])[0] + 2 for text in [*said, *(t.description for t in tools)])

    def unload(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing runs."""


def _in_turn(answers: Sequence[str | AssistantError]) -> Script:
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
