"""When a new fact replaces an older one: the same words but for one value. Careful: what is not sure stays beside it.

Texts are compared by keys: the text with one value taken out, and that value. Two facts contradict each other when
they share a key and differ in its value, so ten thousand facts are compared by one look into a table.
"""

from __future__ import annotations

import re
import unicodedata

_LEAD = re.compile(
    r"^(?:(?:please )?(?:remember|note)(?: that)?|actually|now|correction|update|no|sorry"
    r"|请?记住|其实|现在|更正)[,:，： ]+"
)
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"\b(?:the|a|an) ")
_END = " .。!！,，;；"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_VALUE = re.compile(
    rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}\b(?: \d{{4}})?"
    rf"|\b{_MONTH} \d{{1,2}}\b|\b{_DAY}\b"
    r"|\d{1,2}月\d{1,2}[日号]|(?:下?周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十]{1,3}[点号岁]"
    r"|\d+(?:[.,:]\d+)*"
)
# Only after these is a number a value that can change; "sprint 12" and "room 4" name things.
BEFORE_VALUE = re.compile(
    r"(?:\b(?:is|are|=|on|at|by|to|until|till|costs?|weighs?|of|am|turns?|around|about|every)"
    r"|[=:$€£¥是为在到约：改])\s*$"
)
UNIT_AFTER = re.compile(
    r"^\s*(?:%|°|ms|s|sec|min|h|kg|g|km|m|cm|mm|l|ml|gb|mb|kb|years?|days?|hours?|euros?"
    r"|元|块|岁|公斤|斤|米|天|小时)(?![a-z])"
)
# Past events do not replace each other: one may have paid 20 on one day and 30 on another.
_EVENT = re.compile(
    r"\b(?:bought|paid|ran|went|ate|saw|met|spent|did|had|got|took|made|came|slept|drank|wrote|was|were"
    r"|(?!(?:called|named|based|need|speed|feed|bed|red|scheduled|planned|allowed|located)\b)\w{2,}ed)\b|了|过"
)
_ATTRIBUTE = (
    r"(?:name|colou?r|number|address|birthday|e-?mail|phone|size|doctor|dentist|boss|manager|job|code|age|height|weight"
    r"|wifi|time ?zone|home town|city|nickname|language|editor|favou?rite(?: [\w-]+){1,3})"
)
_TAILS = (
    re.compile(r"^(?P<s>.{2,60}?)(?: is| are|'s)(?: now)? (?P<c>called|named) (?P<v>.{1,40})$"),
    re.compile(rf"^(?P<s>(?:[\w'’-]+ ){{0,5}}{_ATTRIBUTE}) (?:is|are)(?: now)? (?P<v>\S+(?: \S+){{0,3}})$"),
    re.compile(r"^(?P<s>[^=]{1,60}?) ?= ?(?P<v>[^=]{1,60})$"),
    re.compile(r"^(?P<s>[\w'’ -]{2,40}): ?(?P<v>\S{1,40})$"),
    re.compile(r"^(?P<s>.{1,12}?)(?:现在|的?名字)?叫做?(?P<v>(?![我你您他她它])[\w·]{1,12})$"),
    re.compile(
        r"^(?P<s>.{0,10}(?:颜色|名字|生日|电话|手机号|地址|住址|邮箱|年龄|体重|身高|尺码|最喜欢的[^是]{1,6}))"
        r"(?:现在)?[是为:](?P<v>.{1,20})$"
    ),
)
# One may have several of these, each with a name of its own.
_MANY = re.compile(
    r"friend|colleague|child|kid|son|daughter|brother|sister|pet|todo|to do|task|note|idea|reminder|project|file"
    r"|朋友|好友|同事|同学|孩子|儿子|女儿|兄|弟|姐|妹|待办|备注|想法|项目"
)
_NOT = re.compile(r"\b(?:do(?:es)?n['’]t|do(?:es)? not|no longer|never|not)\b ?|(?<=is)n['’]t\b|不再|没有|不")


def normalise(text: str) -> str:
    """The form in which two texts count as the same: width, case, spaces and the final stop do not matter."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip(_END)


def plain_form(text: str) -> str:
    """The normalised text without articles and words of address; contradictions share its first two characters."""
    return _ARTICLE.sub("", _LEAD.sub("", normalise(text)))


def keys(plain: str) -> tuple[tuple[str, str], ...]:
    """(key, value) pairs of a fact in plain form; facts that share a key but not its value contradict each other."""
    if not plain or len(plain) > 200:
        return ()
    return (*_values(plain), *_tails(plain), *_negation(plain))


def _values(plain: str) -> list[tuple[str, str]]:
    matches = list(_VALUE.finditer(plain))
    if not matches or _EVENT.search(plain):
        return []
    found = []
    for match in matches:
        before, after = plain[: match.start()], plain[match.end() :]
        if before.strip() and (BEFORE_VALUE.search(before) or UNIT_AFTER.match(after)):
            found.append((f"value {before}\0{after}", match[0]))
    return found


def _tails(plain: str) -> list[tuple[str, str]]:
    for pattern in _TAILS:
        if (match := pattern.match(plain)) and not _MANY.search(match["s"]):
            return [(f"tail {match['s'].strip()}", match["v"].strip())]
    return []


def _negation(plain: str) -> list[tuple[str, str]]:
    positive, count = _NOT.subn("", plain, count=1)
    words = [word.removesuffix("s") for word in positive.split()]
    return [(f"not {' '.join(words)}", "no" if count else "yes")] if len(positive) > 2 else []
