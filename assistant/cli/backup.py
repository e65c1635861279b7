"""``keepsake backup`` and ``keepsake restore``: one encrypted file, and back."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path

_VARIABLE = "KEEPSAKE_PASSPHRASE"


def add_commands(commands: Any) -> None:
    backup = commands.add_parser("backup", help="one encrypted file of memory, chats, journal and settings")
    backup.add_argument("file", metavar="FILE", type=Path, help="a file, or a folder for a file named by the day")
    backup.add_argument(
        "--passphrase",
        action="store_true",
        help=f"lock it with a passphrase ({_VARIABLE}, stdin, or asked for) instead of the key in the keyring",
    )
    backup.add_argument("--overwrite", action="store_true", help="also replace a file that is no backup made here")
    backup.set_defaults(run=run_backup)
    restore = commands.add_parser("restore", help="bring a backup back into a new or empty folder")
    restore.add_argument("file", metavar="FILE", type=Path, help="the backup; --workspace says where it comes back")
    restore.add_argument("--passphrase", action="store_true", help="(found out by itself; for symmetry)")
    restore.add_argument("--key-file", metavar="K", help="a file with the recovery key, or - for stdin")
    restore.set_defaults(run=run_restore)
    known = commands.add_parser("backups", help="the backups that were made here, as far as is known")
    steps = known.add_subparsers(dest="step", metavar="STEP")
    known.set_defaults(run=run_list)
    steps.add_parser("list", help="newest first").set_defaults(run=run_list)
    drop = steps.add_parser("drop", help="know nothing of one any more; its file is not touched")
    drop.add_argument("file", metavar="FILE", type=Path, help="as backups list names it")
    drop.set_defaults(run=run_drop)


def run_list(context: Context, options: Namespace) -> int:
    known = context.services.backups.known.all()
    value = [{"file": b.path, "made": b.made, "key": b.key, "files": b.files, "there": b.there} for b in known]
    words = "\n".join(f"{b.made}  {b.key}  {b.path}{'' if b.there else '  (not connected)'}" for b in known)
    context.output.value({"backups": value}, words or "No backup was made yet.")
    return 0


def run_drop(context: Context, options: Namespace) -> int:
    path = named_path(options.file)
    known = context.services.backups.known
    if str(path) not in {str(each.path) for each in known.all()}:
        raise AssistantError("backup.unknown", f"No backup at {path} is known.", "See `keepsake backups list`.")
    known.remove(path)
    context.output.value({"dropped": path}, f"Nothing is known of {path} any more.")
    return 0


def run_backup(context: Context, options: Namespace) -> int:
    passphrase = read_passphrase(context, twice=True) if options.passphrase else None
    services = context.services
    report = services.backups.make(
        options.file,
        passphrase,
        overwrite=options.overwrite,
        cancel=context.cancel,
        progress=context.output.progress,
    )
    value = {
        "file": report.file,
        "files": report.files,
        "bytes": report.bytes,
        "size": report.size,
        "key": report.key,
        "proved": report.proved,
        "skipped": report.skipped,
        "recovery_key": report.new_key,
    }
    left_out = "".join(f"\nleft out: {name}" for name in report.skipped)
    key = f"\nRecovery key, shown once; write it down: {report.new_key}" if report.new_key else ""
    words = (
        f"{report.file}: {report.files} files, {report.bytes} bytes, encrypted into {report.size}. "
        f"Read back and compared: all {report.proved} are right."
    )
    context.output.value(value, words + left_out + key)
    return 0


def run_restore(context: Context, options: Namespace) -> int:
    from assistant.core.clock import system_clock
    from assistant.runtime.age import kind_of
    from assistant.runtime.backups import adopt_key
    from assistant.runtime.restoring import restore
    from assistant.settings.paths import default_workspace, find_paths
    from assistant.settings.store import SettingsStore

    places = context.places
    paths = find_paths(places.config, places.state, os.environ)
    root = default_workspace(SettingsStore(paths.settings_file).load(), places.workspace, os.environ)
    options.file = named_path(options.file)
    kind = kind_of(options.file)
    key = _key(context, options, kind == "passphrase")
    report = restore(options.file, key, root, paths, places.now or system_clock())
    adopt_key(key)
    aside = f"\nWhat was kept about a workspace here before is in {report.replaced}." if report.replaced else ""
    words = (
        f"{report.workspace}: {report.files} files of the backup of {report.made}. "
        f"Read back and compared: all {report.proved} are right."
    )
    context.output.value(report, words + aside)
    return 0


def _key(context: Context, options: Namespace, by_passphrase: bool) -> Any:
    from assistant.runtime.age import Key, parse_key
    from assistant.runtime.backups import stored_key

    if by_passphrase:
        return Key("passphrase", read_passphrase(context, twice=False))
    if options.key_file == "-":
        return parse_key(sys.stdin.read())
    if options.key_file:
        try:
            return parse_key(Path(options.key_file).read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            message = f"{options.key_file} cannot be read: {error.strerror}."
            raise AssistantError("backup.key_file", message, "Check its name.") from error
    return stored_key()


def read_passphrase(context: Context, *, twice: bool) -> str:
    """From the variable, a person at a terminal, or the first line of stdin; with --json nobody is asked."""
    if said := os.environ.get(_VARIABLE):
        return said
    if not sys.stdin.isatty():
        if line := sys.stdin.readline().rstrip("\r\n"):
            return line
    elif not context.output.as_json:
        return _asked(twice)
    raise AssistantError(
        "backup.passphrase_missing", "No passphrase was given.", f"Set {_VARIABLE}, or send it on stdin."
    )


def _asked(twice: bool) -> str:
    import getpass

    said = getpass.getpass("Passphrase: ")
    if twice and getpass.getpass("The same again: ") != said:
        raise AssistantError("backup.passphrase_differs", "The two passphrases differ.", "Try again.")
    return said
