"""The token that clients must know: kept in the system's keyring, or made for one run where there is none."""

from __future__ import annotations

import secrets

from assistant.core.errors import AssistantError
from assistant.settings.secrets import SecretStore

NAME = "serve-token"
_BYTES = 32  # of chance: nobody guesses 256 bits


def client_token(store: SecretStore, *, anew: bool = False) -> tuple[str, AssistantError | None]:
    """The token, and why it holds for this run only (None where it is kept). anew: the one before is no longer valid.

    May wait for the person to unlock the keyring.
    """
    try:
        if not anew and (known := store.get(NAME)):
            return known, None
        token = secrets.token_urlsafe(_BYTES)
        store.set(NAME, token)
    except AssistantError as error:
        return secrets.token_urlsafe(_BYTES), error
    return token, None
