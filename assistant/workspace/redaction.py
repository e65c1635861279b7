"""Secrets are never written: what looks like one becomes ``«redacted N chars»``. Ordinary prose stays.

Every pattern has bounded repeats or a fixed start, so a line of a megabyte takes no more than linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_EDGE = r"(?<![A-Za-z0-9_-])"
# Key shapes as their issuers document them: OpenAI/Anthropic, GitHub, AWS, Slack, Google, GitLab, Hugging Face;
# JWT by RFC 7519.
_KEYS = re.compile(
    _EDGE
    + r"(?:sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    + r"|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])|xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{30,}"
    + r"|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}"
    + r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,})"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----BEGIN).)*?-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s:,>-]*)",
    re.DOTALL,
)
_HEADER = re.compile(
    r"(?i)\b(?:proxy-)?authorization[\"']?[ \t]{0,3}:[ \t]{0,3}[\"']?"
    r"(?:(?:bearer|basic|token|digest|apikey|negotiate)[ \t]{1,3}(?P<a>[^\s\"',;]{6,}[^\n\"']{0,400}?)(?=[\s\"',;]|$)"
    r"|(?P<b>(?=[^\s\"']{0,200}[0-9])[^\s\"',;]{16,}))"
)
_BEARER = re.compile(r"(?i)\bbearer[ \t]{1,3}(?P<a>(?=[A-Za-z_.~+/-]{0,200}[0-9])[A-Za-z0-9_.~+/=-]{20,})")
_COOKIE = re.compile(
    r"(?i)\b(?:set-)?cookie[\"']?[ \t]{0,3}:[ \t]{0,3}(?P<a>[\w.-]{1,100}=[^\s\"';]+(?:;[ \t]{0,3}[^\s\"';]+)*)"
)
_URL = re.compile(r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s/:@?#]{0,200}:(?P<a>[^\s/?#]{1,400})@(?=[^\s@/])")
_PASSWORD = re.compile(
    r"(?i)(?P<key>(?<![a-z])(?:pass[-_ ]?phrase|pass(?:word|wd|code)|pwd)s?|密码|密碼|口令)"
    r"(?P<op>[\"']?[ \t]{0,3}(?:[:：=]|是|为)[ \t]{0,3})"
    r"(?P<a>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`|[^\s，。；、]{1,200})"
)
_PASSWORD_IS = re.compile(
    r"(?i)(?<![a-z])(?:pass(?:word|wd|code|[-_ ]?phrase)|pwd)[ \t]{1,3}(?:is|was)[ \t]{1,3}[\"'`]?"
    r"(?P<a>(?=[^\s\"'`]{0,60}[0-9])(?=[^\s\"'`]{0,60}[A-Za-z!@#$%^&*])[^\s\"'`,;]{5,80})"
)
_ASSIGNED = re.compile(
    r"(?i)(?<![a-z])(?:api|secret|access|auth|private|client)[-_ ]?(?:key|token|secret)[\"']?[ \t]{0,3}[:=][ \t]{0,3}"
    r"[\"']?(?P<a>(?=[A-Za-z_.~+/-]{0,200}[0-9])[A-Za-z0-9_.~+/=-]{12,})"
)
_CARD = re.compile(r"(?<![A-Za-z0-9_.+-])[2-6][0-9](?:[ -]?[0-9]){11,17}(?![A-Za-z0-9_-]|\.[0-9])")
_RESIDENT = re.compile(
    r"(?<![A-Za-z0-9_-])[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]"
    r"(?![A-Za-z0-9_-])"
)
# After "password:" these are how a sentence goes on, not a password.
_PROSE = frozenset(
    [
        *("again", "it", "is", "was", "the", "a", "an", "not", "none", "please", "reset", "required", "forgotten"),
        *("forgot", "lost", "changed", "change", "yes", "no", "unknown", "todo", "tbd", "my", "your", "our", "his"),
        *("her", "their", "i", "we", "you", "he", "she", "they", "and", "or", "but", "so", "too", "never", "always"),
        *("why", "how", "what", "when", "where", "who", "which", "to", "in", "on", "at", "for", "of", "same", "still"),
        *("manager", "policy", "protected", "use", "see", "ask", "keep", "make", "get", "don't", "do", "can", "can't"),
        *("must", "should", "this", "that", "there", "here", "if", "then", "as", "with", "without"),
    ]
)
_PROSE_ZH = (
    "忘",
    "不",
    "没",
    "要",
    "请",
    "什么",
    "多少",
    "怎么",
    "需要",
    "已",
    "改",
    "错",
    "再",
    "又",
    "在",
    "和",
    "我",
    "你",
    "他",
    "她",
)
_MORE_WORDS = re.compile(r"[ \t]+[a-z']+")
_LETTERS = re.compile(r"[A-Za-z']+[.,;!?]*")
_HAN = re.compile(r"[\u3400-\u9fff]+[！？!?]?")
_PLACEHOLDER = re.compile(r"«redacted|[<{\[$%*•]|\.\.\.|…|x{3,}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A secret in the original text: characters start to end (exclusive), and what kind it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """text: what may be written; count: secrets replaced in it; spans: where they stood in the original."""

    text: str
    count: int
    spans: tuple[Span, ...] = ()


def redact(text: str, known: str = "") -> Redacted:
    """Replace what looks like a secret. known: text that stands on disk by the person's hand; its secrets stay."""
    spans = [span for span in find_secrets(text) if not known or text[span.start : span.end] not in known]
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start], f"«redacted {span.end - span.start} chars»"]
        position = span.end
    return Redacted("".join([*parts, text[position:]]), len(spans), tuple(spans))


