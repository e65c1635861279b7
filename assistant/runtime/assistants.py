"""The assistants of the person's folder, for the window and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assistant.workspace.assistants import DEFAULT, Assistants, DeletedAssistant, read_persona

__all__ = ["DEFAULT", "AssistantInfo", "AssistantService", "DeletedAssistant"]


@dataclass(frozen=True, slots=True)
class AssistantInfo:
    """folder: where its memory is; current: the one that these services serve; own_prompt: it has a PERSONA.md."""

    name: str
    folder: Path
    current: bool
    own_prompt: bool


class AssistantService(Assistants):
    """Assistants, and which of them these services serve."""

    def __init__(self, root: Path, data: Path, current: str = DEFAULT) -> None:
        super().__init__(root, data)
        self.base = root
        self.current = current

    def list(self) -> list[AssistantInfo]:
        """All, the default one first."""
        return [self._info(name) for name in self.names()]

    def _info(self, name: str) -> AssistantInfo:
        folder = self.root(name)
        return AssistantInfo(name, folder, name == self.current, bool(read_persona(folder).text.strip()))
