"""The one adapter of urllib3: a GET that follows redirects by our rules and reads a body as it comes.

Nothing here runs unless a person asked for a download. The token goes to the host it is for and to no other.
"""

from __future__ import annotations

import contextlib
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.engine.downloads.failures import Interrupted, cut, failed_connection
from assistant.engine.remote.address import is_here

_REDIRECTS = (301, 302, 303, 307, 308)
_HOPS = 6
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AGENT = "keepsake"
Leave = Callable[[Callable[[], Any], CancelToken, Callable[[Any], None]], Any]
NO_PROXY = "none"
"""In the place of a proxy's address: go without one, whatever the system says."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited. connect, read: seconds; slower than stall_bytes in stall_seconds counts as a cut; tries: in
    a row without a further byte; pause: seconds before the second try, doubled for each after it, up to most_pause.
    """

    connect: float = 15.0
    read: float = 30.0
    stall_bytes: int = 60_000
    stall_seconds: float = 60.0
    tries: int = 5
    pause: float = 1.0
    most_pause: float = 60.0

    def before(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row, from 1 on."""
        return min(self.pause * 2.0 ** (failures - 1), self.most_pause)


class Answer:
    """A response whose body was not read yet. Use it as a context manager.

    linked: the headers of all answers from the asked host itself, redirects included; host: which one answered.
    """

    def __init__(self, response: Any, linked: Mapping[str, str], host: str) -> None:
        self._response = response
        self.linked = linked
        self.host = host
        self.status = int(response.status)
        self.headers: Mapping[str, str] = {key.casefold(): value for key, value in response.headers.items()}

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    def stop(self) -> None:
        """End a read that waits, from another thread."""
        with contextlib.suppress(ValueError, RuntimeError, OSError):  # it has just ended by itself
            self._response.shutdown()

    def read(self, most: int) -> bytes:
        """What has arrived, at most so many bytes; b"" at the end. Raises Interrupted when the connection is cut."""
        from urllib3.exceptions import HTTPError

        try:
            return bytes(self._response.read1(most) or b"")
        except (HTTPError, OSError) as error:
            raise cut(self.host) from error


class WebClient:
    """Connections of one download. proxy: "" for the system's, NO_PROXY, or an address.

    leave: makes a call that waits for a name, a connection and the head of an answer, and comes back at once when the
    token is cancelled; its third argument closes an answer that nobody waits for any more. Without it they are waited
    for.
    """

    def __init__(self, proxy: str = "", patience: Patience | None = None, leave: Leave | None = None) -> None:
        self._proxy = proxy.strip()
        self.patience = patience or Patience()
        self._leave: Leave = leave or (lambda call, _cancel, _close: call())
        self._context: ssl.SSLContext | None = None

    def get(self, url: str, headers: Mapping[str, str], token: str, cancel: CancelToken) -> Answer:
        """The answer behind all redirects. Raises Interrupted where trying on may help, AssistantError, Cancelled."""
        first = _parsed(url)
        linked: dict[str, str] = {}
        for _ in range(_HOPS):
            cancel.check()
            here = _parsed(url)
            sent = {**headers, "User-Agent": _AGENT, "Accept-Encoding": "identity"}
            if token and _origin(here) == _origin(first) and _may_hold_token(here):
                sent["Authorization"] = f"Bearer {token}"
            response = self._leave(partial(self._request, here, sent), cancel, _close)
            answer = Answer(response, linked, here.hostname or "")
            if _origin(here) == _origin(first):
                linked.update(answer.headers)
            if answer.status not in _REDIRECTS:
                return answer
            url = _next(answer, here)
        raise AssistantError(
            "download.redirects", f"{first.hostname} leads from one address to the next without an end.", "Try later."
        )

    def _request(self, url: SplitResult, headers: Mapping[str, str]) -> Any:
        from urllib3.exceptions import HTTPError

        try:
            return self.pool(url).request(
                "GET", urlunsplit(url), headers=dict(headers), redirect=False, preload_content=False, retries=False
            )
        except (HTTPError, OSError) as error:
            raise failed_connection(url.hostname or "", error) from error

    def pool(self, url: SplitResult) -> Any:
        """urllib3's manager of connections to that host, through the proxy that is meant for it."""
        from urllib3 import PoolManager, ProxyManager, Timeout, make_headers

        common: dict[str, Any] = {
            "timeout": Timeout(connect=self.patience.connect, read=self.patience.read),
            "ssl_context": self._tls(),
            "maxsize": 1,
        }
        proxy = self._proxy_for(url)
        if not proxy:
            return PoolManager(**common)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise AssistantError(
                "download.proxy_kind",
                f"The proxy {parts.scheme}://{parts.hostname or ''} is of a kind that Keepsake cannot use.",
                "Name an http or https proxy in the settings, or none.",
            )
        login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.username else None
        bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))
        return ProxyManager(bare, proxy_headers=make_headers(proxy_basic_auth=login), **common)

    def _proxy_for(self, url: SplitResult) -> str:
        host = url.hostname or ""
        if self._proxy == NO_PROXY or is_here(host):
            return ""
        if self._proxy:
            return self._proxy
        if urllib.request.proxy_bypass(host):
            return ""
        found = urllib.request.getproxies()
        return found.get(url.scheme) or found.get("all") or ""

    def _tls(self) -> ssl.SSLContext:
        """The certificates that the system trusts, also those that an employer put there."""
        if self._context is None:
            import truststore

            self._context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return self._context


def _close(response: Any) -> None:
    response.close()


def check_host(address: str) -> str:
    """The base address of a hub without a slash at its end. Raises AssistantError("download.host")."""
    parts = _parsed(address.strip())
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def host_of(address: str) -> str:
    """The host of an address, as a person reads it."""
    return _parsed(address).hostname or ""


def _parsed(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass
    shown = url[:80]
    raise AssistantError(
        "download.host", f"“{shown}” is no web address.", "It must begin with https:// and name a computer."
    )


def _origin(url: SplitResult) -> tuple[str, str, int]:
    return url.scheme, (url.hostname or "").casefold(), url.port or (443 if url.scheme == "https" else 80)


def _may_hold_token(url: SplitResult) -> bool:
    return url.scheme == "https" or url.hostname in _LOOPBACK


def _next(answer: Answer, here: SplitResult) -> str:
    """Where a redirect leads; never from https to http. Closes the answer."""
    with answer:
        target = urljoin(urlunsplit(here), answer.headers.get("location", ""))
    there = _parsed(target)
    if not answer.headers.get("location") or (here.scheme == "https" and there.scheme != "https"):
        raise AssistantError(
            "download.insecure_redirect",
            f"{here.hostname} leads to an address that is not secure.",
            "Nothing was fetched. Try later, or another host in the settings.",
        )
    return target


__all__ = ["NO_PROXY", "Answer", "Interrupted", "Patience", "WebClient", "check_host", "host_of"]
