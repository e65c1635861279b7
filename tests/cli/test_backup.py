"""``keepsake backup`` and ``keepsake restore``, with a passphrase and with a real keyring."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from assistant.cli.backup import read_passphrase
from assistant.cli.context import Context
from assistant.cli.output import Output
from assistant.core.errors import AssistantError
from assistant.runtime.composition import Places
from tests.cli.conftest import Keepsake

IN_A_SESSION = """
import io, json, pathlib, sys
from contextlib import redirect_stdout
from assistant.cli.main import main
def run(*words):
    out = io.StringIO()
    with redirect_stdout(out):
        code = main([*words, "--json"], None)
    return code, json.loads(out.getvalue())
here = ["--workspace", "ws", "--config", "c", "--state", "s"]
run("remember", "likes oolong", *here)
code, made = run("backup", "b.age", *here)
assert code == 0 and made["recovery_key"].startswith("AGE-SECRET-KEY-1"), made
assert run("backup", "b.age", *here)[1]["recovery_key"] == "", "shown once"
code, back = run("restore", "b.age", "--workspace", "new", "--config", "c2", "--state", "s2")
assert code == 0 and back["proved"] == back["files"], back
assert "oolong" in pathlib.Path("new/MEMORY.md").read_text()
print("restored")
"""


def test_a_backup_through_a_real_keyring(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("DBUS_", "XDG_", "PYTHON_KEYRING", "KEEPSAKE"))}
    paths = os.pathsep.join(path for path in sys.path if path)
    environ = {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PYTHONPATH": paths, "PYTHONUTF8": "1"}
    unlock = 'printf "pass\\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"'
    command = ["dbus-run-session", "--", "bash", "-c", unlock, "bash", sys.executable, "-c", IN_A_SESSION]
    done = subprocess.run(command, env=environ, cwd=home, capture_output=True, encoding="utf-8", timeout=100)
    assert (done.returncode, done.stdout) == (0, "restored\n"), done.stderr


def test_a_passphrase_from_stdin_and_from_the_environment(
    keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keepsake("remember", "likes oolong")
    file = str(tmp_path / "b.age")
    made = keepsake("backup", file, "--passphrase", "--json", stdin="horse\n")
    assert made.code == 0 and made.json["key"] == "passphrase" and made.json["proved"] == made.json["files"]
    assert "recovery_key" in made.json and made.json["recovery_key"] == ""
    new = ("--workspace", str(tmp_path / "new"))
    assert keepsake("restore", file, *new, "--json", stdin="donkey").json["error"]["code"] == "backup.passphrase"
    assert keepsake("restore", file, *new, "--json").json["error"]["code"] == "backup.passphrase_missing"
    monkeypatch.setenv("KEEPSAKE_PASSPHRASE", "horse")
    back = keepsake("restore", file, *new, "--json").json
    assert {"workspace", "made", "files", "bytes", "proved", "settings", "replaced"} <= back.keys()
    assert "oolong" in (tmp_path / "new" / "MEMORY.md").read_text()
    found = keepsake("recall", "oolong", *new, "--json").json["hits"]
    assert found and found[0]["file"] == "MEMORY.md"
    again = keepsake("restore", file, *new)
    assert again.code == 1 and "holds files already" in again.err


def test_without_a_keyring_a_passphrase_is_offered(
    keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    refused = keepsake("backup", str(tmp_path / "b.age"), "--json")
    assert refused.code == 1
    assert refused.json["error"]["code"] == "keyring.none"
    assert "--passphrase" in refused.json["error"]["hint"]
    assert not (tmp_path / "b.age").exists()


def test_a_key_file_of_age_s_own_opens_it(keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, str] = {}
    store = "assistant.settings.secrets.SecretStore"
    monkeypatch.setattr(f"{store}.get", lambda self, name: held.get(name))
    monkeypatch.setattr(f"{store}.set", lambda self, name, secret: held.update({name: secret}))
    keepsake("remember", "likes oolong")
    made = keepsake("backup", str(tmp_path / "b.age"))
    key = made.out.rsplit(": ", 1)[1].strip()
    held.clear()
    new = ("--workspace", str(tmp_path / "new"))
    refused = keepsake("restore", str(tmp_path / "b.age"), *new, "--json")
    assert refused.json["error"]["code"] == "backup.no_key"
    (tmp_path / "key.txt").write_text(f"# created: today\n# public key: age1xyz\n{key}\n")
    assert keepsake("restore", str(tmp_path / "b.age"), *new, "--key-file", str(tmp_path / "key.txt")).code == 0
    (tmp_path / "key.txt").write_text("nothing")
    wrong = keepsake("restore", str(tmp_path / "b.age"), *new, "--key-file", str(tmp_path / "key.txt"), "--json")
    assert wrong.json["error"]["code"] == "backup.key_text"
    other = ("--workspace", str(tmp_path / "x"))
    assert keepsake("restore", str(tmp_path / "b.age"), *other, "--key-file", "-", stdin=key).code == 0


def test_known_backups_are_listed_and_dropped(
    keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSAKE_PASSPHRASE", "horse")
    assert keepsake("backups", "--json").json == {"backups": []}
    file = str(tmp_path / "b.age")
    keepsake("backup", file, "--passphrase")
    listed = keepsake("backups", "list", "--json").json["backups"]
    assert [(each["file"], each["key"], each["there"]) for each in listed] == [(file, "passphrase", True)]
    assert keepsake("backups", "drop", file, "--json").json == {"dropped": file}
    assert "No backup" in keepsake("backups").out
    keepsake("restore", file, "--workspace", str(tmp_path / "new"))
    again = keepsake("backups", "--workspace", str(tmp_path / "new"), "--json").json["backups"]
    assert [each["file"] for each in again] == [file], "what it was restored from is known there"


class Terminal(io.StringIO):
    """A person sits there."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answers", "as_json", "said"),
    [
        (["horse", "horse"], False, "horse"),
        (["horse", "donkey"], False, "backup.passphrase_differs"),
        ([], True, "backup.passphrase_missing"),
    ],
)
def test_a_person_types_it_twice_and_a_script_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: list[str], as_json: bool, said: str
) -> None:
    monkeypatch.delenv("KEEPSAKE_PASSPHRASE", raising=False)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda _: answers.pop(0))
    context = Context(Places(tmp_path / "ws"), Output(as_json=as_json, quiet=True))
    try:
        assert read_passphrase(context, twice=True) == said
    except AssistantError as error:
        assert error.code == said
