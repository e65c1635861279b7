"""What may be wrong with a git repository on disk: damaged objects in words, and what killed programs left in it."""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.core.errors import AssistantError
from assistant.workspace.disk import as_error

if TYPE_CHECKING:
    from dulwich.objects import ObjectID
    from dulwich.repo import Repo

STALE_SECONDS = 120
"""How old a lock file is that nobody holds any more: git's own are there for the moment of a write."""


def broken() -> AssistantError:
    return AssistantError(
        "history.broken",
        "The git repository of your folder cannot be read.",
        "Move the folder .git away and turn history on again; your files are not touched.",
    )


@contextlib.contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """Turn what dulwich raises for a cut, empty or missing object into ("history.broken"), OSError into as_error's."""
    from dulwich import errors
    from dulwich.file import FileLocked

    damage = (
        errors.FileFormatException,
        errors.ChecksumMismatch,
        errors.WrongObjectException,
        errors.MissingCommitError,
        errors.ObjectMissing,
        errors.ApplyDeltaError,
    )
    try:
        yield
    except FileLocked as error:
        raise AssistantError(
            "workspace.busy", "Another program is writing the git repository.", "Close it, then try again."
        ) from error
    except (*damage, KeyError, AssertionError, zlib.error, struct.error) as error:
        raise broken() from error
    except OSError as error:
        raise as_error(error, folder) from error


def drop_stale_locks(folder: Path) -> None:
    """Remove the lock files that a killed program left in a repository: with them nothing can be committed, ever."""
    before = time.time() - STALE_SECONDS
    for path in (*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()


def fill_index(repo: Repo, head: ObjectID) -> None:
    """Make git's list of files anew from a commit, so that ``git status`` says nothing about files as they are."""
    from dulwich.index import index_entry_from_stat
    from dulwich.objects import Commit

    commit = repo.object_store[head]
    assert isinstance(commit, Commit)
    index = repo.open_index()
    for entry in repo.object_store.iter_tree_contents(commit.tree):
        assert entry.path is not None and entry.sha is not None
        file = Path(repo.path) / os.fsdecode(entry.path)
        if file.is_file():
            index[entry.path] = index_entry_from_stat(file.stat(), entry.sha, entry.mode)
    index.write()
