"""One snapshot as a file: what a model had read of one conversation.

It is made of a magic word, the SHA-256 of what comes next (the length of a JSON header, the header, the tokens as
little-endian int32), and the library's own bytes of the state, whose CRC-32 is in the header. The header says of which
model, settings and library it is. Nothing in it is text: conversations and replies are named by digests, and tokens
are numbers. It is not synced to the disk: one that a power cut spoils costs reading again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from assistant.core.cancel import CancelToken
from assistant.core.folders import open_private
from assistant.core.json_text import parse_json

SUFFIX = ".kv"
TEMP = ".writing-"
"""How the name of a file begins that is being written."""
_MAGIC = b"KEEPKV1\n"
_LENGTH = struct.Struct("<I")
_START = len(_MAGIC) + 32 + _LENGTH.size
_CHUNK = 4 << 20
"""Bytes read or written between two looks whether somebody waits: some 5 ms."""
_TOKEN_BYTES = 4


@dataclass(frozen=True, slots=True)
class Identity:
    """What a state fits. model: names its weights; settings: all that a state depends on beside them."""

    model: str
    settings: str


@dataclass(frozen=True, slots=True)
class Run:
    """Where among the tokens one of the model's own replies is. digest: of what it is known by."""

    digest: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file whose header and tokens are sound. conversation: its digest; at: where in the file its state begins."""

    path: Path
    conversation: str
    identity: Identity
    tokens: array[int]
    replies: tuple[Run, ...]
    at: int
    size: int
    crc: int


def digest_of(name: str) -> str:
    """What stands for a name in a snapshot."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:24]


def file_name(conversation: str, tokens: Sequence[int]) -> str:
    """conversation: its digest, which the name begins with."""
    return f"{conversation}-{hashlib.sha256(_bytes(array('i', tokens))).hexdigest()[:16]}{SUFFIX}"


def read_snapshot(path: Path) -> Snapshot | None:
    """None for what is none, is cut, or is not what was written; ``load_state`` checks the state."""
    try:
        with path.open("rb") as file:
            return _read(path, file)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def load_state(snapshot: Snapshot, cancel: CancelToken) -> bytearray | None:
    """The state; None where its bytes are not those that were written. Raises OSError, MemoryError, Cancelled."""
    state, crc = bytearray(snapshot.size), 0
    with snapshot.path.open("rb") as file:
        file.seek(snapshot.at)
        for piece in _pieces(memoryview(state), cancel):
            if file.readinto(piece) != len(piece):
                return None
            crc = zlib.crc32(piece, crc)
        whole = not file.read(1)
    return state if whole and crc == snapshot.crc else None


def write_snapshot(
    folder: Path,
    conversation: str,
    identity: Identity,
    tokens: Sequence[int],
    replies: Sequence[Run],
    state: memoryview,
    cancel: CancelToken,
) -> Path:
    """Write one in one step. conversation: its digest. Raises OSError; Cancelled, and nothing changed then."""
    header = {
        "conversation": conversation,
        "model": identity.model,
        "settings": identity.settings,
        "tokens": len(tokens),
        "replies": [[run.digest, run.start, run.length] for run in replies],
        "state": len(state),
        "crc": _crc(state, cancel),
    }
    known = _known(header, tokens)
    temp = folder / f"{TEMP}{secrets.token_hex(8)}"
    try:
        with open(temp, "wb", opener=open_private) as file:
            file.write(_MAGIC + hashlib.sha256(known).digest() + known)
            for piece in _pieces(state, cancel):
                file.write(piece)
        return temp.replace(folder / file_name(conversation, tokens))
    finally:
        with contextlib.suppress(OSError):
            temp.unlink()


def runs_in(tokens: Sequence[int], replies: Mapping[str, Sequence[int]]) -> list[Run]:
    """Which of the replies are among the tokens, and where. replies: digest -> tokens."""
    text = array("i", tokens).tobytes()
    found = []
    for digest, reply in replies.items():
        at = _find(text, array("i", reply).tobytes())
        if at >= 0:
            found.append(Run(digest, at // _TOKEN_BYTES, len(reply)))
    return found


def _find(text: bytes, part: bytes) -> int:
    """Where whole tokens spell the part, in bytes; -1 for nowhere."""
    at = text.find(part)
    while at >= 0 and at % _TOKEN_BYTES:
        at = text.find(part, at + 1)
    return at


def _pieces(state: memoryview, cancel: CancelToken) -> Iterator[memoryview]:
    """Raises Cancelled in front of the piece that is not wanted any more."""
    for start in range(0, len(state), _CHUNK):
        cancel.check()
        yield state[start : start + _CHUNK]


def _crc(state: memoryview, cancel: CancelToken) -> int:
    crc = 0
    for piece in _pieces(state, cancel):
        crc = zlib.crc32(piece, crc)
    return crc


def _known(header: Mapping[str, Any], tokens: Sequence[int]) -> bytes:
    head = json.dumps(header, sort_keys=True).encode()
    return _LENGTH.pack(len(head)) + head + _bytes(array("i", tokens))


def _read(path: Path, file: BinaryIO) -> Snapshot | None:
    total = os.fstat(file.fileno()).st_size
    start = file.read(_START)
    if len(start) < _START or not start.startswith(_MAGIC):
        return None
    packed = start[-_LENGTH.size :]
    (length,) = _LENGTH.unpack(packed)
    if length >= total:
        return None
    head = file.read(length)
    facts = parse_json(head)
    count = int(facts["tokens"])
    body = file.read(_TOKEN_BYTES * count) if 0 < _TOKEN_BYTES * count < total else b""
    if hashlib.sha256(packed + head + body).digest() != start[len(_MAGIC) : -_LENGTH.size]:
        return None
    snapshot = Snapshot(
        path=path,
        conversation=str(facts["conversation"]),
        identity=Identity(str(facts["model"]), str(facts["settings"])),
        tokens=_array(body),
        replies=tuple(Run(str(digest), int(at), int(size)) for digest, at, size in facts["replies"]),
        at=file.tell(),
        size=int(facts["state"]),
        crc=int(facts["crc"]),
    )
    return snapshot if snapshot.at + snapshot.size == total else None


def _bytes(tokens: array[int]) -> bytes:
    if sys.byteorder == "big":
        tokens = tokens[:]
        tokens.byteswap()
    return tokens.tobytes()


def _array(body: bytes) -> array[int]:
    tokens = array("i", body)
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens
