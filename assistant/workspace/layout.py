"""Which files a workspace has, what they may be called, and that a name never leads out of it."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import date
from pathlib import Path, PurePosixPath

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private

MEMORY = "MEMORY.md"
ARCHIVE = "memory/archive.md"
TOPICS = "memory"
LOGS = "memory/log"
CHATS = "chats"
ASSISTANTS = "assistants"  # the others' folders, in the default one's
SESSIONS = "sessions"  # of nanobot, where its folder is used as the workspace
MOST_FOREIGN = 64_000_000  # bytes of another program's file that is still read
TEMP_PREFIX = ".~keepsake-"

_DEEPEST = 20  # folders in folders that are looked through for symlinks
_LONGEST_NAME = 200  # characters, FORMATS.md
_LONGEST_BYTES = 255  # what ext4, APFS and NTFS take for one name
_LOG = re.compile(r"memory/log/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
# Names that Windows gives to devices, with or without an extension: a synced workspace would break there.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in "0123456789¹²³"), *(f"lpt{n}" for n in "0123456789¹²³")]
)
# As Dropbox, Nextcloud, Seafile, Syncthing, ownCloud and their kin name it; a note may well be about a conflict.
_CONFLICT = re.compile(
    r"[(（][^)）]*(conflict|冲突|衝突)[^)）]*[)）]|冲突副本|衝突副本|\.sync-conflict-|[._-]conflict(-\d|\.md$)",
    re.IGNORECASE,
)


def topic_file(name: str) -> str:
    """``memory/<name>.md``. Raises AssistantError("workspace.path") for a name FORMATS.md does not allow."""
    if problem := name_problem(name):
        raise refuse(name, problem)
    if name.casefold() in ("archive", "archive.md"):
        raise refuse(name, "is the archive's own name")
    return f"{TOPICS}/{name}.md"


def log_file(day: date) -> str:
    """The day log of a local calendar day."""
    return f"{LOGS}/{day.isoformat()}.md"


def resolve(root: Path, file: str) -> Path:
    """The path of a memory file that a tool or an API named; it need not exist.

    Raises AssistantError("workspace.path") for any other name, and when the real path of the nearest existing
    ancestor lies outside the workspace.
    """
    if problem := _file_problem(file):
        raise refuse(file, problem)
    return _inside(root, file)


def resolve_existing(root: Path, file: str, *, known: bool = False) -> Path:
    """As resolve, but also any Markdown file below ``memory/`` that a person put there, whatever its name.

    known: it was there once, so it may come back.
    """
    if "\0" in file or not is_text(file):
        raise refuse(file, "is no text")
    if _file_problem(file) is None or is_foreign(file):
        return _inside(root, file)
    parts = PurePosixPath(file).parts
    plain = "\\" not in file and not file.startswith("/") and ".." not in parts
    if not plain or parts[:1] != (TOPICS,) or not file.endswith(".md") or any(p.startswith(".") for p in parts):
        raise refuse(file, "is no memory file")
    path = _inside(root, file)
    if not known and not os.path.lexists(path):
        raise refuse(file, _file_problem(file) or "is no memory file")
    return path


def memory_files(root: Path) -> list[str]:
    """Names of the memory files that exist: MEMORY.md first, then topics by name, the archive last; no logs.

    Hidden files and the app's temporary files are left out, and so is what a symlink leads out of the workspace.
    """
    names = [MEMORY] if (root / MEMORY).is_file() and leads_inside(root, root / MEMORY) else []
    topics = sorted(_walk(root, TOPICS))
    if ARCHIVE in topics:
        topics.remove(ARCHIVE)
        topics.append(ARCHIVE)
    return names + topics


def log_files(root: Path) -> list[str]:
    """Names of the day logs, oldest first; what a symlink leads out of the workspace is left out."""
    folder = root / LOGS
    if not folder.is_dir() or not leads_inside(root, folder):
        return []
    with os.scandir(folder) as entries:
        names = [e.name for e in entries if not e.is_symlink() or leads_inside(root, Path(e.path))]
    return sorted(f"{LOGS}/{name}" for name in names if _file_problem(f"{LOGS}/{name}") is None)


def kind_of(file: str) -> str:
    """ "memory", "archive", "log" or "topic"."""
    if file.startswith(f"{LOGS}/"):
        return "log"
    return {MEMORY: "memory", ARCHIVE: "archive"}.get(file, "topic")


def conflict_copies(root: Path) -> list[str]:
    """Files beside MEMORY.md or below ``memory/`` that a sync program seems to have made of a conflict."""
    beside = [entry.name for entry in os.scandir(root) if entry.name.endswith(".md") and entry.name != MEMORY]
    return sorted(filter(is_conflict_copy, [*beside, *_walk(root, TOPICS)]))


def links_out(root: Path) -> list[str]:
    """Names of the symlinks that lead out of the workspace, so that nothing behind them is read or written."""
    found: list[str] = []
    for name in (MEMORY, TOPICS, CHATS, SESSIONS, ASSISTANTS):
        found += _links_out(root, name, deep=name != ASSISTANTS)  # another assistant's are its own
    return sorted(found)


def misplaced(root: Path) -> list[tuple[str, str]]:
    """(name, what is wrong) where a folder stands in a file's place, a file in a folder's, or what no day log is."""
    wrong = [(MEMORY, "It is a folder; a file is expected here.")] if (root / MEMORY).is_dir() else []
    files = (name for name in (TOPICS, LOGS, CHATS, ASSISTANTS) if (root / name).is_file())
    wrong += [(name, "It is a file; a folder is expected here.") for name in files]
    if not (root / LOGS).is_dir() or not leads_inside(root, root / LOGS):
        return wrong
    logs = (f"{LOGS}/{path.name}" for path in (root / LOGS).glob("[!.]*.md") if not path.is_symlink())
    return wrong + [(name, "Its name is no calendar day: nothing reads it.") for name in logs if _file_problem(name)]


def _links_out(root: Path, name: str, *, deep: bool) -> list[str]:
    path = root / name
    if path.is_symlink():
        return [] if leads_inside(root, path) else [name]
    if not path.is_dir() or name.count("/") > (_DEEPEST if deep else 1):
        return []
    return [link for each in path.iterdir() for link in _links_out(root, f"{name}/{each.name}", deep=deep)]


def is_foreign(file: str) -> bool:
    """Whether a relative POSIX name is that of a file in another program's form."""
    if not file.endswith((".json", ".jsonl")):  # asked of every file at every search: most are none, at once
        return False
    parts = PurePosixPath(file).parts
    if len(parts) < 2 or any(part.startswith(".") for part in parts):
        return False
    if parts[0] == SESSIONS:
        return len(parts) == 2 and file.endswith(".jsonl")
    return parts[0] == TOPICS


