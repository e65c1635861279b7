"""What the person's own words ask of the memory is done without a model: with every model, and each time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.chat.intents import Forget, LookUp, Remember, read_intent
from assistant.chat.recalled import excerpt, hit_line, in_words
from assistant.chat.tool_results import Result, place_of
from assistant.chat.tool_use import Toolbox, ToolPlace, failed, made
from assistant.core.errors import AssistantError
from assistant.core.events import EventSink, ForgetAsked, Notice
from assistant.core.values import Hit, MadeCall, Scope, ToolCall
from assistant.workspace.forget_finder import ForgetFinder
from assistant.workspace.forget_values import Target
from assistant.workspace.forgotten_text import CJK
from assistant.workspace.workspace import Workspace

_SCOPES: tuple[Scope, ...] = ("memory", "chats")
_LOST = ("refused", "failed")
_TEMPORARY = "a temporary chat writes nothing"
_CHINESE = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What came of the person's words. calls: shown with the turn; hits, notes: told to the model in this turn's
    recalled block. answer: the whole reply where no model is asked, else "".
    """

    calls: tuple[MadeCall, ...] = ()
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    answer: str = ""


NOTHING = Obeyed()


class Obeying:
    """keeps: whether the chat may be written of at all (a temporary one may not); looks: whether memory is read."""

    def __init__(self, workspace: Workspace, toolbox: Toolbox, emit: EventSink, *, keeps: bool, looks: bool) -> None:
        self._workspace = workspace
        self._toolbox = toolbox
        self._emit = emit
        self._keeps = keeps
        self._looks = looks

    def obey(self, message: str, place: ToolPlace) -> Obeyed:
        """Do what the message asks, if it asks something. What fails costs no answer: it is told."""
        match read_intent(message):
            case Remember(fact):
                return self._remember(fact)
            case LookUp(query) if self._looks:
                return self._look_up(query, place)
            case Forget(what):
                return self._forget(what, place, message)
        return NOTHING

    def _remember(self, fact: str) -> Obeyed:
        call = ToolCall("memory_write", {"text": fact})
        if not self._keeps:
            result = Result("refused", _TEMPORARY, _TEMPORARY)
        else:
            try:
                result = self._toolbox.remember(fact, source="you", actor="you")
            except AssistantError as error:
                self._emit(Notice(str(error), error=True))
                result = failed(str(error))
        notes = (f"[This could not be remembered: {result.detail}]",) if result.outcome in _LOST else ()
        return Obeyed((made(call, result, asked=True),), notes=notes)

    def _look_up(self, query: str, place: ToolPlace) -> Obeyed:
        hits: list[Hit] = []
        calls = []
        for name, scope in zip(("memory_search", "chats_search"), _SCOPES, strict=True):
            found = self._toolbox.search(query, scope, place)
            where = "; ".join(place_of(hit_line(hit, frozenset())) for hit in found)
            result = Result("found" if found else "nothing", "", where)
            calls.append(made(ToolCall(name, {"query": query}), result, asked=True))
            hits += found
        notes = () if hits else (f"[A search of memory and earlier chats for “{query}” found nothing]",)
        return Obeyed(tuple(calls), tuple(sorted(hits, key=lambda hit: -hit.score)), notes)

    def _forget(self, what: str, place: ToolPlace, message: str) -> Obeyed:
        """Ask the person what is to go. Nothing is forgotten here; where nothing is known the model may answer."""
        try:
            targets = ForgetFinder(self._workspace).plan(what).targets
        except AssistantError:
            targets = ()
        count = sum(not _asks_itself(target, place) for target in targets)
        things: tuple[str, ...] = ()
        if not count:
            found = (self._toolbox.search(what, scope, place) for scope in _SCOPES)
            things = tuple(hit.id for hits in found for hit in hits)
            count = len(things)
        if not count:
            return NOTHING
        self._emit(ForgetAsked(place.chat, place.turn, what, things, count))
        call = made(ToolCall("forget", {"what": what}), Result("waits", "", "; ".join(things)), asked=True)
        return Obeyed((call,), answer=_asked_words(count, _is_chinese(message)))


def _asks_itself(target: Target, place: ToolPlace) -> bool:
    """Whether it stands there only because of what the person just said: a chat is called by its first message."""
    if target.chat != place.chat:
        return False
    return target.number == place.turn or (target.kind == "title" and place.turn == 1)


def answer_without_model(obeyed: Obeyed, message: str) -> str:
    """What to reply where there is no model to tell of what was done; "" where nothing was."""
    if not obeyed.calls:
        return ""
    chinese = _is_chinese(message)
    if obeyed.hits:
        lines = "\n".join(map(_in_a_list, obeyed.hits))
        return f"{'找到了这些：' if chinese else 'This is what I found:'}\n\n{lines}"
    (call, *more) = obeyed.calls
    if more:
        return "没有找到相关内容。" if chinese else "I found nothing about this."
    if call.outcome in _LOST:
        return f"没能记住：{call.detail}" if chinese else f"This could not be remembered: {call.detail}"
    known = call.outcome == "known"
    if chinese:
        return "这一点已经记着了。" if known else "记住了。"
    return "I know this already." if known else "Remembered."


def _in_a_list(hit: Hit) -> str:
    """A hit as a person reads it: of a turn what they said, and where it stands."""
    said = hit.text.partition("\n")[0].partition(": ")[2] if hit.kind == "turn" else hit.text
    where = hit.title if hit.kind == "turn" else hit.file
    return f"- {excerpt(in_words(said), frozenset())} ({', '.join(part for part in (where, hit.date) if part)})"


def _is_chinese(message: str) -> bool:
    return _CHINESE.search(message) is not None


def _asked_words(count: int, chinese: bool) -> str:
    if chinese:
        return f"找到了 {count} 处相关内容。现在什么都还没有忘掉：请先看一下列出的内容，再确认。"
    places = "1 place that speaks" if count == 1 else f"{count} places that speak"
    return f"I found {places} of this. Nothing is forgotten yet: please look at what was found, then confirm."
