"""A conversation as Markdown: blocks that quote every message, so that any text comes back byte for byte.

Lines end at ``\\n`` only. A lone ``\\r`` is a character like any other; one before ``\\n`` belongs to the ending where
the label above the message ends so too (an editor turned the file into CRLF), and to the message everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assistant.workspace.chat_calls import SavedCall, parse_call
from assistant.workspace.chat_format import unquote
from assistant.workspace.chat_head import Head, parse_head, sane_pointer
from assistant.workspace.chat_labels import ASSISTANT, CONVERSATION, HEADINGS, TOOL, USER
from assistant.workspace.thoughts import NO_THOUGHT, Thought, take_thought

_TIME = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
BLOCK = re.compile(
    rf"#{{2,4}}[ \t]*({_TIME})[ \t]*(?:·[ \t]*#(\d{{1,9}}))?[ \t]*(?:(?:←|<-)[ \t]*#(\d{{1,9}}))?[ \t]*\r?"
)
_OTHER_BLOCK = re.compile(r"###[ \t]+(\S.*?)[ \t]*\r?")
_SECTION = re.compile(r"##[ \t]+(\S.*?)[ \t]*\r?")
LABEL = re.compile(
    rf"\*{{1,2}}({'|'.join((*USER, *ASSISTANT, *TOOL))})[ \t]*(?:[(（](\w+)[)）])?[ \t]*[:：]?[ \t]*\*{{1,2}}"
    r"[ \t]*(?:[(（](\w+)[)）])?[ \t]*[:：]?[ \t]*(?:[(（](\w+)[)）])?[ \t]*\r?"
)
_MARKS = {"stopped": "stopped", "interrupted": "interrupted", "已停止": "stopped", "已中断": "interrupted"}


@dataclass(frozen=True, slots=True)
class Turn:
    """A block: what the person said and the reply to it.

    n: its number, unique in the chat; after: the turn it follows, None for a root; at: the heading's time (or words,
    where it is no time); reply: None while there is none; mark: how the reply ended, "", "stopped" or "interrupted";
    line: of the heading, from 1, counted through all parts of the chat; part: which file it stands in, from 1; thought:
    what the model thought before the reply, which is never told to a model again, nor found by a search; calls: the
    tools that were used, in order.
    """

    n: int
    after: int | None
    at: str
    user: str
    reply: str | None = None
    mark: str = ""
    line: int = 0
    part: int = 1
    thought: Thought = NO_THOUGHT
    calls: tuple[SavedCall, ...] = ()

    @property
    def answer(self) -> str:
        """All that was said to the person's words: what tools were given, and the reply."""
        given = (value for call in self.calls for _, value in call.arguments)
        return "\n".join((*given, self.reply or ""))


@dataclass(frozen=True)
class Chat:
    """A whole conversation, all branches. summarized: last turn that was distilled, 0 for none."""

    id: str
    title: str
    created: str
    last_active: str
    participants: tuple[str, ...]
    tags: tuple[str, ...]
    private: bool
    summarized: int
    turns: tuple[Turn, ...]
    problems: tuple[str, ...] = ()
    key_points: str = ""

    @classmethod
    def empty(cls) -> Chat:
        """A chat that is on no disk: a temporary one, or the one that a preview would begin."""
        return cls("", "", "", "", (), (), False, 0, ())

    @cached_property
    def by_number(self) -> Mapping[int, Turn]:
        return {turn.n: turn for turn in self.turns}

    @cached_property
    def last(self) -> int | None:
        """The newest turn, which is always a leaf; None in a chat without turns."""
        return self.turns[-1].n if self.turns else None

    def branch(self, leaf: int | None = None) -> tuple[Turn, ...]:
        """The turns from the root to ``leaf`` (the newest one by default); empty for a number that is not there."""
        number, found = self.last if leaf is None else leaf, []
        while number is not None and (turn := self.by_number.get(number)):
            found.append(turn)
            number = turn.after
        return tuple(reversed(found))

    def siblings(self, n: int) -> tuple[int, ...]:
        """The turns that follow the same turn as ``n``, itself included, in file order."""
        turn = self.by_number.get(n)
        return tuple(t.n for t in self.turns if t.after == turn.after) if turn else ()

    def leaf_of(self, n: int) -> int:
        """The newest turn of the branches through ``n``."""
        leaf = n
        below = {n}
        for turn in self.turns:
            if turn.after in below:
                below.add(turn.n)
                leaf = turn.n
        return leaf


@dataclass(slots=True)
class RawBlock:
    """A block before its place in the tree is known. n, after: as written, None where nothing is.

    line: of its heading; end: the line behind its last one.
    """

    at: str
    n: int | None
    after: int | None
    line: int
    part: int
    end: int = 0
    parts: dict[str, list[str]] = field(default_factory=dict)
    mark: str = ""
    thought: Thought = NO_THOUGHT
    calls: list[SavedCall] = field(default_factory=list)


def parse_chat(text: str | Sequence[str], ident: str = "") -> Chat:
    """Read a chat file, or all parts of one in order. Never fails; what is wrong is listed in problems.

    ident: the id when the metadata names none (the file's name without ``.md``).
    """
    texts = [text] if isinstance(text, str) else list(text)
    head = parse_head(texts[0] if texts else "")
    blocks: list[RawBlock] = []
    points: list[str] = []
    first_line = 1
    for part, each in enumerate(texts, 1):
        found, key_points = split_blocks(each, part, first_line)
        blocks += found
        points += [key_points] if key_points else []
        first_line += each.count("\n")
    turns, problems = link_turns(blocks)
    return _chat(ident or head.session, head, turns, problems, "\n".join(points))


