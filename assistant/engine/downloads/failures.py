"""What can go wrong on the way to a file, in words, and which of it may be better a moment later."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from assistant.core.errors import AssistantError

_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Interrupted(Exception):  # noqa: N818 - expected; the download goes on after a moment
    """A failure that may be over soon. after: seconds that the server asked to wait for, 0 where it asked nothing."""

    def __init__(self, error: AssistantError, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def cut(host: str) -> Interrupted:
    """The connection ended before the file did."""
    return Interrupted(
        AssistantError(
            "download.cut", f"The connection to {host} was cut.", "What has arrived is kept; continue when you like."
        )
    )


def too_slow(host: str) -> Interrupted:
    return Interrupted(
        AssistantError(
            "download.slow", f"{host} sends almost nothing.", "What has arrived is kept; continue when you like."
        )
    )


def failed_connection(host: str, error: Exception) -> Exception:
    """What urllib3 says of a request that brought no answer."""
    from urllib3 import exceptions as kinds

    if isinstance(error, kinds.ProxyError):
        return AssistantError("download.proxy", "The proxy does not answer.", "Check the proxy in the settings.")
    if isinstance(error, kinds.SSLError):
        return AssistantError(
            "download.insecure",
            f"The connection to {host} is not secure, so nothing was fetched.",
            "Check the laptop's date and whether the network asks you to log in first.",
        )
    if isinstance(error, kinds.NameResolutionError):
        return Interrupted(
            AssistantError("download.no_network", f"{host} cannot be found.", "Check the network connection.")
        )
    if isinstance(error, kinds.LocationValueError):
        return AssistantError("download.host", f"{host} is no web address.", "Check the host in the settings.")
    return Interrupted(
        AssistantError("download.unreachable", f"{host} does not answer.", "Check the network connection.")
    )


def refused(status: int, headers: Mapping[str, str], host: str, page: str, has_token: bool) -> Exception:
    """An answer that is not the file. page: where a person can read about it."""
    if status in (401, 403):
        return _closed(host, page, has_token)
    if status in (404, 410):
        return AssistantError(
            "download.not_found", f"{host} does not have this file any more.", f"Look at {page} for what there is now."
        )
    if status in _LATER:
        return _later(status, headers, host)
    return AssistantError(
        "download.refused", f"{host} refused the download (status {status}).", "Try later, or another host."
    )


def _closed(host: str, page: str, has_token: bool) -> AssistantError:
    if has_token:
        return AssistantError(
            "download.gated",
            f"{host} does not let your account have this file.",
            f"Accept its licence at {page}, or save another access token.",
        )
    return AssistantError(
        "download.gated",
        f"{host} gives this file only to people who have an account and accepted its licence.",
        f"Accept it at {page}, then save an access token and try again.",
    )


def _later(status: int, headers: Mapping[str, str], host: str) -> Interrupted:
    after = retry_after(headers.get("retry-after", ""))
    if status == 429:
        error = AssistantError("download.busy_host", f"{host} has too many requests from here.", "Wait a few minutes.")
    else:
        error = AssistantError("download.host_failed", f"{host} has a problem (status {status}).", "Try again later.")
    return Interrupted(error, after)


def retry_after(text: str) -> float:
    """Seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); 0 for anything else."""
    if re.fullmatch(r"\d{1,9}", text.strip()):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError, IndexError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def unwritable(path: Path, error: OSError) -> AssistantError:
    """A file of the download cannot be written; what is there stays."""
    if error.errno in _FULL:
        return AssistantError(
            "download.disk_full",
            f"The disk is full; what has arrived of {path.name} is kept.",
            "Make room, then continue.",
        )
    if error.errno == errno.EFBIG:
        return AssistantError(
            "download.too_big_for_disk",
            f"This disk cannot hold a file as large as {path.name}.",
            "Choose a folder on another disk.",
        )
    return AssistantError(
        "download.write",
        f"{path} cannot be written: {error.strerror or error}.",
        "Check the folder's permissions, or choose another folder.",
    )
