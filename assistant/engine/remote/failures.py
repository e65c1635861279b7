"""What goes wrong with a server, in words: one error each, none of which ends more than one reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assistant.core.errors import AssistantError
from assistant.engine.remote.pieces import error_words

if TYPE_CHECKING:
    import ssl

_WINDOW = ("exceed_context_size", "context_length_exceeded", "maximum context length", "context size", "context window")
_SHOWN = 200
"""Characters of a server's own words that are shown."""
_CHECK = "Check the address in the settings, and that the server runs."


def connection_failure(host: str, error: Exception) -> AssistantError:
    """What urllib3 says of a request that brought no answer."""
    from urllib3 import exceptions as kinds

    if isinstance(error, kinds.ProxyError):
        return AssistantError(
            "remote.proxy",
            f"The proxy on the way to {host} does not answer.",
            "Check the proxy in the system's settings, or go without one.",
        )
    if isinstance(error, kinds.SSLError):
        return _insecure(host, error)
    if isinstance(error, kinds.NameResolutionError):
        return AssistantError(
            "remote.name", f"There is no computer called {host}.", "Check the address and the network."
        )
    if isinstance(error, kinds.NewConnectionError):
        return AssistantError("remote.refused", f"No server answers at {host}.", _CHECK)
    if isinstance(error, kinds.ConnectTimeoutError):
        return AssistantError("remote.unreachable", f"{host} cannot be reached.", "Check the address and the network.")
    if isinstance(error, kinds.ReadTimeoutError):
        return silent(host)
    if isinstance(error, kinds.LocationValueError):
        return AssistantError("remote.address", f"{host} is no address of a server.", "Check it in the settings.")
    return cut(host)


def cut(host: str) -> AssistantError:
    """The connection ended before the reply did."""
    return AssistantError("remote.cut", f"The connection to {host} was cut; the text so far is kept.", "Try again.")


def silent(host: str) -> AssistantError:
    """Nothing came for longer than any server needs."""
    return AssistantError(
        "remote.silent",
        f"{host} has sent nothing for too long; the text so far is kept.",
        "The server may be busy or stuck. Try again later.",
    )


def refusal(status: int, headers: Mapping[str, str], said: str, host: str, model: str, has_key: bool) -> AssistantError:
    """An answer that is no reply. said: the server's own words, "" for none. headers: names in lower case."""
    if is_too_long(said):
        return AssistantError(
            "engine.window",
            f"The prompt is longer than the context window of {host}: {_short(said)}.",
            "Set the context window of the server in the settings.",
        )
    if 300 <= status < 400:
        return _moved(headers.get("location", ""), host)
    if status in (401, 403):
        return _locked(host, has_key)
    if status == 404:
        return AssistantError(
            "remote.not_found",
            f"{host} does not know the model “{model}”, or has no chat at this address.",
            "Choose one of its models in the settings, and check the address.",
        )
    if status == 429:
        return _busy(headers.get("retry-after", ""), host)
    if status >= 500:
        return AssistantError(
            "remote.failed", f"The server at {host} failed: {_short(said) or status}.", "Try again later."
        )
    return AssistantError("remote.wrong", f"{host} refused the request: {_short(said) or status}.", _CHECK)


def said_in_reply(words: str, host: str) -> AssistantError:
    """The server gave up in the midst of a reply."""
    if is_too_long(words):
        return refusal(400, {}, words, host, "", False)
    return AssistantError(
        "remote.failed",
        f"{host} gave up on the reply: {_short(words)}; the text so far is kept.",
        "Try again later.",
    )


def is_too_long(said: str) -> bool:
    """Whether a server complains of the prompt's length."""
    words = said.casefold()
    return any(sign in words for sign in _WINDOW)


def words_of_body(body: bytes) -> str:
    """What the body of an error says; "" for HTML and whatever else nobody wants to read."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    said = error_words(value)
    kind = value["error"].get("type") if isinstance(value, dict) and isinstance(value.get("error"), dict) else ""
    return f"{said} ({kind})" if isinstance(kind, str) and kind.startswith("exceed_context") else said


def _insecure(host: str, error: Exception) -> AssistantError:
    """Certificates that do not hold, in plain words."""
    import ssl

    reason = error.args[0] if error.args else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return AssistantError(
            "remote.certificate",
            f"{host} cannot prove who it is, so nothing was sent: {_certificate_words(reason)}.",
            "Check the address and the laptop's date. A certificate of your own must be known to your system.",
        )
    return AssistantError(
        "remote.tls",
        f"No secure connection to {host} comes about, so nothing was sent.",
        "If this server speaks plain http only, its address begins with http://.",
    )


_CERTIFICATES = {
    10: "its certificate has expired",
    9: "its certificate is not valid yet",
    18: "it vouches for itself",
    19: "nobody your system trusts vouches for it",
    20: "nobody your system trusts vouches for it",
    62: "its certificate is for another name",
    64: "its certificate is for another address",
}
"""By X509_V_ERR_… of OpenSSL's x509_vfy.h."""


def _certificate_words(error: ssl.SSLCertVerificationError) -> str:
    return _CERTIFICATES.get(error.verify_code, "its certificate does not hold")


def _moved(location: str, host: str) -> AssistantError:
    """No redirect is followed: with it would go what was said, and the key, to a server nobody named."""
    where = f" ({location[:100]})" if location else ""
    return AssistantError(
        "remote.moved",
        f"{host} sends us on to another address{where}; Keepsake does not follow.",
        "If you trust that address, put it into the settings.",
    )


def _locked(host: str, has_key: bool) -> AssistantError:
    if has_key:
        return AssistantError("remote.key", f"{host} does not accept the key.", "Give another one in the settings.")
    return AssistantError("remote.key", f"{host} wants a key.", "Give one in the settings; your keyring holds it.")


def _busy(after: str, host: str) -> AssistantError:
    seconds = int(after) if after.isdecimal() and len(after) < 7 else 0
    if seconds:
        message = f"{host} takes no more requests for now."
        return AssistantError("remote.busy", message, f"Try again in {seconds} seconds.")
    return AssistantError("remote.busy", f"{host} takes no more requests for now.", "Try again in a while.")


def _short(said: str) -> str:
    words = " ".join(said.split()).rstrip(".")
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
