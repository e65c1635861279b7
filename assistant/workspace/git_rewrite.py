"""Taking words or files out of every commit of our own repository, so that no object holds them any more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.workspace.git_faults import fill_index
from assistant.workspace.git_history import GitHistory, branch_of

if TYPE_CHECKING:
    from dulwich.objects import Commit, ObjectID
    from dulwich.repo import Repo

Scrub = Callable[[str, bytes], bytes]
"""Name of a file (or "" for a message) and its bytes -> what stays of them."""
_OLD_HEADS = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "COMMIT_EDITMSG", "packed-refs", "index")


def rewrite(history: GitHistory, scrub: Scrub, drop: Callable[[str], bool] = lambda _: False) -> None:
    """Make all commits anew, with texts and messages scrubbed and without the files that ``drop`` names.

    All other branches, tags, stashes and reflogs go: whoever took part in a repository of ours can clone it first.
    Nothing is deleted before all new objects are on the disk.
    """
    with history.lock(), history.opened() as repo:
        branch = branch_of(repo)
        head = repo.refs.as_dict().get(branch)  # type: ignore[call-overload]
        if head is None:
            return
        new_head, kept = _Rewriter(repo, scrub, drop).run(head)
        _keep_only(repo, history.folder, branch, new_head, kept)
        history.close_to_others()


def objects(history: GitHistory) -> Iterator[bytes]:
    """All that the repository holds, decompressed, reachable or not; then its other files."""
    with history.opened() as repo:
        for ident in repo.object_store:
            yield repo.object_store[ident].as_raw_string()
    for path in history.folder.rglob("*"):
        if path.is_file() and (history.folder / "objects") not in path.parents:
            yield path.read_bytes()


class _Rewriter:
    def __init__(self, repo: Repo, scrub: Scrub, drop: Callable[[str], bool]) -> None:
        self._store = repo.object_store
        self._scrub, self._drop = scrub, drop
        self._blobs: dict[tuple[str, ObjectID], ObjectID] = {}
        self._trees: dict[tuple[str, ObjectID], ObjectID | None] = {}
        self._kept: set[ObjectID] = set()

    def run(self, head: ObjectID) -> tuple[ObjectID, set[ObjectID]]:
        """The new head, and all objects that it needs."""
        made: dict[ObjectID, ObjectID] = {}
        for commit in self._oldest_first(head):
            made[commit.id] = self._commit(commit, made)
        return made[head], self._kept

    def _oldest_first(self, head: ObjectID) -> Iterator[Commit]:
        from dulwich.objects import Commit

        seen: set[ObjectID] = set()
        waiting: list[tuple[ObjectID, bool]] = [(head, False)]
        while waiting:
            ident, ready = waiting.pop()
            commit = self._store[ident]
            assert isinstance(commit, Commit)
            if ready:
                yield commit
            elif ident not in seen:
                seen.add(ident)
                waiting.append((ident, True))
                waiting.extend((parent, False) for parent in commit.parents if parent not in seen)

    def _commit(self, old: Commit, made: dict[ObjectID, ObjectID]) -> ObjectID:
        from dulwich.objects import Commit, Tree

        new = old.copy()
        assert isinstance(new, Commit)
        tree = self._tree("", old.tree)
        if tree is None:
            empty = Tree()
            self._store.add_object(empty)
            self._kept.add(empty.id)
            tree = empty.id
        new.tree = tree
        new.parents = [made[parent] for parent in old.parents]
        new.message = self._scrub("", old.message)
        self._store.add_object(new)
        self._kept.add(new.id)
        return new.id

    def _tree(self, prefix: str, ident: ObjectID) -> ObjectID | None:
        """The tree without what goes; None where nothing is left of it."""
        key = (prefix, ident)
        if key not in self._trees:
            self._trees[key] = self._made_tree(prefix, ident)
        return self._trees[key]

    def _made_tree(self, prefix: str, ident: ObjectID) -> ObjectID | None:
        from dulwich.objects import Tree

        old, new = self._store[ident], Tree()
        assert isinstance(old, Tree)
        for entry in old.iteritems():
            assert entry.path is not None and entry.mode is not None and entry.sha is not None
            name = prefix + os.fsdecode(entry.path)
            if entry.mode & 0o40000 and not entry.mode & 0o100000:
                if (inner := self._tree(f"{name}/", entry.sha)) is not None:
                    new[entry.path] = (entry.mode, inner)
            elif not self._drop(name):
                new[entry.path] = (entry.mode, self._blob(name, entry.sha))
        if not len(new):
            return None
        self._store.add_object(new)
        self._kept.add(new.id)
        return new.id

    def _blob(self, name: str, ident: ObjectID) -> ObjectID:
        from dulwich.objects import Blob

        key = (name.rpartition(".")[2], ident)
        if key not in self._blobs:
            old = self._store[ident]
            data = old.as_raw_string()
            done = self._scrub(name, data)
            blob = old if done == data else Blob.from_string(done)
            if blob is not old:
                self._store.add_object(blob)
            self._blobs[key] = blob.id
            self._kept.add(blob.id)
        return self._blobs[key]


def _keep_only(repo: Repo, folder: Path, branch: bytes, head: ObjectID, kept: set[ObjectID]) -> None:
    for ref in repo.refs.allkeys():
        if ref not in (branch, b"HEAD"):
            repo.refs.remove_if_equals(ref, None)
    repo.refs.set_if_equals(branch, None, head)  # type: ignore[arg-type]
    _unpack(repo, kept)
    for name in _OLD_HEADS:
        (folder / name).unlink(missing_ok=True)
    for name in ("logs", "objects/info"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "objects" / "info").mkdir(mode=0o700, exist_ok=True)
    for path in list((folder / "objects").glob("[0-9a-f][0-9a-f]/*")):
        if (path.parent.name + path.name).encode() not in kept:
            path.unlink()
    fill_index(repo, head)


def _unpack(repo: Repo, kept: set[ObjectID]) -> None:
    """Packs hold what must go beside what must stay: what stays becomes loose."""
    packs = list(repo.object_store.packs)
    for pack in packs:
        for ident in pack:
            if ident in kept:
                repo.object_store.add_object(repo.object_store[ident])
    for pack in packs:
        base = Path(os.fsdecode(pack._basename))
        pack.close()
        for path in base.parent.glob(f"{base.name}.*"):
            path.chmod(0o600)
            path.unlink()


def holding(history: GitHistory, found: Callable[[bytes], object]) -> int:
    """In how many objects ``found`` finds something."""
    return sum(1 for data in objects(history) if found(data))
