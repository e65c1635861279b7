"""The engine beside llama-cpp-python: the same model, prompt, threads and settings, in turn, several pairs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message, Role
from assistant.engine.threads import ThreadPlan, plan_threads, usable_cores, worker_environment
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.worker_process import WorkerProcess

_REPLY = 96  # tokens
_SHORT_REPLY = 24
_PROMPT_SENTENCES = 24  # about 700 tokens with the starter model: persona, facts and a few turns
_GROWING_TURNS = 6
_BUSY_SECONDS = 120  # the busy process ends by itself, whatever happens to us


def _greedy(tokens: int) -> GenerateOptions:
    return GenerateOptions(max_tokens=tokens, temperature=0.0, repeat_penalty=1.0)


@dataclass(frozen=True, slots=True)
class _Run:
    ttft_ms: float
    tokens_per_s: float
    text: str


@dataclass(frozen=True, slots=True)
class _Setting:
    """What both sides are measured with."""

    path: Path
    settings: EngineSettings
    plan: ThreadPlan
    sentences: int
    runs: int


def run(context: Context, size: int, runs: int) -> Report:
    """size: sentences in the prompt (0: 24). Each pair reads a prompt that neither has in its cache."""
    model = context.services.model_service.chosen()
    settings = EngineSettings(window=context.services.settings.load().model.window)
    plan = plan_threads(settings, model.size_bytes, usable_cores())
    setting = _Setting(model.path, settings, plan, size or _PROMPT_SENTENCES, runs)
    with _engine(setting) as engine, _raw(setting, plan, worker_environment(os.environ)) as raw:
        pairs = [_pair(engine, raw, setting.sentences, seed) for seed in range(runs + 1)][1:]
        next_turns = [_next_turn(engine, raw, setting.sentences, seed) for seed in range(runs + 1)][1:]
        growing = _growing_chat(engine, setting.sentences)
    busy, busy_ratio = _busy(setting)
    figures: dict[str, float | int | str | list[str]] = {
        "model": model.name,
        "threads": f"{plan.decode} to decode, {plan.read} to read",
        "pairs": len(pairs),
        "tokens_per_s": median([o.tokens_per_s for o, _ in pairs]),
        "raw_tokens_per_s": median([r.tokens_per_s for _, r in pairs]),
        "first_token_ms": median([o.ttft_ms for o, _ in pairs]),
        "raw_first_token_ms": median([r.ttft_ms for _, r in pairs]),
        "next_turn_first_token_ms": median([o for o, _ in next_turns]),
        "raw_next_turn_first_token_ms": median([r for _, r in next_turns]),
        **busy,
    }
    ratios = {
        "tokens_per_s": median([o.tokens_per_s / r.tokens_per_s for o, r in pairs]),
        "first_token": median([o.ttft_ms / r.ttft_ms for o, r in pairs]),
        "next_turn_first_token": median([o / r for o, r in next_turns]),
        **growing,
        "restart_speedup": _restart(setting),
        "busy_tokens_per_s": busy_ratio,
    }
    return Report(figures, ratios)


@contextmanager
def _engine(setting: _Setting) -> Iterator[WorkerEngine]:
    engine = WorkerEngine(None)
    try:
        engine.load(setting.path, setting.settings, CancelToken(), lambda *_: None)
        yield engine
    finally:
        engine.close()


@contextmanager
def _raw(setting: _Setting, plan: ThreadPlan, env: Mapping[str, str]) -> Iterator[WorkerProcess]:
    """The library in a process of its own, with these threads and this way of waiting."""
    raw = WorkerProcess("assistant.cli.bench.raw_llama", env=env)
    args = {
        "path": str(setting.path),
        "window": setting.settings.window,
        "batch": plan.step,
        "threads": plan.decode,
        "threads_batch": plan.read,
    }
    try:
        raw.call("load", args, CancelToken())
        yield raw
    finally:
        raw.close()


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


def _ours(engine: WorkerEngine, messages: Sequence[Message], reply: int = _REPLY) -> _Run:
    """Measured at the window's end of the pipe: what a person sees."""
    began = time.perf_counter()
    first = 0.0
    done: Done | None = None
    for event in engine.chat(messages, _greedy(reply), CancelToken()):
        if isinstance(event, Delta) and not first:
            first = time.perf_counter()
        if isinstance(event, Done):
            done = event
    last = time.perf_counter()
    assert done is not None
    return _Run((first - began) * 1000, (done.tokens - 1) / (last - first), done.text)


