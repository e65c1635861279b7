"""Where model files lie in folders of other programs: LM Studio, GPT4All, Jan, Ollama, text-generation-webui, the cache
of Hugging Face. Only looked at, never changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.engine.gguf import is_gguf

_DEPTH = 6
"""Levels below the folder: huggingface/hub/models--a--b/snapshots/<commit>/<file> is the deepest known."""
_MOST_ENTRIES = 50_000
_OLLAMA_MODEL = "application/vnd.ollama.image.model"
_MOST_MANIFEST = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A model file and what it is called; name "": by its file name."""

    path: Path
    name: str = ""


def is_model_name(path: Path) -> bool:
    """Whether it is named as a model file is; hidden ones are half written by some program."""
    return path.suffix.casefold() == ".gguf" and not path.name.startswith(".") and not path.is_dir()


def own_files(folder: Path) -> list[FoundFile]:
    """The model files of the app's own folder, two levels deep, in order."""
    found: list[FoundFile] = []
    for pattern in ("*", "*/*", "*/*/*"):
        found += (FoundFile(path) for path in sorted(folder.glob(pattern)) if is_model_name(path))
    return found


def files_below(folder: Path) -> list[FoundFile]:
    """The model files of a folder of any program, each once. A folder that is gone has none.

    Raises AssistantError("model.folder_large") for a folder with far more in it than a folder of models has.
    """
    found: dict[Path, FoundFile] = {}
    for file in _walk(folder):
        found.setdefault(real_path(file.path), file)
    return sorted(found.values(), key=lambda file: str(file.path))


def _walk(folder: Path) -> Iterator[FoundFile]:
    if _is_ollama(folder.parent) and folder.name == "blobs":
        folder = folder.parent
    seen = 0
    for place, folders, files in os.walk(folder):
        here = Path(place)
        seen += len(folders) + len(files)
        if seen > _MOST_ENTRIES:
            raise AssistantError(
                "model.folder_large",
                f"{folder} has too many files to look through.",
                "Choose the folder in it that holds the models.",
            )
        if _is_ollama(here):
            yield from _ollama(here)
            folders[:] = [name for name in folders if name not in ("blobs", "manifests")]
        if len(here.relative_to(folder).parts) >= _DEPTH:
            folders.clear()
        folders.sort()
        for name in sorted(files):
            if is_model_name(here / name) or (name.startswith("sha256-") and is_gguf(here / name)):
                yield FoundFile(here / name)


def _is_ollama(folder: Path) -> bool:
    return (folder / "blobs").is_dir() and (folder / "manifests").is_dir()


def _ollama(folder: Path) -> Iterator[FoundFile]:
    """Ollama keeps files by their hash, and in manifests/<host>/<owner>/<model>/<tag> what they are called."""
    for manifest in sorted(folder.glob("manifests/*/*/*/*")):
        blob = _ollama_blob(folder, manifest)
        if blob is not None and is_gguf(blob):
            owner, model, tag = manifest.parts[-3:]
            name = model if owner == "library" else f"{owner}/{model}"
            yield FoundFile(blob, f"{name}:{tag}")


def _ollama_blob(folder: Path, manifest: Path) -> Path | None:
    try:
        if not manifest.is_file() or manifest.stat().st_size > _MOST_MANIFEST:
            return None
        layers = parse_json(manifest.read_bytes())["layers"]
        digest = next(layer["digest"] for layer in layers if layer["mediaType"] == _OLLAMA_MODEL)
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None
    if not isinstance(digest, str) or not digest.removeprefix("sha256:").isalnum():
        return None
    return folder / "blobs" / digest.replace(":", "-")


def real_path(path: Path) -> Path:
    """The path without links; as it is where it cannot be followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path
