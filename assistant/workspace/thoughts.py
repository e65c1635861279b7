"""What a model thought before a reply, as it stands in a chat's file: a folded block in front of the quoted reply.

Markdown viewers show the block closed. Its lines are indented and never quoted, so that who reads the file by its
labels and quote marks alone, as earlier versions do, does not take them for something that was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.workspace.chat_head import printable
from assistant.workspace.redaction import redact

_OPEN, _CLOSE, _INDENT = "<details>", "</details>", "    "
_SUMMARY = re.compile(r"<summary>(?:Thought for|思考了)\s*(\d{1,7})\s*(?:s|秒)</summary>")


@dataclass(frozen=True, slots=True)
class Thought:
    """text: without blank lines around it; seconds: how long it took, 0 where that is not known."""

    text: str = ""
    seconds: int = 0

    def __bool__(self) -> bool:
        return bool(self.text)


NO_THOUGHT = Thought()


def written_thought(thought: Thought) -> Thought:
    """The thought as it may be written down: as what is said is, without secrets."""
    return Thought(redact(printable(thought.text)).text, thought.seconds) if thought else thought


def format_thought(thought: Thought, words: str) -> str:
    """The lines of the block, and a blank one after it; "" without a thought. words: a summary with ``{n}``."""
    text = thought.text.strip("\n")
    if not text.strip():
        return ""
    lines = "\n".join(_INDENT + line if line else "" for line in text.split("\n"))
    summary = f"<summary>{words.format(n=thought.seconds)}</summary>"
    return f"{_OPEN}\n{summary}\n\n{lines}\n\n{_CLOSE}\n\n"


def take_thought(lines: Sequence[str]) -> tuple[Thought, list[str]]:
    """The thought that the lines under a reply's label begin with, and the lines without it.

    What is not of the very form that is written here stays where it is.
    """
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if start + 1 >= len(lines) or lines[start] != _OPEN or not (summary := _SUMMARY.fullmatch(lines[start + 1])):
        return NO_THOUGHT, list(lines)
    body = lines[start + 2 :]
    size = next((at for at, line in enumerate(body) if line and not line.startswith(_INDENT)), len(body))
    if size == len(body) or body[size] != _CLOSE:
        return NO_THOUGHT, list(lines)
    text = "\n".join(line.removeprefix(_INDENT) for line in body[:size]).strip("\n")
    return Thought(text, int(summary[1])), [*lines[:start], *body[size + 1 :]]
