"""What the upper layers ask of an engine and of an embedder. Implementations are blocking and take a CancelToken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assistant.core.cancel import CancelToken
from assistant.core.values import ChatEvent, EngineSettings, GenerateOptions, Message, ModelInfo, Passage, ToolSpec

if TYPE_CHECKING:
    import numpy as np

Progress = Callable[[int, int, str], None]
"""done, total, what: called often, from any thread; total 0 means unknown."""


class Engine(Protocol):
    """A chat model, local or remote."""

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """Load a model file, replacing the one before. Raises AssistantError (``model.*``) and keeps the app usable."""
        ...

    @property
    def info(self) -> ModelInfo | None:
        """The loaded model, or None."""
        ...

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        """Stream one reply; the last event is always a Done. A cancelled token ends it with STOPPED, text kept.

        Raises AssistantError("engine.died") when the worker dies, ("engine.window") when the prompt does not fit.
        """
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text on its own, without template or special tokens."""
        ...

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of the messages after the chat template, with the tools on offer, ready for a reply."""
        ...

    def unload(self) -> None:
        """Give the model's memory back."""
        ...

    def close(self) -> None:
        """End the worker."""
        ...


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def identity(self) -> str:
        """Names the model and its weights; vectors of different identities never mix."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def query_map(self) -> np.ndarray | None:
        """float32 (dimensions, dimensions) that turns a question x towards what answers it: x + x @ map; see
        recall.questions. None where the model has none.
        """
        ...

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        """For queries: float32 array (len(texts), dimensions), rows of length 1. Long texts are cut at the limit."""
        ...

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """Of each passage a float32 array (windows, dimensions), rows of length 1, one row at least.

        Each window is the head and a stretch of the body, never longer than the model's limit in tokens.
        """
        ...

    def embed_pieces(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """Of each passage a float32 array (pieces, dimensions), rows of length 1: what it says sentence by sentence.

        None where a passage says one thing only; see recall.meaning.pieces.
        """
        ...
