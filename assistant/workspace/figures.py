"""The figures of a text in one form: dates, times, weekdays, numbers, whether it says no; in English and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "mon tue wed thu fri sat sun".split()
_MONTH = r"(?P<{}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九十")}
_FIGURE = re.compile(
    r"(?P<iso>\d{4}-\d{1,2}-\d{1,2})"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH.format('m1')}\b"
    rf"|\b{_MONTH.format('m2')} (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|(?P<m3>\d{1,2}|[一二三四五六七八九十]{1,2})月(?P<d3>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]"
    r"|(?<!个)(?P<m4>\d{1,2}|[一二三四五六七八九十]{1,2})月(?!\d)"
    rf"|\b(?:in|until|till|since|by|from|next|this) {_MONTH.format('m5')}\b"
    r"|\b(?P<h1>\d{1,2}):(?P<n1>\d{2})\b(?: ?(?P<p1>[ap])\.?m\b\.?)?"
    r"|\b(?P<h2>\d{1,2}) ?(?P<p2>[ap])\.?m\b\.?"
    r"|(?P<p3>凌晨|早上|上午|中午|下午|傍晚|晚上)?(?P<h3>\d{1,2}|[一二三四五六七八九十]{1,3})点(?P<half>半)?"
    r"|\b(?P<w1>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
    r"|(?:周|星期|礼拜)(?P<w2>[一二三四五六日天])"
    r"|(?<![\w.,])(?P<number>\d+(?:[.,]\d+)*)(?![\w-]*[-:/]\d)(?![a-z]{3,}\d)"
    r"|(?P<chinese>[一二三四五六七八九十两]{1,3})(?=[个只元块岁天次条杯年])"
)
_NO = re.compile(
    r"\b(?:not|no|never|none|without|cannot|nobody|nothing|stopped|quit|cancelled|gave up)\b|n['’]t\b|\bno longer\b"
    r"|不(?!错|过(?!敏)|仅|但|同|只|如|久|足|断|知道|得不)|没有?|無|无(?=法|需)|别(?=再)|取消|戒了"
)
_CODE = re.compile(r"\b[a-z]{1,5}-?\d{2,}\b|\b(?=[a-z]*\d)(?=[0-9]*[a-z])[a-z0-9]{5,}\b")
_UNITS = {
    "%": ("%", "percent"),
    "°": ("°", "°c", "degrees"),
    "kg": ("kg", "kilo", "kilos", "公斤", "千克"),
    "g": ("g", "克"),
    "km": ("km", "公里", "千米"),
    "m": ("m", "米"),
    "cm": ("cm", "厘米", "公分"),
    "l": ("l", "升"),
    "h": ("h", "hour", "hours", "小时"),
    "min": ("min", "minute", "minutes", "分钟"),
    "day": ("day", "days", "天"),
    "week": ("week", "weeks"),
    "month": ("month", "months", "个月"),
    "year": ("year", "years", "岁", "年"),
    "eur": ("€", "eur", "euro", "euros", "欧", "欧元"),
    "usd": ("$", "usd", "dollar", "dollars", "美元"),
    "cny": ("¥", "元", "块", "yuan"),
}
_UNIT = re.compile(
    r"\s?([€$¥%]|°c?|[a-z]+|个月|公斤|千克|公里|千米|厘米|公分|小时|分钟|欧元|美元|[克米升天岁年欧元块])"
)
_YEAR = re.compile(r"(?<![\d.,-])(?:19|20)\d{2}(?![\d.,-])")


@dataclass(frozen=True, slots=True)
class Figures:
    """By kind: dates as "05", "05-03" or "2026-05-03", times "14:30", weekdays "0" to "6", numbers "1200 eur".

    no: the text denies.
    """

    dates: frozenset[str]
    times: frozenset[str]
    weekdays: frozenset[str]
    numbers: frozenset[str]
    no: bool

    def differ(self, other: Figures) -> str:
        """In what the two texts say something else: "date", "time", "weekday", "number", "no"; "" in nothing.

        Only where both have such a figure and share none of them: one that says more is no contradiction.
        """
        kinds = (
            ("date", _apart_dates(self.dates, other.dates)),
            ("time", _apart(self.times, other.times)),
            ("weekday", _apart(self.weekdays, other.weekdays)),
            ("number", _apart_numbers(self.numbers, other.numbers)),
            ("no", self.no != other.no),
        )
        return next((kind for kind, differs in kinds if differs), "")


def figures(text: str) -> Figures:
    """The figures of a text; never fails."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: dict[str, set[str]] = {"date": set(), "time": set(), "weekday": set(), "number": set()}
    codes = [match.span() for match in _CODE.finditer(folded)]
    for match in _FIGURE.finditer(folded):
        if match["number"] and any(start <= match.start() < end for start, end in codes):
            continue
        for kind, value in _values(match):
            found[kind].add(f"{value} {_unit(folded, match)}".strip() if kind == "number" else value)
    sets = {kind: frozenset(values) for kind, values in found.items()}
    return Figures(sets["date"], sets["time"], sets["weekday"], sets["number"], bool(_NO.search(folded)))


