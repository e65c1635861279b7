"""What the search page says: why a line was found, how was searched, how much there is."""

from __future__ import annotations

from assistant.core.values import Hit, RecallAnswer
from assistant.recall.modes import WHY_WORDS
from assistant.recall.ranking.along import LINKED, came_along
from assistant.recall.ranking.factors import in_order, value_words
from assistant.ui.i18n import tr, translate_message


def factor_rows(hit: Hit) -> list[tuple[str, str, str]]:
    """(name, value, what it means) of each factor of a hit's score."""
    rows = [(tr("score"), f"{hit.score:.2f}", tr("the sum of what follows; places are only told"))]
    return rows + [
        (translate_message(one.name), value_words(one, value), translate_message(one.means))
        for one, value in in_order(hit.why)
    ]


def why_text(hit: Hit) -> str:
    """Each factor of a hit's score on a line."""
    lines = [f"{name} {value}" + (f" · {means}" if means else "") for name, value, means in factor_rows(hit)]
    return "\n".join(lines)


def why_words(hit: Hit) -> str:
    """How a hit was found, short."""
    if not hit.why:
        return ""
    if along := came_along(hit):
        return tr("came along: linked") if along == LINKED else tr("came along: beside a found line")
    if "exact" in hit.why:
        return tr("the exact name")
    by_words, by_meaning = "keyword_rank" in hit.why, "meaning_rank" in hit.why
    if by_words and by_meaning:
        return tr("words and meaning")
    return tr("meaning") if by_meaning else tr("words") if by_words else ""


def place_words(hit: Hit) -> str:
    """Where a hit stands."""
    if hit.kind == "turn":
        return tr("chat “{title}”", title=hit.title) if hit.title else tr("a chat")
    return f"{hit.file}:{hit.line}"


def mode_words(answer: RecallAnswer) -> str:
    """How was searched."""
    if answer.mode == "time":
        return tr("the newest first")
    if answer.mode == "hybrid":
        return tr("by words and meaning")
    why = WHY_WORDS.get(answer.by_words, "")
    return tr("by words only: {why}", why=translate_message(why)) if why else tr("by words only")


def count_words(count: int, limit: int) -> str:
    """How much was found."""
    if count == 1:
        return tr("1 line found")
    return tr("the best {n} lines", n=count) if count >= limit else tr("{n} lines found", n=count)
