"""settings.toml: read without ever failing, written without losing a comment or a key that is not ours."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.settings.schema import Settings, check, from_document

_LOCK_SECONDS = 5.0
_BOM = "\ufeff"

Value = str | int | float


class SettingsStore:
    """The settings in one TOML file. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return self._path

    @property
    def problems(self) -> tuple[str, ...]:
        """What the last load or update found wrong with the file, a sentence each; empty when all is well."""
        return self._problems

    def load(self) -> Settings:
        """The settings as the file has them now. Whatever is wrong with it counts as default and is in ``problems``."""
        try:
            settings, self._problems = from_document(self._parsed(self._read()))
        except AssistantError as error:
            settings, self._problems = Settings(), (f"{error.message} The default settings are used.",)
        return settings

    def update(self, section: str, **values: Value) -> Settings:
        """Write some settings of a section and return them all. A value that is there already writes nothing.

        Raises AssistantError: ``settings.value`` for what does not fit the schema, ``settings.broken`` for a file that
        cannot be understood (it is left as it is), ``settings.busy``, ``settings.write``.
        """
        wanted = {key: _checked(section, key, value) for key, value in values.items()}
        try:
            make_private(self._path.parent)
            with _locked(self._path):
                text = self._read()
                edited = self._edited(text, section, wanted)
                if edited != text:
                    _write(self._path.resolve(), edited.encode())
        except OSError as error:
            raise AssistantError(
                "settings.write",
                f"The settings could not be saved: {error.strerror or error}.",
                f"Check that the disk has room and that {self._path} may be written.",
            ) from error
        return self.load()

    def _read(self) -> str:
        try:
            return self._path.read_bytes().decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise self._broken("it is not UTF-8 text") from error
        except OSError as error:
            raise self._broken(error.strerror or str(error)) from error

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text.removeprefix(_BOM))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise self._broken(str(error)) from error

    def _edited(self, text: str, section: str, values: Mapping[str, Value]) -> str:
        """The text with the values in it and all else as it was; checked by reading it again."""
        before = self._parsed(text)
        table = before.get(section, {})
        if not isinstance(table, dict):
            raise self._broken(f'"{section}" is not a section')
        changes = {key: value for key, value in values.items() if key not in table or not _same(table[key], value)}
        if not changes:
            return text
        edited = _BOM * text.startswith(_BOM) + _with_values(text.removeprefix(_BOM), section, changes)
        if not _same(self._parsed(edited), {**before, section: {**table, **changes}}):
            raise self._broken(f'the section "{section}" is written in a way that cannot be changed safely')
        return edited

    def _broken(self, why: str) -> AssistantError:
        return AssistantError(
            "settings.broken",
            f"The settings file {self._path} cannot be used: {why}.",
            "Correct it, or move it away to start with the defaults.",
        )


def _checked(section: str, key: str, value: Value) -> Value:
    try:
        accepted, problem = check(section, key, value)
    except KeyError as error:
        raise AssistantError("settings.value", f"There is no setting {section}.{key}.") from error
    if problem:
        raise AssistantError("settings.value", problem)
    return cast(Value, accepted)


def _with_values(text: str, section: str, values: Mapping[str, Value]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if section not in document:
        document[section] = tomlkit.table()
    table = cast(MutableMapping[str, Any], document[section])
    table.update(values)
    return tomlkit.dumps(document)


def _same(one: object, other: object) -> bool:
    """Equal as TOML: of the same type (1 is neither 1.0 nor true), and nan is nan."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(path.with_name(path.name + ".lock"), timeout=_LOCK_SECONDS, mode=0o600):
            yield
    except Timeout as error:
        raise AssistantError(
            "settings.busy", "Another window is saving the settings.", "Try again in a moment."
        ) from error


def _write(target: Path, data: bytes) -> None:
    """Replace the file in one step (mode 0600): after a crash it is the old one or the new one, whole."""
    descriptor, name = tempfile.mkstemp(prefix=".settings.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
