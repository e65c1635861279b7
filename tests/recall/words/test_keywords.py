"""Queries of any shape, in any script, find what holds their words."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.recall.words.keywords import query_terms, search_words
from assistant.recall.words.text import fold, language
from assistant.recall.words.tokens import words_of
from tests.recall.helpers import SmallWorkspace, quiet, texts

ODD_QUERIES = ["don't", "C++", "ADR-016", "a@b.com", "status: done", "retry OR", 'timeout "err', "(abc", "*", '""', ""]
ODD_QUERIES += [
    "the of and",
    "🙂",
    "x" * 10_000,
    "词" * 10_000,
    "NEAR(a b)",
    "a AND NOT",
    "text:x",
    "\0",
    "\ud800",
    "-",
    "'",
]


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_any_query_gets_an_answer(workspace: SmallWorkspace, by_words: Recall, query: str) -> None:
    workspace.remember("2026-11-01|you|something to find")
    answer = by_words.search(RecallQuery(query))
    assert answer.hits == () and answer.abstained


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(query=st.text(st.characters(), max_size=80))
def test_no_text_makes_an_error(workspace: SmallWorkspace, by_words: Recall, query: str) -> None:
    workspace.write("MEMORY.md", "2026-11-01|you|tea; 会议; C++\n")
    answer = by_words.search(RecallQuery(query))
    assert answer.abstained == (not answer.hits)


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(), max_size=200))
def test_a_query_finds_the_text_that_it_was_copied_from(text: str) -> None:
    words, others = words_of(text)
    assert {word for term in query_terms(text) for word in term.tokens} <= {*words, *others}


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("会议偏好：排在上午十点以后", "会议"),
        ("会议偏好：排在上午十点以后", "偏好"),
        ("今天玩成语接龙游戏", "成语接龙"),
        ("元宝老婆刚怀孕", "怀孕"),
        ("常用Python和TypeScript", "python"),
        ("新用户要先注册", "用户"),
        ("家里的護照過期了", "护照过期"),
        ("护照快到期", "護照"),
        ("Ｗｉ－Ｆｉ ｃａｆé １２３４５", "12345"),
        ("the number is 12345", "１２３４５"),
        ("why C++20 and not Rust", "C++"),
        ("decided in ADR-016", "ADR-016"),
        ("decided in ADR-016", "adr 016"),
        ("mail to a@b.com", "a@b.com"),
        ("runs test_tide_rollover nightly", "test_tide_rollover"),
        ("runs test_tide_rollover nightly", "rollover"),
        ("the 🙃 sticker", "🙃"),
        ("Motörhead at the café", "motorhead cafe"),
        ("don't tag me", "don't tag me"),
        ("東京タワーに行く", "タワー"),
        ("한국어 수업", "한국어"),
    ],
)
def test_words_meet_in_any_form(workspace: SmallWorkspace, by_words: Recall, line: str, query: str) -> None:
    workspace.remember(*(f"2026-10-{day:02d}|you|quite other matter number {day}" for day in range(1, 29)))
    workspace.remember(f"2026-11-01|you|{line}")
    assert texts(by_words, query)[:1] == [line]


def test_characters_that_meet_over_a_gap_are_no_word(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|東京 大阪")
    assert texts(by_words, "京大") == []
    assert texts(by_words, "東京") == ["東京 大阪"]


def test_operators_of_the_index_are_plain_words(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-11-01|you|retry near the harbour", "2026-11-02|you|nothing of that")
    assert texts(by_words, "retry OR NEAR harbour") == ["retry near the harbour"]


def test_folding_meets() -> None:
    assert fold("護照 ＡＢＣ") == fold("护照 abc")
    assert words_of("东京 ok") == (["东", "京", "东京", "ok"], [])


@pytest.mark.parametrize(
    ("text", "expected"), [("Hello there", "en"), ("用Notion记录工作笔记", "zh"), ("東京タワー", "xx"), ("", "en")]
)
def test_language_is_told_apart(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("query", "named", "strangers"),
    [
        ("What is Noor allergic to?", True, False),
        ("Bram 的老婆叫什么", True, False),
        ("请问Bram住在哪里", True, False),
        ("What does Vera think of it?", False, False),  # she is spoken of all the time
        ("What is allergic?", False, False),
        ("Where does Zacharias live?", False, True),
    ],
)
def test_who_is_seldom_spoken_of_is_told_from_who_always_is(
    workspace: SmallWorkspace, by_words: Recall, state: Path, query: str, named: bool, strangers: bool
) -> None:
    told = [f"2026-11-01|you|Vera said thing number {n}, think of it" for n in range(60)]
    workspace.remember(*told, "2026-11-02|you|Noor moves in May", "2026-11-03|you|Bram sold the allergic car")
    by_words.sync(CancelToken(), quiet)
    with contextlib.closing(sqlite3.connect(state / "index.sqlite3")) as connection:
        found = search_words(connection, query_terms(query), None, 10)
    assert (found.named, found.strangers) == (named, strangers)
