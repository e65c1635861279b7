"""One model as lists show it: what it is called, which files it has, and why it cannot be used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.engine.gguf import GgufInfo, read_gguf_info

_PART = re.compile(r"-(\d{5})-of-(\d{5})$")
_MOST_PARTS = 1_000
_NO_NAME = ("model", "ggml-model", "model-q4_k_m")
"""File names that say nothing; their folder does (Jan names all files so)."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model. name: unique in its list; window_trained: tokens; problem: why it cannot be used, "" if it can.

    parameters: weights of all parts; languages: codes; template: whether the file has a chat template, tools: whether
    that can call tools; own: it lies in the app's own folder, where removing it deletes the file.
    """

    name: str
    path: Path
    size_bytes: int
    architecture: str = ""
    quantisation: str = ""
    window_trained: int = 0
    licence: str = ""
    problem: str = ""
    parameters: int = 0
    languages: tuple[str, ...] = ()
    template: bool = False
    tools: bool = False
    own: bool = False


def name_of(path: Path) -> str:
    """What a file is called: its name without ending and number, the folder's where the name says nothing."""
    stem = _PART.sub("", path.stem) if path.suffix.casefold() == ".gguf" else path.name[:19]
    return path.parent.name if stem.casefold() in _NO_NAME and path.parent.name else stem


def told_apart(files: Sequence[ModelFile]) -> Iterator[ModelFile]:
    """Files of one name are told apart by their folders, as many of them as it takes."""
    for depth in range(1, 8):
        count = Counter(file.name.casefold() for file in files)
        if not any(number > 1 for number in count.values()):
            break
        files = [_with_folder(file, depth) if count[file.name.casefold()] > 1 else file for file in files]
    yield from files


def _with_folder(file: ModelFile, depth: int) -> ModelFile:
    folder = next(iter(file.path.parts[-1 - depth : -depth]), "")
    return replace(file, name=f"{folder}/{file.name}") if folder else file


def check_usable(path: Path, info: GgufInfo) -> None:
    """Raises AssistantError for a sound file that cannot be chatted with: "model.part_missing", "model.unsupported"."""
    if missing := [part.name for part in parts_of(path, info) if not part.exists()]:
        raise AssistantError(
            "model.part_missing",
            f"{path.name} has {info.parts} parts and {missing[0]} is not there.",
            "Put all parts into one folder.",
        )
    if not info.vocabulary or not info.window_trained or info.encoder:
        raise AssistantError(
            "model.unsupported",
            f"{path.name} is no chat model ({info.architecture or 'unknown kind'}).",
            "Choose a model that can chat.",
        )


def parts_of(path: Path, info: GgufInfo) -> list[Path]:
    """All files of a model in parts, whether they are there or not; of another one the file itself."""
    if not 1 < info.parts <= _MOST_PARTS or not _PART.search(path.stem):
        return [path]
    stem = _PART.sub("", path.stem)
    return [path.with_name(f"{stem}-{n:05d}-of-{info.parts:05d}{path.suffix}") for n in range(1, info.parts + 1)]


def first_of(path: Path, info: GgufInfo) -> Path:
    """The first of a model's files that is there: the one that stands for all of them."""
    return next((part for part in parts_of(path, info) if part.exists()), path)


def is_told_by_first(path: Path) -> bool:
    """Whether a file that cannot be read is, by its name, a later part of a model whose first part is there."""
    first = path.with_name(_PART.sub(r"-00001-of-\2", path.stem) + path.suffix)
    return first != path and first.exists()


def with_parts(info: GgufInfo, path: Path, read: Callable[[Path], GgufInfo] = read_gguf_info) -> GgufInfo:
    """What the first file of a model says, with the sizes of all its files. Raises AssistantError as ``read`` does."""
    infos = [info, *map(read, parts_of(path, info)[1:])]
    return replace(
        info,
        size_bytes=sum(one.size_bytes for one in infos),
        parameters=sum(one.parameters for one in infos),
        repacked_bytes=sum(one.repacked_bytes for one in infos),
    )


def size_of(path: Path) -> int:
    """Bytes; 0 for a file that is not there."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0
