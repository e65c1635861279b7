"""A note: optional YAML front matter, then Markdown with ``[[wikilinks]]``. Read only; notes are never reformatted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_OPEN = re.compile(r"---[ \t]*\r?")
_CLOSE = re.compile(r"(?:---|\.\.\.)[ \t]*\r?")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"!?\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_CODE = re.compile(r"(`+)[^`]+?\1(?!`)")
_LONGEST_FRONT = 65_536  # characters; more is no front matter


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading. level 0: before the first one; line: from 1."""

    heading: str
    level: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note. title: of the front matter, else the first heading of level 1, else "". body_line: from 1."""

    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    body_line: int
    sections: tuple[Section, ...]
    problem: str = ""


def parse_note(text: str) -> Note:
    """Take a note apart; never fails. Front matter that is no valid YAML is kept as text and named in problem."""
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    body_line, fields, problem = _front_matter(lines)
    sections = _sections(lines, body_line)
    heading = next((section.heading for section in sections if section.level == 1), "")
    title = _word(fields.get("title")) or heading
    tags = tuple(tag.lstrip("#") for tag in _words(fields.get("tags", fields.get("tag"))))
    return Note(title, tags, _words(fields.get("aliases", fields.get("alias"))), body_line, sections, problem)


def wikilinks(text: str) -> tuple[str, ...]:
    """The targets of ``[[links]]`` outside code, each once, in order; heading and shown text are left off."""
    found: dict[str, None] = {}
    for line, in_code in _lines_with_code(text.split("\n")):
        if not in_code:
            plain = _CODE.sub("", line)
            found.update((match[1].strip(), None) for match in _LINK.finditer(plain) if match[1].strip())
    return tuple(found)


def _front_matter(lines: list[str]) -> tuple[int, dict[str, Any], str]:
    """(line of the body, fields, problem)."""
    if not lines or not _OPEN.fullmatch(lines[0]):
        return 1, {}, ""
    end = next((index for index in range(1, len(lines)) if _CLOSE.fullmatch(lines[index])), None)
    if end is None:
        return 1, {}, "The front matter has no closing ---."
    front = "\n".join(lines[1:end])
    fields, problem = _yaml(front) if len(front) <= _LONGEST_FRONT else ({}, "The front matter is too long.")
    return end + 2, fields, problem


def _yaml(front: str) -> tuple[dict[str, Any], str]:
    import yaml

    try:
        # The same in C where PyYAML has it: ten times as fast, which thousands of notes need.
        fields = yaml.load(front, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark else ""
        return {}, f"The front matter is no valid YAML{where}: {getattr(error, 'problem', None) or 'unreadable'}."
    except (ValueError, RecursionError, OverflowError, TypeError) as error:
        return {}, f"The front matter cannot be read: {error}."
    if fields is None:
        return {}, ""
    if not isinstance(fields, dict):
        return {}, "The front matter holds no names with values."
    return {str(name).casefold(): value for name, value in fields.items()}, ""


def _sections(lines: list[str], body_line: int) -> tuple[Section, ...]:
    sections: list[Section] = []
    heading, level, start, body = "", 0, body_line, list[str]()
    numbered = enumerate(_lines_with_code(lines[body_line - 1 :]), body_line)
    for number, (line, in_code) in numbered:
        match = None if in_code or not line.startswith("#") else _HEADING.fullmatch(line)
        if not match:
            body.append(line)
            continue
        if level or any(part.strip() for part in body):
            sections.append(Section(heading, level, start, "\n".join(body)))
        heading, level, start, body = _heading_words(match[2]), len(match[1]), number, []
    if level or any(part.strip() for part in body):
        sections.append(Section(heading, level, start, "\n".join(body)))
    return tuple(sections)


def _heading_words(text: str) -> str:
    """Without the closing signs. Not by a pattern: that would try each of many blanks."""
    words = text.rstrip(" \t")
    opened = words.rstrip("#")
    return opened.rstrip(" \t") if opened.endswith((" ", "\t")) else words


def _lines_with_code(lines: list[str]) -> list[tuple[str, bool]]:
    """Each line, and whether it belongs to a fenced block."""
    result = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            result.append((line, True))
            if match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = match[1] if match else ""
            result.append((line, bool(match)))
    return result


def _word(value: object) -> str:
    return str(value).strip() if value is not None and not isinstance(value, (list, dict)) else ""


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[,，、]", value)
    if not isinstance(value, list):
        value = [value]
    return tuple(word for each in value if (word := _word(each)))
