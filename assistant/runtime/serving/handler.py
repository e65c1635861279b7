"""One connection of a client: HTTP in, JSON or server-sent events out."""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, cast

from assistant.core.json_text import parse_json
from assistant.core.values import Delta
from assistant.runtime.serving.answers import Heading, embedding_list, model_list
from assistant.runtime.serving.jobs import ClientGone
from assistant.runtime.serving.requests import ApiError, ChatRequest, read_chat, read_embeddings
from assistant.runtime.serving.service import Answer, Serving, Told

if TYPE_CHECKING:
    from assistant.runtime.serving.endpoint import Listener

MOST_BYTES = 4_000_000
"""Of a request's body: some million tokens, more than any window."""
_DRAINED, _DRAIN_SECONDS = 64_000_000, 5.0
"""So much of a refused body is read and thrown away, or the client would see a broken connection, not why."""
_SILENT_SECONDS = 30.0
_NO = ("false", "off", "no", "0")
_ROUTES = {"/health": "GET", "/v1/models": "GET", "/v1/chat/completions": "POST", "/v1/embeddings": "POST"}
_log = logging.getLogger(__name__)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, each checked at the gate before its body is read."""

    protocol_version = "HTTP/1.1"
    timeout = _SILENT_SECONDS
    disable_nagle_algorithm = True
    server: Listener

    # --- requests ----------------------------------------------------------------------------------------------------

    def do_GET(self) -> None:
        self._answered()

    def do_POST(self) -> None:
        self._answered()

    def do_OPTIONS(self) -> None:
        self._answered()

    def _answered(self) -> None:
        """Whatever goes wrong becomes an answer, or the end of the connection."""
        self._unread = self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers
        self._begun = False
        try:
            self._answer()
        except ApiError as error:
            self._refuse(error)
        except (ClientGone, OSError):
            self.close_connection = True
        except Exception:  # noqa: BLE001 - a bug costs one answer
            _log.exception("a request could not be answered")
            self._refuse(ApiError(500, "Keepsake made a mistake.", "bug", kind="server_error"))
        if self._unread:  # what comes next would be taken for a request
            self.close_connection = True

    def _answer(self) -> None:
        gate, path = self.server.gate, self.path.partition("?")[0]
        hosts = self.headers.get_all("Host", [])
        site = self.headers.get("Sec-Fetch-Site", "")
        gate.check_place(hosts[0] if len(hosts) == 1 else "", self.headers.get("Origin"), site)
        if self.command == "OPTIONS":
            self._head(204, {"Content-Length": "0", **gate.preflight(self.headers.get("Origin", ""))})
            return
        if path not in _ROUTES:
            raise ApiError(404, f"There is nothing at {path[:100]}.", "not_found")
        if self.command != _ROUTES[path]:
            raise ApiError(405, f"{path} takes {_ROUTES[path]}.", "method_not_allowed")
        if path == "/health":
            self._send(200, {"status": "ok"})
            return
        gate.check_token(self.headers.get("Authorization", ""))
        if path == "/v1/models":
            self._send(200, model_list(self._serving.models(), self.server.began))
        elif path == "/v1/embeddings":
            self._embed()
        else:
            self._chat()

    # --- endpoints ---------------------------------------------------------------------------------------------------

    def _embed(self) -> None:
        request = read_embeddings(self._body())
        with self._client_watched() as gone:
            vectors, tokens = self._serving.embed(request, gone)
        name = self._serving.embedding_model
        self._send(200, embedding_list(vectors, name, tokens, packed=request.packed))

    def _chat(self) -> None:
        request = read_chat(self._body())
        if self.headers.get("X-Keepsake-Memory", "").strip().lower() in _NO:
            request = replace(request, memory=False)
        with self._client_watched() as gone, contextlib.closing(self._serving.chat(request, gone)) as told:
            heading = Heading(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()))
            if request.stream:
                self._stream(request, heading, told)
            else:
                self._whole(heading, told)

    def _whole(self, heading: Heading, told: Iterator[Told]) -> None:
        for each in told:
            if isinstance(each, Answer):
                self._send(200, heading.of(self._serving.chat_model).completion(each.done, each.keepsake))

    def _stream(self, request: ChatRequest, heading: Heading, told: Iterator[Told]) -> None:
        """Begun with the first sign of life from the model: what is refused before that has a status of its own."""
        for each in told:
            if not self._begun:
                heading = heading.of(self._serving.chat_model)
                self._begin_events()
                self._event(heading.first())
            if isinstance(each, Delta):
                self._event(heading.delta(each.text, thought=each.thought))
            elif isinstance(each, Answer):
                self._event(heading.last(each.done, each.keepsake))
                if request.usage:
                    self._event(heading.counts(each.done))
                self._end_events()

    @property
    def _serving(self) -> Serving:
        return self.server.serving

    # --- reading -----------------------------------------------------------------------------------------------------

    def handle_expect_100(self) -> bool:
        """The client is asked for the body once it is known that the request may be answered."""
        return True

    def _body(self) -> Any:
        """The body as JSON. Raises ApiError for one that is none, too large, or of unknown length."""
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1:
            raise ApiError(411, "The body must come with a Content-Length.", "length_required")
        if not (lengths[0].isascii() and lengths[0].isdecimal()) or len(lengths[0]) > 12:
            raise ApiError(400, "The Content-Length is no number.", "invalid_length")
        if (length := int(lengths[0])) > MOST_BYTES:
            raise ApiError(413, f"The body is larger than {MOST_BYTES} bytes.", "body_too_large")
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        data = self.rfile.read(length)
        if len(data) < length:
            raise ClientGone
        self._unread = False
        try:
            return parse_json(data)
        except ValueError as error:
            raise ApiError(400, f"The body is no JSON: {str(error)[:200]}.", "invalid_json") from error

    @contextlib.contextmanager
    def _client_watched(self) -> Iterator[Callable[[], bool]]:
        """Gives a function that says whether the client has closed its connection; cheap, for one thread."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)

            def gone() -> bool:
                if self._serving.closing.cancelled or not selector.select(0):
                    return False
                try:
                    return not self.connection.recv(1, socket.MSG_PEEK)
                except OSError:
                    return True

            yield gone

    # --- writing -----------------------------------------------------------------------------------------------------

    def _refuse(self, error: ApiError) -> None:
        """Tell why, in OpenAI's form; within a stream as its last event."""
        with contextlib.suppress(OSError):
            if self._begun:
                self._event(error.as_json())
                self._end_events()
                return
            more = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
            unread, self.close_connection = self._unread, self.close_connection or self._unread
            self._send(error.status, error.as_json(), more)
            if unread:
                self._drain()

    def _drain(self) -> None:
        self.connection.settimeout(1.0)
        deadline, left = time.monotonic() + _DRAIN_SECONDS, _DRAINED
        while left > 0 and time.monotonic() < deadline:
            if not (data := self.rfile.read1(65_536)):
                return
            left -= len(data)

    def _send(self, status: int, value: Mapping[str, Any], more: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self._head(status, {"Content-Type": "application/json", "Content-Length": str(len(data)), **(more or {})})
        self.wfile.write(data)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        if self._serving.closing.cancelled:
            self.close_connection = True
        self.send_response(status)
        own = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        cors = self.server.gate.answers_to(self.headers.get("Origin"))
        for name, value in {**own, **cors, **headers}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _begin_events(self) -> None:
        self._begun = True
        self._chunked = self.request_version >= "HTTP/1.1"
        self.close_connection = self.close_connection or not self._chunked
        coding = {"Transfer-Encoding": "chunked"} if self._chunked else {}
        self._head(200, {"Content-Type": "text/event-stream; charset=utf-8", **coding})

    def _event(self, value: Mapping[str, Any]) -> None:
        self._piece(f"data: {json.dumps(value)}\n\n".encode())

    def _end_events(self) -> None:
        self._piece(b"data: [DONE]\n\n")
        if self._chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself, in our form: a request that is no HTTP, an unknown method."""
        if not hasattr(self, "headers"):
            self.headers = cast(Any, {})
        self.close_connection = True
        self._send(int(code), ApiError(int(code), f"{message or 'This is no request'}.", "bad_request").as_json())

    def version_string(self) -> str:
        return "Keepsake"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """The path and the status; never what was said."""
        _log.debug(format, *args)
