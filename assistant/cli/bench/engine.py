"""The engine beside llama-cpp-python: the same model, prompt, threads and settings, in turn, several pairs."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message, Role
from assistant.engine.threads import plan_threads, usable_cores, worker_environment
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.worker_process import WorkerProcess

_REPLY = 96  # tokens
_PROMPT_SENTENCES = 24  # about 700 tokens with the starter model: persona, facts and a few turns
_OPTIONS = GenerateOptions(max_tokens=_REPLY, temperature=0.0, repeat_penalty=1.0)


@dataclass(frozen=True, slots=True)
class _Run:
    ttft_ms: float
    tokens_per_s: float


def run(context: Context, size: int, runs: int) -> Report:
    """size: sentences in the prompt (0: 24). Each pair reads a prompt that neither has in its cache."""
    model = context.services.model_service.chosen()
    settings = EngineSettings(window=context.services.settings.load().model.window)
    engine = WorkerEngine(None)
    threads = plan_threads(settings, model.size_bytes, usable_cores())
    raw = WorkerProcess("assistant.cli.bench.raw_llama", env=worker_environment(os.environ))
    try:
        engine.load(model.path, settings, CancelToken(), lambda *_: None)
        raw.call("load", _raw_settings(model.path, settings, threads.decode, threads.read, threads.step), CancelToken())
        pairs = [_pair(engine, raw, size or _PROMPT_SENTENCES, seed) for seed in range(runs + 1)][1:]
        reuse = _second_turn(engine, size or _PROMPT_SENTENCES)
    finally:
        engine.close()
        raw.close()
    return _report(model.name, pairs, reuse)


def _raw_settings(path: Path, settings: EngineSettings, decode: int, read: int, step: int) -> dict[str, object]:
    return {"path": str(path), "window": settings.window, "batch": step, "threads": decode, "threads_batch": read}


def _messages(count: int, seed: int) -> list[Message]:
    facts = "\n".join(corpus.sentences(count, seed))
    return [
        Message(Role.SYSTEM, f"You are a kind assistant. What you know:\n{facts}"),
        Message(Role.USER, "Tell me a long story about these people."),
    ]


def _pair(engine: WorkerEngine, raw: WorkerProcess, count: int, seed: int) -> tuple[_Run, _Run]:
    """Ours and raw's, in an order that alternates."""
    messages = _messages(count, seed)
    if seed % 2:
        ours = _ours(engine, messages)
        return ours, _raws(raw, messages)
    raws = _raws(raw, messages)
    return _ours(engine, messages), raws


def _ours(engine: WorkerEngine, messages: Sequence[Message]) -> _Run:
    """Measured at the window's end of the pipe: what a person sees."""
    began = time.perf_counter()
    first = last = 0.0
    done: Done | None = None
    for event in engine.chat(messages, _OPTIONS, CancelToken()):
        if isinstance(event, Delta) and not first:
            first = time.perf_counter()
        if isinstance(event, Done):
            last, done = time.perf_counter(), event
    assert done is not None
    return _Run((first - began) * 1000, (done.tokens - 1) / (last - first))


def _raws(raw: WorkerProcess, messages: Sequence[Message]) -> _Run:
    given = [{"role": m.role.value, "content": m.text} for m in messages]
    tokens = raw.call("tokens", {"messages": given}, CancelToken())["tokens"]
    result = raw.call("generate", {"tokens": tokens, "max_tokens": _REPLY, "reset": True}, CancelToken())
    return _Run(result["ttft_ms"], result["tokens_per_s"])


def _second_turn(engine: WorkerEngine, count: int) -> tuple[Done, Done]:
    """Two turns of one chat: what the second reads anew."""
    messages = _messages(count, 1000)
    first = _done(engine, messages)
    messages += [Message(Role.ASSISTANT, first.text), Message(Role.USER, "And what happened then?")]
    return first, _done(engine, messages)


def _done(engine: WorkerEngine, messages: Sequence[Message]) -> Done:
    return next(event for event in engine.chat(messages, _OPTIONS, CancelToken()) if isinstance(event, Done))


def _report(model: str, pairs: Sequence[tuple[_Run, _Run]], reuse: tuple[Done, Done]) -> Report:
    first, second = reuse
    before = first.prompt_tokens + first.tokens
    figures: dict[str, float | int | str | list[str]] = {
        "model": model,
        "pairs": len(pairs),
        "tokens_per_s": median([o.tokens_per_s for o, _ in pairs]),
        "raw_tokens_per_s": median([r.tokens_per_s for _, r in pairs]),
        "first_token_ms": median([o.ttft_ms for o, _ in pairs]),
        "raw_first_token_ms": median([r.ttft_ms for _, r in pairs]),
        "second_turn_prompt_tokens": second.prompt_tokens,
        "second_turn_reused_tokens": second.reused_tokens,
        "second_turn_first_token_ms": round(second.ttft_ms, 1),
    }
    ratios = {
        "tokens_per_s": median([o.tokens_per_s / r.tokens_per_s for o, r in pairs]),
        "first_token": median([o.ttft_ms / r.ttft_ms for o, r in pairs]),
        "second_turn_reused": round(second.reused_tokens / before, 4),
    }
    return Report(figures, ratios)
