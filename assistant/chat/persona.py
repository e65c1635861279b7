"""Who the assistant is: the person's own PERSONA.md where there is one, else the text that comes along."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.chat.texts import text
from assistant.core.clock import Clock, weekday
from assistant.core.errors import AssistantError
from assistant.core.values import LeftOut
from assistant.workspace.assistants import DEFAULT, LONGEST_PERSONA, PERSONA, read_persona
from assistant.workspace.redaction import redact
from assistant.workspace.workspace import Workspace

_CUT = "persona budget"


@dataclass(frozen=True, slots=True)
class Persona:
    """text: what opens the prompt; left_out: lines of PERSONA.md that were too much."""

    text: str
    left_out: tuple[LeftOut, ...] = ()


def persona_of(workspace: Workspace) -> Persona:
    """The opening of a workspace's prompts. The rules about notes always stand behind the person's own words.

    Of a long PERSONA.md whole lines are read up to 8 000 characters. One that cannot be read counts as none.
    """
    own, left_out = _own(workspace)
    clock, rules = workspace.clock, text("notes")
    if not own:
        return Persona(f"{_filled(text('persona'), workspace.name, clock)}\n{rules}")
    dated = own if "{date}" in own else f"{own}\nToday is {{weekday}}, {{date}}."
    return Persona(f"{_filled(dated, workspace.name, clock)}\n{rules}", left_out)


def _own(workspace: Workspace) -> tuple[str, tuple[LeftOut, ...]]:
    try:
        written = redact(read_persona(workspace.root).text).text
    except AssistantError:
        return "", (LeftOut(PERSONA, 0, "cannot be read"),)
    kept, size = [], 0
    lines = written.splitlines()
    for line in lines:
        size += len(line) + 1
        if size > LONGEST_PERSONA + 1:
            break
        kept.append(line)
    left_out = tuple(LeftOut(PERSONA, number, _CUT) for number in range(len(kept) + 1, len(lines) + 1))
    return "\n".join(kept).strip(), left_out


def _filled(template: str, name: str, clock: Clock) -> str:
    """Fills the three fields we know; every other brace is the person's own."""
    now = clock()
    fields = {"{name}": name or DEFAULT, "{date}": now.date().isoformat(), "{weekday}": weekday(now)}
    for field, value in fields.items():
        template = template.replace(field, value)
    return template
