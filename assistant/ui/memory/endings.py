"""Lines as a file ends them and as the editor has them, and one text made of another in as few edits as possible."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextCursor, QTextDocument

from assistant.workspace.matching import matcher

_CAREFUL = 20_000  # lines compared one by one at most; beyond that what differs in the middle is replaced as one


def as_shown(text: str) -> str:
    r"""The text as the editor gives it back: lines end with ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def restore_endings(original: str, edited: str, newline: str) -> str:
    r"""``edited`` (lines end with ``\n``) with the line endings that unchanged lines have in ``original``.

    New and changed lines end with ``newline``, so that a save never rewrites what the person did not touch.
    """
    if "\r" not in original:
        return edited
    before = _lines(original)
    bare = [line.rstrip("\r\n") for line in before]
    after = edited.split("\n")
    endings = [newline] * len(after)
    head, tail = _equal_ends(bare, after)
    middle = matcher(bare[head : len(bare) - tail], after[head : len(after) - tail]).get_matching_blocks()
    same = [(0, 0, head), *((head + a, head + b, size) for a, b, size in middle)]
    for a, b, size in [*same, (len(bare) - tail, len(after) - tail, tail)]:
        for i in range(size):
            endings[b + i] = before[a + i][len(bare[a + i]) :] or newline
    endings[-1] = ""
    return "".join(line + ending for line, ending in zip(after, endings, strict=True))


def put_text(document: QTextDocument, text: str) -> None:
    """Make the document's text ``text`` in one step of undo; what stays the same is not touched, nor a cursor in it."""
    old, new = document.toPlainText(), as_shown(text)
    if old == new:
        return
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for start, end, added in reversed(_edits(old, new)):
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(added)
    cursor.endEditBlock()


def _edits(old: str, new: str) -> list[tuple[int, int, str]]:
    """(start, end, what comes there), in positions of the document, from the top."""
    a, b = _lines(old), _lines(new)
    head, tail = _equal_ends(a, b)
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    offsets = [_units("".join(a[:head]))]
    for line in middle_a:
        offsets.append(offsets[-1] + _units(line))
    if len(middle_a) + len(middle_b) > _CAREFUL:
        return [(offsets[0], offsets[-1], "".join(middle_b))]
    codes = matcher(middle_a, middle_b).get_opcodes()
    return [(offsets[i], offsets[j], "".join(middle_b[k:m])) for tag, i, j, k, m in codes if tag != "equal"]


def _equal_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same from the top, and from the end of the rest."""
    head = tail = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return head, tail


def _units(text: str) -> int:
    """Length in UTF-16 units, as Qt counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + [parts[-1]]
