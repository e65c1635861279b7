"""The title and the metadata of a chat file: read whatever a person made of them, changed without touching the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.workspace.chat_labels import ENGLISH, FIELDS, HEADINGS, Labels, labels_of

LONGEST_TITLE = 300  # characters kept of a title
_TITLE = re.compile(r"#[ \t]+(?:Chat|会话)[ \t]*[:：] ?(.*)")
_HEADING = re.compile(r"#[ \t]+(.*)")
_FIELD = re.compile(r"[-*][ \t]+\*\*(.+?)\*\*[ \t]*[:：][ \t]*(.*?)[ \t]*")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}\S*)?")
_POINTER = re.compile(r"#?(\d{1,9})")
_LIST = re.compile(r"[,，、]")
_PRIVATE = ("yes", "y", "true", "on", "1", "是")
_NOT_PRIVATE = ("", "no", "n", "false", "off", "0", "否", "不")  # what a person meant by any other word stays private
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_BREAK = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above the conversation. summarized: as written, checked against the turns by sane_pointer."""

    title: str = ""
    session: str = ""
    created: str = ""
    last_active: str = ""
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summarized: str = ""
    private: bool = False
    crlf: bool = False
    labels: Labels = ENGLISH
    problems: tuple[str, ...] = ()


def clean_title(text: str) -> str:
    """Any text as a title: line breaks and control characters become a space, 300 characters are kept."""
    return printable(_BREAK.sub(" ", text))[:LONGEST_TITLE]


def printable(text: str) -> str:
    """The text with what no text file can hold as U+FFFD: lone surrogates, and NUL, by which binary files are known."""
    return _NO_TEXT.sub("\ufffd", text)


def format_head(
    ident: str,
    title: str,
    created: str,
    private: bool = False,
    tags: Sequence[str] = (),
    speaker: str = "Keepsake",
) -> str:
    """The file of a chat without turns."""
    lines = [f"# Chat: {title}", "", "## Metadata", "", f"- **Session ID**: {ident}", f"- **Created**: {created}"]
    lines.append(f"- **Participants**: you, {speaker}")
    lines += [f"- **Tags**: {', '.join(tags)}"] if tags else []
    lines += ["- **Private**: yes"] if private else []
    return "\n".join([*lines, "", "## Conversation", ""])


def format_part_head(ident: str, part: int, created: str, labels: Labels = ENGLISH) -> str:
    """The beginning of a further part. It bears the id, not the title, so that a rename touches one file."""
    lines = [f"# {labels.chat}: {ident} · {part}", "", f"## {labels.metadata}", "", f"- **{labels.session}**: {ident}"]
    return "\n".join([*lines, f"- **{labels.created}**: {created}", "", f"## {labels.conversation}", ""])


def parse_head(text: str) -> Head:
    """Read the lines above the conversation; never fails. ``text`` may go on behind them."""
    lines = _head_lines(text)
    first = lines[0] if lines else ""
    title = next((m[1] for line in lines if (m := _TITLE.fullmatch(line.removesuffix("\r")))), None)
    problems = [] if title is not None else ["It has no title line."]
    if title is None and (match := _HEADING.fullmatch(first.removesuffix("\r"))):
        title = match[1]
    head = Head(title=title or "", crlf=first.endswith("\r"), labels=labels_of(text[:4096]))
    for line in lines:
        if match := _FIELD.fullmatch(line.removesuffix("\r")):
            head = _with_field(head, FIELDS.get(match[1].replace(" ", "").casefold(), ""), match[2], problems)
    return replace(head, problems=(*problems, *_missing(head, lines)))


def _missing(head: Head, lines: list[str]) -> list[str]:
    """What every metadata section holds and this one does not; a file without such a section is a person's own."""
    if not any(HEADINGS.get(line.rstrip().removeprefix("## ")) == "metadata" for line in lines):
        return []
    needed = {"Session ID": "session", "Created": "created"}
    lost = [name for name, field in needed.items() if not any(_field_name(line) == field for line in lines)]
    return [f"Its metadata names no “{name}”." for name in lost]


