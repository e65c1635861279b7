"""The model files a person has: in the models folder or added by reference, and what is wrong with each."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.engine.catalogue import CatalogueModel, load_catalogue
from assistant.engine.gguf import GgufInfo, read_gguf_info, unreadable
from assistant.engine.memory_estimate import MemoryEstimate, RunPlan, estimate, shape_of
from assistant.engine.model_description import (
    ModelFile,
    check_usable,
    first_of,
    is_told_by_first,
    name_of,
    parts_of,
    size_of,
    told_apart,
    with_parts,
)
from assistant.engine.model_folders import FoundFile, files_below, own_files, real_path
from assistant.engine.model_registry import Added, ModelRegistry
from assistant.engine.tool_formats import format_of

__all__ = ["ModelFile", "ModelStore", "Verified"]

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
        files, path, wanted = self.list(), Path(name), name.casefold().removesuffix(".gguf")
        ways: tuple[Callable[[ModelFile], bool], ...] = (
            lambda file: wanted == file.name.casefold(),
            lambda file: wanted == file.path.stem.casefold(),
            lambda file: path == file.path,  # before its other names: each may be set up in its own way
            lambda file: _same(path, file.path),
        )
        for is_meant in ways:
            if found := next(filter(is_meant, files), None):
                return found
        with contextlib.suppress(AssistantError):  # a name that no file can have
            path = named_path(path)
            if path.is_file() and (found := self._describe(FoundFile(path))):
                return found
        raise AssistantError(
            "model.missing", f"There is no model called {name}.", "`keepsake models list` shows those that are there."
        )

    def add(self, path: Path) -> ModelFile:
        """Remember a model file where it is; any part stands for its model. Raises AssistantError when it is none."""
        path = named_path(path)
        path = first_of(path, read_gguf_info(path))
        added = self._registry.read()
        self._show_again(added, [path])
        if not any(_same(path, known.path) for known in self._found()):
            added = self._registry.read()
            self._registry.write(replace(added, files=(*added.files, path)))
        return self.find(str(path))

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
        try:
            info = with_parts(self._info(file.path), file.path, self._info)
        except AssistantError:  # it has gone since it was listed
            return None
        return estimate(shape_of(info), info.size_bytes, info.repacked_bytes, plan)

    def verify(self, name: str, cancel: CancelToken | None = None) -> Verified:
        """Read the whole file and compare it with the catalogue; of an unknown one the structure is checked.

        Of a model in parts the structure of each. Raises AssistantError when a file is broken or cannot be read to its
        end, Cancelled when asked to stop.
        """
        file = self.find(name)
        with_parts(read_gguf_info(file.path), file.path)
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
        found = [file for file in own_files(self.folder) if file.path not in added.hidden]
        found += (FoundFile(path) for path in added.files)
        for folder in added.folders:
            with contextlib.suppress(AssistantError):  # it has grown beyond all measure since
                found += (file for file in files_below(folder) if not any(_same(file.path, h) for h in added.hidden))
        if not found and self._shared:
            found = [file for file in own_files(self._shared) if file.path not in added.hidden]
        seen: set[Path] = set()
        for file in found:
            real = real_path(file.path)
            if real not in seen or file.path.is_relative_to(self.folder):
                seen.add(real)
                yield file

    def _show_again(self, added: Added, paths: builtins.list[Path]) -> None:
        kept = tuple(hidden for hidden in added.hidden if not any(_same(hidden, path) for path in paths))
        if kept != added.hidden:
            self._registry.write(replace(added, hidden=kept))

    def _delete(self, file: ModelFile) -> None:
        try:
            for part in self._parts(file.path):
                part.unlink(missing_ok=True)
        except OSError as error:
            raise AssistantError(
                "model.delete",
                f"{file.path.name} cannot be deleted: {error.strerror or error}.",
                "Check its permissions, or whether another program uses it.",
            ) from error

    def _describe(self, found: FoundFile) -> ModelFile | None:
        """None: a later part of a model in several files, which the first part stands for."""
        path, problem = found.path, ""
        name, own = found.name or name_of(path), self._is_own(path)
        try:
            info = self._info(path)
        except AssistantError as error:
            broken = ModelFile(name, path, size_of(path), problem=str(error), own=own)
            return None if is_told_by_first(path) else broken
        if path != first_of(path, info):
            return None
        try:
            check_usable(path, info)
            info = with_parts(info, path, self._info)
        except AssistantError as error:
            problem = str(error)
        known = self._known(path)
        return ModelFile(
            name=name,
            path=path,
            size_bytes=sum(map(size_of, self._parts(path))),
            architecture=info.architecture,
            quantisation=info.quantisation,
            window_trained=info.window_trained,
            licence=known.licence if known else info.licence,
            problem=problem,
            parameters=info.parameters,
            languages=known.languages if known else info.languages,
            template=bool(info.template),
            tools=format_of(info.template) is not None,
            own=own,
        )

    def _is_own(self, path: Path) -> bool:
        """Whether the file, or the link to one, lies in the own folder itself and not behind a link to another."""
        return real_path(path.parent).is_relative_to(real_path(self.folder))

    def _parts(self, path: Path) -> builtins.list[Path]:
        try:
            return parts_of(path, self._info(path))
        except AssistantError:
            return [path]

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


def _sha256(path: Path, cancel: CancelToken) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_READ_BYTES):
                cancel.check()
                digest.update(block)
    except OSError as error:
        raise unreadable(path, error) from error
    return digest.hexdigest()
