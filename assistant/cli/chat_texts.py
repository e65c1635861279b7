"""``keepsake chats search|export|import``: chats found by their words, written out as Markdown, and brought back."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from typing import Any

from assistant.cli import imports
from assistant.cli.context import Context, natural
from assistant.cli.days import add_range, day_range
from assistant.core.errors import AssistantError
from assistant.core.values import Hit, RecallQuery
from assistant.workspace.imports.values import AUTO

_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_LONGEST_TITLE = 60  # characters of a title in the name of a file


def add_actions(chats: Any) -> None:
    """Below ``keepsake chats``."""
    search = chats.add_parser("search", help="the chats in which something was said, the best first; not private ones")
    search.add_argument("query", metavar="QUERY", help='any words; "" with a range of time: all of it')
    search.add_argument("--limit", type=natural, default=10, metavar="N", help="at most so many turns (10)")
    add_range(search)
    search.set_defaults(run=run_search, reads=True)
    export = chats.add_parser("export", help="write a chat out as Markdown")
    export.add_argument("id", metavar="ID", help="as chats list gives it")
    export.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a new file, or a folder; without: to stdout"
    )
    export.set_defaults(run=run_export)
    bring = chats.add_parser("import", help="bring chats in: what chats export wrote, or what another assistant keeps")
    bring.add_argument("path", metavar="PATH", type=Path, help="a file or folder; its form is recognised")
    bring.add_argument("--dry-run", action="store_true", help="say what would be written; write nothing")
    bring.set_defaults(run=run_bring, system=AUTO, undo=None, list=False)


def run_search(context: Context, options: Namespace) -> int:
    context.ready_recall()
    first, last = day_range(options.since, options.until, context.services.workspace.clock().date())
    limit = min(options.limit, 1000)
    answer = context.services.search(RecallQuery(options.query, limit, "chats", first, last, anyway=True))
    found: dict[str, list[Hit]] = {}
    for hit in answer.hits:
        found.setdefault(hit.id.rpartition("#")[0], []).append(hit)
    titles = {chat.id: chat.title for chat in context.services.list_chats()}
    value = [
        {"id": chat, "title": titles.get(chat, ""), "turns": list(map(_turn, hits))} for chat, hits in found.items()
    ]
    words = "\n".join(f"{chat}  {titles.get(chat) or 'Untitled'}  {hits[0].text}" for chat, hits in found.items())
    if words and answer.unsure:
        words = f"No chat surely says that; these come nearest.\n{words}"
    result = {"chats": value, "abstained": answer.abstained, "mode": answer.mode, "unsure": answer.unsure}
    context.output.value(result, words or "No chat says that.")
    return 0


def _turn(hit: Hit) -> dict[str, Any]:
    return {"id": hit.id, "line": hit.line, "date": hit.date, "text": hit.text, "score": hit.score}


def run_export(context: Context, options: Namespace) -> int:
    chat = context.services.read_chat(options.id)
    text = context.services.workspace.chats.markdown(options.id)
    value = {"id": chat.id, "title": chat.title, "turns": len(chat.turns)}
    if options.file is None:
        context.output.value({**value, "file": None, "markdown": text}, text.rstrip("\n"))
        return 0
    path = options.file.expanduser().absolute()
    if path.is_dir():
        name = _NOT_IN_NAMES.sub("_", chat.title)[:_LONGEST_TITLE].strip(" ._")
        path = path / (f"{name} {chat.id}.md" if name else f"{chat.id}.md")
    _write_new(path, text)
    context.output.value({**value, "file": path}, f"Written: {path}")
    return 0


def run_bring(context: Context, options: Namespace) -> int:
    """What ``keepsake import auto PATH`` does, under the name a person looks for beside export."""
    return imports.run_import(context, options)


def _write_new(path: Path, text: str) -> None:
    from assistant.workspace.safe_files import as_error, write_atomic

    if path.exists():
        raise AssistantError("chat.export", f"{path} is there already.", "Choose another name.")
    try:
        write_atomic(path, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise as_error(error, path) from error
