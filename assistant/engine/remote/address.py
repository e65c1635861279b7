"""The address of a server as a person writes it, taken apart and made whole."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from assistant.core.errors import AssistantError

_PORTS = {"http": 80, "https": 443}
_ENDPOINTS = ("/chat/completions", "/completions", "/models")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """base: what ``/chat/completions`` is put behind; origin: scheme, host and port, what a key and a yes belong to.

    host: as it is shown to people, with a port that is not the usual one. here: on this machine, nothing leaves it.
    """

    base: str
    origin: str
    host: str
    here: bool

    @property
    def encrypted(self) -> bool:
        return self.origin.startswith("https:")

    @property
    def open_to_others(self) -> bool:
        """Whether anybody on the way can read along."""
        return not self.encrypted and not self.here

    @property
    def native(self) -> str:
        """Where llama-server has what is its own, ``/props`` and ``/tokenize``."""
        return self.base.removesuffix("/v1")


def parse_address(text: str) -> ServerAddress:
    """What a person means by ``text``: without a scheme https, or http on this machine; without a path ``/v1``.

    Raises AssistantError("remote.address"), also for an address that has a password in it: settings are a plain file.
    """
    written = text.strip()
    parts = _split(written if "://" in written else f"{_usual_scheme(written)}://{written}", written)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise AssistantError(
            "remote.address",
            "The address of the server holds more than an address.",
            "Leave out what stands before @ and from ? or # on; a key has a field of its own.",
        )
    name = (parts.hostname or "").casefold()
    port = parts.port or _PORTS[parts.scheme]
    shown = f"[{name}]" if ":" in name else name
    host = shown if port == _PORTS[parts.scheme] else f"{shown}:{port}"
    origin = f"{parts.scheme}://{host}"
    return ServerAddress(origin + _path(parts.path), origin, host, is_here(name))


def is_here(host: str) -> bool:
    """Whether a host's name or address is this machine's own."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _split(address: str, written: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        whole = parts.hostname and parts.port != 0 and not any(c.isspace() or c == "\\" for c in parts.netloc)
        if parts.scheme in _PORTS and whole:
            return parts
    except ValueError:
        pass
    raise AssistantError(
        "remote.address",
        f"“{written[:80]}” is no address of a server.",
        "It looks like http://localhost:8080 or https://ai.example.org/v1.",
    )


def _usual_scheme(written: str) -> str:
    """Nobody has a certificate for their own machine; to all others the way should be closed."""
    try:
        return "http" if is_here((urlsplit(f"//{written}").hostname or "").casefold()) else "https"
    except ValueError:
        return "https"


def _path(path: str) -> str:
    """Also where the address of one endpoint was copied."""
    bare = path.rstrip("/")
    for endpoint in _ENDPOINTS:
        bare = bare.removesuffix(endpoint)
    return bare or "/v1"
