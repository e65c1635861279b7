"""Which line a line became, by the diffs of the journal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from assistant.workspace.file_now import bare, key_of, likeness
from assistant.workspace.journal import Journal

_MOST = 2_000
"""Changes of the file that are looked at: some years of them."""
_LEAST = 0.3
_COMPARED = 50  # lines of one change that a line is compared with


def follow(journal: Journal, file: str, keys: set[str]) -> dict[str, str]:
    """For the lines with these hashes the hashes of what they became, as far as the journal tells.

    Raises AssistantError where the journal cannot be read.
    """
    changes: list[dict[str, str]] = []  # newest first: hash of a line -> hash of the line that took its place
    found: dict[str, str] = {}
    for entry in journal.entries(limit=_MOST, path=file):
        became = dict(_replaced(entry.diff))
        for key in keys & became.keys() - found.keys():
            found[key] = _today(became[key], changes)
        changes.append(became)
        if len(found) == len(keys):
            break
    return found


def _today(key: str, newer: list[dict[str, str]]) -> str:
    for became in reversed(newer):
        key = became.get(key, key)
    return key


def _replaced(diff: str) -> Iterator[tuple[str, str]]:
    """(hash before, hash after) of each line that a change replaced."""
    body = diff.split("\n")[2:]
    removed: list[str] = []
    for sign, group in groupby(body, key=lambda line: line[:1]):
        if sign == "-":
            removed = [line[1:].removesuffix("\r") for line in group]
        elif sign == "+" and removed:
            yield from _pairs(removed, [line[1:].removesuffix("\r") for line in group])
            removed = []
        elif sign != "\\":
            removed = []


def _pairs(removed: list[str], added: list[str]) -> Iterator[tuple[str, str]]:
    if len(removed) == len(added):
        pairs = list(zip(removed, added, strict=True))
    else:
        pairs = [(old, max(added[:_COMPARED], key=lambda new: likeness(bare(old), bare(new)))) for old in removed]
    for old, new in pairs:
        if (
            old.strip()
            and new.strip()
            and (len(removed) == len(added) == 1 or likeness(bare(old), bare(new)) >= _LEAST)
        ):
            yield key_of(old), key_of(new)
