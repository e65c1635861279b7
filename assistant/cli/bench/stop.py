"""How long Stop takes, while a prompt is read and while a reply is written, from the wish to the end of the turn."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import ChatEvent, Delta, Done, EngineSettings, GenerateOptions, Message, PromptRead, Role
from assistant.runtime.engine_client import WorkerEngine

_SENTENCES = 160  # about 5 000 tokens with the starter model
_ROOM = 1024  # tokens of the window beside them
_LATEST_SECONDS = 1.5
"""A stop comes at some moment up to this after the work began, anywhere in an operation of the library."""


def run(context: Context, size: int, runs: int) -> Report:
    """size: sentences in the prompt (0: 160). runs: stops of either kind. In ms."""
    model = context.services.model_service.chosen()
    settings = EngineSettings(window=(size or _SENTENCES) * 48 + _ROOM)
    engine = WorkerEngine()
    try:
        info = engine.load(model.path, settings, CancelToken(), lambda *_: None)
        reading = [_stop(engine, _prompt(size or _SENTENCES, n), _reads, n) for n in range(runs)]
        writing = [_stop(engine, _prompt(2, n), _writes, n) for n in range(runs)]
    finally:
        engine.close()
    figures: dict[str, float | int | str] = {
        "model": info.name,
        "stops": runs,
        "reading_ms": median(reading),
        "reading_max_ms": round(max(reading), 3),
        "writing_ms": median(writing),
        "writing_max_ms": round(max(writing), 3),
    }
    return Report(figures, {})


def _prompt(sentences: int, seed: int) -> list[Message]:
    facts = "\n".join(corpus.sentences(sentences, seed))
    return [Message(Role.USER, f"{facts}\nTell me a long story about these people.")]


def _reads(event: ChatEvent) -> bool:
    return isinstance(event, PromptRead)


def _writes(event: ChatEvent) -> bool:
    return isinstance(event, Delta)


def _stop(engine: WorkerEngine, messages: Sequence[Message], begins: Callable[[ChatEvent], bool], seed: int) -> float:
    """From the wish, some time after the first event that ``begins``, until the reply has ended with its text."""
    cancel, wished, text = CancelToken(), [0.0], ""

    def wish() -> None:
        wished[0] = time.perf_counter()
        cancel.cancel()

    timer = threading.Timer(random.Random(seed).uniform(0.05, _LATEST_SECONDS), wish)
    done: Done | None = None
    for event in engine.chat(messages, GenerateOptions(max_tokens=0, seed=seed), cancel):
        if begins(event) and timer.ident is None:
            timer.start()
        if isinstance(event, Delta):
            text += event.text
        elif isinstance(event, Done):
            done = event
    ended = time.perf_counter()
    timer.join()
    if done is None or done.text != text:
        raise AssistantError("bench.stop", "A stop lost some of the text.", "Please report it.")
    return max(0.0, ended - wished[0]) * 1000
