"""Tools at work: each call goes through the same doors as the person's own actions, and never raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from assistant.chat.never import Never
from assistant.chat.recalled import relevant
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tokens import TokenCounter
from assistant.chat.tool_results import Result, part_of_file, search_result
from assistant.chat.tools import LONGEST, BadCall, checked
from assistant.chat.words import stands_on
from assistant.core.errors import AssistantError
from assistant.core.values import Hit, MadeCall, RecallQuery, Scope, ToolCall
from assistant.recall.search import Recall
from assistant.workspace import layout
from assistant.workspace.entries import shortened
from assistant.workspace.forgotten_text import FORGOTTEN
from assistant.workspace.notes import parse_note
from assistant.workspace.workspace import Workspace

MOST_CALLS = 3
"""A turn. A fourth is answered with words to end on what there is."""
_HITS = 6
_PATIENCE_MS = 600.0  # a model waits longer for its words than a search takes
_WEEKDAY = re.compile(r"^\s*\w+day,?\s+(?=\d)", re.IGNORECASE)
"""In front of a date, as prompts say what day it is."""
_OTHER_TIME = "Nothing was found in that time. At other times:"
_SHOWN = 200  # characters of a line that a correction struck
_LONGEST_NAME = 60
_MOST_ARGUMENTS = 10
_Given = Mapping[str, str | int]
_NOT_SAID = "Nothing was written: nobody said this here. Write only what the person told you, in their own words."
"""Small models mix up what they were told of memory, and would write the mixture down."""


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """Where a call comes from. seen: units that are in the window already; tokens: the longest result.

    private: what was said in private chats may be told. said: both sides' words of the conversation, which a note must
    stand on; "" where nobody knows.
    """

    chat: str
    turn: int
    seen: frozenset[str] = frozenset()
    tokens: int = 500
    private: bool = False
    said: str = ""


class Toolbox:
    """The tools over one workspace. writes: whether a chat may put something into memory.

    asks: whether what the assistant wants to remember waits for the person's yes.
    """

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        receipts: ReceiptStore,
        writes: Callable[[str], bool],
        asks: Callable[[], bool],
    ) -> None:
        self._workspace = workspace
        self._recall = recall
        self._receipts = receipts
        self.writes = writes
        self._asks = asks

    def use(self, call: ToolCall, place: ToolPlace, counter: TokenCounter, said: str = "", step: int = 1) -> MadeCall:
        """Carry out one call; what goes wrong is its result."""
        given = checked(call.name, call.arguments)
        if isinstance(given, BadCall):
            result = failed(given.why)
        else:
            try:
                result = self._run(call.name, given, place, counter)
            except AssistantError as error:
                result = failed(str(error))
        return made(call, result, said, step)

    def search(self, query: str, scope: Scope, place: ToolPlace, since: str = "", until: str = "") -> list[Hit]:
        """The hits worth telling. since, until: dates or words for days. Raises ("tool.day")."""
        first, last = self._days(since, until)
        never = self._receipts.never(place.chat)
        asked = RecallQuery(
            query,
            _HITS + min(len(never.units), _HITS),
            scope,
            first,
            last,
            exclude=place.seen,
            asked=f"{place.chat}#{place.turn}" if place.chat else "",
        )
        found = self._recall.search(asked, _PATIENCE_MS).hits
        hits = [hit for hit in found if not never.hides(hit) and (place.private or not hit.private)]
        return (relevant(hits, query) if query.strip() else hits)[:_HITS]

    def _run(self, name: str, given: _Given, place: ToolPlace, counter: TokenCounter) -> Result:
        match name:
            case "memory_write":
                return self._write(given, place)
            case "memory_read":
                return self._read(given, counter, place.tokens, self._receipts.never(place.chat))
        scope: Scope = "chats" if name == "chats_search" else "memory"
        query = str(given.get("query", ""))
        since, until = str(given.get("since", "")), str(given.get("until", ""))
        hits = self.search(query, scope, place, since, until)
        if hits or not query or not (since or until):
            return search_result(query, hits, counter, place.tokens)
        # Small models like to name a time that nobody spoke of.
        result = search_result(query, self.search(query, scope, place), counter, place.tokens)
        return replace(result, text=f"{_OTHER_TIME}\n{result.text}") if result.lines else result

    # --- writing -------------------------------------------------------------------------------------------------

    def _write(self, given: _Given, place: ToolPlace) -> Result:
        text = str(given["text"])
        if not self.writes(place.chat):
            return Result(
                "refused", "Nothing was written: nothing may be written from this chat.", "this chat writes nothing"
            )
        if self._workspace.declined.holds(text) or FORGOTTEN in text:
            return Result(
                "refused", "Nothing was written: the person did not want this remembered.", "it was not wanted"
            )
        if place.said and not stands_on(text, place.said):
            return Result("refused", _NOT_SAID, "nobody said this in the chat")
        until = self._last_day(str(given["until"])) if "until" in given else None
        if self._asks():
            return self._propose(f"{text} · until {until}" if until else text)
        topic = str(given["topic"]) if "topic" in given else None
        return self.remember(text, source="tool", actor="assistant", topic=_topic(topic), until=until)

    def remember(
        self, text: str, *, source: str, actor: str, topic: str | None = None, until: date | None = None
    ) -> Result:
        """Write it down now. Raises what Memory.remember raises."""
        written = self._workspace.memory.remember(text, source=source, actor=actor, topic=topic, until=until)
        where = f"{written.file}:{written.line}"
        if written.duplicate:
            return Result("known", f"This was remembered already, in {where}.", where)
        words = f"Remembered in {where}: {written.text}"
        if written.superseded:
            old = "; ".join(shortened(each, _SHOWN) for each in written.superseded)
            words += f"\nIt takes the place of: {old}"
        if written.redacted:
            words += "\nWhat looks like a secret was left out."
        return Result("written", words, where, journal=written.journal_id)

    def _propose(self, item: str) -> Result:
        proposal = self._workspace.inbox.propose([item], source="tool", actor="assistant")
        if proposal is None:
            return Result(
                "refused", "Nothing was written: the person did not want this remembered.", "it was not wanted"
            )
        return Result("waits", "It waits for the person's yes; they are asked. Say so.", proposal.id)

    # --- reading -------------------------------------------------------------------------------------------------

    def _read(self, given: _Given, counter: TokenCounter, tokens: int, never: Never) -> Result:
        named = str(given["file"])
        file = named if named in self._known() else _file(named)
        text = self._workspace.memory.read(file).text
        if not text.strip():
            return failed(f"There is no {file}. There are: {', '.join(self._known()) or 'no memory files yet'}.")
        last = text.count("\n") + 1
        text = never.without(file, text)
        if "section" in given:
            return _section(file, text, str(given["section"]), counter, tokens)
        return part_of_file(file, text, 1, last, counter, tokens, min(int(given.get("line", 0)), last))

    def _known(self) -> list[str]:
        return layout.memory_files(self._workspace.root)[:20]

    # --- days ----------------------------------------------------------------------------------------------------

    def _days(self, since: str, until: str) -> tuple[date | None, date | None]:
        from assistant.recall.days.dates import parse_range  # not when the window starts

        today = self._workspace.clock().date()
        first, last = (parse_range(_WEEKDAY.sub("", words), today) if words else None for words in (since, until))
        for words, read in ((since, first), (until, last)):
            if words and read is None:
                raise _no_day(words)
        begin, end = first.first if first else None, last.last if last else None
        return (end, begin) if begin and end and begin > end else (begin, end)

    def _last_day(self, words: str) -> date:
        from assistant.recall.days.dates import parse_range  # not when the window starts

        found_days = parse_range(_WEEKDAY.sub("", words), self._workspace.clock().date(), ahead=True)
        if found_days is None:
            raise _no_day(words)
        return found_days.last


def made(call: ToolCall, result: Result, said: str = "", step: int = 1, *, asked: bool = False) -> MadeCall:
    """What is kept of a call."""
    return MadeCall(
        _plain(call.name),
        {name[:_LONGEST_NAME]: _plain_value(value) for name, value in list(call.arguments.items())[:_MOST_ARGUMENTS]},
        result.outcome,
        result.detail,
        "" if asked else result.text,
        () if asked else result.lines,
        said,
        step,
        result.journal,
        asked,
    )


def _plain(name: str) -> str:
    """A model may call a tool anything, and the name goes into files in which lines and marks mean something."""
    return re.sub(r"\W+", "_", name)[:_LONGEST_NAME].strip("_") or "tool"


def _plain_value(value: Any) -> Any:
    """Tools take short texts and numbers; a server may send anything, of any length and depth."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    return value if value is None or isinstance(value, bool | int | float) else "…"