def _chat(ident: str, head: Head, turns: tuple[Turn, ...], problems: list[str], key_points: str) -> Chat:
    summarized, wrong = sane_pointer(head.summarized, max((turn.n for turn in turns), default=0))
    created = head.created or time_of_id(ident) or (turns[0].at if turns else "")
    return Chat(
        id=ident,
        title=head.title,
        created=created,
        last_active=turns[-1].at if turns and turns[-1].at[:1].isdigit() else head.last_active or created,
        participants=head.participants,
        tags=head.tags,
        private=head.private,
        summarized=summarized,
        turns=turns,
        problems=(*head.problems, *_other_id(head.session, ident), *problems, *([wrong] if wrong else [])),
        key_points=key_points,
    )


def _other_id(named: str, ident: str) -> list[str]:
    """The file's name decides which chat it is; metadata that say otherwise are named."""
    return [f"Its “Session ID” is “{named[:40]}”, its file is of {ident}."] if named and named != ident else []


def time_of_id(ident: str) -> str:
    """The time that an id of the form YYYYMMDD_HHMMSS names, ISO without offset, or ""."""
    match = re.match(r"(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})", ident)
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}" if match else ""


def split_blocks(text: str, part: int = 1, first_line: int = 1) -> tuple[list[RawBlock], str]:
    """The blocks of one file in order, and what stands under its key points."""
    blocks: list[RawBlock] = []
    key_points: list[str] = []
    body: list[str] = []
    section = ""
    for number, line in enumerate(text.split("\n"), first_line):
        if not line.startswith("#"):
            body.append(line)
        elif match := BLOCK.fullmatch(line):
            body = []
            blocks.append(_raw_block(match, number, part, body))
            section = CONVERSATION
        elif (match := _SECTION.fullmatch(line)) and match[1] in HEADINGS:
            section = HEADINGS[match[1]]
            body = key_points if section == "key points" else []
        elif section == CONVERSATION and (match := _OTHER_BLOCK.fullmatch(line)):
            body = []
            blocks.append(RawBlock(match[1], None, None, number, part, parts={"body": body}))
        else:
            body.append(line)
    for block in blocks:
        block.end = block.line + 1 + len(block.parts["body"])
        _take_messages(block)
    return blocks, "\n".join(key_points).strip("\n")


def link_turns(blocks: Iterable[RawBlock], earlier: Sequence[int] = ()) -> tuple[tuple[Turn, ...], list[str]]:
    """Number the blocks and say which follows which; a block never follows a later one.

    earlier: ascending numbers of the turns in parts of the chat before these blocks.
    """
    turns: list[Turn] = []
    seen: set[int] = set()
    problems: list[str] = []
    for order, block in enumerate(blocks, 1):
        n = block.n if block.n is not None else order
        if n in seen or n == 0:
            if block.n is not None:
                problems.append(f"Line {block.line}: the number #{block.n} is used twice.")
            n = max(seen, default=0) + 1
        after, before = block.after, turns[-1].n if turns else earlier[-1] if earlier else None
        if after is None:
            after = before
        elif after == 0:
            after = None
        elif after not in seen and after not in earlier:
            problems.append(f"Line {block.line}: there is no turn #{after} before it.")
            after = before
        seen.add(n)
        turns.append(_turn(block, n, after))
    return tuple(turns), problems


def _raw_block(match: re.Match[str], line: int, part: int, body: list[str]) -> RawBlock:
    n = int(match[2]) if match[2] else None
    after = int(match[3]) if match[3] else None
    return RawBlock(match[1], n, after, line, part, parts={"body": body})


def _take_messages(block: RawBlock) -> None:
    """Part the lines of a block by its labels; what stands before the first one is the person's, as text."""
    lines = block.parts.pop("body")
    speaker, crlf, found = "", False, [("", False, list[str]())]
    for line in lines:
        if not line.startswith("*") or not (match := LABEL.fullmatch(line)):
            found[-1][2].append(line)
            continue
        speaker, crlf, behind = "user" if match[1] in USER else "assistant", line.endswith("\r"), match.groups()[1:]
        if match[1] in TOOL:  # what stands behind is its name, whatever that says
            speaker = f"tool {next(filter(None, behind), '')}"
        else:
            block.mark = next((_MARKS[word] for word in behind if word in _MARKS), block.mark)
        found.append((speaker, crlf, []))
    for name, ends_crlf, body in found:
        body = [line.removesuffix("\r") for line in body] if ends_crlf else body
        if name == "assistant":
            thought, body = take_thought(body)
            block.thought = thought or block.thought
        message = _message(body)
        if name.startswith("tool "):
            block.calls.append(parse_call(name.removeprefix("tool "), message))
        elif name or message:
            block.parts.setdefault(name or "user", []).append(message)


def _message(lines: list[str]) -> str:
    """The quoted text; lines without quote marks are kept as text of their own."""
    quoted = unquote(line for line in lines if line.startswith(">"))
    plain = "\n".join(line for line in lines if not line.startswith(">")).strip("\r\n")
    has_quote = any(line.startswith(">") for line in lines)
    if not has_quote:
        return plain
    return f"{quoted}\n\n{plain}" if plain.strip() else quoted


def _turn(block: RawBlock, n: int, after: int | None) -> Turn:
    user, reply = block.parts.get("user", []), block.parts.get("assistant")
    said = "\n\n".join(reply) if reply is not None else None
    words, calls = "\n\n".join(user), tuple(block.calls)
    return Turn(n, after, block.at, words, said, block.mark, block.line, block.part, block.thought, calls)
