"""Text as people's programs left it: any encoding and line ending, read without loss and written back as it was."""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace.disk import read_bytes
from assistant.workspace.matching import matcher

FOREIGN = "It is in the form of another program: Keepsake reads it and leaves it as it is."
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NAMES = {"utf-8": "UTF-8", "gb18030": "GBK", "cp1252": "Latin-1", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
_CONTROL = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_HIGH = re.compile(rb"[\x80-\xff]")
_GBK_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_GB2312_PAIR = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text.

    text: safe to show (a byte that is no character is U+FFFD), line endings as in the file, no BOM; lines end at
    ``\\n`` only, a ``\\r`` before it belongs to the ending. encoding: "" for a file that cannot be decoded: it is
    shown as far as possible and never written. newline: what added lines end with. sha256: of the bytes, "" for a
    file that does not exist. problem: what is wrong, in words, or "".
    """

    text: str
    encoding: str
    newline: str
    bom: bool
    sha256: str
    problem: str = ""
    raw: bytes = field(default=b"", repr=False)

    @property
    def writable(self) -> bool:
        return bool(self.encoding)


def read_text(path: Path) -> TextFile:
    """Read a file; a missing one is an empty UTF-8 file with sha256 "". Raises AssistantError when unreadable."""
    if path.is_fifo():  # whoever opens it waits, for ever, for somebody to write
        raise AssistantError("workspace.unreadable", f"{path.name} is a pipe, no file.", "Move it elsewhere.")
    raw = read_bytes(path)
    return decode(raw, path.name) if raw or path.exists() else TextFile("", "utf-8", "\n", False, "")


def decode(raw: bytes, name: str = "The file") -> TextFile:
    """Find the encoding and the line ending of bytes. Never fails; see TextFile.problem."""
    bom, encoding = next(((mark, known) for mark, known in _BOMS if raw.startswith(mark)), (b"", ""))
    body = raw[len(bom) :]
    if (plain := _plain_utf8(body) if encoding in ("", "utf-8") else None) is not None:
        return TextFile(plain, "utf-8", _newline(plain), bool(bom), sha(raw), "", raw)
    if bom and encoding != "utf-8":
        # Bad UTF-16 cannot be written back as it was, so it is read-only.
        encoding, problem = (encoding, "") if _decodes(body, encoding) else ("", f"{name} is broken UTF-16.")
    else:
        encoding, problem = ("utf-8", _bad_bytes(body, "utf-8", name)) if bom else _guess(body, name)
    text = body.decode(encoding or "utf-8", "replace")
    return TextFile(text, encoding, _newline(text), bool(bom), sha(raw), problem, raw)


def sha(raw: bytes) -> str:
    """SHA-256 in hex, as the journal and the conflict check compare it."""
    return hashlib.sha256(raw).hexdigest()


def exact_text(file: TextFile) -> str:
    """The text with undecodable bytes as lone surrogates, so that exact_bytes gives the file back byte for byte."""
    if file.encoding and not file.problem:
        return file.text
    return file.raw[_bom_length(file) :].decode(file.encoding or "utf-8", "surrogateescape")


def as_read_only(file: TextFile) -> TextFile:
    """A file in another program's form: shown, and never written."""
    return replace(file, encoding="", problem=file.problem or FOREIGN) if file.sha256 else file


def grown(file: TextFile, added: str, raw: bytes) -> TextFile:
    """The file after text was added behind it; ``raw`` is all its bytes then."""
    if not file.sha256:
        return decode(raw)
    return replace(file, text=file.text + added, sha256=sha(raw), raw=raw)


def exact_bytes(text: str, like: TextFile) -> bytes:
    """The inverse of exact_text, in the encoding of ``like``. Raises ("workspace.encoding") for what does not fit."""
    try:
        return like.raw[: _bom_length(like)] + text.encode(like.encoding or "utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise AssistantError(
            "workspace.encoding",
            f"The file is in {_NAMES.get(like.encoding, like.encoding)}, which has no {error.object[error.start]!r}.",
            "Save it as UTF-8 in your editor, then try again.",
        ) from error


def encode_added(text: str, like: TextFile) -> bytes:
    """New text in the file's encoding, to stand behind what is there. Raises ("workspace.encoding")."""
    return exact_bytes(text, like)[_bom_length(like) :]


def visible(text: str) -> str:
    """An exact text as it may be shown: undecodable bytes as U+FFFD, line ends as ``\\n``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\r\n", "\n")


def check_writable(file: TextFile, name: str) -> None:
    """Raise ("workspace.undecodable") for a file whose text is not known: it is never overwritten."""
    if not file.writable:
        raise AssistantError(
            "workspace.undecodable", file.problem or f"{name} is no text.", "Repair or move it; it is left as it is."
        )


def encode_edit(new: str, base: TextFile) -> bytes:
    """The bytes of an edited text: every line that is still there keeps its very bytes, ending included.

    new: from an editor that may have turned ``\\r\\n`` into ``\\n`` and shows bad bytes as U+FFFD. Added lines get
    the file's newline and encoding.
    """
    before, after = exact_text(base).split("\n"), new.split("\n")
    shown = [line.removesuffix("\r") for line in base.text.split("\n")]
    wanted = [line.removesuffix("\r") for line in after]
    ending = "\r" if base.newline == "\r\n" else ""
    last = len(wanted) - 1
    result = [line + (ending if index < last else "") for index, line in enumerate(wanted)]
    if not ending:
        result = list(after)
    for old, at, size in _matches(shown, wanted):
        for index in range(size):
            kept = before[old + index]
            ends_differ = (old + index == len(shown) - 1) != (at + index == last)
            result[at + index] = (
                kept.removesuffix("\r") + (ending if at + index < last else "") if ends_differ else kept
            )
    return exact_bytes("\n".join(result), base)


def _matches(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """Matching runs (old, new, size); the equal head and tail are found first since difflib is slow on long files."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = matcher(old[head : len(old) - tail], new[head : len(new) - tail])
    runs = [(a + head, b + head, size) for a, b, size in middle.get_matching_blocks() if size]
    return [(0, 0, head), *runs, (len(old) - tail, len(new) - tail, tail)]


def _bom_length(file: TextFile) -> int:
    return next((len(mark) for mark, _ in _BOMS if file.bom and file.raw.startswith(mark)), 0)


def _newline(text: str) -> str:
    if "\r" not in text:
        return "\n"
    pairs = text.count("\r\n")
    return "\r\n" if pairs > text.count("\n") - pairs else "\n"


def _plain_utf8(raw: bytes) -> str | None:
    """The text of a file that is plain UTF-8, the usual case, in one pass."""
    try:
        return raw.decode("utf-8") if b"\0" not in raw else None
    except UnicodeDecodeError:
        return None


def _guess(raw: bytes, name: str) -> tuple[str, str]:
    """(encoding or "", problem): UTF-8, else GBK or Latin-1 where the bytes look like it, else mostly UTF-8."""
    if _decodes(raw, "utf-8"):
        return ("", f"{name} holds NUL bytes; it is no text.") if _is_binary(raw) else ("utf-8", "")
    if _is_binary(raw):
        return "", f"{name} is no text in any known encoding; it is opened read-only."
    replaced = raw.decode("utf-8", "replace")
    wrong = replaced.count("\ufffd")  # a byte each; what is right counts by its bytes too
    right = sum(len(character.encode()) for character in replaced if character > "\x7f") - 3 * wrong
    if right > wrong:
        return "utf-8", _bad_bytes(raw, "utf-8", name)
    if _looks_gbk(raw):
        return "gb18030", ""
    if _looks_latin(raw):
        return "cp1252", ""
    return "", f"{name} is no text in any known encoding; it is opened read-only."


def _is_binary(raw: bytes) -> bool:
    return (len(raw) - len(raw.translate(None, _CONTROL))) * 50 > len(raw)


def _bad_bytes(body: bytes, encoding: str, name: str) -> str:
    if _decodes(body, encoding):
        return ""
    count = body.decode(encoding, "replace").count("\ufffd")
    return f"{name} holds {count} bytes that are not {_NAMES[encoding]}; they are kept as they are."


def _looks_gbk(raw: bytes) -> bool:
    """Chinese text has both bytes of nearly every pair high; an accented letter stands beside plain ones."""
    if not _decodes(raw, "gb18030") or raw.decode("gb18030").encode("gb18030") != raw:
        return False
    pairs = _GBK_PAIR.findall(raw)
    common = sum(1 for pair in pairs if _GB2312_PAIR.fullmatch(pair))
    return bool(pairs) and common * 10 >= len(pairs) * 7


def _looks_latin(raw: bytes) -> bool:
    return _decodes(raw, "cp1252") and len(_HIGH.findall(raw)) * 3 <= len(raw)


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
