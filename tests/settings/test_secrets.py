"""Secrets go to a real Secret Service, or nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail, null
from keyring.errors import KeyringLocked
from pytest import MonkeyPatch

from assistant.core.errors import AssistantError
from assistant.settings.secrets import SecretStore

IN_A_SESSION = """
import sys
from assistant.settings.secrets import SecretStore
first, second = SecretStore("keepsake-test"), SecretStore("keepsake-other")
assert first.get("backup") is None
first.set("backup", "correct horse 电池")
first.set("backup", "correct horse battery 电池")
second.set("backup", "another")
assert first.get("backup") == "correct horse battery 电池"
assert first.delete("backup") and not first.delete("backup")
assert first.get("backup") is None and second.get("backup") == "another"
print("kept")
"""
WITHOUT_A_SERVICE = """
from assistant.core.errors import AssistantError
from assistant.settings.secrets import SecretStore
for call in (lambda s: s.get("a"), lambda s: s.set("a", "b"), lambda s: s.delete("a")):
    try:
        call(SecretStore())
    except AssistantError as error:
        print(error.code.split(".")[0])
"""


def run(home: Path, command: list[str], script: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(mode=0o700, exist_ok=True)
    environ = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DBUS_", "XDG_", "PYTHON_KEYRING"))
        },
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONUTF8": "1",
    }
    return subprocess.run(
        [*command, sys.executable, "-c", script], env=environ, capture_output=True, encoding="utf-8", timeout=60
    )


def test_a_real_secret_service_keeps_and_forgets(tmp_path: Path) -> None:
    unlock = 'printf "pass\\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"'
    done = run(tmp_path / "home", ["dbus-run-session", "--", "bash", "-c", unlock, "bash"], IN_A_SESSION)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"another" not in kept
    assert b"correct horse" not in kept


def test_without_a_service_every_call_says_so(tmp_path: Path) -> None:
    done = run(tmp_path / "home", [], WITHOUT_A_SERVICE)
    assert (done.returncode, done.stdout.split()) == (0, ["keyring"] * 3), done.stderr
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("backend", [null.Keyring, fail.Keyring])
def test_a_back_end_that_keeps_nothing_is_refused(monkeypatch: MonkeyPatch, backend: type) -> None:
    monkeypatch.setattr(keyring, "get_keyring", backend)
    with pytest.raises(AssistantError) as caught:
        SecretStore().set("name", "secret")
    assert caught.value.code == "keyring.none"


class Locked(keyring.backend.KeyringBackend):
    """A keyring whose owner did not unlock it."""

    priority = 1.0

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError("gone")


def test_the_back_end_s_errors_become_words(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", Locked)
    with pytest.raises(AssistantError) as caught:
        SecretStore().get("name")
    assert caught.value.code == "keyring.locked"
    with pytest.raises(AssistantError) as caught:
        SecretStore().set("name", "secret")
    assert caught.value.code == "keyring.failed"
    assert "secret" not in str(caught.value)
