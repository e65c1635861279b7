"""What changed between two texts: the splice, the unified diff, and a merge of two changes of one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from assistant.workspace.matching import matcher

_CONTEXT = 3
_Settle = Callable[[list[str], list[str]], list[str] | None]
"""What becomes of lines that both sides changed, each in its own way; None: there is no merge."""


@dataclass(frozen=True, slots=True)
class Splice:
    """after = prior[:start] + added + prior[start + len(removed):]; start in characters."""

    start: int
    removed: str
    added: str

    def undo(self, after: str) -> str:
        """The prior text, given the text after."""
        return after[: self.start] + self.removed + after[self.start + len(self.added) :]


def splice(prior: str, after: str) -> Splice:
    """The smallest single replacement that makes ``after`` of ``prior``."""
    if after.startswith(prior):
        return Splice(len(prior), "", after[len(prior) :])
    limit = min(len(prior), len(after))
    head = _common(limit, lambda size: prior[:size] == after[:size])
    tail = _common(limit - head, lambda size: size == 0 or prior[-size:] == after[-size:])
    return Splice(head, prior[head : len(prior) - tail], after[head : len(after) - tail])


def unified_diff(file: str, prior: str, after: str) -> str:
    """A unified diff with three lines of context; "" for equal texts. Quick when the change is small."""
    start = _context_start(prior, after)
    old, new = _diff_lines(prior[start:]), _diff_lines(after[start:])
    head, tail = _equal_ends(old, new)
    first = max(0, head - _CONTEXT)
    keep = max(0, tail - _CONTEXT)
    a, b = old[first : len(old) - keep], new[first : len(new) - keep]
    lines = [f"--- a/{file}", f"+++ b/{file}"]
    found = matcher(a, b)
    if (keep and found.get_opcodes()[-1][0] != "equal") or (first and found.get_opcodes()[0][0] != "equal"):
        first, a, b = 0, old, new  # of many equal lines others were paired, and a hunk without context means an end
        found = matcher(a, b)
    groups = list(found.get_grouped_opcodes(_CONTEXT))
    for group in groups:
        lines.append(_hunk_head(group, first + prior.count("\n", 0, start)))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [" " + line for line in a[i1:i2]]
                continue
            lines += ["-" + line for line in a[i1:i2]] + ["+" + line for line in b[j1:j2]]
    return "\n".join(lines) + "\n" if groups else ""


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Both changes of ``base`` in one text, by lines; None where they touch the same lines.

    Lines that both added at one place are all kept, mine first: two entries appended at the end are no conflict.
    """
    return _merged(base, mine, theirs, lambda a, b: None)


def merge_for(base: str, mine: str, theirs: str) -> str:
    """As merge, but where both touch the same lines ``theirs`` has its way."""
    return _merged(base, mine, theirs, lambda a, b: b) or ""


def _merged(base: str, mine: str, theirs: str, settle: _Settle) -> str | None:
    if mine == theirs or theirs == base:
        return mine
    if mine == base:
        return theirs
    origin, a, b = base.split("\n"), mine.split("\n"), theirs.split("\n")
    in_a, in_b = _mapping(origin, a), _mapping(origin, b)
    merged: list[str] = []
    at = at_a = at_b = 0
    for index in range(len(origin) + 1):
        end = index == len(origin)
        if not end and (index not in in_a or index not in in_b):
            continue
        to_a, to_b = (len(a), len(b)) if end else (in_a[index], in_b[index])
        chunk = _merge_chunk(origin[at:index], a[at_a:to_a], b[at_b:to_b])
        if chunk is None and (chunk := settle(a[at_a:to_a], b[at_b:to_b])) is None:
            return None
        merged += chunk if end else [*chunk, origin[index]]
        at, at_a, at_b = index + 1, to_a + 1, to_b + 1
    return "\n".join(merged)


def _merge_chunk(origin: list[str], a: list[str], b: list[str]) -> list[str] | None:
    """One stretch between lines that nobody touched."""
    if a == b or b == origin:
        return a
    if a == origin:
        return b
    if not origin:
        return a + _beyond(a, b)
    if len(a) == len(b) == len(origin):
        return _merge_lines(origin, a, b)
    for extended, other in ((a, b), (b, a)):
        # Lines added right before or behind lines that the other side changed or removed.
        if extended[: len(origin)] == origin:
            return other + extended[len(origin) :]
        if extended[-len(origin) :] == origin:
            return extended[: -len(origin)] + other
    return None


def _beyond(a: list[str], b: list[str]) -> list[str]:
    """The lines of ``b`` that ``a`` has not, or not as often: what both added is there once."""
    left = Counter(a)
    left.subtract(b)
    extra = []
    for line in reversed(b):
        if left[line] < 0:
            left[line] += 1
            extra.append(line)
    return extra[::-1]


def _merge_lines(origin: list[str], a: list[str], b: list[str]) -> list[str] | None:
    """Neighbouring lines, each changed by one side at most."""
    merged = []
    for old, mine, theirs in zip(origin, a, b, strict=True):
        if old not in (mine, theirs) and mine != theirs:
            return None
        merged.append(theirs if mine == old else mine)
    return merged


def _mapping(old: list[str], new: list[str]) -> dict[int, int]:
    head, tail = _equal_ends(old, new)
    middle = matcher(old[head : len(old) - tail], new[head : len(new) - tail])
    pairs = {index: index for index in range(head)}
    for i, j, size in middle.get_matching_blocks():
        pairs.update((head + i + step, head + j + step) for step in range(size))
    pairs.update((len(old) - step, len(new) - step) for step in range(1, tail + 1))
    return pairs


def _context_start(prior: str, after: str) -> int:
    """Where the lines begin that a diff has to look at: for lines added at the end, three lines before."""
    if not prior.endswith("\n") or not after.startswith(prior):
        return 0
    start = len(prior) - 1
    for _ in range(_CONTEXT):
        start = prior.rfind("\n", 0, max(0, start))
    return start + 1


def _diff_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
        return lines
    return lines[:-1]


def _equal_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _common(limit: int, same: Callable[[int], bool]) -> int:
    """The largest size up to ``limit`` for which ``same`` holds, by bisection: comparing slices is what C does fast."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _hunk_head(group: list[tuple[str, int, int, int, int]], first: int) -> str:
    i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
    return f"@@ -{first + i1 + (i2 > i1)},{i2 - i1} +{first + j1 + (j2 > j1)},{j2 - j1} @@"
