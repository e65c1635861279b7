"""A git repository of the workspace through dulwich: commits of chosen files, made without looking at anything else.

No hook, signature, identity or configuration of the person's is used, and no network. Objects are written loose.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assistant.core.errors import AssistantError
from assistant.workspace.git_faults import broken, drop_stale_locks, fill_index, in_words
from assistant.workspace.safe_files import locked

if TYPE_CHECKING:
    from dulwich.objects import Commit, ObjectID
    from dulwich.repo import Repo

Kind = Literal["none", "ours", "foreign"]
_MARK = "keepsake-history"
_FILE_MODE = 0o100644
_HOST = "keepsake.invalid"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A commit. time: ISO; author: the actor of a change; files: what it changed."""

    id: str
    time: str
    author: str
    message: str
    files: tuple[str, ...]


class GitHistory:
    """``.git`` in the workspace. lock: held while anything is written. Raises AssistantError ``history.*``."""

    def __init__(self, root: Path, lock: Path) -> None:
        self.root = root
        self._lock = lock

    @property
    def folder(self) -> Path:
        return self.root / ".git"

    def kind(self) -> Kind:
        """Whether there is a repository, and whose."""
        if not os.path.lexists(self.folder):
            return "none"
        return "ours" if (self.folder / _MARK).is_file() else "foreign"

    def begin(self, *, existing: bool = False) -> None:
        """Make the repository. existing: add to one that the person made. Raises ("history.foreign") otherwise."""
        if self.kind() == "foreign" and not existing:
            raise AssistantError(
                "history.foreign",
                "Your folder has a git repository of its own already.",
                "Turn history on with `keepsake history on --existing` to let Keepsake add commits to it.",
            )
        if self.kind() != "none":
            return
        from dulwich.config import StackedConfig
        from dulwich.repo import Repo

        with self._locked():
            config = StackedConfig([])  # git itself then keeps objects private, too
            repo = Repo.init(str(self.root), config=config, default_branch=b"main", shared_repository="0600")
            repo.close()
            (self.folder / "description").write_text("The history of a Keepsake folder.\n", encoding="ascii")
            mark = "Made by Keepsake; what it forgets is taken out of all commits.\n"
            (self.folder / _MARK).write_text(mark, encoding="ascii")
            self.close_to_others()

    def close_to_others(self) -> None:
        """Nobody but the person reads a repository of ours; one of their own has the modes that they gave it."""
        if self.kind() != "ours":
            return
        self.folder.chmod(0o700)
        for path in (*self.folder.iterdir(), *(self.folder / "refs").rglob("*")):
            if path.is_file():
                path.chmod(0o600)

    def tracked(self) -> dict[str, str]:
        """The files of the newest commit: name -> id of its text."""
        with self.opened() as repo:
            return _tree_of(repo, _head(repo))

    def commit(self, changes: Mapping[str, bytes | None], author: str, message: str, when: datetime) -> str:
        """Commit these files (None: removed) as they are given; returns the commit's id, "" where nothing is new."""
        from dulwich.object_store import commit_tree_changes
        from dulwich.objects import Blob, Tree

        with self._locked(), self.opened() as repo:
            parent = _head(repo)
            made: list[tuple[bytes, int | None, ObjectID | None]] = []
            for name, data in changes.items():
                blob = None if data is None else Blob.from_string(data)
                if _blob_at(repo, parent, name) == (blob.id if blob else None):
                    continue
                if blob:
                    repo.object_store.add_object(blob)
                made.append((os.fsencode(name), _FILE_MODE if blob else None, blob.id if blob else None))
            if not made:
                return ""
            base = _commit(repo, parent).tree if parent else Tree()
            tree = commit_tree_changes(repo.object_store, base, made)
            ident = _write_commit(repo, tree, parent, author, message, when)
            _note_in_index(repo, self.root, made)
            self.close_to_others()
            return ident

    def log(self, limit: int | None = None) -> list[HistoryEntry]:
        """Commits, newest first."""
        if self.kind() == "none":
            return []
        with self._locked(), self.opened() as repo:
            if (head := _head(repo)) is None:
                return []
            walker = repo.get_walker(include=[head], max_entries=limit)
            return [_entry(repo, step.commit) for step in walker]

    @contextlib.contextmanager
    def opened(self) -> Iterator[Repo]:
        """The repository; what dulwich raises becomes words. Raises ("history.broken"), and as_error's."""
        from dulwich.errors import NotGitRepository
        from dulwich.repo import Repo

        try:
            if not (self.folder / "HEAD").exists() and self.folder.is_dir():
                raise NotGitRepository(str(self.root))
            repo = Repo(str(self.root))
        except (NotGitRepository, ValueError) as error:
            raise broken() from error
        try:
            with in_words(self.folder):
                yield repo
        finally:
            repo.close()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with locked(self._lock):
            if self.kind() == "ours":
                drop_stale_locks(self.folder)
            yield

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """For whoever rewrites it."""
        return self._locked()