def sane_pointer(written: str, last: int) -> tuple[int, str]:
    """(pointer, problem). What is no number of a turn counts as nothing summarized, so that it hides no turn."""
    if not written:
        return 0, ""
    match = _POINTER.fullmatch(written)
    value = int(match[1]) if match else -1
    return (value, "") if 0 <= value <= last else (0, f"The pointer “Summarized through” is {written[:40]!r}.")


def with_title(text: str, title: str) -> str:
    """The file with another title; every other byte stays."""
    lines = text.split("\n")
    labels = labels_of(text[:4096])
    for index in range(len(_head_lines(text))):
        body = lines[index].removesuffix("\r").removeprefix("\ufeff")
        if _TITLE.fullmatch(body) or (index == 0 and _HEADING.fullmatch(body)):
            mark = "\ufeff" if lines[index].startswith("\ufeff") else ""
            lines[index] = f"{mark}# {labels.chat}: {title}" + ("\r" if lines[index].endswith("\r") else "")
            return "\n".join(lines)
    return f"# {labels.chat}: {title}\n\n{text}"


def with_pointer(text: str, n: int) -> str:
    """The file with another “Summarized through”; every other byte stays."""
    return _with_value(text, "summarized", f"#{n}")


def with_private(text: str, private: bool) -> str:
    """The file marked private, or not; every other byte stays."""
    if parse_head(text).private == private:
        return text
    if private:
        return _with_value(text, "private", labels_of(text[:4096]).yes)
    lines = text.split("\n")
    marks = [n for n in range(len(_head_lines(text))) if _field_name(lines[n]) == "private"]
    return "\n".join(line for n, line in enumerate(lines) if n not in marks)


def _field_name(line: str) -> str:
    """Which field of the metadata a line holds, "" for none that we know."""
    match = _FIELD.fullmatch(line.removesuffix("\r"))
    return FIELDS.get(match[1].replace(" ", "").casefold(), "") if match else ""


def _with_value(text: str, field: str, value: str) -> str:
    """The file with another value of a field of the metadata, which is added where there is none."""
    lines = text.split("\n")
    labels, last = labels_of(text[:4096]), None
    for index in range(len(_head_lines(text))):
        if match := _FIELD.fullmatch(lines[index].removesuffix("\r")):
            last = index
            if _field_name(lines[index]) == field:
                lines[index] = f"- **{match[1]}**: {value}" + ("\r" if lines[index].endswith("\r") else "")
                return "\n".join(lines)
    added = f"- **{getattr(labels, field)}**: {value}"
    if last is None:
        return _below_title(lines, added) if _HEADING.match(lines[0].removeprefix("\ufeff")) else f"{added}\n\n{text}"
    lines.insert(last + 1, added + ("\r" if lines[last].endswith("\r") else ""))
    return "\n".join(lines)


def _below_title(lines: list[str], added: str) -> str:
    ending = "\r" if lines[0].endswith("\r") else ""
    return "\n".join([lines[0], ending, added + ending, *lines[1:]])


def _head_lines(text: str) -> list[str]:
    """The lines up to the conversation or the first block."""
    found: list[str] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        if line.startswith("### ") or line.removesuffix("\r") in ("## Conversation", "## 对话记录"):
            break
        found.append(line)
    return found


def _with_field(head: Head, name: str, value: str, problems: list[str]) -> Head:
    match name:
        case "created" | "last_active":
            if not _TIME.fullmatch(value):
                problems.append(f"“{value[:40]}” is no time.")
                return head
            return replace(head, created=value) if name == "created" else replace(head, last_active=value)
        case "participants" | "tags":
            words = tuple(word.strip() for word in _LIST.split(value) if word.strip())
            return replace(head, participants=words) if name == "participants" else replace(head, tags=words)
        case "private":
            word = value.casefold()
            if word not in (*_PRIVATE, *_NOT_PRIVATE):
                problems.append(f"“Private” is “{value[:40]}”, neither yes nor no: it counts as yes.")
            return replace(head, private=word not in _NOT_PRIVATE)
        case "summarized":
            return replace(head, summarized=value)
        case "session":
            return replace(head, session=value)
    return head
