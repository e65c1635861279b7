"""The model files a person has: in the models folder or added by reference, and what is wrong with each."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.engine.catalogue import CatalogueModel, load_catalogue
from assistant.engine.gguf import GgufInfo, read_gguf_info
from assistant.engine.memory_estimate import MemoryEstimate, RunPlan, estimate, shape_of
from assistant.engine.model_folders import FoundFile, files_below, own_files
from assistant.engine.model_registry import Added, ModelRegistry

__all__ = ["GgufInfo", "ModelFile", "ModelStore", "Verified", "read_gguf_info"]

_READ_BYTES = 1 << 20
_PART = re.compile(r"-(\d{5})-of-(\d{5})$")
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

    Files and folders added from elsewhere are named in ``models.json`` in the folder, so that they are there after a
    restart. Where there are none at all, those of the folder ``shared`` stand in; they are never removed from here.
    """

    def __init__(
        self, models_dir: Path, catalogue: Iterable[CatalogueModel] | None = None, shared: Path | None = None
    ) -> None:
        self.folder = models_dir
        self._shared = shared
        self.catalogue = tuple(load_catalogue() if catalogue is None else catalogue)
        self._registry = ModelRegistry(models_dir)
        self._read: dict[tuple[Path, int, int], GgufInfo] = {}

    def list(self) -> builtins.list[ModelFile]:
        """All model files by name. One that is broken is listed with its problem, never left out."""
        described = (self._describe(found) for found in self._found())
        files = _told_apart([file for file in described if file is not None])
        return sorted(files, key=lambda file: file.name.casefold())

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
            if path.is_file() and (found := self._describe(FoundFile(path))):
                return found
        raise AssistantError(
            "model.missing", f"There is no model called {name}.", "`keepsake models list` shows those that are there."
        )

    def add(self, path: Path) -> ModelFile:
        """Remember a model file where it is. Raises AssistantError when it is no usable model file."""
        path = named_path(path)
        read_gguf_info(path)
        added = self._registry.read()
        self._show_again(added, [path])
        if not any(_same(path, known.path) for known in self._found()):
            added = self._registry.read()
            self._registry.write(replace(added, files=(*added.files, path)))
        return next(file for file in self.list() if _same(file.path, path))

    def add_folder(self, folder: Path) -> builtins.list[ModelFile]:
        """Look for models in a folder from now on, also of another program; those that it has, the broken ones too.

        Raises AssistantError("model.none_in_folder") where there is none, ("model.folder_large").
        """
        folder = named_path(folder)
        found = [file.path for file in files_below(folder)]
        if not found:
            raise AssistantError(
                "model.none_in_folder", f"There is no model in {folder}.", "Choose a folder with GGUF files (*.gguf)."
            )
        self._show_again(self._registry.read(), found)
        added = self._registry.read()
        if folder != self.folder and not any(_same(folder, known) for known in added.folders):
            self._registry.write(replace(added, folders=(*added.folders, folder)))
        return [file for file in self.list() if any(_same(file.path, path) for path in found)]

    def remove(self, name: str) -> ModelFile:
        """Forget a file that was added or lies in an added folder; one in the models folder is deleted, all parts.

        Raises AssistantError("model.missing"), ("model.delete").
        """
        file = self.find(name)
        added = self._registry.read()
        kept = tuple(path for path in added.files if not _same(path, file.path))
        if len(kept) < len(added.files):
            added = replace(added, files=kept)
        if file.own:
            self._delete(file)
        elif any(_same(file.path, found.path) for folder in added.folders for found in files_below(folder)):
            added = replace(added, hidden=(*added.hidden, file.path))
        self._registry.write(added)
        return file

    def memory(self, file: ModelFile, plan: RunPlan) -> MemoryEstimate | None:
        """What the model would take; None for one that cannot be used."""
        if file.problem:
            return None
        info = self._info(file.path)
        repacked = info.repacked_bytes * (file.size_bytes // max(1, info.size_bytes) or 1)
        return estimate(shape_of(info), file.size_bytes, repacked, plan)

    def verify(self, name: str, cancel: CancelToken | None = None) -> Verified:
        """Read the whole file and compare it with the catalogue; of an unknown one the structure is checked.

        Raises AssistantError when the file is broken, Cancelled when asked to stop.
        """
        file = self.find(name)
        read_gguf_info(file.path)
        digest = _sha256(file.path, cancel or CancelToken())
        known = self._known(file.path)
        if any(model.sha256 == digest for model in self.catalogue):
            return Verified(file.name, True, "sha256", "The file is the published one, byte for byte.", digest)
        if known and known.sha256:
            return Verified(file.name, False, "sha256", "The file differs from the published one.", digest)
        detail = "The file is complete; there is no published hash to compare with."
        return Verified(file.name, True, "structure", detail, digest)

    def _found(self) -> Iterator[FoundFile]:
        """Own files, those that were added, those of added folders; each once."""
        added = self._registry.read()
        found = own_files(self.folder)
        found += (FoundFile(path) for path in added.files)
        for folder in added.folders:
            with contextlib.suppress(AssistantError):  # it has grown beyond all measure since
                found += (file for file in files_below(folder) if not any(_same(file.path, h) for h in added.hidden))
        if not found and self._shared:
            found = own_files(self._shared)
        seen: set[Path] = set()
        for file in found:
            real = _real(file.path)
            if real not in seen:
                seen.add(real)
                yield file

    def _show_again(self, added: Added, paths: builtins.list[Path]) -> None:
        kept = tuple(hidden for hidden in added.hidden if not any(_same(hidden, path) for path in paths))
        if kept != added.hidden:
            self._registry.write(replace(added, hidden=kept))

    def _delete(self, file: ModelFile) -> None:
        try:
            for part in _parts(file.path, self._info(file.path)) if not file.problem else [file.path]:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise AssistantError(
                "model.delete",
                f"{file.path.name} cannot be deleted: {error.strerror or error}.",
                "Check its permissions, or whether another program uses it.",
            ) from error

    def _describe(self, found: FoundFile) -> ModelFile | None:
        """None: a later part of a model in several files, which the first part stands for."""
        path = found.path
        name, own = found.name or _name(path), path.is_relative_to(self.folder)
        try:
            info = self._info(path)
        except AssistantError as error:
            return ModelFile(name, path, _size(path), problem=str(error), own=own)
        if info.part > 0:
            return None
        known = self._known(path)
        parts = _parts(path, info)
        return ModelFile(
            name=name,
            path=path,
            size_bytes=sum(_size(part) for part in parts),
            architecture=info.architecture,
            quantisation=info.quantisation,
            window_trained=info.window_trained,
            licence=known.licence if known else info.licence,
            problem=_problem(path, info),
            parameters=info.parameters + sum(self._parameters(part) for part in parts[1:]),
            languages=known.languages if known else info.languages,
            template=bool(info.template),
            tools="tools" in info.template,
            own=own,
        )

    def _parameters(self, part: Path) -> int:
        try:
            return self._info(part).parameters
        except AssistantError:
            return 0

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
        for model in self.catalogue:
            if model.size_bytes in (0, size) and path.name.casefold() == model.file.casefold() != "":
                return model
            if model.size_bytes == size and not model.file:
                return model
        return None


def _name(path: Path) -> str:
    stem = _PART.sub("", path.stem) if path.suffix.casefold() == ".gguf" else path.name[:19]
    return path.parent.name if stem.casefold() in _NO_NAME and path.parent.name else stem


def _told_apart(files: builtins.list[ModelFile]) -> Iterator[ModelFile]:
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


def _problem(path: Path, info: GgufInfo) -> str:
    if missing := [part.name for part in _parts(path, info) if not part.exists()]:
        return f"{path.name} has {info.parts} parts and {missing[0]} is not there."
    if not info.vocabulary or not info.window_trained or info.encoder:
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


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _sha256(path: Path, cancel: CancelToken) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            cancel.check()
            digest.update(block)
    return digest.hexdigest()
