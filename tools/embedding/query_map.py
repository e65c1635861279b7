"""Learning where an embedding model's questions point, from pairs of facts and questions.

A question's vector x, less the middle of questions and of what they ask for, is turned to x + x @ map, so that it lies
nearer to facts that answer it than to others: a softmax over all facts at temperature 0.07, with weight decay that
keeps the map small, by Adam. The vectors of units stay as they are. Measured on three labelled sets that it never saw
(with words and all else in place): recall@5 0.870 -> 0.885, 0.897 -> 0.918, 0.663 -> 0.668; paraphrases gain most.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PAIRS = Path(__file__).parent / "pairs"
_TEMPERATURE = 0.07
_DECAY = 0.06
_EPOCHS = 25
_BATCH = 512
_RATE = 4e-3
_DROPPED = 0.2


@dataclass(frozen=True)
class Pair:
    """A fact as it would stand in memory or in a chat, and the questions that it answers."""

    fact: str
    said: bool
    questions: tuple[str, str]


def read_pairs(folder: Path = PAIRS) -> list[Pair]:
    """All pairs, in the order of the files' names."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [_pair(json.loads(line)) for line in lines]


def _pair(line: dict[str, str]) -> Pair:
    """A turn of a chat is embedded with its day in front, both messages, and what led to them (here nothing)."""
    said, _, reply = line["fact"].partition(" / ")
    fact = f"[2026-03-05] {said}\n{reply}\n()" if reply else line["fact"]
    return Pair(fact, bool(reply), (line["question"], line["other"]))


def learn(questions: np.ndarray, facts: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """float32 (dimensions, dimensions). questions: (n, dimensions), answers: (n,) rows of facts; rows of length 1."""
    chance = np.random.default_rng(0)
    size = facts.shape[1]
    weights, first, second = (np.zeros((size, size)) for _ in range(3))
    step = 0
    for _ in range(_EPOCHS):
        order = chance.permutation(len(questions))
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            kept = chance.random((len(some), size)) >= _DROPPED
            gradient = _gradient(weights, questions[some] * kept / (1 - _DROPPED), facts, answers[some])
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = _RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            weights -= rate * first / (np.sqrt(second) + 1e-8)
    return weights.astype(np.float32)


def _gradient(weights: np.ndarray, x: np.ndarray, facts: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Of the mean cross-entropy of the right facts, with decay, by the map."""
    turned = x + x @ weights
    length = np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9)
    unit = turned / length
    logits = unit @ facts.T / _TEMPERATURE
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    share[np.arange(len(answers)), answers] -= 1.0
    slope = share @ facts / (_TEMPERATURE * len(answers))
    slope -= unit * (slope * unit).sum(axis=1, keepdims=True)
    gradient: np.ndarray = x.T @ (slope / length) + 2 * _DECAY * weights
    return gradient


def build_query_map(embed: Callable[[Sequence[str]], np.ndarray], pairs: Sequence[Pair]) -> np.ndarray:
    """The map for a model. embed: float32 (texts, dimensions), rows of length 1, prefix and all."""
    from assistant.recall.meaning.questions import bank_texts, questions_from
    from assistant.recall.words.text import LANGUAGES, language

    bank = questions_from(embed(bank_texts()))
    facts = embed([pair.fact for pair in pairs])
    group = np.array([LANGUAGES.index(language(pair.fact)) + len(LANGUAGES) * pair.said for pair in pairs])
    middles = {one: facts[group == one].mean(axis=0) for one in np.unique(group)}
    whole = facts.mean(axis=0)
    facts = facts - np.array([middles[one] for one in group])
    texts = [text for pair in pairs for text in pair.questions]
    asked = embed(texts)
    for row, text in enumerate(texts):
        own = LANGUAGES.index(language(text))
        units = (middles.get(own, whole) + middles.get(own + len(LANGUAGES), whole)) / 2
        asked[row] -= (units + bank.centres[own]) / 2
    return learn(_unit(asked), _unit(facts), np.repeat(np.arange(len(pairs)), 2))


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit
