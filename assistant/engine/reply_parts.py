"""A reply comes apart into what was thought, what is said, and which tools are asked for, while it grows."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.core.values import ToolCall
from assistant.engine.call_grammar import BARE, MARKED
from assistant.engine.text_stream import overlap
from assistant.engine.thinking import THOUGHT_END, THOUGHT_START
from assistant.engine.tool_formats import ToolFormat, begun


@dataclass(frozen=True, slots=True)
class ReplyShape:
    """What a reply may be made of. thinking: the prompt has begun a think block already.

    calls: the form of calls, None where none can come; tools: the names that may be called; grammar: what calls are
    held to, as call_grammar makes it, "" for nothing.
    """

    thinking: bool = False
    calls: ToolFormat | None = None
    tools: tuple[str, ...] = ()
    grammar: str = ""


PLAIN = ReplyShape()


@dataclass(frozen=True, slots=True)
class Part:
    """New text that can be shown. thought: of what the model thinks."""

    text: str
    thought: bool = False


_NOTHING = Part("")
_LONGEST_CALLS = 32_768
"""Characters; each piece that comes reads all of them anew."""


class ReplyParts:
    """Text in, parts out; a half mark is never let through. Calls are held until the reply ends."""

    def __init__(self, shape: ReplyShape = PLAIN) -> None:
        self._shape = shape
        self._at = self._thought if shape.thinking else self._start
        self._held = ""
        self._mark = ""
        self._calling = ""
        self._trim = shape.thinking  # blanks after a mark of thinking only part it from the text
        self.calls: tuple[ToolCall, ...] = ()

    @property
    def called(self) -> tuple[str, str, str] | None:
        """Once a call was begun: the grammar that it must keep to, the grammar's root, and what was written so far."""
        if self._at != self._call or not self._shape.grammar:
            return None
        return self._shape.grammar, MARKED if self._mark else BARE, self._calling

    @property
    def over(self) -> bool:
        """Whether no more is wanted: whole calls are followed by something that is none, or it is longer than any."""
        form = self._shape.calls
        if self._at != self._call or form is None:
            return False
        if len(self._calling) > _LONGEST_CALLS:
            return True
        calls, rest = form.read(self._calling)
        return bool(calls) and bool(rest.strip()) and (len(calls) >= form.most or not form.goes_on(rest))

    def push(self, text: str) -> list[Part]:
        """The parts that are certain now."""
        self._held += text
        parts: list[Part] = []
        while self._held:
            at, held = self._at, self._held
            part = at()
            parts += [part] if part.text else []
            if self._at == at and self._held == held:
                break
        return parts

    def finish(self, cut: bool = False) -> list[Part]:
        """What was held back: a mark that never became whole, calls that cannot be read. cut: the reply was cut short,
        so that what is left of a call is nothing that the model meant to say.
        """
        if self._at == self._call and self._shape.calls:
            self.calls, _rest = self._shape.calls.read(self._calling)
            unread = "" if self.calls or cut else self._mark + self._calling
            return [Part(unread)] if unread else []
        rest, self._held = self._held, ""
        return [Part(rest, self._at == self._thought)] if rest else []

    # --- states: each takes what it can of the held text ----------------------------------------------------------

    def _start(self) -> Part:
        """Nothing has come but blanks: a think block may begin."""
        text = self._held.lstrip()
        if text.startswith(THOUGHT_START):
            self._held, self._at, self._trim = text.removeprefix(THOUGHT_START), self._thought, True
        elif not THOUGHT_START.startswith(text):
            self._at = self._begin
        return _NOTHING

    def _thought(self) -> Part:
        thought, found = self._until(THOUGHT_END)
        thought = self._trimmed(thought)
        if found:
            self._at, self._trim = self._begin, True
        return Part(thought, thought=True)

    def _begin(self) -> Part:
        """Nothing was said yet: the whole reply may be a call without a mark."""
        self._held = self._trimmed(self._held)
        form = self._shape.calls
        bare = form.starts_bare(self._held, self._shape.tools) if form else False
        if bare:
            self._begin_call("", begun(self._held))
        elif bare is False and self._held:
            self._at = self._text
        return _NOTHING

    def _text(self) -> Part:
        form = self._shape.calls
        text, found = self._until(form.opening) if form else (self._held, False)
        if found and form:
            self._begin_call(form.opening, self._held)
        elif not form:
            self._held = ""
        return Part(text)

    def _call(self) -> Part:
        self._calling += self._held
        self._held = ""
        return _NOTHING

    def _begin_call(self, mark: str, text: str) -> None:
        self._mark, self._calling, self._held, self._at = mark, text, "", self._call

    def _until(self, mark: str) -> tuple[str, bool]:
        """The held text up to the mark, which is taken, too; all but what may become one where there is none yet."""
        text, found, after = self._held.partition(mark)
        if found:
            self._held = after
            return text, True
        keep = overlap(text, mark)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep], False

    def _trimmed(self, text: str) -> str:
        if self._trim:
            text = text.lstrip()
            self._trim = not text
        return text
