"""One request to a server, on a thread of its own, so that it can be left at any moment: while a name is looked up,
while a connection is made, before the first byte, between two of them.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.engine.remote.address import ServerAddress
from assistant.engine.remote.events import unreadable
from assistant.engine.remote.failures import connection_failure, cut, silent

if TYPE_CHECKING:
    from assistant.engine.downloads.web import WebClient

_PIECE = 65_536
_MOST_BYTES = 64 << 20
"""Of one answer: far more than any reply, and no more than a server that never ends may cost."""
_MOST_WORDS = 4 << 20
"""Of an answer that is read as a whole: a list of models, an error."""
_LEAVE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. connect: until there is a connection; answer: for short questions; first: until the first byte of a
    reply; between: without any byte in the midst of it.

    first: a server on a processor alone reads a long prompt for minutes and says nothing meanwhile; between: tokens
    come one by one, and what takes minutes for one is broken. Both end a wait for nothing; the person can at any time.
    """

    connect: float = 10.0
    answer: float = 15.0
    first: float = 900.0
    between: float = 120.0


@dataclass(frozen=True, slots=True)
class Head:
    """How an answer begins. headers: names in lower case."""

    status: int
    headers: Mapping[str, str]


class ServerClient:
    """Requests to one server. key: "" for none; it goes to this address only, for no redirect is ever followed."""

    def __init__(
        self, address: ServerAddress, key: str = "", patience: Patience | None = None, proxy: str = ""
    ) -> None:
        from assistant.engine.downloads.web import Patience as WebPatience
        from assistant.engine.downloads.web import WebClient

        self.address = address
        self.has_key = bool(key)
        self.patience = patience or Patience()
        self._key = key
        self._web = WebClient(proxy, WebPatience(connect=self.patience.connect, read=self.patience.first))

    def open(self, url: str, body: Any, cancel: CancelToken) -> Exchange:
        """Begin a request, a POST where there is a body. Use the result as a context manager."""
        return Exchange(self._web, url, self._headers(), _bytes(body), self.address.host, self.patience, cancel)

    def ask(self, url: str, body: Any, cancel: CancelToken, seconds: float = 0.0) -> tuple[Head, Any]:
        """A short question: the head, and the JSON of the answer, None where it is none. seconds: without a byte.

        Raises AssistantError (``remote.*``), Cancelled.
        """
        limit = seconds or self.patience.answer
        with self.open(url, body, cancel) as exchange:
            head = exchange.head(limit)
            text = exchange.rest(limit)
        try:
            return head, json.loads(text)
        except (ValueError, RecursionError):
            return head, None

    def without_key(self, words: str) -> str:
        """What a server says, without the key, which some repeat."""
        return words.replace(self._key, "…") if self._key else words

    def _headers(self) -> dict[str, str]:
        sent = {
            "User-Agent": "keepsake",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        return {**sent, "Authorization": f"Bearer {self._key}"} if self._key else sent


class Exchange:
    """A request that is under way. Leaving it ends the connection, and the server sees that."""

    def __init__(
        self,
        web: WebClient,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        host: str,
        patience: Patience,
        cancel: CancelToken,
    ) -> None:
        self._web, self._url, self._headers, self._body = web, url, headers, body
        self._host, self._patience, self._cancel = host, patience, cancel
        self._arrived: queue.SimpleQueue[Head | bytes | Exception | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._left = False
        self._thread = threading.Thread(target=self._run, name="server-request", daemon=True)

    def __enter__(self) -> Exchange:
        self._cancel.check()  # before a thread could send anything
        self._take_back = self._cancel.on_cancel(lambda: self._arrived.put(Cancelled()))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._take_back()
        self._leave()
        self._thread.join(_LEAVE_SECONDS)  # what still looks a name up or connects ends by itself, and sends nothing

    def head(self, seconds: float) -> Head:
        """The status and headers. Raises AssistantError (``remote.*``), Cancelled."""
        found = self._next(seconds)
        if not isinstance(found, Head):
            raise unreadable(self._host)
        return found

    def pieces(self, first: float, between: float) -> Iterator[bytes]:
        """The body as it comes; first, between: seconds without a byte. Raises as ``head`` does."""
        seconds = first
        while (piece := self._next(seconds)) is not None:
            if isinstance(piece, bytes):
                yield piece
            seconds = between

    def rest(self, seconds: float) -> bytes:
        """The whole body of a short answer; a longer one is cut."""
        text = bytearray()
        for piece in self.pieces(seconds, seconds):
            text += piece
            if len(text) > _MOST_WORDS:
                break
        return bytes(text)

    def _next(self, seconds: float) -> Head | bytes | None:
        self._cancel.check()
        try:
            found = self._arrived.get(timeout=seconds)
        except queue.Empty:
            raise silent(self._host) from None
        if isinstance(found, Exception):
            raise found
        return found

    # --- on its thread --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        from urllib3.exceptions import HTTPError

        try:
            self._read()
            self._arrived.put(None)
        except AssistantError as error:
            self._arrived.put(error)
        except (HTTPError, OSError, ValueError) as error:  # ValueError: of http.client, for headers that are none
            self._arrived.put(_with_cause(self._failure(error), error))
        except Exception as error:  # noqa: BLE001 - a bug of ours: it is raised where the answer is waited for
            self._arrived.put(error)

    def _failure(self, error: Exception) -> AssistantError:
        """A connection that was made was cut, by whatever of TLS: what was said may have been sent by then."""
        from urllib3.exceptions import SSLError

        begun = isinstance(error, SSLError) and self._socket is not None
        return cut(self._host) if begun else connection_failure(self._host, error)

    def _read(self) -> None:
        from urllib3 import Timeout

        manager = self._web.pool(urlsplit(self._url))
        try:
            self._watch(manager.connection_from_url(self._url))
            response = manager.request(
                "GET" if self._body is None else "POST",
                self._url,
                body=self._body,
                headers=dict(self._headers),
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=Timeout(connect=self._patience.connect, read=self._patience.first),
            )
            headers = {name.casefold(): value for name, value in response.headers.items()}
            self._arrived.put(Head(int(response.status), headers))
            self._read_body(response)
        finally:
            manager.clear()

    def _read_body(self, response: Any) -> None:
        count = 0
        try:
            while not self._left and count <= _MOST_BYTES and (piece := response.read1(_PIECE)):
                count += len(piece)
                self._arrived.put(bytes(piece))
        finally:
            response.close()

    def _watch(self, pool: Any) -> None:
        """Know the socket as soon as there is one: that it is shut down is what wakes a read that waits."""
        take = self._take

        class Watched(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                take(self.sock)

        pool.ConnectionCls = Watched

    def _take(self, found: socket.socket) -> None:
        with self._lock:
            self._socket = found
            left = self._left
        if left:
            _shut(found)

    def _leave(self) -> None:
        with self._lock:
            self._left = True
            found = self._socket
        if found is not None:
            _shut(found)


def _shut(found: socket.socket) -> None:
    """Past TLS, which would wait to say goodbye."""
    with contextlib.suppress(OSError, ValueError):
        socket.socket.shutdown(found, socket.SHUT_RDWR)


def _bytes(body: Any) -> bytes | None:
    return None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _with_cause(error: AssistantError, cause: Exception) -> AssistantError:
    error.__cause__ = cause
    return error
