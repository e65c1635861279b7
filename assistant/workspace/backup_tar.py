"""The inside of a backup: a gzipped tar with a manifest at its end, written and read as a stream.

manifest.json: {"format": 1, "app", "version", "workspace", "made", "files": {name: {"sha256", "size", "mode"}}}.
Whatever a tar may say, only plain files with plain names inside these folders are ever read from one.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import IO, Any

from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.workspace.backup_content import DATA, LARGEST_FILE, OTHERS, SETTINGS, WORKSPACE, Item, read_steady

MANIFEST = "manifest.json"
README = "README.txt"
FORMAT = 1
_LARGEST_MANIFEST = 256 * 1024**2
_README_TEXT = """\
This is a backup of Keepsake, an offline assistant whose memory is Markdown files.

workspace/      your memory and chats
data/           the journal of changes, receipts and what else was kept about them
                (assistants-data/: the same for each further assistant)
settings.toml   the settings
manifest.json   the SHA-256 of every file

`keepsake restore FILE` brings it all back and proves it. Without Keepsake: decrypt the file with age
(https://age-encryption.org), then unpack it with tar.
"""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file in a backup. mode: permission bits."""

    sha256: str
    size: int
    mode: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. made: ISO time; workspace: the workspace's id; version: of Keepsake."""

    workspace: str
    made: str
    version: str
    files: Mapping[str, FileRecord]

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(record.size for record in self.files.values())


Take = Callable[[str, FileRecord, bytes], None]


def write_tar(stream: IO[bytes], found: Iterable[Item], workspace: str, made: str, version: str) -> Manifest:
    """Write all files into ``stream``; each as it was at one moment. Returns what was written."""

    def contents() -> Iterator[tuple[str, bytes, int]]:
        for item in found:
            if (read := read_steady(item.path)) is not None:
                yield item.name, read[0], read[1].st_mode & 0o777

    return write_contents(stream, contents(), workspace, made, version)


def write_contents(
    stream: IO[bytes], contents: Iterable[tuple[str, bytes, int]], workspace: str, made: str, version: str
) -> Manifest:
    """As write_tar, of (name, data, mode)."""
    files: dict[str, FileRecord] = {}
    with tarfile.open(fileobj=stream, mode="w|gz", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, README, _README_TEXT.encode(), 0o600)
        for name, data, mode in contents:
            files[name] = FileRecord(hashlib.sha256(data).hexdigest(), len(data), mode)
            _add(tar, name, data, mode)
        manifest = Manifest(workspace, made, version, files)
        _add(tar, MANIFEST, _manifest_bytes(manifest), 0o600)
    return manifest


def read_tar(stream: IO[bytes], take: Take) -> Manifest:
    """Give each file to ``take`` and return the manifest, after every file was found to be as the manifest says.

    ``take`` gets files before they are checked: use them only once this has returned. Raises as members.
    """
    found = members(stream)
    while True:
        try:
            take(*next(found))
        except StopIteration as end:
            manifest: Manifest = end.value
            return manifest


def members(stream: IO[bytes]) -> Generator[tuple[str, FileRecord, bytes], None, Manifest]:
    """Each file of a backup; at the end the manifest, once all were found to be as it says.

    Raises AssistantError: ``backup.damaged_content``, ``backup.unsafe`` for what no backup of ours holds,
    ``backup.newer``.
    """
    seen: dict[str, FileRecord] = {}
    manifest: Manifest | None = None
    try:
        with tarfile.open(fileobj=stream, mode="r|gz") as tar:
            for member in tar:
                data = _read(tar, member, seen)
                if member.name == MANIFEST:
                    manifest = _parse_manifest(data)
                elif member.name != README:
                    seen[member.name] = FileRecord(hashlib.sha256(data).hexdigest(), len(data), member.mode & 0o777)
                    yield member.name, seen[member.name], data
    except (tarfile.TarError, EOFError, zlib.error, UnicodeError) as error:
        raise _damaged() from error
    if manifest is None or dict(manifest.files) != seen:
        raise _damaged()
    return manifest


def _add(tar: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    tar.addfile(info, io.BytesIO(data))


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo, seen: Mapping[str, FileRecord]) -> bytes:
    limit = _LARGEST_MANIFEST if member.name == MANIFEST else LARGEST_FILE
    if not member.isreg() or member.sparse or not _plain(member.name) or member.name in seen or member.size > limit:
        raise AssistantError(
            "backup.unsafe",
            f"The backup holds something that Keepsake never writes: {member.name[:100]!r}.",
            "Do not use it; somebody may have made it to harm you.",
        )
    file = tar.extractfile(member)
    data = file.read() if file else b""
    if len(data) != member.size:
        raise _damaged()
    return data


def _plain(name: str) -> bool:
    """A name that stays below the folder it is unpacked in, on every system."""
    if name in (MANIFEST, README, SETTINGS):
        return True
    parts = name.split("/")
    odd = any(c in name for c in "\\\0") or any(part in ("", ".", "..") for part in parts)
    deep = len(parts) > (2 if parts[0] == OTHERS else 1)
    return deep and parts[0] in (WORKSPACE, DATA, OTHERS) and not odd


def _manifest_bytes(manifest: Manifest) -> bytes:
    value = {
        "format": FORMAT,
        "app": "keepsake",
        "version": manifest.version,
        "workspace": manifest.workspace,
        "made": manifest.made,
        "files": {name: asdict(record) for name, record in manifest.files.items()},
    }
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")


def _parse_manifest(data: bytes) -> Manifest:
    try:
        value: Any = parse_json(data.decode("utf-8", "surrogatepass"))
        if int(value["format"]) > FORMAT:
            raise AssistantError(
                "backup.newer", "A newer Keepsake made this backup.", "Install the newest Keepsake, then try again."
            )
        files = {str(name): FileRecord(**record) for name, record in value["files"].items()}
        return Manifest(str(value["workspace"]), str(value["made"]), str(value["version"]), files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged() from error


def _damaged() -> AssistantError:
    return AssistantError(
        "backup.damaged_content",
        "What is in the backup is not what was put there; nothing of it was used.",
        "Use another copy of it.",
    )
