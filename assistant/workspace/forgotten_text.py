"""Finding forgotten words again: in any case, line wrapping, width or shortened form, and taking them out of a text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from assistant.core.json_text import parse_json

FORGOTTEN = "«forgotten»"
CODECS = ("utf-8", "json", "gb18030", "utf-16-le", "utf-16-be")
_HEAD = 24  # characters by which a text is looked for first
_AROUND = 64  # bytes in front of a place that are looked at, too
_LONG_CUT = 100  # characters; a text that ends after so many equal ones is a shortened copy
# Scripts without spaces: there a text may begin or end anywhere in a run.
CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
LETTER = rf"[^\W{CJK}]"
_STARTS = re.compile(LETTER)
_CUT = re.compile(r"\s?(?:…|\.\.\.)")
_SPACE = re.compile(r"\s+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
# A character with what is composed with it: accents, the voicing of kana, the vowels and finals of Hangul.
_CLUSTER = re.compile(
    ".[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u093c\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]*",
    re.DOTALL,
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def scrub_text(text: str, texts: Sequence[str]) -> str:
    """The text with every forgotten one in it replaced by «forgotten»; shortened copies (``…``) count too."""
    found = sorted(_spans(text, texts), reverse=True)
    for start, end in _merged(found):
        text = text[:start] + FORGOTTEN + text[end:]
    return text


def holds(text: str, texts: Sequence[str]) -> bool:
    """Whether any of the forgotten texts stands in it."""
    return any(True for _ in _spans(text, texts))


def scrub_json(value: Any, texts: Sequence[str]) -> Any:
    """A value of JSON with every string in it scrubbed, keys too."""
    if isinstance(value, str):
        return scrub_text(value, texts)
    if isinstance(value, list):
        return [scrub_json(each, texts) for each in value]
    if isinstance(value, dict):
        return {scrub_text(key, texts): scrub_json(each, texts) for key, each in value.items()}
    return value


def scrub_json_line(line: str, texts: Sequence[str]) -> str:
    """A line of JSON, scrubbed and still the same JSON otherwise; what is none is scrubbed as text."""
    try:
        value = parse_json(line)
    except (ValueError, RecursionError):
        return scrub_escaped(line, texts)
    done = scrub_json(value, texts)
    return line if done == value else json.dumps(done, ensure_ascii=line.isascii())


def scrub_escaped(text: str, texts: Sequence[str]) -> str:
    """A damaged line of JSON: where it holds a forgotten text, escaped or not, nothing of it stays."""
    plain = scrub_text(text, texts)
    return FORGOTTEN if holds(unescaped(plain), texts) else plain


def unescaped(text: str) -> str:
    """The text with JSON's escapes read, wherever they stand."""

    def read(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _PLAIN.get(match[2], match[2])

    joined = _ESCAPE.sub(read, text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs of escapes become characters


def found_in_bytes(data: bytes, texts: Sequence[str], codecs: Collection[str] = CODECS) -> list[str]:
    """Which of the texts stand in the bytes of a file: as UTF-8, GBK, UTF-16 or escaped as JSON does."""
    lowered = data.lower()
    heads = {text: [head for head in _heads(text) if head[1] in codecs] for text in texts}
    return [text for text in texts if any(_stands(lowered, data, head, text) for head in heads[text])]


def encodings(text: str) -> Iterator[bytes]:
    """The bytes that a text may have on disk."""
    return (raw for raw, _ in _encoded(text))


def _encoded(text: str) -> Iterator[tuple[bytes, str]]:
    """(bytes, codec); "json" is UTF-8 with escapes."""
    for form in dict.fromkeys((text, " ".join(text.split()))):
        yield form.encode("utf-8", "surrogatepass"), "utf-8"
        for written in (json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]):
            if written != form:
                yield written.encode("utf-8", "surrogatepass"), "json"
        for codec in ("gb18030", "utf-16-le", "utf-16-be"):
            yield form.encode(codec, "replace"), codec


def _stands(lowered: bytes, data: bytes, head: tuple[bytes, str], text: str) -> bool:
    """Whether a text stands where its head does: what is around each place is read, not the whole file."""
    wanted, codec = head
    reach = 2 * _AROUND + 12 * len(text)
    at = lowered.find(wanted)
    while at >= 0:
        start = at - min(at - at % 2 if codec.startswith("utf-16") else at, _AROUND)
        piece = data[start : at + reach].decode("utf-8" if codec == "json" else codec, "replace")
        if holds(piece, [text]) or ("\\" in piece and holds(unescaped(piece), [text])):
            return True
        at = lowered.find(wanted, at + 1)
    return False


@lru_cache(maxsize=4096)
def _heads(text: str) -> tuple[tuple[bytes, str], ...]:
    """The first characters of a text as they may stand in a file, in lower case where that is a matter of ASCII."""
    normal = (unicodedata.normalize(form, text) for form in ("NFKC", "NFC", "NFD"))
    forms = dict.fromkeys((text, " ".join(text.split()), *normal))
    cased = dict.fromkeys(each[:_HEAD] for form in forms for each in (form, form.lower(), form.upper()))
    found: dict[bytes, str] = {}
    for form in cased:
        for raw, codec in _encoded(form):
            if raw:
                found.setdefault(raw.lower(), codec)
    return tuple(found.items())


@lru_cache(maxsize=4096)
def _finder(text: str) -> tuple[re.Pattern[str], str]:
    """What finds the beginning of a text, and all of it with single spaces."""
    whole = " ".join(text.split())
    head = whole[:_HEAD].rstrip()
    pattern = r"\s+".join(re.escape(word) for word in head.split(" "))
    if _STARTS.match(whole):
        pattern = f"(?<!{LETTER})" + pattern
    return re.compile(pattern, re.IGNORECASE), whole


def _spans(text: str, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    folded = unicodedata.normalize("NFKC", text)
    places: Sequence[tuple[int, int]] | None = None
    for wanted in texts:
        if not wanted.strip():
            continue
        for written in dict.fromkeys((wanted, wanted.replace("；", "\\；"), wanted.replace("</", "<\\/"))):
            yield from _spans_of(text, written)
        plain = unicodedata.normalize("NFKC", wanted)
        if (plain, folded) == (wanted, text) or not _finder(plain)[0].search(folded):
            continue
        if places is None:
            folded, places = _folded_places(text)
        for start, end in _spans_of(folded, plain):
            yield places[start][0], places[end - 1][1]


def _folded_places(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The text with each character in its plain form, and where each of those begins and ends in the text."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    for cluster in _CLUSTER.finditer(text):
        piece = unicodedata.normalize("NFKC", cluster[0])
        pieces.append(piece)
        places += [cluster.span()] * len(piece)
    return "".join(pieces), places


def _spans_of(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    pattern, whole = _finder(wanted)
    for match in pattern.finditer(text):
        done = len(" ".join(match[0].split()))
        end, done = _extend(text, match.end(), whole, done)
        if text[match.start() - 1 : end + 1].casefold() == FORGOTTEN:
            continue
        if done == len(whole):
            if not (_STARTS.match(whole[-1]) and _STARTS.match(text[end : end + 1])):
                yield match.start(), end
        elif cut := _CUT.match(text, end):
            yield match.start(), cut.end()
        elif done >= _LONG_CUT and text[end : end + 1] in ("", "\n"):
            yield match.start(), end


def _extend(text: str, at: int, whole: str, done: int) -> tuple[int, int]:
    """How far the text goes on as ``whole`` does from ``done``: (place in the text, characters of whole)."""
    while done < len(whole):
        if whole[done] == " ":
            space = _SPACE.match(text, at)
            if not space or space.end() == len(text):
                break
            at, done = space.end(), done + 1
        elif text[at : at + 1].casefold() == whole[done].casefold():
            at, done = at + 1, done + 1
        else:
            break
    return at, done


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans from the last to the first, those that overlap as one."""
    waiting: tuple[int, int] | None = None
    for start, end in spans:
        if waiting and end > waiting[0]:
            waiting = (min(start, waiting[0]), max(end, waiting[1]))
            continue
        if waiting:
            yield waiting
        waiting = (start, end)
    if waiting:
        yield waiting
