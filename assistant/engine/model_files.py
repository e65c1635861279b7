"""The model files a person has: in the models folder or added by reference, and what is wrong with each."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.core.json_text import parse_json
from assistant.engine.catalogue import CatalogueModel, load_catalogue
from assistant.engine.gguf import GgufInfo, read_gguf_info

__all__ = ["GgufInfo", "ModelFile", "ModelStore", "Verified", "read_gguf_info"]

_REGISTRY = "models.json"
_READ_BYTES = 1 << 20
_PART = re.compile(r"-(\d{5})-of-(\d{5})$")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model. name: unique in its list; window_trained: tokens; problem: why it cannot be used, "" if it can."""

    name: str
    path: Path
    size_bytes: int
    architecture: str = ""
    quantisation: str = ""
    window_trained: int = 0
    licence: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check found. how: "sha256" against the catalogue, or "structure" for a file it does not know."""

    name: str
    ok: bool
    how: str
    detail: str
    sha256: str


class ModelStore:
    """The files below one folder (two levels deep) and others it refers to. Nothing is ever copied or moved.

    Files added from elsewhere are named in ``models.json`` in the folder, so that they are there after a restart.
    Where there are none at all, those of the folder ``shared`` stand in; they are never removed from here.
    """

    def __init__(
        self, models_dir: Path, catalogue: Iterable[CatalogueModel] | None = None, shared: Path | None = None
    ) -> None:
        self._folder = models_dir
        self._shared = shared
        self._catalogue = tuple(load_catalogue() if catalogue is None else catalogue)
        self._read: dict[tuple[Path, int, int], GgufInfo] = {}

    def list(self) -> builtins.list[ModelFile]:
        """All model files by name. One that is broken is listed with its problem, never left out."""
        names: dict[str, int] = {}
        files = []
        for path in self._paths():
            file = self._describe(path)
            if file is None:
                continue
            names[file.name] = names.get(file.name, 0) + 1
            files.append(file)
        unique = (file if names[file.name] == 1 else _renamed(file) for file in files)
        return sorted(unique, key=lambda file: file.name.casefold())

    def find(self, name: str) -> ModelFile:
        """A model by its name, its file name or its path. Raises AssistantError("model.missing")."""
        if not name.strip():
            raise AssistantError("model.missing", "No model is named.", "Choose one of `keepsake models list`.")
        files = self.list()
        wanted = name.casefold().removesuffix(".gguf")
        for file in files:
            if wanted in (file.name.casefold(), file.path.stem.casefold()) or _same(file.path, Path(name)):
                return file
        with contextlib.suppress(AssistantError):  # a name that no file can have
            path = named_path(Path(name))
            if path.is_file() and (found := self._describe(path)):
                return found
        raise AssistantError(
            "model.missing", f"There is no model called {name}.", "`keepsake models list` shows those that are there."
        )

    def add(self, path: Path) -> ModelFile:
        """Remember a model file where it is. Raises AssistantError when it is no usable model file."""
        path = named_path(path)
        read_gguf_info(path)
        if not any(_same(path, known) for known in self._paths()):
            self._write_registry([*self._registered(), path])
        return next(file for file in self.list() if _same(file.path, path))

    def remove(self, name: str) -> ModelFile:
        """Forget a file added by reference; a file in the models folder is deleted."""
        file = self.find(name)
        registered = self._registered()
        kept = [path for path in registered if not _same(path, file.path)]
        if len(kept) < len(registered):
            self._write_registry(kept)
        elif file.path.is_relative_to(self._folder):
            file.path.unlink()
        return file

    def verify(self, name: str, cancel: CancelToken | None = None) -> Verified:
        """Read the whole file and compare it with the catalogue; of an unknown one the structure is checked.

        Raises AssistantError when the file is broken, Cancelled when asked to stop.
        """
        file = self.find(name)
        read_gguf_info(file.path)
        digest = _sha256(file.path, cancel or CancelToken())
        known = self._known(file.path)
        if any(model.sha256 == digest for model in self._catalogue):
            return Verified(file.name, True, "sha256", "The file is the published one, byte for byte.", digest)
        if known and known.sha256:
            return Verified(file.name, False, "sha256", "The file differs from the published one.", digest)
        detail = "The file is complete; there is no published hash to compare with."
        return Verified(file.name, True, "structure", detail, digest)

    def _paths(self) -> Iterator[Path]:
        own = _model_paths(self._folder)
        own += [path for path in self._registered() if not any(_same(path, other) for other in own)]
        yield from own or (_model_paths(self._shared) if self._shared else ())

    def _registered(self) -> builtins.list[Path]:
        try:
            data = parse_json((self._folder / _REGISTRY).read_text("utf-8"))
            return [Path(item) for item in data["files"] if isinstance(item, str)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AssistantError(
                "model.registry",
                f"The list of added models, {self._folder / _REGISTRY}, cannot be read.",
                "Delete it and add the models again.",
            ) from error

    def _write_registry(self, paths: Iterable[Path]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"files": [str(path) for path in paths]}, ensure_ascii=False, indent=2) + "\n"
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".models-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._folder / _REGISTRY)

    def _describe(self, path: Path) -> ModelFile | None:
        """None: a later part of a model in several files, which the first part stands for."""
        try:
            info = self._info(path)
        except AssistantError as error:
            return ModelFile(path.stem, path, _size(path), problem=str(error))
        if info.part > 0:
            return None
        known = self._known(path)
        return ModelFile(
            name=_PART.sub("", path.stem),
            path=path,
            size_bytes=sum(_size(part) for part in _parts(path, info)),
            architecture=info.architecture,
            quantisation=info.quantisation,
            window_trained=info.window_trained,
            licence=known.licence if known else info.licence,
            problem=_problem(path, info),
        )

    def _info(self, path: Path) -> GgufInfo:
        """As read_gguf_info; a file that did not change is not read again (a vocabulary takes 10 to 50 ms)."""
        try:
            stat = path.stat()
        except (OSError, ValueError):
            return read_gguf_info(path)
        key = (path, stat.st_size, stat.st_mtime_ns)
        if key not in self._read:
            self._read[key] = read_gguf_info(path)
        return self._read[key]

    def _known(self, path: Path) -> CatalogueModel | None:
        """The catalogue's entry of this file name and size (a size that is not known fits)."""
        size = _size(path)
        for model in self._catalogue:
            if model.size_bytes in (0, size) and path.name.casefold() == model.file.casefold() != "":
                return model
            if model.size_bytes == size and not model.file:
                return model
        return None