def find_secrets(text: str) -> tuple[Span, ...]:
    """The secrets of a text in order, none overlapping another."""
    found: list[Span] = []
    for kind, finder in _FINDERS:
        fresh = [Span(start, end, kind) for start, end in finder(text) if end > start]
        found = sorted([*found, *_apart(fresh, found)], key=lambda span: span.start)
    return tuple(found)


def passes_luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812-1, annex B."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def passes_resident_check(number: str) -> bool:
    """The check digit of GB 11643-1999 (ISO 7064, MOD 11-2)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], weights, strict=True))
    return "10X98765432"[total % 11] == number[17].upper()


def _apart(fresh: list[Span], found: list[Span]) -> Iterator[Span]:
    """The fresh spans that touch no found one, nor each other; ``found`` is in order."""
    starts = [span.start for span in found]
    last_end = -1
    for span in fresh:
        after = bisect_left(starts, span.end)
        if span.start >= last_end and (after == 0 or found[after - 1].end <= span.start):
            last_end = span.end
            yield span


def _whole(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: ((m.start(), m.end()) for m in pattern.finditer(text))


def _group(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    """The value alone, so that the reader still sees what was there."""

    def find(text: str) -> Iterator[tuple[int, int]]:
        for match in pattern.finditer(text):
            name = next((key for key, value in match.groupdict().items() if value), None)
            if name and not _PLACEHOLDER.match(match[name]):
                yield match.span(name)

    return find


def _passwords(text: str) -> Iterator[tuple[int, int]]:
    for match in _PASSWORD.finditer(text):
        start, end = match.span("a")
        value = match["a"]
        if len(value) > 2 and value[0] in "\"'`" and value[0] == value[-1]:
            start, end, value = start + 1, end - 1, value[1:-1]
        elif match["key"].casefold().startswith("pass") and "phrase" in match["key"].casefold():
            end = _line_end(text, end)
        else:
            end -= len(value) - len(value.rstrip(".,;"))
        if not _PLACEHOLDER.match(value) and _is_password(text, match, value):
            yield start, end


def _is_password(text: str, match: re.Match[str], value: str) -> bool:
    """Tell ``password: hunter`` from ``I forgot my password: again``."""
    operator = match["op"].strip().strip("\"'")
    if value.startswith(("/", "~/", "http")):
        return False
    if operator in ("是", "为"):
        return bool(re.search(r"[0-9]", value)) and not _HAN.match(value)
    if _HAN.fullmatch(value):
        return not value.startswith(_PROSE_ZH)
    if operator == "=" or match["a"][0] in "\"'`" or not _LETTERS.fullmatch(value):
        return not re.fullmatch(r"[=\-_.:：]+", value)
    if value.rstrip(".,;!?").casefold() in _PROSE:
        return False
    return not _MORE_WORDS.match(text, match.end("a"))


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        groups = [len(group) for group in re.split("[ -]", match[0])]
        grouped = (
            len(groups) == 1 or all(size == 4 for size in groups[:-1]) or groups in ([4, 6, 5], [4, 6, 4], [6, 13])
        )
        digits = re.sub("[ -]", "", match[0])
        if grouped and len(set(digits)) > 1 and passes_luhn(digits):
            yield match.span()


def _residents(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _RESIDENT.finditer(text) if passes_resident_check(match[0]))


_FINDERS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("private key", _whole(_PRIVATE_KEY)),
    ("key", _whole(_KEYS)),
    ("header", _group(_HEADER)),
    ("header", _group(_BEARER)),
    ("cookie", _group(_COOKIE)),
    ("url password", _group(_URL)),
    ("password", _passwords),
    ("password", _group(_PASSWORD_IS)),
    ("token", _group(_ASSIGNED)),
    ("resident id", _residents),
    ("bank card", _cards),
)
