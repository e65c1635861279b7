"""Chinese words for single days, days of the week, and so many days ago; for folded (simplified) text."""

from __future__ import annotations

from collections.abc import Iterator
from re import Match

from assistant.recall.days.calendar_days import LATELY, Asked, Bounds, part_of, week_of_month
from assistant.recall.days.english_words import Reader, said
from assistant.recall.days.number_words import ZH_COUNT, number

DAYS = {char: n for n, chars in enumerate(("一1", "二2", "三3", "四4", "五5", "六6", "日天7")) for char in chars}
_UNITS = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
PARTS = {"初": "early", "上旬": "early", "中旬": "mid", "中": "mid", "下旬": "late", "底": "late", "末": "late"}

WHICH = "(?P<which>上+|下+|这|本)(?:一(?=[个周]))?"
_WEEK = "(?:周|星期|礼拜)"
_UNIT = "(?:(?P<unit>天|周|年)|个(?P<big>星期|礼拜|月)|(?P<week>星期|礼拜))"
HOURS = "(?:早上|上午|中午|下午|傍晚|晚上|夜里|凌晨|早|晚|夜)?"
_MOST_YEARS = 200
_FEW = "几|些|两三|三四|四五|五六|好几"


def patterns() -> Iterator[tuple[str, Reader]]:
    yield from _near_days()
    yield from _counted()
    yield from _week_days()
    yield from _weeks()


def offset(which: str) -> int:
    """上 -1, 上上 -2, 这 and 本 0, 下 1, 下下 2."""
    return {"上": -1, "下": 1}.get(which[0], 0) * len(which)


# --- near days ----------------------------------------------------------------------------------------------------


def _near_days() -> Iterator[tuple[str, Reader]]:
    for words, days in (
        ("大前天", -3),
        ("前天|前晚", -2),
        ("昨[天日]|昨(?=[早晚夜])", -1),
        ("今[天日]|今(?=[早晚夜])", 0),
    ):
        yield rf"(?<!大)(?:{words}){HOURS}", _day(days)
    for words, days in (("明[天日]|明(?=[早晚])", 1), ("后天", 2), ("大后天", 3)):
        yield rf"(?<!大)(?:{words}){HOURS}", _day(days)
    yield "刚才|刚刚", _day(0)
    yield "前不久|不久前|前(?:阵子|段时间|一阵子?|一段时间)", lambda match, asked: asked.days(-60, -3)
    lately = "最近(?![的一几两三四五六七八九十0-9]|半年|[上过]?[个次])|近来|近期|这(?:阵子|段时间|一阵子?)|这些天"
    yield lately, lambda match, asked: asked.days(-LATELY, 0)
    yield "(?:这|最近)[几两](?:天|日)|近[几两]日|近几天", lambda match, asked: asked.days(-7, 0)
    yield "前(?P<few>[几两些])(?:天|日)", lambda match, asked: asked.days(-4 if match["few"] == "两" else -7, -1)


def _day(days: int) -> Reader:
    return lambda match, asked: asked.day(days)


# --- so many days -------------------------------------------------------------------------------------------------


def _counted() -> Iterator[tuple[str, Reader]]:
    yield rf"(?P<few>{_FEW}){_UNIT}(?:以前|之前|前)", _few_ago
    yield rf"(?P<count>{ZH_COUNT}){_UNIT}(?:以前|之前|前)(?![几两])", _ago
    yield "半年(?:以前|之前|前)", lambda match, asked: (asked.month(-7)[0], asked.month(-5)[1])
    yield "半个月(?:以前|之前|前)", lambda match, asked: asked.days(-20, -11)
    yield rf"(?:过去|最近|近|这)的?(?:(?P<count>{ZH_COUNT})|(?P<few>几)){_UNIT}(?:[内里以]来?)?", _past
    yield "(?:过去|最近|近)的?(?P<half>半年|半个月)", _past
    yield rf"前(?:(?P<few>几)|(?P<count>[两二三四五六])){_UNIT}(?<!天)", _past
    yield rf"(?P<count>{ZH_COUNT}){_UNIT}[之以]?内", _within
    yield "去年的?(?:今天|这个?时候|同期)", lambda match, asked: asked.days(-386, -344)
    yield rf"(?:未来|接下来|今后|往后)的?(?:(?P<count>{ZH_COUNT})|(?P<few>几)){_UNIT}[内里]?", _coming
    yield rf"(?P<count>{ZH_COUNT}){_UNIT}(?:以后|之后|后)(?!面)", _later


