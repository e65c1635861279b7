"""Secrets in the system's keyring, and nowhere else: without a keyring there is an error, never a plain-text file.

The calls may wait for the person to unlock the keyring: never make them on the window's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.core.errors import AssistantError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_SERVICE = "keepsake"
# keyrings.alt holds files that anyone can read or that ask on a console; null and fail hold nothing
_REFUSED = ("keyrings.alt.", "keyring.backends.null", "keyring.backends.fail")


class SecretStore:
    """Named secrets of one service. Every method raises AssistantError ``keyring.*`` when the keyring fails.

    Whatever a back end raises becomes that error: each raises a family of its own beside keyring's.
    """

    def __init__(self, service: str = _SERVICE) -> None:
        self._service = service

    def get(self, name: str) -> str | None:
        """The secret, None when there is none of that name."""
        backend = _backend()
        try:
            return backend.get_password(self._service, name)
        except Exception as error:
            raise _failed(error) from error

    def set(self, name: str, secret: str) -> None:
        """Store a secret in place of the one before."""
        backend = _backend()
        try:
            backend.set_password(self._service, name, secret)
        except Exception as error:
            raise _failed(error) from error

    def delete(self, name: str) -> bool:
        """Remove a secret; False when there was none."""
        if self.get(name) is None:
            return False
        backend = _backend()
        try:
            backend.delete_password(self._service, name)
        except Exception as error:
            raise _failed(error) from error
        return True


def _backend() -> KeyringBackend:
    """The keyring that the system offers. Raises AssistantError when there is none, or none that keeps secrets."""
    import keyring

    try:
        backend = keyring.get_keyring()
        parts = list(getattr(backend, "backends", [])) or [backend]
    except Exception as error:
        raise _failed(error) from error
    if any(type(part).__module__.startswith(_REFUSED) for part in parts):
        raise AssistantError(
            "keyring.none",
            "This system has no keyring that could hold the secret safely.",
            "Install or start one, such as GNOME Keyring, KWallet or KeePassXC.",
        )
    return backend


def _failed(error: Exception) -> AssistantError:
    from keyring.errors import KeyringLocked, NoKeyringError

    if isinstance(error, KeyringLocked):
        return AssistantError("keyring.locked", "The system's keyring is locked.", "Unlock it and try again.")
    if isinstance(error, NoKeyringError):
        return AssistantError("keyring.none", "This system has no keyring.", "Install one, such as GNOME Keyring.")
    reason = str(error) or type(error).__name__
    return AssistantError("keyring.failed", f"The system's keyring failed: {reason}.", "Try again.")
