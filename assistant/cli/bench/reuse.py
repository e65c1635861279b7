"""What is not read twice: a restart with a long prompt, and a long chat that overflows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.core.cancel import CancelToken
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message, Role
from assistant.engine.snapshots import Place
from assistant.runtime.composition import Places, compose
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.prompts import TurnPlan
from assistant.runtime.services import Services

_ANY_SIZE = 10**12
_CHAT = "a long prompt"
_TURNS = 40
_REPLY = 40
_SENTENCES_A_TURN = 2
_WINDOW = 2048
"""With it forty such turns overflow three times with the starter model."""
_STANDING = 12
"""Tokens that the template writes around a message and a reply, above what is in them."""


def restart(path: Path, settings: EngineSettings, tokens: int = 2000) -> tuple[dict[str, float], dict[str, float]]:
    """Figures, and ``restart_speedup``: reading a prompt over its first token from a snapshot after a restart."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "snapshots", _ANY_SIZE)
        with _engine(path, settings, place) as engine:
            messages = _prompt(engine, tokens)
            done, read_ms = _first_token(engine, messages)
            began = time.perf_counter()
            engine.keep([_CHAT], CancelToken())
            keep_ms = (time.perf_counter() - began) * 1000
        with _engine(path, settings, place) as engine:
            again, restored_ms = _first_token(engine, messages)
    figures = {
        "restart_prompt_tokens": float(done.prompt_tokens),
        "restart_read_again": float(again.prompt_tokens - again.reused_tokens),
        "restart_read_ms": round(read_ms, 1),
        "restart_restored_ms": round(restored_ms, 1),
        "restart_keep_ms": round(keep_ms, 1),
    }
    return figures, {"restart_speedup": round(read_ms / restored_ms, 1)}


def long_chat(path: Path, settings: EngineSettings, turns: int = _TURNS) -> tuple[dict[str, float], dict[str, float]]:
    """Figures, and ``reread``: prompt tokens read over tokens that were ever new, in a chat that overflows.

    New is once every token of the fixed row as it was first taken, of each turn's message with what was recalled for
    it, and of each reply.
    """
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        services = compose(Places(base / "ws", base / "config", base / "state"), {})
        services.settings.update("model", window=_WINDOW, max_tokens=_REPLY)
        try:
            services.engine.load(path, replace(settings, window=_WINDOW), CancelToken(), lambda *_: None)
            return _talk(services, turns)
        finally:
            services.close()


def _talk(services: Services, turns: int) -> tuple[dict[str, float], dict[str, float]]:
    chat = services.new_chat("A long talk")
    texts = corpus.sentences(turns * _SENTENCES_A_TURN, 5000)
    plan = TurnPlan(options=GenerateOptions(max_tokens=_REPLY, temperature=0.7, seed=1))
    read = new = replies = overflows = cut_at = 0
    for number in range(turns):
        said = ". ".join(next(texts) for _ in range(_SENTENCES_A_TURN))
        outcome = services.turns.send_now(chat, f"{said}. What do you think?", CancelToken(), plan)
        done = outcome.done
        read += done.prompt_tokens - done.reused_tokens
        replies += done.tokens
        told = services.receipts.recalled_block(chat, number + 1)
        new += done.prompt_tokens if number == 0 else sum(services.engine.count([told, said])) + _STANDING
        row = services.receipts.row(chat)
        if row and row.cut_at != cut_at:
            overflows, cut_at = overflows + 1, row.cut_at
    figures = {
        "long_chat_overflows": float(overflows),
        "long_chat_read": float(read),
        "long_chat_new": float(new + replies),
        "long_chat_replies": float(replies),
    }
    return figures, {"reread": round(read / (new + replies), 3)}


@contextmanager
def _engine(path: Path, settings: EngineSettings, place: Place) -> Iterator[WorkerEngine]:
    engine = WorkerEngine(None)
    engine.keep_at(lambda: place)
    try:
        engine.load(path, settings, CancelToken(), lambda *_: None)
        yield engine
    finally:
        engine.close()


def _prompt(engine: WorkerEngine, tokens: int) -> list[Message]:
    """A prompt of about so many tokens."""
    facts: list[str] = []
    for sentence in corpus.sentences(tokens, 3000):
        facts.append(sentence)
        if len(facts) % 10 == 0 and sum(engine.count(["\n".join(facts)])) >= tokens - 60:
            break
    return [
        Message(Role.SYSTEM, "You are a kind assistant. What you know:\n" + "\n".join(facts)),
        Message(Role.USER, "Tell me a long story about these people."),
    ]


def _first_token(engine: WorkerEngine, messages: Sequence[Message]) -> tuple[Done, float]:
    """How it ended, and milliseconds to the first token at the window's end of the pipe."""
    options = GenerateOptions(max_tokens=2, temperature=0.0, repeat_penalty=1.0, conversation=_CHAT)
    began, first = time.perf_counter(), 0.0
    for event in engine.chat(messages, options, CancelToken()):
        if isinstance(event, Delta) and not first:
            first = time.perf_counter()
        if isinstance(event, Done):
            return event, (first - began) * 1000
    raise AssertionError("a chat ends with Done")
