"""What a chat's file is written with: turns, tools and replies, each message a quote that gives any text back."""

from __future__ import annotations

from collections.abc import Iterable

from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.chat_labels import ENGLISH, Labels
from assistant.workspace.thoughts import NO_THOUGHT, Thought, format_thought


def quote(text: str) -> str:
    """A message as a block quote; unquote gives any text back, its trailing newlines included."""
    return "\n".join("> " + line if line else ">" for line in text.split("\n"))


def unquote(lines: Iterable[str]) -> str:
    """The text of quoted lines; a missing space after ``>`` is forgiven."""
    return "\n".join(line[2:] if line.startswith("> ") else line[1:] for line in lines)


def format_turn(at: str, n: int, text: str, after: int | None = None, labels: Labels = ENGLISH) -> str:
    """The bytes that begin a turn: a blank line, the heading, the person's message. after: None for the one before."""
    follows = "" if after is None else f" ← #{after}"
    return f"\n### {at} · #{n}{follows}\n\n**{labels.user}**:\n\n{quote(text)}\n"


def format_reply(text: str, mark: str = "", labels: Labels = ENGLISH, thought: Thought = NO_THOUGHT) -> str:
    """The bytes that end a turn."""
    before = format_thought(thought, labels.thought)
    return f"\n**{labels.assistant}**{f' ({mark})' if mark else ''}:\n\n{before}{quote(text)}\n"


def format_call(call: SavedCall, labels: Labels = ENGLISH) -> str:
    """The bytes that tell of a tool that was used: between the person's message and the reply."""
    return f"\n**{labels.tool}** ({call.name}):\n\n{quote(call.words)}\n"
