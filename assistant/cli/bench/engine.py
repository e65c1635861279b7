"""The engine beside llama-cpp-python and a llama.cpp server: the same model, prompts and settings, in turn, medians."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from assistant.cli.bench import corpus, reuse
from assistant.cli.bench.figures import Report, median, resident_mb
from assistant.cli.bench.sides import SERVER, Ours, Raw, Run, Server, Setting, Side, our_side, raw_side, server_side
from assistant.cli.context import Context
from assistant.core.values import Message, Role
from assistant.engine.threads import ThreadPlan, plan_threads, usable_cores

_REPLY = 96  # tokens
_SHORT_REPLY = 24
_BUSY_REPLY = 32  # some policies take a second a token then
_PROMPT_SENTENCES = 24  # about 700 tokens with the starter model: persona, facts and a few turns
_GROWING_TURNS = 20
_LONG_CHAT_TURNS = 40
_RESTART_TOKENS = 2000
_BUSY_SECONDS = 900  # the busy process ends by itself, whatever happens to us

Figures = dict[str, float | int | str | list[str]]


def run(context: Context, size: int, runs: int) -> Report:
    """size: sentences in the prompt (0: 24). Each pair reads a prompt that nobody has in its cache.

    With fewer than 24 sentences everything else is shortened likewise, to see that it runs.
    """
    service = context.services.model_service
    model = service.chosen()
    settings = service.engine_settings(model)
    plan = plan_threads(settings, model.size_bytes, usable_cores())
    setting = Setting(model.path, settings, plan, size or _PROMPT_SENTENCES, runs)
    figures: Figures = {
        "model": model.name,
        "tuned": "yes" if context.services.tuning.of(model.name) else "no",
        "threads": f"{plan.decode} to decode, {plan.read} to read",
        "pairs": runs,
    }
    ratios: dict[str, float] = {}
    for part in (_quiet, _restart, _long_chat, _start, _busy):
        more, shares = part(setting)
        figures.update(more)
        ratios.update(shares)
    return Report(figures, ratios)


# --- quiet --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sides:
    """All that is compared, loaded at once: each waits, asleep, while another works."""

    ours: Ours
    raw: dict[str, Raw]
    server: Server | None
    speeds: dict[str, list[Run]] = field(default_factory=dict)

    def all(self) -> dict[str, Side]:
        sides: dict[str, Side] = {"ours": self.ours, **self.raw}
        return {**sides, "server": self.server} if self.server else sides

    def note(self, name: str, run: Run) -> None:
        self.speeds.setdefault(name, []).append(run)

    def rate(self, name: str) -> float:
        return median([run.tokens_per_s for run in self.speeds[name]])

    def first(self, name: str) -> float:
        return median([run.ttft_ms for run in self.speeds[name]])

    def ratio(self, other: str, of: Callable[[Run], float]) -> float:
        """The median over the rounds of ours over theirs."""
        return median(
            [of(mine) / of(theirs) for mine, theirs in zip(self.speeds["ours"], self.speeds[other], strict=True)]
        )


@contextmanager
def _sides(setting: Setting) -> Iterator[_Sides]:
    """raw: with our threads, with as many as there are cores, and as the library has it."""
    cores = max(1, usable_cores())
    same, all_cores = setting.plan, ThreadPlan(cores, cores, setting.plan.step)
    with ExitStack() as stack:
        ours = stack.enter_context(our_side(setting))
        raw = {"raw": stack.enter_context(raw_side(setting, same, setting.settings.wait))}
        if (same.decode, same.read) != (cores, cores):
            raw["raw_all_cores"] = stack.enter_context(raw_side(setting, all_cores))
        yield _Sides(ours, raw, stack.enter_context(server_side(setting)))


def _quiet(setting: Setting) -> tuple[Figures, dict[str, float]]:
    with _sides(setting) as sides:
        _round(sides, setting.sentences, 0, counted=False)
        memory, raw_memory = resident_mb(sides.ours.engine.pid), resident_mb(sides.raw["raw"].worker.pid)
        for seed in range(1, setting.runs + 1):
            _round(sides, setting.sentences, seed, counted=True)
        growing, growing_ratio = _growing_chat(sides, setting.sentences)
        with_others = resident_mb(sides.ours.engine.pid)
    best_raw, quickest_raw = max(sides.raw, key=sides.rate), min(sides.raw, key=sides.first)
    figures: Figures = {
        "best_raw": best_raw,
        **{f"{_prefix(name)}tokens_per_s": sides.rate(name) for name in sides.speeds},
        **{f"{_prefix(name)}first_token_ms": sides.first(name) for name in sides.speeds},
        **growing,
        "memory_mb": memory,
        "memory_with_other_conversations_mb": with_others,
        "raw_memory_mb": raw_memory,
        "server": "measured" if sides.server else f"not installed: pip install {SERVER}",
    }
    ratios = {
        "tokens_per_s": sides.ratio(best_raw, lambda run: run.tokens_per_s),
        "first_token": sides.ratio(quickest_raw, lambda run: run.ttft_ms),
        "next_turn_first_token": growing_ratio,
    }
    if sides.server:
        ratios["tokens_per_s_over_server"] = sides.ratio("server", lambda run: run.tokens_per_s)
    if raw_memory:
        ratios["memory"] = round(memory / raw_memory, 3)
    return figures, ratios


def _prefix(name: str) -> str:
    return "" if name == "ours" else f"{name}_"


def _round(sides: _Sides, sentences: int, seed: int, *, counted: bool) -> None:
    """The same new prompt for everybody, in an order that changes from round to round."""
    messages = _messages(sentences, seed)
    names = list(sides.all())
    turned = seed % len(names)
    for name in names[turned:] + names[:turned]:
        run = sides.all()[name].say(messages, _shortened(_REPLY, sentences))
        if counted:
            sides.note(name, run)


def _growing_chat(sides: _Sides, sentences: int) -> tuple[Figures, float]:
    """Milliseconds to the first token of turns 2 to 20 of one chat: ours, and what the library takes for what is new.

    Each goes on with its own replies. The second value is the median of ours over theirs.
    """
    ours, raw = _messages(sentences, 2000), _messages(sentences, 2000)
    pairs: list[tuple[float, float]] = []
    for turn in range(_shortened(_GROWING_TURNS, sentences)):
        if turn % 2:
            raw_run = sides.raw["raw"].say(raw, _SHORT_REPLY, fresh=False)
            run = sides.ours.say(ours, _SHORT_REPLY, fresh=False)
        else:
            run = sides.ours.say(ours, _SHORT_REPLY, fresh=False)
            raw_run = sides.raw["raw"].say(raw, _SHORT_REPLY, fresh=turn == 0)
        if turn:
            pairs.append((run.ttft_ms, raw_run.ttft_ms))
        question = Message(Role.USER, f"And what happened then, in part {turn + 2}? Tell me where they went, and why.")
        ours += [Message(Role.ASSISTANT, run.text), question]
        raw += [Message(Role.ASSISTANT, raw_run.text), question]
    figures: Figures = {
        "next_turn_first_token_ms": median([mine for mine, _ in pairs]),
        "raw_next_turn_first_token_ms": median([theirs for _, theirs in pairs]),
    }
    return figures, median([mine / theirs for mine, theirs in pairs])


def _messages(count: int, seed: int) -> list[Message]:
    facts = "\n".join(corpus.sentences(count, seed))
    return [
        Message(Role.SYSTEM, f"You are a kind assistant. What you know:\n{facts}"),
        Message(Role.USER, "Count from one to one hundred in words."),  # no model ends that early
    ]


def _shortened(count: int, sentences: int) -> int:
    return max(4, count * min(sentences, _PROMPT_SENTENCES) // _PROMPT_SENTENCES)


# --- what is not read twice, starting, and beside a busy core -----------------------------------------------------


def _restart(setting: Setting) -> tuple[Figures, dict[str, float]]:
    figures, ratios = reuse.restart(setting.path, setting.settings, _shortened(_RESTART_TOKENS, setting.sentences))
    return {**figures}, ratios


def _long_chat(setting: Setting) -> tuple[Figures, dict[str, float]]:
    figures, ratios = reuse.long_chat(setting.path, setting.settings, _shortened(_LONG_CHAT_TURNS, setting.sentences))
    return {**figures}, ratios


def _start(setting: Setting) -> tuple[Figures, dict[str, float]]:
    """From starting the worker to the first token of a short question; the file is in the system's cache."""
    question, times = [Message(Role.USER, "Hello!")], []
    for _ in range(setting.runs):
        began = time.perf_counter()
        with our_side(setting) as ours:
            loaded = time.perf_counter()
            run = ours.say(question, 2)
            times.append((loaded - began) * 1000 + run.ttft_ms)
    return {"start_to_first_token_ms": median(times)}, {}


