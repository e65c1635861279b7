"""Made-up workspaces of any size for the benchmarks; the same seed gives the same files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

_PEOPLE = "Anna Ben Chen Dara Emil Fatima Gu Hana Ivan Joao Kofi Lena Mei Nils Olga Priya".split()
_PLACES = "Lisbon Rotterdam Suzhou Graz Oslo Kyoto Nairobi Quito Turin Ghent Xiamen Leeds".split()
_THINGS = (
    "the boiler,the cello,a visa,the sourdough starter,the hiking boots,the tax letter,the balcony door,a violin bow,"
    "the firmware release,the garden pump,the passport photo,the bicycle lock,the tea order,the school form"
).split(",")
_VERBS = "ordered repaired lost found promised returned postponed booked cancelled measured painted sold".split()
_CHINESE_PEOPLE = "李雷 韩梅梅 王芳 张伟 小雨 陈晨 刘洋 赵敏".split()
_CHINESE_ACTS = (
    "约好周五开会 对花生过敏 喜欢喝乌龙茶 搬到了苏州 买了新自行车 正在学大提琴 换了护照 想去里斯本旅行".split()
)


def sentences(count: int, seed: int = 1) -> Iterator[str]:
    """Short facts, every fourth Chinese, each with a code of its own."""
    chance = random.Random(seed)
    for number in range(count):
        if number % 4 == 3:
            yield f"{chance.choice(_CHINESE_PEOPLE)}{chance.choice(_CHINESE_ACTS)}，编号 K{number:06d}"
        else:
            yield (
                f"{chance.choice(_PEOPLE)} {chance.choice(_VERBS)} {chance.choice(_THINGS)} "
                f"in {chance.choice(_PLACES)} for {chance.randint(3, 900)} euros, code K{number:06d}"
            )


def write_memory(root: Path, entries: int, seed: int = 1) -> None:
    """MEMORY.md with a few facts and ``entries`` dated entries."""
    first = date(2024, 1, 1)
    lines = ["# Memory", "", "- The person writes firmware and plays the cello.", ""]
    lines += [f"{first + timedelta(days=n % 1000)}|you|{text}" for n, text in enumerate(sentences(entries, seed))]
    root.mkdir(parents=True, exist_ok=True)
    (root / "MEMORY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_chats(root: Path, chats: int, turns: int, seed: int = 2) -> None:
    """Chat files of ``turns`` turns each, one an hour."""
    texts = sentences(chats * turns, seed)
    began = datetime(2025, 1, 1, 8, 0, 0)
    for number in range(chats):
        moment = began + timedelta(hours=number)
        ident = moment.strftime("%Y%m%d_%H%M%S")
        lines = [f"# Chat: Talk {number}", "", "## Metadata", "", f"- **Session ID**: {ident}"]
        lines += [f"- **Created**: {moment.isoformat()}+00:00", "", "## Conversation", ""]
        for turn in range(1, turns + 1):
            at = (moment + timedelta(minutes=turn)).isoformat()
            lines += [f"### {at}+00:00 · #{turn}", "", "**User**:", "", f"> {next(texts)}", ""]
            lines += ["**Assistant**:", "", "> Noted.", ""]
        folder = root / "chats" / moment.strftime("%Y-%m")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{ident}.md").write_text("\n".join(lines), encoding="utf-8")
