"""``keepsake chats ...``: conversations."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from assistant.cli import chat_texts, receipt
from assistant.cli.context import Context
from assistant.workspace.chat_store import ChatInfo
from assistant.workspace.chats import Chat


def add_commands(commands: Any) -> None:
    chats = commands.add_parser("chats", help="conversations")
    actions = chats.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="all chats, newest first").set_defaults(run=run_list, reads=True)
    show = actions.add_parser("show", help="one chat")
    show.add_argument("id", metavar="ID", help="as chats list gives it")
    show.set_defaults(run=run_show, reads=True)
    rename = actions.add_parser("rename", help="give a chat another title")
    rename.add_argument("id", metavar="ID", help="as chats list gives it")
    rename.add_argument("title", metavar="TITLE", help="the new one")
    rename.set_defaults(run=run_rename)
    private = actions.add_parser("private", help="keep a chat out of other chats and of memory, or no longer")
    private.add_argument("id", metavar="ID", help="as chats list gives it")
    private.add_argument("wanted", choices=("on", "off"), metavar="on|off", help="private, or not")
    private.set_defaults(run=run_private)
    delete = actions.add_parser("delete", help="remove a chat for good, with its receipts and its place in the index")
    delete.add_argument("id", metavar="ID", help="as chats list gives it")
    delete.set_defaults(run=run_delete)
    receipt.add_never(actions)
    chat_texts.add_actions(actions)


def run_list(context: Context, options: Namespace) -> int:
    chats = context.services.list_chats()
    words = "\n".join(f"{c.id}  {c.last_active[:16]}  {c.turns:4d}  {c.title or 'Untitled'}{_mark(c)}" for c in chats)
    context.output.value({"chats": [_info(c) for c in chats]}, words or "No chats yet.")
    return 0


def _mark(chat: ChatInfo) -> str:
    return "  (private)" if chat.private else ""


def _info(chat: ChatInfo) -> dict[str, Any]:
    return {
        "id": chat.id,
        "title": chat.title,
        "created": chat.created,
        "last_active": chat.last_active,
        "turns": chat.turns,
        "tags": chat.tags,
        "private": chat.private,
    }


def run_show(context: Context, options: Namespace) -> int:
    chat = context.services.read_chat(options.id)
    branch = [t.n for t in chat.branch()]
    value = {
        "id": chat.id,
        "title": chat.title,
        "created": chat.created,
        "last_active": chat.last_active,
        "tags": chat.tags,
        "private": chat.private,
        "summarized": chat.summarized,
        "branch": branch,
        "turns": [
            {
                "n": t.n,
                "after": t.after,
                "at": t.at,
                "user": t.user,
                "reply": t.reply,
                "mark": t.mark,
                "line": t.line,
                "thought": t.thought.text,
                "tools": [
                    {"name": c.name, "arguments": dict(c.arguments), "outcome": c.outcome, "detail": c.detail}
                    for c in t.calls
                ],
            }
            for t in chat.turns
        ],
        "problems": chat.problems,
    }
    for problem in chat.problems:
        context.output.note(problem)
    context.output.value(value, _words(chat))
    return 0


def _words(chat: Chat) -> str:
    parts = [f"{chat.title or 'Untitled'} ({chat.id})"]
    for turn in chat.branch():
        mark = f" [{turn.mark}]" if turn.mark else ""
        used = "".join(f"\n[{call.name}] {call.words.replace(chr(10), ' · ')}" for call in turn.calls)
        parts.append(f"\n#{turn.n} {turn.at}\nYou: {turn.user}\n{used}\nKeepsake{mark}: {turn.reply or ''}")
    return "\n".join(parts)


def run_rename(context: Context, options: Namespace) -> int:
    context.services.rename_chat(options.id, options.title)
    title = context.services.read_chat(options.id).title
    context.output.value({"id": options.id, "title": title}, f"Renamed: {title}")
    return 0


def run_private(context: Context, options: Namespace) -> int:
    private = options.wanted == "on"
    kept = context.services.set_private(options.id, private)
    words = "Private: other chats are not told of it, and nothing of it becomes memory." if private else "Not private."
    words += f" What was remembered from it before stays ({kept})." if kept and private else ""
    context.output.value({"id": options.id, "private": private, "remembered": kept}, words)
    return 0


def run_delete(context: Context, options: Namespace) -> int:
    context.services.deletion.purge(options.id)
    context.output.value({"deleted": options.id}, f"Deleted: {options.id}")
    return 0
