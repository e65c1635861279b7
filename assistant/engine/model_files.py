"""The model files a person has: in the models folder or added by reference, and what is wrong with each."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.engine.catalogue import CatalogueModel, load_catalogue
from assistant.engine.gguf import GgufInfo, read_gguf_info
from assistant.engine.memory_estimate import MemoryEstimate, RunPlan, estimate, shape_of
from assistant.engine.model_description import ModelFile, name_of, parts_of, problem_of, size_of, told_apart
from assistant.engine.model_folders import FoundFile, files_below, own_files
from assistant.engine.model_registry import Added, ModelRegistry

__all__ = ["GgufInfo", "ModelFile", "ModelStore", "Verified", "read_gguf_info"]

_READ_BYTES = 1 << 20


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
        files = told_apart([file for file in described if file is not None])
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
        """Pass over a file that lies elsewhere from now on; one in the models folder is deleted, all its parts.

        Raises AssistantError("model.missing"), ("model.delete").
        """
        file = self.find(name)
        added = self._registry.read()
        kept = tuple(path for path in added.files if not _same(path, file.path))
        if len(kept) < len(added.files):
            added = replace(added, files=kept)
        if file.own:
            self._delete(file)
        else:
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
        """Own files, those that were added, those of added folders; each once, but for the own folder's other names.

        A second name that a person gave a file there, by a link, is a model of its own, to be set up otherwise.
        """
        added = self._registry.read()
        found = own_files(self.folder)
        found += (FoundFile(path) for path in added.files)
        for folder in added.folders:
            with contextlib.suppress(AssistantError):  # it has grown beyond all measure since
                found += (file for file in files_below(folder) if not any(_same(file.path, h) for h in added.hidden))
        if not found and self._shared:
            found = [file for file in own_files(self._shared) if file.path not in added.hidden]
        seen: set[Path] = set()
        for file in found:
            real = _real(file.path)
            if real not in seen or file.path.is_relative_to(self.folder):
                seen.add(real)
                yield file

    def _show_again(self, added: Added, paths: builtins.list[Path]) -> None:
        kept = tuple(hidden for hidden in added.hidden if not any(_same(hidden, path) for path in paths))
        if kept != added.hidden:
            self._registry.write(replace(added, hidden=kept))

    def _delete(self, file: ModelFile) -> None:
        try:
            for part in parts_of(file.path, self._info(file.path)) if not file.problem else [file.path]:
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
        name, own = found.name or name_of(path), path.is_relative_to(self.folder)
        try:
            info = self._info(path)
        except AssistantError as error:
            return ModelFile(name, path, size_of(path), problem=str(error), own=own)
        if info.part > 0:
            return None
        known = self._known(path)
        parts = parts_of(path, info)
        return ModelFile(
            name=name,
            path=path,
            size_bytes=sum(size_of(part) for part in parts),
            architecture=info.architecture,
            quantisation=info.quantisation,
            window_trained=info.window_trained,
            licence=known.licence if known else info.licence,
            problem=problem_of(path, info),
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
        size = size_of(path)
        for model in self.catalogue:
            if model.size_bytes in (0, size) and path.name.casefold() == model.file.casefold() != "":
                return model
            if model.size_bytes == size and not model.file:
                return model
        return None


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