def _model_paths(folder: Path) -> list[Path]:
    found: list[Path] = []
    for pattern in ("*", "*/*", "*/*/*"):
        found += (path for path in sorted(folder.glob(pattern)) if _is_model_name(path))
    return found


def _is_model_name(path: Path) -> bool:
    return path.suffix.casefold() == ".gguf" and not path.name.startswith(".") and not path.is_dir()


def _renamed(file: ModelFile) -> ModelFile:
    """Two files of one name are told apart by their folders."""
    return ModelFile(
        f"{file.path.parent.name}/{file.name}",
        file.path,
        file.size_bytes,
        file.architecture,
        file.quantisation,
        file.window_trained,
        file.licence,
        file.problem,
    )


def _problem(path: Path, info: GgufInfo) -> str:
    if missing := [part.name for part in _parts(path, info) if not part.exists()]:
        return f"{path.name} has {info.parts} parts and {missing[0]} is not there."
    if not info.vocabulary or not info.window_trained:
        return f"{path.name} is no chat model ({info.architecture or 'unknown kind'})."
    return ""


def _parts(path: Path, info: GgufInfo) -> list[Path]:
    if info.parts == 1 or not _PART.search(path.stem):
        return [path]
    stem = _PART.sub("", path.stem)
    return [path.with_name(f"{stem}-{n:05d}-of-{info.parts:05d}{path.suffix}") for n in range(1, info.parts + 1)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _same(one: Path, other: Path) -> bool:
    try:
        return one == other or one.samefile(other)
    except (OSError, ValueError):
        return False


def _sha256(path: Path, cancel: CancelToken) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            cancel.check()
            digest.update(block)
    return digest.hexdigest()
