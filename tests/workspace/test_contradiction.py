"""What corrects an older fact, and what merely looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.contradiction import keys, normalise, plain_form


def contradict(old: str, new: str) -> bool:
    known = dict(keys(plain_form(old)))
    return any(key in known and known[key] != value for key, value in keys(plain_form(new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dentist is on Tuesday", "the dentist is on Friday."),
        ("dentist on Tuesday", "dentist on Friday"),
        ("my dog is called Rex", "my dog is called Max"),
        ("My dog is called Rex", "Actually, my dog is called Max"),
        ("my favourite colour is blue", "my favourite colour is green"),
        ("cache 3600 s", "cache 7200 s"),
        ("meeting at 9:30", "meeting at 10:00"),
        ("flight to Shanghai on 4 Dec", "flight to Shanghai on 6 Dec"),
        ("timeout = 30", "timeout = 60"),
        ("I like coffee", "I don't like coffee"),
        ("Anna is allergic to nuts", "Anna is not allergic to nuts"),
        ("狗叫旺财", "狗叫来福"),
        ("我的狗叫旺财", "我的狗叫来福"),
        ("行程改到周五", "行程改到周六"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("房租是3000元", "房租是3500元"),
    ],
)
def test_corrections(old, new):
    assert contradict(old, new)
    assert contradict(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Anna is a doctor", "Anna is vegetarian"),
        ("my dog is old", "my dog is black"),
        ("sprint 12 retro went fine", "sprint 13 retro went fine"),
        ("room 4 is booked", "room 5 is booked"),
        ("paid 20 on Monday", "paid 30 on Monday"),
        ("ran 5 km on 2026-11-01", "ran 6 km on 2026-11-02"),
        ("todo: milk", "todo: bread"),
        ("my friend is called Ann", "my friend is called Bob"),
        ("好友叫李雷", "好友叫韩梅梅"),
        ("likes tea", "likes coffee"),
        ("dentist is on Tuesday", "dentist is on Tuesday"),
        ("昨天买了3个苹果", "昨天买了4个苹果"),
        ("lives in Lisbon", "lived in Porto"),
        ("", "x"),
    ],
)
def test_what_may_both_be_true(old, new):
    assert not contradict(old, new)


@given(st.text(max_size=80))
def test_no_text_fails_or_contradicts_itself(text):
    assert not contradict(text, text)
    assert normalise(normalise(text)) == normalise(text)