def _busy(setting: Setting) -> tuple[Figures, dict[str, float]]:
    """Tokens a second beside one busy core: ours and by each of the library's policies; ours over the best of them."""
    cores, step = max(1, usable_cores()), setting.plan.step
    policies = {
        "1_thread": (ThreadPlan(1, 1, step), "library"),
        f"{cores}_threads": (ThreadPlan(cores, cores, step), "library"),
        f"{cores}_threads_passive": (ThreadPlan(cores, cores, step), "passive"),
    }
    messages = _messages(4, 4000)
    speeds: dict[str, list[float]] = {}
    with _busy_core(), ExitStack() as stack:
        sides: dict[str, Side] = {"busy_": stack.enter_context(our_side(setting))}
        for name, (plan, wait) in policies.items():
            sides[f"busy_raw_{name}_"] = stack.enter_context(raw_side(setting, plan, wait))
        for counted in range(setting.runs + 1):
            for name, side in sides.items():
                speed = side.say(messages, _shortened(_BUSY_REPLY, setting.sentences)).tokens_per_s
                speeds.setdefault(name, []).extend([speed] if counted else [])
    figures: Figures = {f"{name}tokens_per_s": median(values) for name, values in speeds.items()}
    best = max((name for name in speeds if "_raw_" in name), key=lambda name: median(speeds[name]))
    ratio = median([mine / theirs for mine, theirs in zip(speeds["busy_"], speeds[best], strict=True)])
    return figures, {"busy_tokens_per_s": ratio}


@contextmanager
def _busy_core() -> Iterator[None]:
    code = f"import time\nend = time.monotonic() + {_BUSY_SECONDS}\nwhile time.monotonic() < end: pass\n"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        try:
            yield
        finally:
            process.kill()
