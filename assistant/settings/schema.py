"""The settings as frozen values: their defaults, their ranges, and how a document becomes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class _Number:
    """Accepts a finite number from low to high, both included; whole unless ``fraction``."""

    low: float
    high: float
    fraction: bool = False

    @property
    def words(self) -> str:
        return f"a {'number' if self.fraction else 'whole number'} from {self.low:g} to {self.high:g}"

    def accept(self, value: object) -> int | float | None:
        """The value as it is used, None when it does not fit."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if isinstance(value, float) and not (self.fraction and math.isfinite(value)):
            return None
        if not self.low <= value <= self.high:
            return None
        return float(value) if self.fraction else value


@dataclass(frozen=True, slots=True)
class _Text:
    """Accepts text: one of ``choices`` where there are any."""

    choices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return "one of " + ", ".join(f'"{choice}"' for choice in self.choices) if self.choices else "text"

    def accept(self, value: object) -> str | None:
        """The value as it is used, None when it does not fit."""
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            return None
        return str(value)


def _whole(default: int, low: int, high: int) -> Any:
    return field(default=default, metadata={"rule": _Number(low, high)})


def _share(default: float, low: float, high: float) -> Any:
    return field(default=default, metadata={"rule": _Number(low, high, fraction=True)})


def _text(default: str = "", *choices: str) -> Any:
    return field(default=default, metadata={"rule": _Text(choices)})


@dataclass(frozen=True, slots=True)
class GeneralSettings:
    """language: empty for the system's, else a code like "en" or "zh". workspace: a folder, empty for ~/Keepsake."""

    language: str = _text("")
    theme: str = _text("system", "system", "light", "dark")
    workspace: str = _text("")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The chat model and how it samples. engine: "local" runs it here, "remote" asks the server of RemoteSettings.

    name: of a file in the models folder, empty for the first one there. window, max_tokens: tokens (max_tokens 0:
    until the window is full). threads 0: chosen for this machine. snapshot_mb: megabytes of disk for what the model has
    read, so that it is not read again after a restart (0: none). idle_minutes: until a model that is not used gives its
    memory back; 0: never. flash_attention "auto", gpu_layers -1: as measured for the model (`keepsake models tune`), or
    else off and none. kv_type: precision of the context's cache; "q8_0" takes half the memory of "f16". memory_lock
    "on": the system may not swap the model out. thinking: "auto": the model may think before it replies; "off": not,
    where it can do without. tools: "auto": a model that can call tools may look into memory and chats and note things
    by itself; "off": it is told of none. The sampling defaults are those of core.values.GenerateOptions.
    """

    engine: str = _text("local", "local", "remote")
    name: str = _text("")
    window: int = _whole(4096, 256, 1_048_576)
    threads: int = _whole(0, 0, 256)
    idle_minutes: int = _whole(30, 0, 1440)
    flash_attention: str = _text("auto", "auto", "on", "off")
    kv_type: str = _text("f16", "f16", "q8_0")
    gpu_layers: int = _whole(-1, -1, 999)
    memory_lock: str = _text("off", "off", "on")
    max_tokens: int = _whole(1024, 0, 1_048_576)
    temperature: float = _share(0.7, 0, 5)
    top_p: float = _share(0.95, 0, 1)
    top_k: int = _whole(40, 0, 100_000)
    min_p: float = _share(0.05, 0, 1)
    repeat_penalty: float = _share(1.1, 0.1, 10)
    snapshot_mb: int = _whole(2_000, 0, 1_000_000)
    thinking: str = _text("auto", "auto", "off")
    tools: str = _text("auto", "auto", "off")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """How much of memory goes into a prompt.

    fact_lines, fact_bytes: whichever is reached first. entries: the newest so many. window_share: the part of the
    context window that facts and entries may take together. recall_hits: at most so many lines are recalled a turn.
    writes: "show": what the assistant wants to remember is written and shown; "ask": it waits for the person's yes.
    private_recall: "on" lets other chats, and the search, find what was said in private ones. tidy: "nightly" lets
    memory be tidied up once a day in a quiet moment.
    """

    fact_lines: int = _whole(200, 0, 100_000)
    fact_bytes: int = _whole(24_000, 0, 10_000_000)
    entries: int = _whole(10, 0, 10_000)
    window_share: float = _share(0.25, 0, 0.9)
    recall_hits: int = _whole(6, 0, 100)
    writes: str = _text("show", "show", "ask")
    private_recall: str = _text("off", "off", "on")
    tidy: str = _text("off", "off", "nightly")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """model: a folder's name or path, empty for the one that comes along. idle_minutes: until its process retires."""

    model: str = _text("")
    idle_minutes: int = _whole(10, 1, 1440)


@dataclass(frozen=True, slots=True)
class DownloadSettings:
    """host: where models are fetched from when the person asks for one, or a mirror of it. proxy: an address, "none",
    or empty for the system's.
    """

    host: str = _text("https://huggingface.co")
    proxy: str = _text("")


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A server of the person's own, used while model.engine is "remote".

    url: as it was typed; model: empty for the server's first; window: tokens, 0 for what the server says. private: "on"
    lets private chats, and what was said in them, go there, too. agreed: the origin that the person said yes to; no
    other one is sent anything. key_for: the origin whose key is in the system's keyring, empty for none.
    """

    url: str = _text("")
    model: str = _text("")
    window: int = _whole(0, 0, 1_048_576)
    private: str = _text("off", "off", "on")
    agreed: str = _text("")
    key_for: str = _text("")


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """git: "on" keeps a git repository of the workspace, a commit a change."""

    git: str = _text("off", "off", "on")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a person can set; each section is a table of settings.toml."""

    general: GeneralSettings = GeneralSettings()
    model: ModelSettings = ModelSettings()
    memory: MemorySettings = MemorySettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    history: HistorySettings = HistorySettings()
    downloads: DownloadSettings = DownloadSettings()
    remote: RemoteSettings = RemoteSettings()


SECTIONS: tuple[str, ...] = tuple(section.name for section in fields(Settings))


def from_document(document: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a parsed TOML document, and in words what of it could not be used.

    A value that does not fit counts as its default. What the schema does not know is left alone: another version
    may know it.
    """
    settings, problems = Settings(), []
    for name in SECTIONS:
        table = document.get(name, {})
        if not isinstance(table, Mapping):
            problems.append(f'"{name}" must be a section with settings in it; its defaults are used.')
            continue
        section = getattr(settings, name)
        good: dict[str, Any] = {}
        for key in (known.name for known in fields(section)):
            if key not in table:
                continue
            value, problem = check(name, key, table[key])
            if problem:
                problems.append(f"{problem} {_shown(getattr(section, key))} is used.")
            else:
                good[key] = value
        settings = replace(settings, **{name: replace(section, **good)})
    return settings, tuple(problems)


def check(section: str, key: str, value: object) -> tuple[Any, str]:
    """The value as the settings hold it and "", or None and a sentence that says what would fit.

    Raises KeyError for a section or key that the schema does not have.
    """
    rule = _rules(section)[key]
    accepted = rule.accept(value)
    if accepted is None:
        return None, f"{section}.{key} is {_shown(value)} but must be {rule.words}."
    return accepted, ""


def _rules(section: str) -> dict[str, _Number | _Text]:
    if section not in SECTIONS:
        raise KeyError(section)
    return {known.name: known.metadata["rule"] for known in fields(getattr(Settings(), section))}


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
