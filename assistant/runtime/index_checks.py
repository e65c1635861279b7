"""What the doctor says of the search index and of how changes of files are noticed."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.recall.index.verification import Verification
from assistant.runtime.index_state import describe_index
from assistant.runtime.services import Services
from assistant.runtime.watching import FolderWatch, WatchState

_NAMED = 3


def index_checks(services: Services) -> Iterator[tuple[str, bool, str, str]]:
    """(name, ok, detail, fix), by the same facts as ``keepsake index status``."""
    try:
        yield "index", *_index(services)
    except AssistantError as error:
        yield "index", False, error.message, error.hint
    yield "watching", True, watch_words(_watch(services)), ""


def _index(services: Services) -> tuple[bool, str, str]:
    verification = Verification(services.workspace.root)
    services.recall.verify(verification, CancelToken())
    state = describe_index(services.recall)
    wrong = [file for file in services.recall.file_states() if file.has_problem]
    status = state.status
    if wrong:
        named = "; ".join(f"{file.path} ({file.why})" for file in wrong[:_NAMED])
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        detail = f"{len(wrong)} files could not be indexed in full: {named}{more}."
        return False, detail, "Run: keepsake index status --failed"
    others = [error for error in status.errors if error != status.problem]  # the check of the model tells of that
    if others:
        return False, "; ".join(others), "Run: keepsake index rebuild"
    detail = f"{status.files} files, {status.units} units, {status.vectors} vectors."
    if status.stale:
        detail += " It is not up to date; the next search or start mends that."
    if verification.differing:
        count = len(verification.differing)
        detail += f" {count} files had changed though their time and size had not; the next search takes them in."
    return True, detail, ""


def _watch(services: Services) -> WatchState:
    watch = FolderWatch(services.workspace.root, lambda: None)
    watch.start()
    watch.stop()
    return watch.state


def watch_words(state: WatchState) -> str:
    """How changes of files are noticed, in words."""
    if state.how == "polling":
        return f"Changes of your files are looked for every few seconds. {state.why}"
    return "Changes of your files are noticed at once."
