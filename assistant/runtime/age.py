"""The age format (age-encryption.org/v1) through pyrage: a file that anyone with the key opens with ``age`` itself.

pyrage pulls from one stream and pushes into another; a thread and a pipe turn that into streams that tarfile can use,
so that a large backup never stands in memory. A passphrase is the exception: pyrage takes that text in one piece.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from assistant.core.errors import AssistantError
from assistant.workspace.disk import as_error

KeyKind = Literal["keyring", "passphrase"]
MAGIC = b"age-encryption.org/v1\n"
_SECRET_KEY = "AGE-SECRET-KEY-1"


@dataclass(frozen=True, slots=True)
class Key:
    """What locks and opens a backup: an age secret key ("AGE-SECRET-KEY-1…"), or a passphrase (through scrypt)."""

    kind: KeyKind
    secret: str

    def __repr__(self) -> str:
        return f"Key({self.kind})"


def new_key() -> Key:
    """A fresh secret key."""
    import pyrage

    return Key("keyring", str(pyrage.x25519.Identity.generate()))


def parse_key(text: str) -> Key:
    """The secret key in a text such as a key file of age's own. Raises AssistantError("backup.key_text")."""
    import pyrage

    lines = "".join(line for line in text.upper().splitlines() if not line.lstrip().startswith("#"))
    found = re.search(_SECRET_KEY + r"[0-9A-Z\s]+", lines)  # written down, it may be parted by spaces and lines
    word = "".join(found[0].split()) if found else ""
    try:
        pyrage.x25519.Identity.from_str(word)
    except pyrage.IdentityError as error:
        raise AssistantError(
            "backup.key_text", "This is no recovery key.", "A recovery key begins with AGE-SECRET-KEY-1."
        ) from error
    return Key("keyring", word)


def kind_of(path: Path) -> KeyKind:
    """What opens this file. Raises AssistantError("backup.foreign") for a file that is no backup."""
    try:
        if path.exists() and not path.is_file():  # a folder; or a pipe, which waits for ever
            raise _foreign(path)
        with path.open("rb") as file:
            head = file.read(len(MAGIC) + 12)
    except FileNotFoundError as error:
        raise AssistantError("backup.missing", f"There is no file {path}.", "Check its name.") from error
    except OSError as error:
        raise as_error(error, path) from error
    if not head.startswith(MAGIC):
        raise _foreign(path)
    return "passphrase" if head[len(MAGIC) :].startswith(b"-> scrypt") else "keyring"


def _foreign(path: Path) -> AssistantError:
    return AssistantError("backup.foreign", f"{path.name or path} is no backup of Keepsake.", "Choose another file.")


def encrypt(target: IO[bytes], key: Key, write: Callable[[IO[bytes]], None]) -> None:
    """Let ``write`` write into a stream; it arrives in ``target`` encrypted. Raises what either side raises."""
    import pyrage

    if key.kind == "passphrase":
        plain = io.BytesIO()
        write(plain)
        target.write(pyrage.passphrase.encrypt(plain.getvalue(), key.secret))
        return
    recipient = pyrage.x25519.Identity.from_str(key.secret).to_public()
    kept = _Kept(target)

    def work(reader: IO[bytes]) -> None:
        pyrage.encrypt_io(reader, kept, [recipient])

    failed = _through_a_pipe(work, write)
    if failed:
        raise kept.error or failed


@contextlib.contextmanager
def decrypting(path: Path, key: Key) -> Iterator[IO[bytes]]:
    """The decrypted stream of a file. What was read counts only once the block has ended without an error.

    Raises AssistantError ``backup.key``, ``backup.passphrase`` (a wrong one), ``backup.damaged``.
    """
    if kind_of(path) != key.kind:
        raise _wrong_kind(key.kind)
    try:
        with path.open("rb") as file:
            yield from _passphrase(file, key, path) if key.kind == "passphrase" else _keyed(file, key, path)
    except OSError as error:
        if error.errno is None:
            raise damaged(path) from error
        raise as_error(error, path) from error


def damaged(path: Path) -> AssistantError:
    return AssistantError(
        "backup.damaged", f"{path.name} is damaged or cut off; nothing of it was used.", "Use another copy of it."
    )


def _passphrase(file: IO[bytes], key: Key, path: Path) -> Iterator[IO[bytes]]:
    import pyrage

    try:
        plain = pyrage.passphrase.decrypt(file.read(), key.secret)
    except pyrage.DecryptError as error:
        raise _unreadable(error, path) from error
    yield io.BytesIO(plain)


def _keyed(file: IO[bytes], key: Key, path: Path) -> Iterator[IO[bytes]]:
    import pyrage

    identity = pyrage.x25519.Identity.from_str(key.secret)
    source, sink = os.pipe()
    failure: list[BaseException] = []

    def work() -> None:
        with os.fdopen(sink, "wb") as writer:
            try:
                pyrage.decrypt_io(file, writer, [identity])
            except BaseException as error:  # noqa: BLE001 - it is raised again on the reader's thread
                failure.append(error)

    thread = threading.Thread(target=_quiet(work), name="age", daemon=True)
    with os.fdopen(source, "rb") as reader:
        thread.start()
        try:
            yield reader
            while reader.read(65_536):  # to the end: only there it is known that nothing was cut off
                continue
        except BaseException as error:
            reader.close()
            thread.join()
            if failure and not isinstance(failure[0], BrokenPipeError) and isinstance(error, Exception):
                raise _unreadable(failure[0], path) from error
            raise
    thread.join()
    if failure:
        raise _unreadable(failure[0], path) from failure[0]


def _through_a_pipe(pull: Callable[[IO[bytes]], None], push: Callable[[IO[bytes]], None]) -> Exception | None:
    """Run ``pull`` on a thread over what ``push`` writes here; what ``pull`` raised, if it did."""
    source, sink = os.pipe()
    failure: list[Exception] = []

    def work() -> None:
        with os.fdopen(source, "rb") as reader:
            try:
                pull(reader)
            except Exception as error:  # noqa: BLE001 - handed to the thread that waits
                failure.append(error)

    thread = threading.Thread(target=work, name="age", daemon=True)
    thread.start()
    try:
        with os.fdopen(sink, "wb") as writer:
            push(writer)
    except BrokenPipeError:
        if not failure:
            thread.join()
        if not failure:
            raise
    finally:
        thread.join()
    return failure[0] if failure else None


class _Kept:
    """A stream that keeps what its writing raised: pyrage turns it into words without a number."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._target.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._target.flush()


def _quiet(work: Callable[[], None]) -> Callable[[], None]:
    """The reader may have gone before the last bytes are flushed."""

    def run() -> None:
        with contextlib.suppress(BrokenPipeError):
            work()

    return run


def _unreadable(error: BaseException, path: Path) -> AssistantError:
    if "No matching keys" in str(error):
        return AssistantError(
            "backup.key",
            f"{path.name} was locked with another key.",
            "Give the recovery key that was shown when the backup was made.",
        )
    if str(error) == "Decryption failed":
        return AssistantError("backup.passphrase", "The passphrase is not the right one.", "Try again.")
    return damaged(path)


def _wrong_kind(given: KeyKind) -> AssistantError:
    if given == "passphrase":
        return AssistantError(
            "backup.kind", "This backup is locked with a key, not with a passphrase.", "Give its recovery key."
        )
    return AssistantError("backup.kind", "This backup is locked with a passphrase.", "Give the passphrase.")