def failed(why: str) -> Result:
    """A call that came to nothing, as the model and the person are told."""
    return Result("failed", f"This did not work: {why}", why)


def enough() -> Result:
    """The answer to a call too many."""
    return Result("refused", "No more tools in this turn. Answer now with what you have.", "too many calls in one turn")


def asked_again() -> Result:
    """The answer to a call that was made in this turn before: its result would only be read a second time."""
    words = "You asked this already: the result stands above. Answer now, or ask in other words."
    return Result("refused", words, "it was asked before in this turn")


def _section(file: str, text: str, heading: str, counter: TokenCounter, tokens: int) -> Result:
    sections = parse_note(text).sections
    wanted = heading.lstrip("# ").casefold()
    named = (file.casefold(), file.rpartition("/")[2].removesuffix(".md").casefold())
    ends = [section.line for section in sections[1:]] + [text.count("\n") + 2]
    for section, end in zip(sections, ends, strict=False):  # a note of front matter alone has no section
        if section.heading.casefold() == wanted:
            return part_of_file(file, text, section.line, end - 1, counter, tokens)
    names = [section.heading for section in sections if section.heading][:20]
    if sections and (not names or wanted in named):  # models name the file as its own section
        return part_of_file(file, text, 1, text.count("\n") + 1, counter, tokens)
    return failed(f"{file} has no heading {heading!r}. It has: {', '.join(names) or 'none'}.")


def _file(named: str) -> str:
    """A note may be called by its topic alone."""
    if "/" in named or named == layout.MEMORY:
        return named
    return layout.topic_file(named.removesuffix(".md"))


def _topic(named: str | None) -> str | None:
    """A topic as a person would write it; MEMORY.md itself is none."""
    if named is None:
        return None
    name = named.removeprefix(f"{layout.TOPICS}/").removesuffix(".md")
    return None if name.casefold() == layout.MEMORY.removesuffix(".md").casefold() else name


def _no_day(words: str) -> AssistantError:
    return AssistantError(
        "tool.day", f"{words[:60]!r} is no day.", "Use a date like 2026-03-14, or words like yesterday."
    )
