"""Models as the command line shows them: tables for people, objects for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant.cli.tables import table
from assistant.core.events import DownloadStatus
from assistant.engine.memory_estimate import Fit
from assistant.engine.model_files import ModelFile
from assistant.runtime.model_facts import ModelFact, Offer

_FIT = {Fit.FITS: "fits", Fit.TIGHT: "tight", Fit.TOO_BIG: "too big", Fit.UNKNOWN: "?"}


def list_words(models: Sequence[ModelFile]) -> str:
    rows: list[tuple[str, ...]] = [("NAME", "SIZE", "WEIGHTS", "TYPE", "CONTEXT", "LANGUAGES", "LICENCE")]
    rows += [_row(model) for model in models]
    problems = [f"{m.name}: {m.problem}" for m in models if m.problem]
    return "\n".join([*(table(rows, right=frozenset({1, 2, 4})) if models else []), *problems])


def fit_words(facts: Sequence[ModelFact]) -> str:
    lines = []
    for fact in facts:
        if fact.memory is None:
            lines.append(f"{fact.file.name}: {fact.file.problem}")
            continue
        free = f"{size(fact.available)} are free" if fact.available is not None else "nobody says how much is free"
        most = f"; at most {fact.most_window:,} tokens fit" if fact.most_window else ""
        m = fact.memory
        lines.append(
            f"{fact.file.name}: {_FIT[fact.fit]}. With {m.window:,} tokens it needs {size(m.needed)}; {free}{most}.\n"
            f"  weights {size(m.weights)}, context {size(m.cache)}, work {size(m.work)}, program {size(m.base)}"
        )
    return "\n".join(lines)


def fit_value(fact: ModelFact) -> dict[str, Any]:
    """The fields of ``models fit``; bytes and tokens, null where nothing is known."""
    m = fact.memory
    numbers = {name: getattr(m, name) if m else None for name in ("window", "needed", "resident")}
    parts = {name: getattr(m, name) if m else None for name in ("weights", "repacked", "cache", "work", "base")}
    return {
        "name": fact.file.name,
        "fit": str(fact.fit),
        **numbers,
        **parts,
        "available": fact.available,
        "most_window": fact.most_window,
        "problem": fact.file.problem,
    }


def catalogue_words(offers: Sequence[Offer]) -> str:
    rows = [("NAME", "SIZE", "LANGUAGES", "TOOLS", "LICENCE", "MEMORY", "HERE")]
    for offer in offers:
        model, memory = offer.model, offer.memory
        more = f" +{model.more_languages}" if model.more_languages else ""
        weighs = ("" if model.size_bytes else "about ") + size(model.about_bytes)
        languages, tools = " ".join(model.languages) + more, "yes" if model.tools else "no"
        fits = f"{size(memory.needed)} {_FIT[offer.fit]}" if memory else ""
        here = "yes" if offer.here else _unfinished(offer)
        rows.append((model.name, weighs, languages, tools, model.licence, fits, here))
    return "\n".join(table(rows, right=frozenset({1})))


def offer_value(offer: Offer) -> dict[str, Any]:
    """The fields of ``models catalogue``; checked: against whose hash a download is checked."""
    model = offer.model
    return {
        "name": model.name,
        "title": model.title,
        "size_bytes": model.size_bytes,
        "about_bytes": model.about_bytes,
        "languages": model.languages,
        "more_languages": model.more_languages,
        "licence": model.licence,
        "parameters": model.parameters,
        "quantisation": model.quantisation,
        "window": model.window,
        "tools": model.tools,
        "repository": model.repository,
        "file": model.file,
        "sha256": model.sha256,
        "checked": "catalogue" if model.sha256 else "hub",
        "fit": str(offer.fit),
        "needed": offer.memory.needed if offer.memory else None,
        "available": offer.available,
        "here": offer.here,
        "arrived": offer.download.done if offer.download else 0,
    }


def size(number: int) -> str:
    """Bytes as people read them."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"


def _unfinished(offer: Offer) -> str:
    state = offer.download
    if state is None or state.status in (DownloadStatus.GONE, DownloadStatus.DONE) or not state.total:
        return ""
    return f"{100 * state.done // state.total} %"


def _row(model: ModelFile) -> tuple[str, ...]:
    kind = f"{model.architecture} {model.quantisation}".strip()
    window = f"{model.window_trained:,}" if model.window_trained else ""
    languages = " ".join(model.languages)
    return model.name, size(model.size_bytes), _count(model.parameters), kind, window, languages, model.licence


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.1f}B" if parameters >= 1e9 else f"{parameters / 1e6:.0f}M" if parameters else ""
