"""Assistants: each a workspace of its own below the person's folder, so that nothing of one can reach another.

The default one lives at the root, the others under ``assistants/<name>/``, each with its prompt in PERSONA.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error
from assistant.workspace.identity import drop_record, ids_of, move_record
from assistant.workspace.layout import make_folder, name_problem, refuse
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import locked, sync_folder, write_atomic
from assistant.workspace.text_files import TextFile, read_text

FOLDER = "assistants"
PERSONA = "PERSONA.md"
DEFAULT = "Keepsake"
"""What the one at the root is called."""
LONGEST_PERSONA = 8_000
"""Characters of a prompt: some 2 000 tokens, half of a small model's window."""
_LONGEST_NAME = 60  # characters: it stands in titles, menus and in every chat's head
_TRASH = "deleted-assistants"
_RECORD = "deleted.json"


@dataclass(frozen=True, slots=True)
class DeletedAssistant:
    """An assistant in the trash. folder: its own there."""

    name: str
    folder: str


class Assistants:
    """The assistants of one folder. Blocking; data: where workspaces are registered and the trash is."""

    def __init__(self, root: Path, data: Path) -> None:
        self._root = root
        self._data = data
        self._lock = data / "assistants.lock"

    def names(self) -> list[str]:
        """The default one first, then the others by name. Links and names we would not give are none."""
        try:
            with os.scandir(self._folder()) as entries:
                found = [e.name for e in entries if e.is_dir(follow_symlinks=False) and not _problem(e.name)]
        except (FileNotFoundError, NotADirectoryError, AssistantError):
            found = []
        except OSError as error:
            raise as_error(error, self._root) from error
        return [DEFAULT, *sorted(found, key=str.casefold)]

    def root(self, name: str) -> Path:
        """Where an assistant lives; "" and the default's name: at the root. Raises ("assistant.missing")."""
        if not name or name.casefold() == DEFAULT.casefold():
            return self._root
        known = next((each for each in self.names()[1:] if each.casefold() == name.casefold()), None)
        if known is None:
            shown = name if len(name) <= 60 else name[:57] + "..."
            message = f"There is no assistant called {shown!r}."
            raise AssistantError("assistant.missing", message, "`keepsake assistants list` names them.")
        return self._folder() / known

    def add(self, name: str, prompt: str = "") -> Path:
        """A new assistant with nothing in its memory; its folder. Raises ("workspace.path"), ("assistant.exists")."""
        text = _checked(prompt)
        with self._changing():
            folder = self._new_folder(name)
            make_folder(self._root, folder)
            move_record(self._data, folder, None)  # of one that was called so, and deleted by hand
            if text:
                write_atomic(folder / PERSONA, text.encode())
            sync_folder(folder.parent)
        return folder

    def rename(self, name: str, new: str) -> Path:
        """Call it otherwise; its memory, journal and receipts stay its own. The default one keeps its name."""
        with self._changing():
            old = self._other(name)
            folder = self._new_folder(new, but=old.name)
            old.rename(folder)
            move_record(self._data, old, folder)
            sync_folder(folder.parent)
        return folder

    def delete(self, name: str) -> DeletedAssistant:
        """Move it, with all of its memory and chats, to the trash; restore brings it back."""
        with self._changing():
            old = self._other(name)
            deleted = DeletedAssistant(old.name, secrets.token_hex(8))
            trash = self._data / _TRASH / deleted.folder
            make_private(trash)
            write_atomic(trash / _RECORD, json.dumps({**asdict(deleted), "root": str(self._root)}).encode())
            shutil.move(old, trash / old.name)
            move_record(self._data, old, trash / old.name)
        return deleted

    def restore(self, deleted: DeletedAssistant) -> Path:
        """Undo a deletion. Raises ("assistant.exists") when another one is called so, ("assistant.missing")."""
        with self._changing():
            trash = self._data / _TRASH / deleted.folder
            folder = self._new_folder(deleted.name)
            if not (trash / deleted.name).is_dir():
                raise AssistantError("assistant.missing", f"{deleted.name} is not in the trash any more.")
            make_folder(self._root, folder.parent)
            shutil.move(trash / deleted.name, folder)
            move_record(self._data, trash / deleted.name, folder)
            shutil.rmtree(trash)
        return folder

    def deleted(self) -> list[DeletedAssistant]:
        """Those of this folder in the trash, the newest deletion first."""
        trash = self._data / _TRASH
        records = sorted(trash.glob(f"*/{_RECORD}"), key=_age, reverse=True) if trash.is_dir() else []
        found = [_deleted(record, self._root) for record in records]
        return [each for each in found if each is not None]

    def find_deleted(self, name: str) -> DeletedAssistant:
        """The one of that name that was deleted last. Raises ("assistant.missing")."""
        for each in self.deleted():
            if each.name.casefold() == name.casefold():
                return each
        raise AssistantError("assistant.missing", f"{name} is not in the trash any more.")

    def purge(self, deleted: DeletedAssistant) -> Sequence[str]:
        """Delete it for good, its files first; the ids under which something is kept about it."""
        with self._changing():
            trash = self._data / _TRASH / deleted.folder
            idents = drop_record(self._data, trash / deleted.name)
            if trash.is_dir():
                shutil.rmtree(trash)
        return idents

    def ids_of(self, deleted: DeletedAssistant) -> list[str]:
        """The ids under which something is kept about one in the trash."""
        return ids_of(self._data, self._data / _TRASH / deleted.folder / deleted.name)

    def prompt(self, name: str) -> str:
        """Its prompt as the person wrote it, "" where it has none of its own."""
        return read_persona(self.root(name)).text

    def set_prompt(self, name: str, prompt: str, known: str | None = None) -> str:
        """Replace its prompt, "" for none of its own; the text as written, without secrets.

        known: the prompt as it was read, None to replace whatever is there. Raises ("assistant.prompt") for one that is
        too long, ("assistant.changed") when another program wrote it meanwhile.
        """
        text = _checked(prompt)
        path = self.root(name) / PERSONA
        with self._changing():
            if path.is_symlink():
                raise AssistantError("assistant.link", f"{PERSONA} is a link.", "Edit the file that it leads to.")
            if known is not None and known != read_persona(path.parent).text:
                message = f"{PERSONA} was changed by another program meanwhile."
                raise AssistantError("assistant.changed", message, "Copy your text, and open the prompt again.")
            if text:
                write_atomic(path, text.encode())
            else:
                path.unlink(missing_ok=True)
        return text

    def _folder(self) -> Path:
        """Where the others live. A link there would lead their memory out of the person's folder."""
        folder = self._root / FOLDER
        if folder.is_symlink():
            raise AssistantError("assistant.link", f"{FOLDER} is a link.", "Put a real folder in its place.")
        return folder

    def _other(self, name: str) -> Path:
        root = self.root(name)
        if root == self._root:
            message = f"{DEFAULT} lives in your folder itself and keeps its name."
            raise AssistantError("assistant.default", message, "Choose another assistant.")
        return root

    def _new_folder(self, name: str, but: str = "") -> Path:
        """Where an assistant of that name would live. but: one that may be called so already, in other letters."""
        if problem := _problem(name):
            raise refuse(name, problem)
        if any(each.casefold() == name.casefold() and each != but for each in self.names()):
            raise AssistantError("assistant.exists", f"There is an assistant called {name!r}.", "Choose another name.")
        folder = self._folder() / name
        if os.path.lexists(folder) and name.casefold() != but.casefold():
            raise AssistantError("assistant.exists", f"There is something called {name!r}.", "Choose another name.")
        return folder

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        make_private(self._data)
        with locked(self._lock):
            try:
                yield
            except OSError as error:
                raise as_error(error, self._root) from error


