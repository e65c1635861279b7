"""Receipts of other chats without the words of a chat that was deleted."""

from __future__ import annotations

import json

from assistant.chat.row import as_data
from assistant.core.json_text import parse_json

DELETED = "[a chat that was deleted]"


def without_chat(line: bytes, chat: str) -> bytes:
    """A line of a receipts file in which all that came from the chat says only that it was deleted."""
    if chat.encode() not in line:
        return line
    try:
        value = parse_json(line)
        holders = [(block, "text") for block in value["row"]["blocks"]] if "row" in value else [(value, "block")]
        for holder, name in holders:
            for told in holder["lines"]:
                if str(told["unit"]).partition("#")[0] == chat:
                    holder[name] = str(holder[name]).replace(as_data(told["text"]), DELETED)
                    for call in value.get("calls", ()):
                        call["result"] = str(call["result"]).replace(as_data(told["text"]), DELETED)
                    told["text"] = DELETED
    except (ValueError, KeyError, TypeError, AttributeError):
        return b""  # damaged, and it names the chat: nobody could read it but who looks for traces
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
