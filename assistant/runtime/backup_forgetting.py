"""Backups as places where forgotten words stand: those that the keyring opens are written anew without them.

A backup with a passphrase cannot be looked into, nor one on a drive that is not connected: each counts as one that
may hold the words, and ``hint`` says so.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from assistant.core.errors import AssistantError
from assistant.runtime.age import Key, decrypting, encrypt
from assistant.runtime.assistants import DEFAULT
from assistant.runtime.backups import BackupService, app_version, beside, prove
from assistant.workspace.backup_content import DATA, OTHERS, belongs
from assistant.workspace.forgetting import scrub_bytes
from assistant.workspace.forgotten_journal import scrub_record
from assistant.workspace.forgotten_text import found_in_bytes
from assistant.workspace.known_backups import KnownBackup

_JOURNAL, _COPIES = "journal.jsonl", "seen"
_log = logging.getLogger(__name__)


class BackupPlace:
    """A ForgetPlace. Asks the keyring for the key at each call."""

    name = "backups"

    def __init__(self, backups: BackupService, workspace: str) -> None:
        self._backups = backups
        self._workspace = workspace

    def _mine(self, name: str) -> bool:
        """What another assistant remembers is not this one's to forget."""
        assistants = self._backups.assistants
        mine = "" if assistants.current == DEFAULT else assistants.current
        return belongs(name, mine, assistants.names()[1:])

    @property
    def hint(self) -> str:
        """What the person has to do about the backups that cannot be looked into; "" where there are none."""
        closed = [str(each.path) for each in self._backups.known.all() if each.key == "passphrase" or not each.there]
        if not closed:
            return ""
        return (
            f"These backups cannot be looked into: {', '.join(closed)}. Delete them, or make new ones in their place."
        )

    def scrub(self, texts: Sequence[str]) -> None:
        """Write each backup that holds one of the texts anew, read it back, and put it in the place of the old one.

        What cannot be opened is passed over: ``remaining`` counts it. Raises AssistantError where one cannot be
        written.
        """
        known = self._backups.known.all()
        key = self._key(known)
        for each in known:
            if key and self._state(each, key, texts) == "holds":
                self._rewrite(each, key, texts)

    def remaining(self, texts: Sequence[str]) -> int:
        """How many backups hold one of the texts, or cannot be looked into."""
        known = self._backups.known.all()
        key = self._key(known)
        return sum(self._state(each, key, texts) != "clean" for each in known)

    def _key(self, known: Sequence[KnownBackup]) -> Key | None:
        if not any(each.key == "keyring" for each in known):
            return None
        try:
            return self._backups.key()
        except AssistantError as error:
            _log.info("the key of the backups cannot be had: %s", error)
            return None

    def _state(self, backup: KnownBackup, key: Key | None, texts: Sequence[str]) -> str:
        """ "clean", "holds" or "closed"."""
        from assistant.workspace.backup_tar import members

        if key is None or backup.key != "keyring" or not backup.there:
            return "closed"
        try:
            with decrypting(backup.path, key) as stream:
                found = [n for n, _, data in members(stream) if found_in_bytes(data, texts) and self._mine(n)]
        except AssistantError as error:
            _log.info("%s cannot be looked into: %s", backup.path.name, error)
            return "closed"
        return "holds" if found else "clean"

    def _rewrite(self, backup: KnownBackup, key: Key, texts: Sequence[str]) -> None:
        from assistant.workspace.backup_tar import write_contents

        with beside(backup.path) as temp:
            with temp.open("wb") as target, decrypting(backup.path, key) as stream:

                def write(plain: IO[bytes]) -> None:
                    write_contents(plain, self._scrubbed(stream, texts), self._workspace, backup.made, app_version())

                encrypt(target, key, write)
                target.flush()
                os.fsync(target.fileno())
            prove(temp, key)

    def _scrubbed(self, stream: IO[bytes], texts: Sequence[str]) -> Iterator[tuple[str, bytes, int]]:
        """What stays, as forgetting leaves the files themselves: see forgotten_journal for journal and copies."""
        from assistant.workspace.backup_tar import members

        for name, record, data in members(stream):
            kept = name.startswith((f"{DATA}/", f"{OTHERS}/"))
            below = name.split("/")[2 if name.startswith(f"{OTHERS}/") else 1 :]
            if not self._mine(name):
                yield name, data, record.mode
            elif kept and below == [_JOURNAL]:
                yield name, b"\n".join(scrub_record(line, texts) for line in data.split(b"\n")), record.mode
            elif not (kept and below[0] == _COPIES and not name.endswith(".jsonl") and found_in_bytes(data, texts)):
                yield name, scrub_bytes(Path(PurePosixPath(name)), data, texts), record.mode