def foreign_files(root: Path) -> list[str]:
    """Names of the files in other programs' forms, by name; what a symlink leads out of the workspace is left out."""
    return sorted([*_walk(root, TOPICS, (".json", ".jsonl")), *filter(is_foreign, _walk(root, SESSIONS, (".jsonl",)))])


def is_conflict_copy(name: str) -> bool:
    """Whether a file seems to be a sync program's copy of a conflict."""
    return bool(_CONFLICT.search(name.rpartition("/")[2]))


def check_there(root: Path) -> None:
    """Raises ("workspace.gone"): what is not there must not count as deleted, nor be made anew."""
    if not root.is_dir():
        raise AssistantError(
            "workspace.gone",
            f"The workspace {root} is not there any more.",
            "Connect its drive, or choose the folder where it is now.",
        )


def make_folder(root: Path, folder: Path) -> None:
    """Make a folder below ``root`` (mode 0700). Raises ("workspace.gone") rather than make the root itself anew, and
    ("workspace.path") for one that a symlink leads out of it.
    """
    check_there(root)
    if not leads_inside(root, folder):
        name = folder.relative_to(root).as_posix()
        raise refuse(name, "leads out of the workspace through a link", "Put a real folder in its place.")
    try:
        make_private(folder)
    except (FileExistsError, NotADirectoryError) as error:
        name = folder.relative_to(root).as_posix()
        raise refuse(name, "is that of a file where a folder must be", "Put a real folder in its place.") from error


def leads_inside(root: Path, path: Path) -> bool:
    """Whether what a path really is lies in the workspace, however many symlinks lead to it."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def is_text(name: str) -> bool:
    """Whether a name from the disk is text: on Linux it may be any bytes, which no index or journal can hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def nameless_files(root: Path) -> list[str]:
    """Markdown files below ``memory/`` that are left out because their names are no text, as they can be shown."""
    found = (root / TOPICS).rglob("*.md") if leads_inside(root, root / TOPICS) else ()
    names = (path.relative_to(root).as_posix() for path in found)
    return sorted(os.fsencode(name).decode("utf-8", "backslashreplace") for name in names if not is_text(name))


def _walk(root: Path, folder: str, endings: tuple[str, ...] = (".md",)) -> list[str]:
    found: list[str] = []
    if not leads_inside(root, root / folder) or not (root / folder).is_dir():
        return found
    with os.scandir(root / folder) as entries:
        for entry in entries:
            name = f"{folder}/{entry.name}"
            if entry.name.startswith(".") or not is_text(entry.name):
                continue
            if entry.is_symlink() and not leads_inside(root, Path(entry.path)):
                continue
            if entry.is_dir(follow_symlinks=False) and name != LOGS:
                found += _walk(root, name, endings)
            elif entry.name.endswith(endings) and entry.is_file():
                found.append(name)
    return found


def _file_problem(file: str) -> str | None:
    if file in (MEMORY, ARCHIVE):
        return None
    if log := _LOG.fullmatch(file):
        return None if _is_day(log[1]) else "names no calendar day"
    folder, _, name = file.rpartition("/")
    if folder != TOPICS or not name.endswith(".md"):
        return f"is neither {MEMORY} nor a note in {TOPICS}/"
    return name_problem(name.removesuffix(".md"))


def name_problem(name: str) -> str | None:
    """Why FORMATS.md does not allow a name, in words that follow "The name ..."; None for one it allows."""
    if not name:
        return "is empty"
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    if not _is_word(name[0]):
        return "does not start with a letter, a digit or _"
    if wrong := next((c for c in name if not (_is_word(c) or c in " .-")), None):
        return f"holds {wrong!r}; letters, digits, space, _ . - are allowed"
    if name.split(".")[0].rstrip().casefold() in _DEVICES:
        return "is a name that Windows keeps for itself"
    if len(f"{name}.md".encode()) > _LONGEST_BYTES:
        return f"is longer than a file name can be ({_LONGEST_BYTES} bytes)"
    return None


def _is_word(character: str) -> bool:
    # Marks (M*) are parts of letters in many scripts: the vowel signs of Hindi, decomposed accents.
    return character == "_" or unicodedata.category(character)[0] in "LM" or unicodedata.category(character) == "Nd"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _inside(root: Path, file: str) -> Path:
    path = root / file
    if not leads_inside(root, path):
        raise refuse(file, "leads out of the workspace through a link")
    return path


def refuse(name: str, problem: str, hint: str = "Choose another name.") -> AssistantError:
    """The error for a name with that problem."""
    shown = name if len(name) <= 60 else name[:57] + "..."
    return AssistantError("workspace.path", f"The name {shown!r} {problem}.", hint)
