"""A file that is only appended to, read on from where it was read last."""

from __future__ import annotations

import os
from pathlib import Path

from assistant.workspace.disk import as_read_error

_KNOWN_AGAIN = 64  # bytes in front of the place: where they are others, the file was written anew


class GrowingFile:
    """Notices when the file is not the one that was read: replaced, cut or deleted, however long it is now.

    size: bytes that were read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = self._inode = 0
        self._end = b""

    def new_lines(self) -> list[bytes] | None:
        """The whole lines since the last look; None: what was read is no longer there, so read a new GrowingFile.

        A line that is being written is read when it is whole. Raises AssistantError.
        """
        try:
            with self._path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                file.seek(self.size - len(self._end))
                data = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None if self.size else []
        except OSError as error:
            raise as_read_error(error, self._path) from error
        if self.size and (inode != self._inode or not data.startswith(self._end)):
            return None
        added = data[len(self._end) :]
        whole = added[: added.rfind(b"\n") + 1]
        self.size, self._inode = self.size + len(whole), inode
        self._end = (self._end + whole)[-_KNOWN_AGAIN:]
        return whole.splitlines()
