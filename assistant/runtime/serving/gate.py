"""Who may ask: programs of this computer that know the token, and the web pages that the person named.

Any page in a browser can send requests to 127.0.0.1, and by DNS rebinding under a name of its own; so what names
another host is refused, and what a browser sends for a page that was not allowed.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from assistant.runtime.serving.requests import ApiError

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s,*?#@]+", re.IGNORECASE)
_OTHER_SITES = ("cross-site", "same-site")


def is_origin(text: str) -> bool:
    """Whether it is what a browser calls the origin of a page, such as ``https://example.org:8080``."""
    return bool(_ORIGIN.fullmatch(text))


@dataclass(frozen=True, slots=True)
class Gate:
    """token: the secret that clients send; origins: of pages that may ask, as browsers write them."""

    token: str
    origins: frozenset[str] = frozenset()

    def check_place(self, host: str, origin: str | None, site: str) -> None:
        """Refuse what came by a wrong name or from a page that may not ask. Raises ApiError.

        host, origin, site: the headers Host, Origin (None where there is none) and Sec-Fetch-Site.
        """
        if not _HOST.fullmatch(host):
            raise ApiError(403, "Only requests to 127.0.0.1 or localhost are answered.", "wrong_host")
        from_page = site.lower() in _OTHER_SITES if origin is None else not self.allows(origin)
        if from_page:
            hint = "start `keepsake serve` with --origin to allow it"
            raise ApiError(403, f"This page may not ask; {hint}.", "wrong_origin")

    def check_token(self, authorization: str) -> None:
        """Refuse whoever does not know the token. Raises ApiError."""
        scheme, _, given = authorization.partition(" ")
        known = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        if scheme.lower() != "bearer" or not known:
            raise ApiError(401, "The token is missing or wrong: `Authorization: Bearer TOKEN`.", "invalid_api_key")

    def allows(self, origin: str) -> bool:
        return origin.lower() in {each.lower() for each in self.origins}

    def answers_to(self, origin: str | None) -> dict[str, str]:
        """The headers that let an allowed page read the answer."""
        if origin is None or not self.allows(origin):
            return {}
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}

    def preflight(self, origin: str) -> dict[str, str]:
        """The headers by which a browser lets an allowed page ask at all."""
        return {
            **self.answers_to(origin),
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Keepsake-Memory",
            "Access-Control-Allow-Private-Network": "true",
            "Access-Control-Max-Age": "600",
        }