def _raws(raw: WorkerProcess, messages: Sequence[Message], reply: int = _REPLY, *, reset: bool = True) -> _Run:
    given = [{"role": m.role.value, "content": m.text} for m in messages]
    tokens = raw.call("tokens", {"messages": given}, CancelToken())["tokens"]
    result = raw.call("generate", {"tokens": tokens, "max_tokens": reply, "reset": reset}, CancelToken())
    return _Run(result["ttft_ms"], result["tokens_per_s"], result["text"])


def _next_turn(engine: WorkerEngine, raw: WorkerProcess, count: int, seed: int) -> tuple[float, float]:
    """Milliseconds to the first token of a chat's second turn, each after its own first one."""
    messages = _messages(count, 1000 + seed)
    question = Message(Role.USER, "And what happened then? Tell me where they went, and why.")

    def second(say: Callable[[Sequence[Message]], _Run]) -> float:
        said = say(messages).text
        return say([*messages, Message(Role.ASSISTANT, said), question]).ttft_ms

    def raw_says(asked: Sequence[Message]) -> _Run:
        return _raws(raw, asked, _SHORT_REPLY, reset=len(asked) == len(messages))

    return second(lambda asked: _ours(engine, asked, _SHORT_REPLY)), second(raw_says)


def _growing_chat(engine: WorkerEngine, count: int) -> dict[str, float]:
    """What a growing chat reads: against what was new, and how much of what was there before is reused."""
    messages = _messages(count, 2000)
    read = new = before = 0
    reused: list[float] = []
    for turn in range(_GROWING_TURNS):
        events = engine.chat(messages, _greedy(_SHORT_REPLY), CancelToken())
        done = next(event for event in events if isinstance(event, Done))
        read += done.prompt_tokens - done.reused_tokens
        new += done.prompt_tokens - before
        if before:
            reused.append(done.reused_tokens / before)
        before = done.prompt_tokens + done.tokens
        messages += [Message(Role.ASSISTANT, done.text), Message(Role.USER, f"Go on, part {turn + 2}, please.")]
    return {"reread": round(read / new, 3), "reused_before_new_message": round(min(reused), 4)}


def _restart(setting: _Setting) -> float:
    """Reading a prompt anew over the first token after the worker was started again with the same prompt."""
    messages = _messages(setting.sentences, 3000)
    with _engine(setting) as engine:
        fresh = _ours(engine, messages, 2).ttft_ms
    with _engine(setting) as engine:
        again = _ours(engine, messages, 2).ttft_ms
    return round(fresh / again, 3)


def _busy(setting: _Setting) -> tuple[dict[str, float], float]:
    """Tokens a second beside one busy core: ours and by each of the library's policies; ours over the best of them."""
    cores = max(1, usable_cores())
    step = setting.plan.step
    policies: dict[str, tuple[ThreadPlan, dict[str, str]]] = {
        "1_thread": (ThreadPlan(1, 1, step), {}),
        f"{cores}_threads": (ThreadPlan(cores, cores, step), {}),
        f"{cores}_threads_passive": (ThreadPlan(cores, cores, step), {"OMP_WAIT_POLICY": "passive"}),
    }
    messages = _messages(4, 4000)
    figures: dict[str, float] = {}
    with _busy_core():
        with _engine(setting) as engine:
            figures["busy_tokens_per_s"] = median([_ours(engine, messages).tokens_per_s for _ in range(setting.runs)])
        for name, (plan, env) in policies.items():
            with _raw(setting, plan, env) as raw:
                speeds = [_raws(raw, messages).tokens_per_s for _ in range(setting.runs)]
            figures[f"busy_raw_{name}_tokens_per_s"] = median(speeds)
    best = max(speed for name, speed in figures.items() if "_raw_" in name)
    return figures, round(figures["busy_tokens_per_s"] / best, 3)


@contextmanager
def _busy_core() -> Iterator[None]:
    code = f"import time\nend = time.monotonic() + {_BUSY_SECONDS}\nwhile time.monotonic() < end: pass\n"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        try:
            yield
        finally:
            process.kill()
