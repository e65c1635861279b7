"""``keepsake recall``: hybrid search, one query or a batch of JSON lines."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.core.values import Hit, RecallAnswer, RecallQuery

_SCOPES = ("memory", "chats", "all")
_MOST_HITS = 1000


def add_commands(commands: Any) -> None:
    recall = commands.add_parser("recall", help="search memory and chats by words and by meaning")
    recall.add_argument("query", metavar="QUERY", nargs="?", help='any words; "" with a range of time: all of it')
    recall.add_argument("--batch", action="store_true", help="queries as JSON lines on standard input")
    recall.add_argument("--limit", type=_limit, default=10, metavar="N", help="at most so many hits (10)")
    recall.add_argument("--since", metavar="D", help="a date, or words: yesterday, 昨天, last month")
    recall.add_argument("--until", metavar="D", help="the last day, in the same way")
    recall.add_argument("--scope", choices=_SCOPES, default="all", help="where to look (all)")
    recall.add_argument("--explain", action="store_true", help="show each factor of the scores")
    recall.set_defaults(run=run_recall, check=partial(_check, recall))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.batch == (options.query is not None):
        parser.error('give either a QUERY or --batch (all of a day: recall "" --since D)')


def run_recall(context: Context, options: Namespace) -> int:
    context.ready_recall()
    if options.batch:
        return _batch(context, options)
    now = context.services.workspace.clock()
    query = _query(options.query, options.limit, options.scope, options.since, options.until, now)
    answer = context.services.search(query)
    context.output.value(_value(answer), _words(answer, options.explain))
    return 0


def _batch(context: Context, options: Namespace) -> int:
    """Answers every line; 1 when some were no queries at all."""
    code = 0
    for number, line in enumerate(sys.stdin or (), 1):
        if not line.strip():
            continue
        asked = _object(line)
        if not isinstance(asked.get("query"), str):
            code = 1
        try:
            result = _value(context.services.search(_batch_query(context, asked, number, options)))
        except AssistantError as error:  # one bad line must not cost the others their answers
            result = {"error": error.as_dict(), "hits": [], "abstained": True, "took_ms": 0.0, "mode": "error"}
        context.output.line({"id": asked.get("id"), **result} if "id" in asked else result)
    return code


def _object(line: str) -> Mapping[str, Any]:
    """The line's JSON object; an empty one for anything else."""
    try:
        value = parse_json(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _batch_query(context: Context, asked: Mapping[str, Any], number: int, options: Namespace) -> RecallQuery:
    if not isinstance(asked.get("query"), str):
        raise AssistantError(
            "recall.batch",
            f"Line {number} is no JSON object with a query.",
            'Write lines like {"id": 1, "query": "tea"}.',
        )
    now = context.services.workspace.clock()
    try:
        if asked.get("now"):
            moment = datetime.fromisoformat(str(asked["now"]))
            now = moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
        limit = _limit(str(asked.get("limit", options.limit)))
    except (ValueError, ArgumentTypeError) as error:
        raise AssistantError(
            "recall.batch", f"A value does not fit: {error}.", "See `keepsake recall --help`."
        ) from error
    scope = asked.get("scope", options.scope)
    if scope not in _SCOPES:
        raise AssistantError("recall.batch", f"{scope!r} is no scope.", f"Use one of {', '.join(_SCOPES)}.")
    return _query(
        str(asked["query"]), limit, scope, asked.get("since", options.since), asked.get("until", options.until), now
    )


def _query(text: str, limit: int, scope: Any, since: str | None, until: str | None, now: datetime) -> RecallQuery:
    first, last = _day(since, now, first=True), _day(until, now, first=False)
    if first and last and first > last:
        raise AssistantError("recall.range", f"The range is empty: {first} is after {last}.", "Swap the two dates.")
    return RecallQuery(text, limit, scope, first, last, now)


def _day(words: str | None, now: datetime, *, first: bool) -> date | None:
    from assistant.recall.dates import parse_range

    if not words:
        return None
    found = parse_range(words, now.date())
    if found is None:
        raise AssistantError(
            "recall.date", f"{words!r} is no day.", "Use a date like 2026-03-01, or words like yesterday or last month."
        )
    return found.first if first else found.last


def _limit(text: str) -> int:
    number = int(text)
    if not 1 <= number <= _MOST_HITS:
        raise ArgumentTypeError(f"{number} is not between 1 and {_MOST_HITS}")
    return number


def _value(answer: RecallAnswer) -> dict[str, Any]:
    return {
        "hits": [_hit(hit) for hit in answer.hits],
        "abstained": answer.abstained,
        "took_ms": round(answer.took_ms, 2),
        "mode": answer.mode,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "file": hit.file,
        "line": hit.line,
        "kind": hit.kind,
        "date": hit.date,
        "title": hit.title,
        "text": hit.text,
        "score": round(hit.score, 5),
        "why": {name: round(value, 5) for name, value in hit.why.items()},
        "private": hit.private,
    }


def _words(answer: RecallAnswer, explain: bool) -> str:
    if answer.abstained or not answer.hits:
        return "Nothing known."
    lines = []
    for hit in answer.hits:
        lines.append(
            f"{hit.score:.2f}  {hit.date or '          '}  {' '.join(hit.text.split())[:160]}  ({hit.file}:{hit.line})"
        )
        if explain:
            lines.append("      " + ", ".join(_factor(name, value) for name, value in hit.why.items()))
    return "\n".join(lines)


def _factor(name: str, value: float) -> str:
    return f"{name} {value}" if isinstance(value, int) else f"{name} {value:.3f}"
