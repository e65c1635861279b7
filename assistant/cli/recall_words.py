"""What ``keepsake recall`` says to people: hits one below the other, and why each was found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assistant.cli.tables import line_width, table, wrap
from assistant.core.values import Hit, RecallAnswer, RecallQuery
from assistant.recall.modes import BROKEN, WHY_WORDS
from assistant.recall.ranking.along import LINKED, NEIGHBOUR, came_along
from assistant.recall.ranking.factors import in_order, value_words

NOT_SURE = "Nothing known answers this; these lines are only the nearest."
_TEXT_LINES = 3
_INDENT = "     "
_ALONG = {LINKED: "came along: a found line links to it", NEIGHBOUR: "came along: beside a found line"}
_BULLET = re.compile(r"^\s*[-*+] (?=\S)")


def answer_words(answer: RecallAnswer, query: RecallQuery, explain: bool) -> str:
    """The hits, best first, and how they were found."""
    if answer.abstained or not answer.hits:
        return "\n".join(_nothing(answer, query))
    lines = [line for n, hit in enumerate(answer.hits, 1) for line in _hit(n, hit, explain)]
    count = len(answer.hits)
    found = "1 line" if count == 1 else f"{count} lines"
    if answer.unsure:
        lines = [f"{NOT_SURE}\n", *lines]
        found = f"The nearest {found},"
    return "\n".join([*lines, f"{found} found {mode_words(answer)}, in {answer.took_ms:.0f} ms."])


def mode_words(answer: RecallAnswer) -> str:
    """How it was searched."""
    if answer.mode == "time":
        return "by time, the newest first"
    if answer.mode == "hybrid":
        return "by words and meaning"
    why = WHY_WORDS.get(answer.by_words, "")
    return f"by words only: {why}" if why else "by words only"


def _nothing(answer: RecallAnswer, query: RecallQuery) -> Iterator[str]:
    """Said as it is, with what might help."""
    if answer.by_words == BROKEN:
        yield "Nothing could be searched: the search index cannot be used. `keepsake index status` says why."
        return
    limits = [
        "" if query.scope == "all" else f"in {query.scope}",
        f"from {query.since} on" if query.since else "",
        f"until {query.until}" if query.until else "",
    ]
    within = " ".join(limit for limit in limits if limit)
    if not query.text.strip():
        yield f"Nothing known {within}." if query.since or query.until else "Nothing asked: give words, or a time."
        return
    yield f"Nothing known about this{f' {within}' if within else ''}."
    if within:
        yield "There may be something outside these limits."
    else:
        yield "Other words may find it, or a name, a number or a date that you remember."
    yield "--anyway shows the nearest lines all the same."
    if answer.mode == "keyword":
        yield f"Searched {mode_words(answer)}."


def _hit(number: int, hit: Hit, explain: bool) -> Iterator[str]:
    place = f"{hit.file}:{hit.line}"
    private = "from a private chat" if hit.private else ""
    along = _ALONG.get(came_along(hit), "")
    title = f"“{hit.title}”" if hit.kind == "turn" and hit.title else ""
    head = "  ".join(part for part in (hit.date, title, place, private, along) if part)
    first, *rest = wrap(_BULLET.sub("", hit.text), line_width() - len(_INDENT), _TEXT_LINES) or [""]
    yield f"{number:>3}. {first}"
    yield from (_INDENT + line for line in rest)
    yield _INDENT + head
    if explain:
        yield from _explained(hit)
    yield ""


def _explained(hit: Hit) -> list[str]:
    rows = [(one.name, value_words(one, value), one.means) for one, value in in_order(hit.why)]
    rows = [("score", f"{hit.score:.2f}", "the sum of what follows; places are only told"), *rows]
    return table(rows, frozenset((1,)), indent=_INDENT)
