"""What is said of a model: facts in a line, its memory in a sentence, a download in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.core.events import DownloadChanged, DownloadStatus
from assistant.engine.memory_estimate import Fit, MemoryEstimate
from assistant.ui.bars import size_words
from assistant.ui.i18n import tr

if TYPE_CHECKING:
    from assistant.engine.catalogue import CatalogueModel
    from assistant.engine.model_files import ModelFile

FIT_ROLE = {Fit.FITS: "small", Fit.TIGHT: "smallamber", Fit.TOO_BIG: "smallred", Fit.UNKNOWN: "small"}
"""The look of the sentence about memory."""


def file_facts(file: ModelFile) -> str:
    """One line about a model that is here."""
    parts = [
        size_words(file.size_bytes),
        _weights(file.parameters),
        file.quantisation,
        _window(file.window_trained),
        file.licence,
        languages(file.languages, 0),
        tr("can use tools") if file.tools else "",
    ]
    return " · ".join(part for part in parts if part)


def offer_facts(model: CatalogueModel) -> str:
    """One line about a model that could be here."""
    size = size_words(model.about_bytes)
    parts = [
        size if model.size_bytes else tr("about {size}", size=size),
        _weights(model.parameters),
        _window(model.window),
        model.licence,
        languages(model.languages, model.more_languages),
        tr("can use tools") if model.tools else "",
    ]
    return " · ".join(part for part in parts if part)


def fit_words(fit: Fit, memory: MemoryEstimate | None, available: int | None) -> str:
    """Whether it fits, with the numbers; "" where nothing is known."""
    if memory is None:
        return ""
    numbers = {"needed": size_words(memory.needed), "tokens": f"{memory.window:,}"}
    if available is None:
        return tr("Needs {needed} of memory with {tokens} tokens of context.", **numbers)
    free = size_words(available)
    if fit is Fit.FITS:
        return tr(
            "Fits: needs {needed} of memory with {tokens} tokens of context, {free} are free.", free=free, **numbers
        )
    if fit is Fit.TIGHT:
        return tr(
            "Tight: needs {needed} of memory with {tokens} tokens of context, {free} are free.", free=free, **numbers
        )
    return tr(
        "Too big: needs {needed} of memory with {tokens} tokens of context, {free} are free.", free=free, **numbers
    )


def download_words(state: DownloadChanged) -> str:
    """How a download stands."""
    done, total = size_words(state.done), size_words(state.total)
    match state.status:
        case DownloadStatus.QUEUED:
            return tr("Waits for its turn")
        case DownloadStatus.WAITING:
            return tr("{host} does not answer just now; it is asked again in a moment", host=state.host)
        case DownloadStatus.CHECKING:
            return tr("Checking what arrived")
        case DownloadStatus.PAUSED:
            known = tr("Paused · {done} of {total}", done=done, total=total)
            return known if state.total else tr("Paused · {done}", done=done)
        case DownloadStatus.READING:
            words = tr("{done} from {host}", done=done, host=state.host)
            if state.total:
                words = tr("{done} of {total} from {host}", done=done, total=total, host=state.host)
            return " · ".join([words, *_speed(state)])
        case _:
            return ""


def _speed(state: DownloadChanged) -> list[str]:
    """How fast it goes, and how long it will take like this; nothing while that is not known."""
    if state.rate <= 0:
        return []
    speed = tr("{size} a second", size=size_words(round(state.rate)))
    return [speed, _time_left((state.total - state.done) / state.rate)] if state.total else [speed]


def _time_left(seconds: float) -> str:
    if seconds < 60:
        return tr("less than a minute left")
    if seconds < 90:
        return tr("about a minute left")
    if seconds < 5400:
        return tr("about {n} minutes left", n=round(seconds / 60))
    return tr("about {n} hours left", n=round(seconds / 3600))


def languages(codes: tuple[str, ...], more: int) -> str:
    """The languages by name, and how many besides."""
    known = {"en": tr("English"), "zh": tr("Chinese")}
    names = tr(", ").join(known.get(code, code) for code in codes[:4])
    more += max(0, len(codes) - 4)
    return tr("{names} and {n} more", names=names, n=more) if names and more else names


def _weights(parameters: int) -> str:
    if parameters >= 1_000_000_000:
        return tr("{n}B parameters", n=f"{parameters / 1e9:.1f}")
    return tr("{n}M parameters", n=f"{parameters / 1e6:.0f}") if parameters else ""


def _window(tokens: int) -> str:
    return tr("up to {tokens} tokens", tokens=f"{tokens:,}") if tokens else ""
