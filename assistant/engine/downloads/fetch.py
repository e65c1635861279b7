"""One download from beginning to end: ask, resume, read, check, and only then give the file its name."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.ports import Progress
from assistant.engine.catalogue import CatalogueModel
from assistant.engine.downloads.failures import Interrupted, cut, refused, too_slow, unwritable
from assistant.engine.downloads.part import PartFile, PartState
from assistant.engine.downloads.web import Answer, WebClient
from assistant.engine.gguf import read_gguf_info

WAITING, READING, CHECKING = "waiting", "reading", "checking"
"""What is done, as progress tells it."""
_CHUNK = 1 << 18
_MAGIC = b"GGUF"
_SPARE = 200_000_000
"""Bytes that are left free on the disk, for the system and for the person's own files."""
_LOOK_EVERY = 64 << 20
"""Bytes after which it is seen whether there is still room."""
_LONGEST_WAIT = 300.0
"""Seconds. A server that asks for more is told of, not waited for."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch. url: of the file; page: where a person can read about it; target: the file that it becomes.

    size 0, sha256 "": not known here, then the hub's own metadata must say it.
    """

    name: str
    url: str
    page: str
    target: Path
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that arrived and is right. checked: against which hash, "catalogue" or "hub"."""

    path: Path
    size: int
    sha256: str
    checked: str


def order_for(model: CatalogueModel, host: str, folder: Path) -> Order:
    """The order for a model of the catalogue, from a hub or a mirror of one. Raises ("download.not_offered")."""
    if not model.repository:
        raise AssistantError(
            "download.not_offered", f"{model.title} comes with Keepsake and is not downloaded.", "Choose another model."
        )
    page = f"{host}/{quote(model.repository)}"
    url = f"{page}/resolve/{quote(model.revision or 'main', safe='')}/{quote(model.file)}"
    return Order(model.name, url, page, folder / model.file.rpartition("/")[2], model.size_bytes, model.sha256)


class Fetcher:
    """Fetches one order. For one thread; free: bytes that a folder's disk has left."""

    def __init__(
        self,
        order: Order,
        client: WebClient,
        token: str = "",
        free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._order, self._client, self._token, self._free = order, client, token, free
        self._progress: Progress = lambda _done, _total, _what: None
        self._looked = 0
        self._checked = "catalogue" if order.sha256 else "hub"

    def run(self, cancel: CancelToken, progress: Progress) -> Fetched:
        """Fetch it. What has arrived stays for the next run when this one is stopped or fails, unless it is wrong.

        progress: bytes here, bytes in all, and WAITING, READING or CHECKING. Raises AssistantError ``download.*``,
        ``model.*``, Cancelled.
        """
        self._progress = progress
        order = self._order
        with PartFile(order.target, PartState(order.name, order.url, size=order.size, sha256=order.sha256)) as part:
            if part.is_there:  # looked for behind the lock: another process may just have ended
                raise AssistantError(
                    "download.there", f"{order.target.name} is there already.", "Remove it first to fetch it again."
                )
            part.open(cancel)
            try:
                self._fetch_all(part, cancel)
                return self._finish(part)
            except BaseException:
                with contextlib.suppress(AssistantError):  # what went wrong first is what is told
                    part.keep()
                raise

    def _fetch_all(self, part: PartFile, cancel: CancelToken) -> None:
        failures, most = 0, part.size
        while not self._is_whole(part):
            try:
                self._fetch_some(part, cancel)
            except Interrupted as stop:
                cancel.check()
                failures = 1 if part.size > most else failures + 1
                most = max(most, part.size)
                if failures >= self._client.patience.tries or stop.after > _LONGEST_WAIT:
                    raise stop.error from stop
                self._progress(part.size, part.state.size, WAITING)
                if cancel.wait(stop.after or self._client.patience.before(failures)):
                    raise Cancelled from stop

    def _is_whole(self, part: PartFile) -> bool:
        return 0 < part.state.size == part.size and bool(part.state.sha256)

    def _fetch_some(self, part: PartFile, cancel: CancelToken) -> None:
        """One connection, up to the end of the file or to whatever ends it before."""
        if part.size > part.state.size > 0:
            part.restart()
        with self._client.get(self._order.url, _range(part), self._token, cancel) as answer:
            take_back = cancel.on_cancel(answer.stop)
            try:
                if self._begin(part, answer):
                    self._read(part, answer, cancel)
            except Interrupted:
                cancel.check()  # a stopped read looks like a cut
                raise
            finally:
                take_back()

    def _begin(self, part: PartFile, answer: Answer) -> bool:
        """Whether the answer goes on where the part ends, or begins it anew; False: ask again without a range."""
        if answer.status == 416 and part.size:
            part.restart()
            return False
        if answer.status not in (200, 206):
            raise refused(answer.status, answer.headers, answer.host, self._order.page, bool(self._token))
        start, total = _place(answer)
        if answer.status == 206 and (start != part.size or not _same_version(part, answer)):
            if not part.size:
                raise refused(answer.status, answer.headers, answer.host, self._order.page, bool(self._token))
            part.restart()
            return False
        if answer.status == 200 and part.size:
            part.restart()
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise _no_file(answer.host)
        size, sha256 = self._facts(answer, total)
        if part.size and part.state.sha256 not in ("", sha256):
            part.restart()
            return False
        self._check_room(part, size)
        part.note(answer.headers.get("etag", ""), size, sha256)
        return True

    def _facts(self, answer: Answer, total: int) -> tuple[int, str]:
        """Size and hash of the whole file, where catalogue, hub and answer agree. Raises AssistantError."""
        order = self._order
        told_hash = _linked_hash(answer)
        told_size = _whole_number(answer.linked.get("x-linked-size", ""))
        if order.sha256 and told_hash and told_hash != order.sha256:
            raise AssistantError(
                "download.changed",
                f"{answer.host} now has another file under this name than the one that Keepsake knows.",
                "It was not fetched. A newer Keepsake may know it.",
            )
        sizes = [known for known in (order.size, told_size, total) if known]
        if not sizes:
            raise AssistantError(
                "download.no_size", f"{answer.host} does not say how large the file is.", "Try another host."
            )
        if wrong := next((size for size in sizes if size != sizes[0]), 0):
            raise AssistantError(
                "download.size",
                f"{answer.host} offers a file of {wrong} bytes; it should have {sizes[0]}.",
                "It was not fetched. Try later, or another host in the settings.",
            )
        if not (order.sha256 or told_hash):
            raise AssistantError(
                "download.no_hash",
                f"Neither the catalogue nor {answer.host} says what the file's checksum is.",
                "It was not fetched, for nobody could tell whether it is right.",
            )
        return sizes[0], order.sha256 or told_hash

    def _read(self, part: PartFile, answer: Answer, cancel: CancelToken) -> None:
        patience, size = self._client.patience, part.state.size
        began, arrived = time.monotonic(), 0
        while part.size < size:
            data = answer.read(min(_CHUNK, size - part.size))
            cancel.check()
            if not data:
                raise cut(answer.host)
            if part.size == 0 and not data.startswith(_MAGIC[: len(data)]):
                raise _no_file(answer.host)
            part.write(data)
            arrived += len(data)
            self._progress(part.size, size, READING)
            if part.size - self._looked >= _LOOK_EVERY:
                self._check_room(part, size)
            if time.monotonic() - began >= patience.stall_seconds:
                if arrived < patience.stall_bytes:
                    raise too_slow(answer.host)
                began, arrived = time.monotonic(), 0

    def _check_room(self, part: PartFile, size: int) -> None:
        self._looked = part.size
        missing = size - part.size
        try:
            free = self._free(part.path.parent)
        except OSError as error:  # a drive that was pulled out
            raise unwritable(part.target, error) from error
        if free < missing + _SPARE:
            raise AssistantError(
                "download.no_room",
                f"The disk has {free / 1e9:.1f} GB free and {missing / 1e9:.1f} GB are still to come.",
                "Make room, or choose a folder on another disk.",
            )

    def _finish(self, part: PartFile) -> Fetched:
        size, digest = part.size, part.digest
        self._progress(size, size, CHECKING)
        if digest != part.state.sha256:
            part.discard()
            raise AssistantError(
                "download.wrong_bytes",
                f"What arrived is not {self._order.target.name} as it was published; it was not kept.",
                "Try again later, or from another host in the settings.",
            )
        part.keep()
        try:
            read_gguf_info(part.path)
        except AssistantError:
            part.discard()
            raise
        part.finish()
        return Fetched(self._order.target, size, digest, self._checked)


def _range(part: PartFile) -> dict[str, str]:
    """The rest of the file, if it is still the same one; a weak ETag cannot promise that (RFC 9110, 13.1.5).

    One that is no header stood in the state file, which anybody can edit.
    """
    if not part.size:
        return {}
    etag = part.state.etag
    wanted = {"Range": f"bytes={part.size}-"}
    strong = etag.isascii() and etag.isprintable() and not etag.startswith("W/")
    return {**wanted, "If-Range": etag} if etag and strong else wanted


def _place(answer: Answer) -> tuple[int, int]:
    """Where the body starts in the file (-1: it does not say), and the size of the whole file (0: not said)."""
    if answer.status == 206:
        found = re.fullmatch(
            r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", answer.headers.get("content-range", "").strip()
        )
        return (int(found[1]), _whole_number(found[2])) if found else (-1, 0)
    return 0, _whole_number(answer.headers.get("content-length", ""))


def _same_version(part: PartFile, answer: Answer) -> bool:
    etag = answer.headers.get("etag", "")
    return not etag or not part.state.etag or etag == part.state.etag


def _linked_hash(answer: Answer) -> str:
    """The hash that the asked hub itself tells: the ETag of a large file there is its SHA-256."""
    etag = answer.linked.get("x-linked-etag", "").removeprefix("W/").strip('"').casefold()
    return etag if re.fullmatch(r"[0-9a-f]{64}", etag) else ""


def _whole_number(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,18}", text.strip()) else 0


def _no_file(host: str) -> AssistantError:
    return AssistantError(
        "download.page",
        f"{host} sent something else instead of a model file.",
        "Open a web page in the browser: the network may ask you to log in first.",
    )
