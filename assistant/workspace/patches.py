"""Taking back a change of which only its diff is known, in a text that has changed since."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_CONTEXT = 3
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that went and came at one place. start: where they came, from 0; before, after: lines around them."""

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def reverse_patch(diff: str, text: str) -> str | None:
    """``text`` without the changes of a unified diff; None where one of them cannot be told from what came later.

    The lines around a change find its place; the fewer of them still stand there, the more the change itself must be
    the only one of its kind.
    """
    ending = "\r" if "\r\n" in text else ""
    lines = text.split("\n")
    shown = [line.removesuffix("\r") for line in lines]
    moved = 0
    for run in runs_of(diff):
        at = _place(shown, run, run.start + moved)
        if at is None:
            if not _is_undone(shown, run):
                return None
            continue
        end = at + len(run.added)
        shown[at:end] = run.removed
        lines[at:end] = [line + ending for line in run.removed]
        moved = at - run.start + len(run.removed) - len(run.added)
    return "\n".join(lines)


def runs_of(diff: str) -> Iterator[Run]:
    """The places that a unified diff changes, from the top."""
    for start, ops in _hunks(diff):
        at, index = start, 0
        while index < len(ops):
            if ops[index][0] == " ":
                at, index = at + 1, index + 1
                continue
            end = index
            while end < len(ops) and ops[end][0] != " ":
                end += 1
            removed = tuple(line for tag, line in ops[index:end] if tag == "-")
            added = tuple(line for tag, line in ops[index:end] if tag == "+")
            # Above, earlier places are taken back already; below, the change is still there.
            before = tuple(line for tag, line in ops[:index] if tag != "+")
            after = tuple(line for tag, line in ops[end:] if tag != "-")
            yield Run(at, removed, added, before[-_CONTEXT:], after[:_CONTEXT])
            at, index = at + len(added), end


def _hunks(diff: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    start, ops = 0, list[tuple[str, str]]()
    for line in diff.split("\n"):
        if match := _HUNK.match(line):
            if ops:
                yield start, ops
            start, ops = max(0, int(match[1]) - 1), []
        elif line[:1] in ("+", "-", " ") and not (line.startswith(("--- ", "+++ ")) and not ops):
            ops.append((line[0], line[1:].removesuffix("\r")))
    if ops:
        yield start, ops


def _place(lines: Sequence[str], run: Run, near: int) -> int | None:
    """Where what was added stands: amid all its surroundings the place nearest to ``near``, else the only place."""
    wanted = run.added
    if not wanted and not run.before and not run.after:
        return 0 if not any(lines) else None
    for above, below in _contexts(len(run.before), len(run.after)):
        pattern = (*run.before[len(run.before) - above :], *wanted, *run.after[:below])
        if not any(map(_says, pattern)):
            continue
        found = [at + above for at in _occurrences(lines, pattern)]
        whole = above == len(run.before) and below == len(run.after) and above + below >= 2 * _CONTEXT
        if len(found) == 1 or (found and whole):
            return min(found, key=lambda at: abs(at - near))
        if found:
            return None
    return None


def _is_undone(lines: Sequence[str], run: Run) -> bool:
    """Whether somebody took it back by hand: what was removed stands there again, amid all that was around it."""
    around = any(_says(line) for line in (*run.before, *run.after))
    return bool(run.removed) and around and bool(_occurrences(lines, (*run.before, *run.removed, *run.after)))


def _says(line: str) -> bool:
    """Blank lines are everywhere."""
    return bool(re.search(r"\w", line))


def _contexts(before: int, after: int) -> list[tuple[int, int]]:
    """How many lines around a change must still be there, from all to none."""
    pairs = {(min(before, a), min(after, b)) for a in range(_CONTEXT + 1) for b in range(_CONTEXT + 1)}
    return sorted(pairs, key=lambda pair: (-pair[0] - pair[1], abs(pair[0] - pair[1])))


def _occurrences(lines: Sequence[str], pattern: tuple[str, ...]) -> list[int]:
    first, size = pattern[0], len(pattern)
    starts = [n for n, line in enumerate(lines) if line == first]
    return [n for n in starts if tuple(lines[n : n + size]) == pattern]