def _age(record: Path) -> float:
    return record.stat().st_mtime


def _deleted(record: Path, root: Path) -> DeletedAssistant | None:
    try:
        value = parse_json(record.read_bytes())
        whose, name = value["root"], value["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    known = whose == str(root) and isinstance(name, str) and (record.parent / name).is_dir()
    return DeletedAssistant(name, record.parent.name) if known else None


def read_persona(root: Path) -> TextFile:
    """PERSONA.md of the workspace at ``root``; empty where there is none. A link is not followed."""
    path = root / PERSONA
    if path.is_symlink() or not path.is_file():
        return TextFile("", "utf-8", "\n", False, "")
    return read_text(path)


def strangers(root: Path) -> list[str]:
    """What lies among the assistants of a folder and is none: files, and folders with a name that none may have."""
    folder = root / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    shown = (path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_symlink())
    return [f"{FOLDER}/{path.name}" for path in shown if not path.is_dir() or _problem(path.name)]


def persona_problem(root: Path) -> str:
    """What keeps PERSONA.md from being told whole, "" for nothing."""
    if (root / PERSONA).is_symlink():
        return "It is a link, which is not followed."
    try:
        file = read_persona(root)
    except AssistantError as error:
        return error.message
    length = len(file.text.strip())
    if length > LONGEST_PERSONA:
        return f"It has {length:,} characters; {LONGEST_PERSONA:,} are read."
    return file.problem or ""


def _checked(prompt: str) -> str:
    """The prompt as it is written: without secrets, with an end of line. Raises ("assistant.prompt")."""
    text = redact(prompt.strip()).text
    if len(text) > LONGEST_PERSONA:
        message = f"The prompt has {len(text):,} characters; {LONGEST_PERSONA:,} are read."
        raise AssistantError("assistant.prompt", message, "Shorten it; longer notes belong in memory.")
    return f"{text}\n" if text else ""


def _problem(name: str) -> str | None:
    """Why an assistant cannot be called so, in words that follow "The name ..."."""
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    if name != name.rstrip(". "):
        return "ends with a dot or a space"
    return name_problem(name)
