"""Made-up memories that use words as people do: a few all the time, most rarely, by topic; in two languages.

Made sentences mean little, but their words spread like those of real ones (how often a word is used falls with its
rank, after Zipf), and that is what a search costs. The same seed gives the same texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path

_GLUE = (
    "the a to and of in it is that for on with was we at be this have from or not but by they you as he she will about"
    " when so if there up what out all my one then no do her his would can just now how after our".split()
)
_TOPICS = (
    "meeting deadline report client budget slide review release ticket server deploy firmware sensor patch invoice",
    "dentist doctor knee allergy tablet appointment insurance vaccine sleep running headache clinic scan blood glasses",
    "flight hotel train passport visa luggage ferry island museum beach booking delay airport tram hostel",
    "kitchen oven bread soup garlic noodle tea coffee recipe market cheese lentil pepper cake dinner",
    "cello violin concert choir rehearsal piano record festival ticket stage drummer score chord album guitar",
    "garden tomato fence shed lawn rose compost rain soil apple beehive hedge pump ladder greenhouse",
    "school exam teacher homework swim birthday nephew daughter grandma wedding cousin gift party cat puppy",
    "rent landlord boiler window paint sofa lamp key neighbour bicycle lock parking balcony drill shelf",
)
_TOPICS_ZH = (
    "会议 报告 客户 预算 截止 版本 服务器 发布 固件 传感器 合同 同事 项目 评审 发票",
    "牙医 医生 膝盖 过敏 药片 预约 保险 疫苗 睡眠 跑步 头疼 体检 血压 眼镜 复查",
    "航班 酒店 火车 护照 签证 行李 轮渡 海岛 博物馆 海边 预订 延误 机场 地铁 民宿",
    "厨房 烤箱 面包 汤圆 大蒜 面条 茶叶 咖啡 菜谱 市场 奶酪 豆腐 辣椒 蛋糕 晚饭",
    "大提琴 小提琴 音乐会 合唱 排练 钢琴 唱片 门票 舞台 鼓手 乐谱 和弦 专辑 吉他 演出",
    "花园 番茄 篱笆 草坪 玫瑰 堆肥 下雨 泥土 苹果 蜜蜂 水泵 梯子 温室 种子 浇水",
    "学校 考试 老师 作业 游泳 生日 侄子 女儿 奶奶 婚礼 表哥 礼物 聚会 小猫 小狗",
    "房租 房东 锅炉 窗户 油漆 沙发 台灯 钥匙 邻居 自行车 门锁 停车 阳台 电钻 书架",
)
_GLUE_ZH = "的 了 在 我 是 和 他 她 说 要 去 有 不 就 都 很 到 给 跟 想 也 今天 明天 上周 已经 因为 所以".split()
_SYLLABLES = "ba ber cor dan el fen gar hil im jo kel lor mas nor ol per quin ros sel tan ul ver wen yor zim".split()
_RARE = 60_000
"""Words that hardly anybody uses: names, places, products."""
_A_NOTE = 25


class Writer:
    """Writes sentences from a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._english = [(words.split(), _falling(words.split())) for words in _TOPICS]
        self._chinese = [(words.split(), _falling(words.split())) for words in _TOPICS_ZH]
        self._glue = _falling(_GLUE)
        self._glue_zh = _falling(_GLUE_ZH)

    def sentence(self, number: int) -> str:
        """One in four is Chinese, one in five has a code of its own."""
        chance = self._chance
        topic = chance.randrange(len(_TOPICS))
        code = f" (K-{number:07d})" if number % 5 == 0 else ""
        if number % 4 == 3:
            words = self._words(self._chinese[topic], chance.randint(3, 6))
            glue = chance.choices(_GLUE_ZH, cum_weights=self._glue_zh, k=len(words))
            return "".join(part for pair in zip(words, glue, strict=True) for part in pair) + self._rare() + code
        words = self._words(self._english[topic], chance.randint(3, 7))
        glue = chance.choices(_GLUE, cum_weights=self._glue, k=len(words) + 2)
        said = [part for pair in zip(glue, words, strict=False) for part in pair]
        said.insert(chance.randrange(len(said)), self._rare())
        return " ".join([*said, glue[-1], glue[-2], self._rare()]) + code

    def question(self, number: int) -> str:
        """A few words of one topic, every fourth Chinese."""
        chance = self._chance
        topic = chance.randrange(len(_TOPICS))
        if number % 4 == 3:
            return "的".join(self._words(self._chinese[topic], 2)) + "怎么样了？"
        words = self._words(self._english[topic], 3)
        return f"what about the {words[0]} and {words[1]} of the {words[2]} by {self._rare()}?"

    def _words(self, topic: tuple[list[str], list[float]], count: int) -> list[str]:
        return self._chance.choices(topic[0], cum_weights=topic[1], k=count)

    def _rare(self) -> str:
        """The rank of a word that is drawn evenly by the logarithm of it falls after Zipf."""
        rank = int(_RARE ** self._chance.random())
        parts = len(_SYLLABLES)
        return _SYLLABLES[rank % parts] + _SYLLABLES[rank // parts % parts] + _SYLLABLES[rank // parts**2 % parts]


def _falling(words: list[str]) -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, len(words) + 1)))


def write_workspace(root: Path, units: int, seed: int = 1) -> int:
    """MEMORY.md, notes and chats with so many units altogether; how many files that is. At most some 5 000 of them."""
    writer = Writer(seed)
    texts = (writer.sentence(number) for number in range(units))
    memory = min(units // 5, 2_000)
    first = date(2023, 1, 1)
    lines = [f"{first + timedelta(days=n % 1400)}|you|{text}" for n, text in enumerate(islice(texts, memory))]
    root.mkdir(parents=True, exist_ok=True)
    (root / "MEMORY.md").write_text("# Memory\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    files, a_file = 1, max(20, (units - memory) // 5_000)
    while some := list(islice(texts, a_file)):
        _write_chat(root, files, some) if files % 2 else _write_note(root, files, some)
        files += 1
    return files


def _write_note(root: Path, number: int, texts: list[str]) -> None:
    lines = [f"# Topic {number}", ""]
    for n, text in enumerate(texts):
        lines += ["", f"## Part {n // _A_NOTE}", ""] if n % _A_NOTE == 0 else []
        lines.append(f"- {text}")
    (root / "memory").mkdir(exist_ok=True)
    (root / "memory" / f"topic-{number}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_chat(root: Path, number: int, texts: list[str]) -> None:
    began = datetime(2024, 1, 1, 8, 0, 0) + timedelta(hours=4 * number)
    ident = began.strftime("%Y%m%d_%H%M%S")
    lines = [f"# Chat: Talk {number}", "", "## Metadata", "", f"- **Session ID**: {ident}"]
    lines += [f"- **Created**: {began.isoformat()}+00:00", "", "## Conversation", ""]
    for turn, text in enumerate(texts, 1):
        at = (began + timedelta(minutes=turn)).isoformat()
        lines += [
            f"### {at}+00:00 · #{turn}",
            "",
            "**User**:",
            "",
            f"> {text}",
            "",
            "**Assistant**:",
            "",
            "> Noted.",
            "",
        ]
    folder = root / "chats" / began.strftime("%Y-%m")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{ident}.md").write_text("\n".join(lines), encoding="utf-8")


def sentences(units: int, seed: int = 1) -> Iterator[str]:
    """The texts of ``write_workspace``."""
    writer = Writer(seed)
    return (writer.sentence(number) for number in range(units))
