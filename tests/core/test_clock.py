"""Days have one name for the models, whatever language the system speaks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import assistant
from assistant.core.clock import weekday

SOURCES = sorted(Path(assistant.__file__).parent.rglob("*.py"))
_WORDS = re.compile("%[-#]?[aAbBhpcxX]")
_CALENDAR = {"month_name", "month_abbr", "day_name", "day_abbr"}


def formats(node: ast.AST) -> Iterator[str]:
    """What may be a format of a time."""
    texts: list[ast.expr] = []
    if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
        texts = node.format_spec.values
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "strftime":
        texts = node.args
    yield from (str(each.value) for each in texts if isinstance(each, ast.Constant))


def is_foreign(node: ast.AST) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr in _CALENDAR
    return named or any(_WORDS.search(text) for text in formats(node))


def test_a_day_has_its_english_name() -> None:
    monday = date(2026, 11, 30)
    names = [weekday(monday + timedelta(days=n)) for n in range(7)]
    assert names == ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def test_nothing_asks_the_c_library_for_names_of_days() -> None:
    """Qt sets its locale to the person's: prompts would say Montag, and English questions be read as if in German."""
    trees = {path: ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert [path.name for path, nodes in trees.items() if any(map(is_foreign, nodes))] == []
