"""Measures a real model's use of tools: ``python -m tools.trials.tool_calls MODEL.gguf [--dev] [--alone]``.

Each line is said in a new chat of a workspace made for it, through the product's own services. Asked to remember, a
line counts when something is written to memory afterwards; ``--alone`` leaves that to the model, without the intents.
A question counts when the model calls memory_search or chats_search. That nothing else could answer it is made sure
of: recall into the prompt is off, the facts stand in notes and in chats older than what a prompt tells of, what an
intent looks up does not count, and the answer must not be in the prompt before. Sampling is the product's,
with a fixed seed; ``--replies`` lets the reply go on behind the calls and counts those that hold the answer.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter

from assistant.chat.obeying import NOTHING
from assistant.core.cancel import CancelToken
from assistant.core.clock import fixed_clock
from assistant.core.events import Event, ToolUsed
from assistant.core.values import EngineSettings, MadeCall, Receipt
from assistant.runtime.composition import Places, compose
from assistant.runtime.prompts import TurnPlan
from assistant.runtime.services import Services
from assistant.workspace.chat_store import ChatStore
from tools.trials.tool_lines import DEV, TEST, Asked, Fact, Lines

_SEARCHES = ("memory_search", "chats_search")
_TOKENS = 160  # a reply may have


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a GGUF file whose template can call tools")
    parser.add_argument("--dev", action="store_true", help="the lines that words may be tuned on")
    parser.add_argument("--alone", action="store_true", help="without the intents: what the model does by itself")
    parser.add_argument("--only", choices=("remember", "search"), help="one half of it")
    parser.add_argument("--replies", action="store_true", help="also count replies that hold the answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    lines = DEV if options.dev else TEST
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder, _services(Path(folder), lines) as services:
        services.settings.update("memory", recall_hits=0)
        settings = EngineSettings(window=4096, threads=options.threads, threads_batch=options.threads)
        info = services.engine.load(options.model, settings, CancelToken(), lambda _done, _total, _what: None)
        figures: dict[str, object] = {"model": info.name, "template_calls_tools": info.tools, "seed": options.seed}
        if options.only != "search":
            figures["written"] = _remember(services, lines.remember, options)
            figures["requests"] = len(lines.remember)
        if options.only != "remember":
            figures |= _search(services, lines.questions, options)
            figures["questions"] = len(lines.questions)
    figures["seconds"] = round(perf_counter() - began)
    print(json.dumps(figures, ensure_ascii=False))


@contextmanager
def _services(folder: Path, lines: Lines) -> Iterator[Services]:
    places = Places(folder / "workspace", folder / "config", folder / "state")
    services = compose(places, {}, recall_budget_ms=10_000)
    try:
        for fact in (question.fact for question in lines.questions):
            _place(services, fact)
        services.recall.sync(CancelToken(), lambda _done, _total, _what: None)
        yield services
    finally:
        services.close()


def _place(services: Services, fact: Fact) -> None:
    workspace = services.workspace
    if fact.file:
        workspace.memory.remember(fact.text, topic=fact.file)
        return
    clock = fixed_clock(workspace.clock() - timedelta(days=fact.days))
    chats = ChatStore(workspace.root, workspace.data, workspace.state, clock)
    chat = chats.create(fact.text[:24])
    turn = chats.begin_turn(chat, fact.text)
    chats.end_turn(chat, turn.n, fact.reply)


def _remember(services: Services, said: Sequence[str], options: argparse.Namespace) -> int:
    written = 0
    for line in said:
        before = services.workspace.memory.document()
        calls, reply, _ = _say(services, line, options, stop=("memory_write",))
        entries = [e for e in services.workspace.memory.document().entries if e not in before.entries]
        written += bool(entries) or any(call.outcome in ("written", "known") for call in calls)
        _show(bool(entries), line, calls, reply)
    return written


def _search(services: Services, questions: Sequence[Asked], options: argparse.Namespace) -> dict[str, object]:
    searched = found = answered = 0
    for asked in questions:
        prompt = services.preview("", asked.text)
        assert not any(asked.answer in block.text for block in prompt.blocks), asked.text
        assert prompt.mode == "off", "recall is on"
        calls, reply, _ = _say(services, asked.text, options, stop=() if options.replies else _SEARCHES)
        searches = [call for call in calls if call.name in _SEARCHES and not call.asked]
        searched += bool(searches)
        found += any(asked.answer in call.result for call in calls)
        answered += asked.answer in reply
        _show(bool(searches), asked.text, calls, reply)
    figures: dict[str, object] = {"searched": searched, "found": found}
    return {**figures, "answered": answered} if options.replies else figures


def _say(
    services: Services, text: str, options: argparse.Namespace, stop: Sequence[str]
) -> tuple[tuple[MadeCall, ...], str, Receipt]:
    """One turn in a new chat. stop: tools after whose first use the rest does not matter."""
    cancel = CancelToken()

    def watch(event: Event) -> None:
        if isinstance(event, ToolUsed) and event.call.name in stop:
            cancel.cancel()

    services.subscribe(watch)
    sampled = replace(services.prompts.options(), seed=options.seed, max_tokens=_TOKENS)
    runner = services.turns._runner
    if options.alone:
        runner._obey = lambda *_: NOTHING  # type: ignore[method-assign]
    outcome = services.turns.send_now(services.new_chat(), text, cancel, TurnPlan(options=sampled))
    return outcome.receipt.calls, outcome.done.text, outcome.receipt


def _show(right: bool, line: str, calls: Sequence[MadeCall], reply: str) -> None:
    used = "; ".join(
        f"{call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)} → {call.outcome}" for call in calls
    )
    print(
        f"{'ok  ' if right else 'MISS'} {line}\n       {used or '-'}\n       {' '.join(reply.split())[:150]}",
        flush=True,
    )


if __name__ == "__main__":
    main()
