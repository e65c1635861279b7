"""The token: one for ever where a keyring keeps it, one a run where none does."""

from __future__ import annotations

from assistant.core.errors import AssistantError
from assistant.runtime.serving.token import client_token
from tests.fakes import Keyring


class Locked(Keyring):
    def get(self, name: str) -> str | None:
        raise AssistantError("keyring.locked", "The system's keyring is locked.")


def test_it_is_made_once_and_kept() -> None:
    keyring = Keyring()
    token, why = client_token(keyring)
    assert why is None
    assert len(token) >= 40
    assert client_token(keyring) == (token, None)
    anew, _ = client_token(keyring, anew=True)
    assert anew != token
    assert client_token(keyring) == (anew, None)


def test_without_a_keyring_it_holds_for_one_run() -> None:
    (first, why), (second, _) = client_token(Locked()), client_token(Locked())
    assert why is not None
    assert why.code == "keyring.locked"
    assert first != second
