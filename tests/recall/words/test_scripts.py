"""Words of many scripts, and what is written in one piece, are found by how people write them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.recall.search import Recall
from assistant.recall.words.stems import stem
from assistant.recall.words.text import plain
from assistant.recall.words.tokens import words_of
from tests.recall.helpers import SmallWorkspace, texts

OTHERS = [f"2026-10-{day:02d}|you|quite other matter, number {day} of some" for day in range(1, 29)]


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("two dentists shipped boxes", "dentist"),
        ("two dentists shipped boxes", "shipping a box"),
        ("she was planning parties", "plan party"),
        ("Die Häuser in der Straße", "strasse"),
        ("Die Häuser in der Straße", "HAUSER"),
        ("L’été à Besançon", "ete"),
        ("L’été à Besançon", "besancon"),
        ("dos camiones pequeños", "camion pequeno"),
        ("чинить красную книгу", "красные книги"),
        ("Ёлка стоит", "елка"),
        ("ο καφές στην Αθήνα", "καφεσ αθηνα"),
        ("اشتريت الكتاب", "كتاب"),
        ("السَّلامُ عليكم", "السلام"),
        ("קניתי ספרים", "ספר"),
        ("मेरी किताबें यहाँ", "किताब"),
        ("นัดหมอฟันวันศุกร์ที่กรุงเทพ", "หมอฟัน"),
        ("ນັດໝໍແຂ້ວ", "ໝໍ"),
        ("ផ្ទះនៅភ្នំពេញ", "ភ្នំពេញ"),
        ("မနက်ဖြန် ရန်ကုန် သွားမယ်", "ရန်ကုန်"),
        ("cà phê ở Đà Nẵng", "da nang"),
        ("ISPARTA'da kışın", "ısparta"),
        ("İstanbul'a gidiyoruz", "istanbul"),
        ("Gdańsk i Łódź", "lodz"),
        ("今天玩成语接龙游戏", "成語接龍"),
        ("広島駅で会う", "廣島"),
        ("ｶﾞｽ代を払う", "ガス"),
        ("한국어 수업은 화요일", "수업"),
        ("the ４２nd Ｆｌｏｏｒ", "floor"),
        ("soft\u00adhyphen and zero\u200bwidth", "softhyphen"),
        ("e\u0301clair", "éclair"),
        ("رقم ١٢٣٤٥", "12345"),
        ("the 👩‍👩‍👧 and the 🏳️‍🌈", "🌈"),
    ],
)
def test_a_word_is_found_in_every_script(workspace: SmallWorkspace, by_words: Recall, line: str, query: str) -> None:
    workspace.remember(*OTHERS, f"2026-11-01|you|{line}")
    assert texts(by_words, query)[:1] == [line]


@pytest.mark.parametrize(
    ("line", "queries"),
    [
        ("we chose ADR-016", ["ADR-016", "adr016", "016"]),
        ("written in C++, not C", ["C++", "c++"]),
        ("written in C#, not C", ["C#"]),
        ("a .NET service", [".NET", "net"]),
        ("runs on Node.js", ["node.js", "NodeJS"]),
        ("flies MU5102", ["MU5102", "mu 5102", "5102"]),
        ("upgraded to v1.2.3", ["v1.2.3"]),
        ("see src/app/main.py", ["src/app/main.py", "app/main.py", "main.py"]),
        (r"in C:\Users\gulan\notes", [r"C:\Users\gulan\notes", "gulan"]),
        ("write to gu.lan@example.org", ["gu.lan@example.org", "example.org"]),
        ("at https://example.org/a/b?c=d#e", ["https://example.org/a/b?c=d#e", "example.org"]),
        ("router 192.168.17.1", ["192.168.17.1"]),
        ("call +31 6 1234 5678", ["+31 6 1234 5678", "+31612345678", "06 12345678", "06-12-34-56-78"]),
        ("commit 9f3a2c1bd00e4f5566778899aabbccddeeff0011", ["9f3a2c1bd00e4f5566778899aabbccddeeff0011", "9f3a2c1"]),
        ("set tide_rollover_ms", ["tide_rollover_ms", "rollover"]),
        ("call getTideTable", ["getTideTable", "gettidetable", "tide table"]),
        ("the kebab-case-name", ["kebab-case-name", "kebab"]),
        ("the Wi-Fi password is on the fridge", ["wifi", "Wi-Fi", "wi fi"]),
        ("costs €1,250.50", ["1,250.50"]),
    ],
)
def test_what_is_written_in_one_piece_is_found_whole_and_in_parts(
    workspace: SmallWorkspace, by_words: Recall, line: str, queries: list[str]
) -> None:
    workspace.remember(*OTHERS, f"2026-11-01|you|{line}")
    assert {query: texts(by_words, query)[:1] for query in queries} == {query: [line] for query in queries}


def test_a_name_with_a_sign_is_not_the_bare_letter(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(*OTHERS, "2026-11-01|you|vitamin C helps", "2026-11-02|you|the driver is in C++")
    assert texts(by_words, "C++")[0] == "the driver is in C++"


def test_the_code_itself_comes_before_its_parts(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(*(f"2026-10-{day:02d}|you|ADR-{day:03d} and file 0{day + 20}" for day in range(1, 29)))
    workspace.remember("2026-11-01|you|ADR 40 names page 016", "2026-01-01|you|ADR-116 says otherwise")
    assert texts(by_words, "ADR-016")[0] == "ADR-016 and file 036"


def test_variants_of_characters_meet_and_different_words_do_not() -> None:
    assert plain("頭髮 發現 皇后 以後 乾杯 圖書館") == "头发 发现 皇后 以后 干杯 图书馆"
    assert plain("広島 東京駅 検査") == "广岛 东京驿 检查"
    assert plain("が") != plain("か") and plain("नी") != plain("ना")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(), max_size=120))
def test_words_are_the_same_however_a_text_is_typed(text: str) -> None:
    words, others = words_of(text)
    assert all(words) and all(others)
    assert not any(char.isspace() for word in (*words, *others) for char in word)
    if text.isascii() and text == text.lower():
        assert words_of(text.upper())[0] == words


@given(st.text("abcdefghijklmnopqrstuvwxyzабвгдежийклсияыьαβγσςااكتبהוספימहिन्दी", max_size=12))
def test_a_stem_is_never_nothing_and_ends_at_itself(word: str) -> None:
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= len(word) + 1