def same_value(one: str, other: str) -> bool:
    """Whether two values are the same figure in other words: "3 May" and "May 3rd"."""
    first, second = figures(one), figures(other)
    if not any((first.dates, first.times, first.weekdays, first.numbers)):
        return False
    return first == second or (bool(first.dates) and bool(second.dates) and not _apart_dates(first.dates, second.dates))


def _values(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    if match["iso"]:
        year, month, day = match["iso"].split("-")
        yield "date", f"{year}-{int(month):02}-{int(day):02}"
    elif match["m1"] or match["m2"]:
        month = _MONTHS.index(match["m1"] or match["m2"]) + 1
        yield "date", f"{month:02}-{int(match['d1'] or match['d2']):02}"
    elif match["m3"]:
        yield "date", f"{_count(match['m3']):02}-{_count(match['d3']):02}"
    elif match["m4"] or match["m5"]:
        yield "date", f"{_count(match['m4']) if match['m4'] else _MONTHS.index(match['m5']) + 1:02}"
    elif hour := match["h1"] or match["h2"] or match["h3"]:
        yield "time", _time(_count(hour), match)
    elif match["w1"]:
        yield "weekday", str(_DAYS.index(match["w1"][:3]))
    elif match["w2"]:
        yield "weekday", str("一二三四五六".find(match["w2"]) if match["w2"] not in "日天" else 6)
    elif match["number"]:
        yield "number", _plain_number(match["number"])
    elif match["chinese"]:
        yield "number", str(2 if match["chinese"] == "两" else _count(match["chinese"]))


def _time(hour: int, match: re.Match[str]) -> str:
    late = (match["p1"] or match["p2"]) == "p" or match["p3"] in ("下午", "傍晚", "晚上")
    minute = int(match["n1"] or 0) if match["n1"] else 30 if match["half"] else 0
    return f"{hour + 12 if late and hour < 12 else hour:02}:{minute:02}"


def _unit(text: str, number: re.Match[str]) -> str:
    """What the number counts, where that is a measure: "kg", "eur", "year"; "" where it is not told."""
    before = text[number.start() - 1 : number.start()] if number.start() else ""
    found = _UNIT.match(text[number.end() : number.end() + 12])
    words = (found[1] if found else "", before)
    return next((name for word in words for name, forms in _UNITS.items() if word in forms), "")


def _apart_numbers(one: frozenset[str], other: frozenset[str]) -> bool:
    """4 kg and 6 years have nothing to do with each other; 4 kg and 6 may be meant to be the same."""
    pairs = [(a.partition(" "), b.partition(" ")) for a in one for b in other]
    alike = [(a[0], b[0]) for a, b in pairs if a[2] == b[2] or not a[2] or not b[2]]
    return bool(alike) and not any(a == b for a, b in alike)


def _plain_number(text: str) -> str:
    """1,200 and 1200 are one number, and so are 3.50 and 3.5."""
    whole = re.sub(r",(?=\d{3}\b)", "", text).replace(",", ".")
    return whole.rstrip("0").rstrip(".") if whole.count(".") == 1 else whole


def _count(text: str) -> int:
    """A number in digits or in Chinese, up to 99."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        return _DIGITS.get(text[-1], 0)
    return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def _apart(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and bool(other) and not one & other


def _apart_dates(one: frozenset[str], other: frozenset[str]) -> bool:
    """A date without its year is that day of any year, a month alone any day of it."""
    return bool(one) and bool(other) and not any(_same_date(a, b) for a in one for b in other)


def _same_date(one: str, other: str) -> bool:
    if len(one) == len(other):
        return one == other
    short, long = sorted((one, other), key=len)
    return long[-5:].startswith(short)


def codes(text: str) -> frozenset[str]:
    """What names one thing among many of its kind: flight numbers, part numbers, error codes, years."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return frozenset({match.group() for match in _CODE.finditer(folded)} | set(_YEAR.findall(folded)))
