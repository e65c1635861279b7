"""What the trial of tools says to a model: requests to remember, and questions that only memory answers.

TEST is what is measured. DEV is what descriptions and words about tools may be tuned on; none of TEST may be.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """Something in memory. file: the note it stands in, "" for a chat of ``days`` ago."""

    text: str
    file: str = ""
    days: int = 30
    reply: str = "All right, I have noted that."


@dataclass(frozen=True)
class Asked:
    """A question. answer: what the right reply holds, and what no prompt may hold before a tool was used."""

    text: str
    answer: str
    fact: Fact


@dataclass(frozen=True)
class Lines:
    remember: tuple[str, ...]
    questions: tuple[Asked, ...]


def _note(text: str, answer: str, file: str, fact: str) -> Asked:
    return Asked(text, answer, Fact(fact, file))


def _chat(text: str, answer: str, days: int, fact: str, reply: str = "All right, I have noted that.") -> Asked:
    return Asked(text, answer, Fact(fact, "", days, reply))


DEV = Lines(
    (
        "Remember that my landlord is called Mr Okafor.",
        "Please keep in mind that I am allergic to penicillin",
        "My new office is on the fourth floor. Remember that.",
        "请记住我女儿上小学三年级",
        "帮我记一下：车牌号是沪A12345",
        "Don't forget that the recycling goes out on Thursdays",
    ),
    (
        _note("What colour did I paint the hallway?", "sage green", "house", "Painted the hallway sage green in April"),
        _note("Which gym do I go to?", "Ironworks", "sport", "Goes to the gym Ironworks on Mondays"),
        _note("我的血型是什么？", "AB", "health", "血型是 AB 型"),
        _chat(
            "How long did we say the bread has to rise?", "fourteen", 20, "The bread has to rise fourteen hours, ok?"
        ),
        _chat("What was the name of that insurance agent?", "Brandl", 40, "The insurance agent is called Ms Brandl"),
        _chat("上次我们商量的搬家日期是哪天？", "十九", 25, "我们商量好了，搬家定在十九号"),
        _note("When does my passport expire?", "2031", "papers", "Passport expires in June 2031"),
        _note("我养的猫叫什么名字？", "豆包", "pets", "猫的名字叫豆包"),
    ),
)
TEST = Lines(
    (
        "Remember that my brother Paulo is vegetarian.",
        "Please remember: the spare key is with Mrs Lindqvist next door.",
        "Can you remember that I start the new job on 11 January?",
        "Could you make a note that the boiler was serviced on 3 October?",
        "Keep in mind that I never drink coffee after noon.",
        "Don't forget that our anniversary is the 27th of August.",
        "I'd like you to remember that my blood pressure pills are Ramipril 5 mg.",
        "My bike lock code is 7390, please remember it.",
        "The dentist moved to 14 Harbour Street. Remember this.",
        "For future reference: I prefer trains to planes.",
        "Note that the school closes at 15:30 on Fridays.",
        "Save this to your memory: my shoe size is 43.",
        "记住我对青霉素过敏",
        "请记住，我的生日是九月十二号。",
        "帮我记一下，周六下午三点要接机。",
        "麻烦你记住我妈妈喜欢喝龙井茶",
        "别忘了我下个月要去成都出差",
        "我家的门禁密码是2580，请记住。",
        "把我的鞋码是41码这件事记下来",
        "记一下：修空调的师傅姓郑，电话13800001111",
    ),
    (
        _note("What is my sister's dog called?", "Biscuit", "family", "My sister's dog is called Biscuit"),
        _note("Which seat do I like on a plane?", "aisle", "travel", "On planes always an aisle seat near the front"),
        _note("When is my car due for inspection?", "March", "car", "Car inspection is due in March 2027"),
        _note(
            "What did I want to give Dad for his birthday?",
            "telescope",
            "gifts",
            "Gift idea for Dad: a small telescope",
        ),
        _note(
            "Which paint did I use in the bedroom?",
            "Skimmed",
            "house",
            "Bedroom walls: Farrow & Ball Skimmed Milk White",
        ),
        _note("How much did I lend Tomasz?", "350", "money", "Lent Tomasz 350 zloty on 2 September"),
        _note(
            "Where do I keep my birth certificate?",
            "blue folder",
            "papers",
            "Birth certificate: blue folder, second drawer",
        ),
        _chat(
            "What did the plumber quote me for the new boiler?",
            "2,840",
            21,
            "The plumber quoted 2,840 for the new boiler",
        ),
        _chat(
            "Which restaurant did you suggest for our anniversary?",
            "Osteria Fiorella",
            35,
            "Where could we eat on our anniversary?",
            "Osteria Fiorella would suit you both.",
        ),
        _chat(
            "What was the name of the physiotherapist I told you about?",
            "Nakamura",
            50,
            "I found a physiotherapist, Ms Nakamura, near the station",
        ),
        _chat(
            "Why did I decide against the flat in Kent Road?",
            "damp",
            28,
            "I decided against the flat in Kent Road because of the damp in the cellar",
        ),
        _chat(
            "How many kilometres did I run in that race in May?",
            "21",
            60,
            "I ran the 21 kilometres in May, in under two hours",
        ),
        _note("我女儿在哪个班？", "三年级二班", "family", "女儿在三年级二班"),
        _note("我最喜欢的火锅店叫什么？", "巷子里", "food", "最喜欢的火锅店是巷子里火锅"),
        _note("我的健身教练姓什么？", "廖", "sport", "健身教练姓廖，每周二上课"),
        _note("我的护照什么时候到期？", "2029", "papers", "护照 2029 年 8 月到期"),
        _chat("上次你推荐的那本书叫什么？", "城南旧事", 18, "推荐一本适合睡前读的书", "可以读《城南旧事》。"),
        _chat("我们上个月商量的装修预算是多少？", "八万", 30, "装修预算我们就定八万吧"),
        _chat("那位租房中介叫什么名字？", "小孟", 45, "租房中介叫小孟，人很热心"),
        _chat("我之前告诉你我妈几号做手术？", "十六", 12, "我妈十六号做手术，在市一院"),
    ),
)
