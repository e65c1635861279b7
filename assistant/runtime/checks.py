"""The doctor: what is wrong, with which file, and what to do about it."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Delta, GenerateOptions, Message, Role
from assistant.runtime.engine_end import read_death
from assistant.runtime.index_checks import index_checks
from assistant.runtime.keeping_checks import keeping_checks
from assistant.runtime.services import Services
from assistant.runtime.workers import EMBEDDING_MODEL, engine_log
from assistant.settings.paths import Paths
from assistant.workspace.layout import nameless_files

_LOW_DISK_BYTES = 200_000_000
_OTHERS = 0o077  # mode bits that let other people of the machine in


@dataclass(frozen=True, slots=True)
class Check:
    """name: what was looked at; detail: what was found; fix: what to do, "" when all is well."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def run_checks(services: Services) -> Iterator[Check]:
    """All checks in order; each stands alone, so one that fails hides none of the others."""
    yield _workspace(services)
    yield _own_folders(services.paths)
    yield _permissions(services.workspace.root)
    yield from _files(services)
    yield from _names(services)
    yield from _foreign(services)
    yield _settings(services)
    yield from (Check(*found) for found in index_checks(services))
    yield from _models(services)
    yield _engine(services)
    yield _engine_worker(services)
    yield _embedding(services)
    yield _snapshots(services)
    yield from (Check(*found) for found in keeping_checks(services))


def _workspace(services: Services) -> Check:
    root = services.workspace.root
    if not os.access(root, os.W_OK):
        return Check("workspace", False, f"{root} cannot be written.", "Give yourself write permission, or move it.")
    try:
        free = _free_bytes(root)
    except AssistantError as error:
        return Check("workspace", False, error.message, error.hint)
    if free < _LOW_DISK_BYTES:
        return Check("workspace", False, f"Only {free // 1_000_000} MB are free on its disk.", "Make room on the disk.")
    chats = len(services.list_chats())
    return Check("workspace", True, f"{root}, {'1 chat' if chats == 1 else f'{chats} chats'}")


def _own_folders(paths: Paths) -> Check:
    """Where the journal, the receipts and the index are; nobody looks there until something is amiss."""
    for folder in (paths.data, paths.state):
        above = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not above.is_dir() or not os.access(above, os.W_OK):
            detail = f"Keepsake cannot write into its own folder {folder}, so it only reads."
            return Check(
                "own folders", False, detail, "Check its permissions and its disk, or name another with --state."
            )
    return Check("own folders", True, f"{paths.data}, {paths.state}")


def _permissions(root: Path) -> Check:
    if os.name == "nt":  # access there goes by the folder of the account, not by modes
        return Check("permissions", True, "The folder belongs to your account.")
    inside = (Path(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files))
    open_ones = [path for path in (root, *inside) if _is_open(path)]
    if open_ones:
        names = ", ".join(str(p.relative_to(root.parent)) for p in open_ones[:3])
        return Check(
            "permissions",
            False,
            f"Other people of this machine may read {len(open_ones)} files or folders ({names}).",
            f"Run: chmod -R go-rwx {shlex.quote(str(root))}",
        )
    return Check("permissions", True, "Only you can read the workspace.")


def _is_open(path: Path) -> bool:
    """Whether others may look into it; not a link, nor what went while we looked."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & _OTHERS)


def _files(services: Services) -> Iterator[Check]:
    problems = services.workspace.problems()
    for file, problem in problems:
        yield Check(f"file {file}", False, problem, "Open the file in an editor; nothing in it was changed or dropped.")
    if not problems:
        yield Check("files", True, "All memory files and chats can be read.")


def _names(services: Services) -> Iterator[Check]:
    for file in nameless_files(services.workspace.root):
        yield Check("names", False, f"The name of {file} is no text, so it is left out.", "Give it another name.")


def _foreign(services: Services) -> Iterator[Check]:
    if counts := services.workspace.foreign_counts():
        files = f"{len(counts)} files of other programs are read as they are"
        yield Check("other forms", True, f"{files}; {sum(counts.values())} things in them can be found.")


def _settings(services: Services) -> Check:
    services.settings.load()
    if services.settings.problems:
        return Check("settings", False, " ".join(services.settings.problems), f"Edit {services.settings.path}.")
    return Check("settings", True, str(services.settings.path))


def _models(services: Services) -> Iterator[Check]:
    try:
        models = services.models()
    except AssistantError as error:
        yield Check("models", False, error.message, error.hint)
        return
    for model in models:
        yield Check(
            f"model {model.name}",
            not model.problem,
            model.problem or f"{model.size_bytes // 1_000_000} MB, {model.architecture} {model.quantisation}",
            "Remove the file or fetch it again." if model.problem else "",
        )
    if not models:
        yield Check("models", False, f"There is no model in {services.paths.models}.", "Run: keepsake models add PATH")


def _engine(services: Services) -> Check:
    """Not only that the worker starts: it must answer."""
    try:
        info = services.model_service.ensure()
        ask = [Message(Role.USER, "Say hello.")]
        options = GenerateOptions(max_tokens=8, temperature=0.0, thinking=False)
        events = services.model_service.engine.chat(ask, options, CancelToken())
        said = "".join(event.text for event in events if isinstance(event, Delta))
    except AssistantError as error:
        return Check("engine", False, error.message, error.hint or "The log engine.log has the details.")
    return Check("engine", bool(said), f"{info.name} answers, window of {info.window} tokens.")


def _engine_worker(services: Services) -> Check:
    """Of its process, and when one was last lost. That is over, so it is nothing that must be mended now."""
    engine, log = services.engine, engine_log(services.paths)
    now = f"Its process is {engine.pid}." if engine.pid else "It does not run now."
    death = read_death(log)
    if death is None:
        return Check("engine worker", True, f"{now} It has never ended unexpectedly.")
    model = f" with {death.model}" if death.model else ""
    when = death.at[:16].replace("T", " at ")
    detail = f"{now} It last ended unexpectedly on {when}{model} ({death.how}): {death.message}"
    return Check("engine worker", True, detail, f"If that happens often, {log} has the details.")


def _embedding(services: Services) -> Check:
    embedder = services.embedder
    if embedder is None:
        return Check(
            "embedding",
            False,
            f"There is no embedding model {EMBEDDING_MODEL} in {services.paths.models}: search goes by words alone.",
            "Run `make run` once, or name a model folder in the settings.",
        )
    try:
        vectors = embedder.embed(["hello"], CancelToken())
    except AssistantError as error:
        return Check("embedding", False, error.message, error.hint)
    return Check("embedding", True, f"{embedder.identity}, {vectors.shape[1]} dimensions")


def _snapshots(services: Services) -> Check:
    """What the model had read of chats or with models that are gone is deleted here: nobody misses it."""
    try:
        gone = services.snapshots.drop_foreign() + services.snapshots.drop_models(services.models())
    except AssistantError as error:
        return Check("snapshots", False, error.message, error.hint)
    count, size = services.snapshots.usage()
    removed = f"; {gone} that belonged to nothing any more were removed" if gone else ""
    return Check("snapshots", True, f"{count} states of what the model has read, {size / 1e6:.0f} MB{removed}.")


def _free_bytes(path: Path) -> int:
    """Free space on the disk that holds ``path``. Raises AssistantError where the path is gone."""
    try:
        return shutil.disk_usage(path).free
    except OSError as error:
        message = f"{path} cannot be reached: {error.strerror}."
        raise AssistantError("workspace.gone", message, "Check that its disk is there.") from error