def branch_of(repo: Repo) -> bytes:
    """The branch that commits go to. Raises ("history.detached") where the person stands on none."""
    from dulwich.refs import HEADREF

    names, _ = repo.refs.follow(HEADREF)
    if len(names) < 2:
        raise AssistantError(
            "history.detached", "The git repository of your folder is on no branch.", "Check out a branch first."
        )
    return bytes(names[-1])


def _head(repo: Repo) -> ObjectID | None:
    return repo.refs.as_dict().get(branch_of(repo))  # type: ignore[call-overload, no-any-return]


def _commit(repo: Repo, ident: ObjectID) -> Commit:
    from dulwich.objects import Commit

    found = repo.object_store[ident]
    assert isinstance(found, Commit)
    return found


def _tree_of(repo: Repo, head: ObjectID | None) -> dict[str, str]:
    if head is None:
        return {}
    entries = repo.object_store.iter_tree_contents(_commit(repo, head).tree)
    return {os.fsdecode(entry.path): entry.sha.decode() for entry in entries if entry.sha and entry.path}


def _blob_at(repo: Repo, head: ObjectID | None, name: str) -> ObjectID | None:
    """The text of a file in a commit; at the cost of its folders, not of all files."""
    if head is None:
        return None
    from dulwich.object_store import tree_lookup_path

    try:
        return tree_lookup_path(repo.object_store.__getitem__, _commit(repo, head).tree, os.fsencode(name))[1]
    except KeyError:
        return None


def _write_commit(
    repo: Repo, tree: ObjectID, parent: ObjectID | None, author: str, message: str, when: datetime
) -> str:
    from dulwich.objects import Commit

    made = Commit()
    made.tree = tree
    made.parents = [parent] if parent else []
    made.author = f"{author} <{author.replace(' ', '-')}@{_HOST}>".encode()
    made.committer = f"Keepsake <keepsake@{_HOST}>".encode()
    offset = when.utcoffset()
    made.author_time = made.commit_time = int(when.timestamp())
    made.author_timezone = made.commit_timezone = int(offset.total_seconds()) if offset else -time.timezone
    made.encoding = b"UTF-8"
    made.message = message.encode("utf-8", "replace") + b"\n"
    repo.object_store.add_object(made)
    branch = branch_of(repo)
    if not repo.refs.set_if_equals(branch, parent, made.id):  # type: ignore[arg-type]
        raise AssistantError(
            "workspace.busy", "Another program is writing the git repository.", "Close it, then try again."
        )
    return made.id.decode()


def _note_in_index(repo: Repo, root: Path, made: list[tuple[bytes, int | None, ObjectID | None]]) -> None:
    """So that ``git status`` says nothing about files that were committed as they are."""
    from dulwich.index import index_entry_from_stat

    try:
        index = repo.open_index()
    except Exception:  # noqa: BLE001 - dulwich raises AssertionError, struct.error, ValueError and more for a damaged one
        if (root / ".git" / _MARK).is_file() and (head := _head(repo)):  # in ours it says nothing of its own
            Path(repo.index_path()).unlink(missing_ok=True)
            fill_index(repo, head)
        return
    for path, _, blob in made:
        file = root / os.fsdecode(path)
        if blob is None:
            with contextlib.suppress(KeyError):
                del index[path]
        elif file.is_file():
            index[path] = index_entry_from_stat(file.stat(), blob, _FILE_MODE)
    index.write()


def _entry(repo: Repo, commit: Commit) -> HistoryEntry:
    from dulwich.diff_tree import tree_changes

    before = _commit(repo, commit.parents[0]).tree if commit.parents else None
    files = []
    for change in tree_changes(repo.object_store, before, commit.tree):
        side = change.new if change.new is not None and change.new.path else change.old
        files.append(os.fsdecode(side.path or b"") if side else "")
    moment = datetime.fromtimestamp(commit.author_time).astimezone().isoformat()
    author = commit.author.decode("utf-8", "replace").split(" <")[0]
    return HistoryEntry(
        commit.id.decode(), moment, author, commit.message.decode("utf-8", "replace").strip(), tuple(files)
    )
