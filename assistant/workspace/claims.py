"""What memory claims, one thing at a time, and by which keys two claims speak of the same subject.

The keys of contradiction.py are sure enough for the app to strike by itself. Those added here are not: what they find
is shown to the person, who decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from assistant.workspace.contradiction import BEFORE_VALUE, UNIT_AFTER, keys, plain_form
from assistant.workspace.fact_marks import block_item
from assistant.workspace.unit_places import unit_places

_LONGEST = 200  # characters; more says several things
_FIGURE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}\b"
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
    r"|\d{1,2}月\d{1,2}[日号]|(?:周|星期|礼拜)[一二三四五六日天]|(?:上午|下午|早上|晚上)?[一二三四五六七八九十]{1,3}[点岁]"
    r"|[€$£¥]?\d+(?:[.,:]\d+)*(?: ?(?:am|pm)\b)?"
)
# Behind these words a bare number is a value too, though not one to strike by: it may count one thing of many.
_HAVING = re.compile(r"(?:\b(?:have|has|own|owns|for|in|since|need|needs|weigh|costs?|takes?)|[有:]|读数|[€$£¥])\s*$")
_BARE = re.compile(r"\d+(?:[.,]\d+)*")
_ONCE = re.compile(
    r"\b(?:born|married|divorced|moved|graduated|retired|founded|joined|started|hired|engaged|adopted|died|opens?|closes?"
    r"|expires?|ends?|due|launched|finished)\b|出生|结婚|毕业|退休|入职|搬|到期|截止|开业"
)
_EVENT = re.compile(
    r"\b(?:bought|paid|ran|went|ate|saw|met|spent|did|had|got|took|made|came|slept|drank|wrote|was|were|read"
    r"|(?!(?:called|named|based|need|speed|feed|bed|red|scheduled|planned|allowed|located)\b)\w{2,}ed)\b|[了过]"
)
_LITTLE = frozenset(
    "i my me mine we our us user user's i'm the a an is are am was were be been will in on at to of for from by with "
    "and it its that this now currently usually always every has have had do does me: um uh 我 我的 用户".split()
)
_HAVES = (
    re.compile(r"^(?P<s>.{0,40}?)\b(?:live|living|reside)s? (?:in|at|near) (?P<v>.+)$"),
    re.compile(r"^(?P<s>.{0,40}?)\b(?P<c>work)(?:s|ing)? (?:at|for) (?P<v>.+)$"),
    re.compile(r"^(?P<s>.{0,40}?)\b(?P<c>come)s? from (?P<v>.+)$"),
    re.compile(r"^(?P<s>.{0,40}?)\b(?P<c>drive)s? an? (?P<v>.+)$"),
    re.compile(r"^(?P<s>.{0,40}?)\b(?P<c>married) to (?P<v>.+)$"),
    re.compile(r"^(?P<s>.{0,40}?)\b(?P<c>prefer)s? (?P<v>\S+(?: \S+)?)$"),
    re.compile(r"^(?P<s>.{0,8}?)(?:现在)?住在?(?P<v>[^，。了过]{2,20})$"),
    re.compile(r"^(?P<s>.{0,8}?)(?:现在)?在(?P<v>.{2,15}?)(?P<c>工作|上班)$"),
)
_MAY_COUNT = re.compile(r"\d|mon|tue|wed|thu|fri|sat|sun|周|星期|礼拜|点|岁")
_MAY_HAVE = re.compile(r"liv|resid|work|come|driv|married|prefer|住|在")
_TAIL = re.compile(r"\b(?:since|from|with|because|until|for|near|and)\b.*$|[，,(（].*$")
_SELF = re.compile(r"\b(?:i|i'm|my|we|our|me|user|user's)\b|我|咱")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Claim:
    """One live thing that memory says. unit: as recall names it; item: of an entry, from 0; day: None for a fact."""

    unit: str
    item: int | None
    file: str
    line: int
    day: date | None
    text: str
    headings: tuple[str, ...] = ()


def claims_of(file: str, text: str, today: date) -> Iterator[Claim]:
    """What a memory file claims today: items of entries, bullets, short paragraphs; none that is struck or over."""
    for place in unit_places(file, text):
        if place.entry is None:
            item = block_item(place.text)
            if item.live(today) and len(item.text) <= _LONGEST and "\n" not in item.text:
                yield Claim(place.uid, None, file, place.first, item.updated, item.text, place.headings)
            continue
        for index, item in enumerate(place.entry.items):
            if item.live(today) and len(item.text) <= _LONGEST:
                day = item.updated or place.entry.date
                yield Claim(place.uid, index, file, place.first, day, item.text)


def subject_keys(text: str) -> tuple[tuple[str, str], ...]:
    """(subject, value) of a claim: two claims that share a subject but not its value disagree."""
    plain = plain_form(text)
    if not plain or len(plain) > _LONGEST:
        return ()
    return tuple(dict.fromkeys([*keys(plain), *_loose_values(plain), *_haves(plain)]))


def _loose_values(plain: str) -> Iterator[tuple[str, str]]:
    if not _MAY_COUNT.search(plain):
        return
    matches = [match for match in _FIGURE.finditer(plain) if _is_value(plain, match)]
    if not matches or (_EVENT.search(plain) and not _ONCE.search(plain)):
        return
    for match in matches:
        before, after = plain[: match.start()], plain[match.end() :]
        subject = _subject(f"{before} _ {after}")
        if len(subject) > 1:
            yield "loose " + " ".join(subject), match[0]


def _is_value(plain: str, figure: re.Match[str]) -> bool:
    """Whether a figure can change: a bare number as in "sprint 12" and "room 4" names a thing."""
    if not _BARE.fullmatch(figure[0]) or UNIT_AFTER.match(plain[figure.end() : figure.end() + 12]):
        return True
    before = plain[max(0, figure.start() - 12) : figure.start()]
    return bool(BEFORE_VALUE.search(before) or _HAVING.search(before))


def _haves(plain: str) -> Iterator[tuple[str, str]]:
    if not _MAY_HAVE.search(plain):
        return
    for number, pattern in enumerate(_HAVES):
        match = pattern.match(plain)
        if match and not match["v"].startswith(("not ", "no ")):
            value = _TAIL.sub("", match["v"]).strip()
            if value:
                yield f"have {number} {' '.join(_subject(match['s']))}", value
            return


def _subject(text: str) -> list[str]:
    """The words that make the subject: without those of little meaning, verbs and plurals alike."""
    words = (_CJK.sub(" \\g<0> ", text)).replace(":", " ").replace("=", " ").split()
    bare = (word.strip(".,;!?()（）“”\"'") for word in words)
    return [word.removesuffix("s") if len(word) > 3 else word for word in bare if word and word not in _LITTLE]


def names_itself(key: str) -> bool:
    """Whether a subject says by itself what it is about, so that it is the same under any heading and in any file."""
    kind, _, rest = key.partition(" ")
    if kind == "have" or _SELF.search(rest):
        return True
    words = [word for word in _WORDS.findall(_CJK.sub(" ", rest)) if word not in _LITTLE and word != "_"]
    return len(words) >= 2 or len(_CJK.findall(rest)) >= 3