def _unit(match: Match[str]) -> str:
    return _UNITS[match["unit"] or match["big"] or match["week"]]


def _ago(match: Match[str], asked: Asked) -> Bounds | None:
    """2025年前 is no number of years ago."""
    count, unit = number(match["count"]), _unit(match)
    return asked.ago(count, unit) if unit != "year" or count < _MOST_YEARS else None


def _few_ago(match: Match[str], asked: Asked) -> Bounds:
    """几天前 is as vague as it sounds; 两三天前 is from three days ago to two."""
    unit, few = _unit(match), match["few"]
    if few in ("几", "些", "好几"):
        return asked.fuzzy_ago(unit)
    return asked.ago(number(few[1]), unit)[0], asked.ago(number(few[0]), unit)[1]


def _count(match: Match[str]) -> int:
    return 5 if said(match, "few") else number(match["count"])


def _past(match: Match[str], asked: Asked) -> Bounds:
    half = said(match, "half")
    if half:
        return asked.past(6, "month") if half == "半年" else asked.past(15, "day")
    return asked.past(_count(match), _unit(match))


def _within(match: Match[str], asked: Asked) -> Bounds:
    return _coming(match, asked) if asked.present else _past(match, asked)


def _coming(match: Match[str], asked: Asked) -> Bounds:
    return asked.coming(_count(match), _unit(match))


def _later(match: Match[str], asked: Asked) -> Bounds | None:
    """三天后 is a day to come only in a question about what comes; "三天后他还了钱" counts from another day."""
    return asked.ago(-number(match["count"]), _unit(match)) if asked.present else None


# --- days of the week, weeks --------------------------------------------------------------------------------------


def _week_days() -> Iterator[tuple[str, Reader]]:
    day = "(?P<day>[一二三四五六日天1-7])(?![一二三四五六七八九十月号0-9个])"
    yield rf"(?<![每几一二两三四五六七八九十0-9])(?:{WHICH}个?)?{_WEEK}{day}{HOURS}", _week_day


def _week_day(match: Match[str], asked: Asked) -> Bounds:
    """上周三 is the one of last week; a bare 周三 the latest one up to today, or the next if asked of what comes."""
    if not match["which"]:
        return asked.weekday(DAYS[match["day"]])
    return asked.weekday_of(offset(match["which"]), DAYS[match["day"]])


def _weeks() -> Iterator[tuple[str, Reader]]:
    yield rf"{WHICH}个?{_WEEK}(?![一二三四五六日天末1-7])(?P<part>初|底)?", _week
    yield rf"(?:{WHICH}个?)?{_WEEK}末", _weekend
    month = rf"(?:{WHICH}个?月|(?P<month>{ZH_COUNT})月份?)"
    yield rf"{month}的?(?:第(?P<nth>[一二三四1-4])|最后一)(?:周|个?星期|个?礼拜)", _week_of_month
    year = "(?:(?P<year>[0-9]{4}|[〇零一二三四五六七八九]{4})年)?"
    yield rf"{year}的?第(?P<nth>[0-9]{{1,2}}|[一二三四五]?十[一二三四五六七八九]?)周", _week_number


def _week(match: Match[str], asked: Asked) -> Bounds:
    return part_of(asked.week(offset(match["which"])), PARTS.get(match["part"] or "", ""))


def _weekend(match: Match[str], asked: Asked) -> Bounds:
    return asked.weekend(offset(match["which"])) if match["which"] else asked.near_weekend()


def _week_of_month(match: Match[str], asked: Asked) -> Bounds:
    which = match["which"]
    bounds = asked.month(offset(which)) if which else asked.month_of(number(match["month"]))
    return week_of_month(*bounds, number(match["nth"]) if match["nth"] else -1)


def _week_number(match: Match[str], asked: Asked) -> Bounds:
    return asked.week_of(number(match["nth"]), number(match["year"]) if match["year"] else None)
