"""``keepsake recall``: hybrid search, one query or a batch of JSON lines."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from assistant.cli.context import Context
from assistant.cli.days import add_range, day_range
from assistant.cli.recall_words import answer_words
from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.core.values import Hit, RecallAnswer, RecallQuery

_log = logging.getLogger(__name__)
_SCOPES = ("memory", "chats", "all")
_MOST_HITS = 1000
_HELP = "See `keepsake recall --help`."


def add_commands(commands: Any) -> None:
    recall = commands.add_parser("recall", help="search memory and chats by words and by meaning")
    recall.add_argument("query", metavar="QUERY", nargs="?", help='any words; "" with a range of time: all of it')
    recall.add_argument("--batch", action="store_true", help="queries as JSON lines on standard input")
    recall.add_argument("--limit", type=_limit, default=10, metavar="N", help="at most so many hits (10)")
    add_range(recall)
    recall.add_argument("--scope", choices=_SCOPES, default="all", help="where to look (all)")
    recall.add_argument("--explain", action="store_true", help="show what each score is made of, in words")
    recall.add_argument("--anyway", action="store_true", help="show the nearest lines also where nothing known answers")
    recall.set_defaults(run=run_recall, reads=True, check=partial(_check, recall))


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.batch == (options.query is not None):
        parser.error('give either a QUERY or --batch (all of a day: recall "" --since D)')


def run_recall(context: Context, options: Namespace) -> int:
    context.ready_recall()
    if options.batch:
        return _batch(context, options)
    now = context.services.workspace.clock()
    query = _query(options.query, options.limit, options.scope, options.since, options.until, now, options.anyway)
    answer = context.services.search(query)
    context.output.value(_value(answer), answer_words(answer, query, options.explain))
    return 0


def _batch(context: Context, options: Namespace) -> int:
    """Answers every line; 1 when some were no queries at all."""
    code = 0
    for number, line in enumerate(sys.stdin or (), 1):
        if not (line := line.strip().removeprefix("\ufeff")):
            continue
        asked = _object(line)
        if not isinstance(asked.get("query"), str):
            code = 1
        result = _answered(context, asked, number, options)
        context.output.line({"id": asked.get("id"), **result} if "id" in asked else result)
    return code


def _answered(context: Context, asked: Mapping[str, Any], number: int, options: Namespace) -> dict[str, Any]:
    """The answer, or what was wrong: one bad line must not cost the others theirs."""
    try:
        return _value(context.services.search(_batch_query(context, asked, number, options)))
    except AssistantError as error:
        wrong = error
    except Exception:  # noqa: BLE001 - nor must a bug that only this line meets
        _log.exception("line %d of a batch", number)
        wrong = AssistantError("recall.failed", f"Line {number} could not be answered.", "The log has the details.")
    return {"error": wrong.as_dict(), "hits": [], "abstained": True, "took_ms": 0.0, "mode": "error", "by_words": ""}


def _object(line: str) -> Mapping[str, Any]:
    """The line's JSON object; an empty one for anything else."""
    try:
        value = parse_json(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _batch_query(context: Context, asked: Mapping[str, Any], number: int, options: Namespace) -> RecallQuery:
    """A field that is null is one that is not there."""
    asked = {name: value for name, value in asked.items() if value is not None}
    if not isinstance(asked.get("query"), str):
        raise AssistantError(
            "recall.batch",
            f"Line {number} is no JSON object with a query.",
            'Write lines like {"id": 1, "query": "tea"}.',
        )
    for name in ("since", "until", "now"):
        if not isinstance(asked.get(name, ""), str):
            raise AssistantError("recall.batch", f"{name} is no text in line {number}.", _HELP)
    now = context.services.workspace.clock()
    try:
        if asked.get("now"):
            moment = datetime.fromisoformat(asked["now"])
            now = moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
        limit = _limit(str(asked.get("limit", options.limit)))
    except (ValueError, OverflowError, ArgumentTypeError) as error:
        raise AssistantError("recall.batch", f"A value does not fit: {error}.", _HELP) from error
    scope = asked.get("scope", options.scope)
    if scope not in _SCOPES:
        raise AssistantError("recall.batch", f"{scope!r} is no scope.", f"Use one of {', '.join(_SCOPES)}.")
    anyway = asked.get("anyway", options.anyway)
    if not isinstance(anyway, bool):
        raise AssistantError("recall.batch", f"anyway is neither true nor false in line {number}.", _HELP)
    since, until = asked.get("since", options.since), asked.get("until", options.until)
    return _query(asked["query"], limit, scope, since, until, now, anyway)


def _query(
    text: str, limit: int, scope: Any, since: str | None, until: str | None, now: datetime, anyway: bool
) -> RecallQuery:
    first, last = day_range(since, until, now.date())
    return RecallQuery(text, limit, scope, first, last, now, anyway=anyway)


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
        "by_words": answer.by_words,
        "unsure": answer.unsure,
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
