"""The assistants of the person's folder, for the window and the command line."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.settings.paths import Paths
from assistant.workspace.assistants import DEFAULT, Assistants, DeletedAssistant, read_persona
from assistant.workspace.disk import as_error

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

    def __init__(self, root: Path, paths: Paths, current: str = DEFAULT) -> None:
        super().__init__(root, paths.data)
        self._paths = paths
        self.base = root
        self.current = current

    def list(self) -> list[AssistantInfo]:
        """All, the default one first."""
        return [self._info(name) for name in self.names()]

    def purge(self, deleted: DeletedAssistant) -> Sequence[str]:
        """Delete it for good, with its journal, receipts, index and all else that is kept about it."""
        for ident in self.ids_of(deleted):  # first: once it is out of the trash nobody knows its ids any more
            for folder in (self._paths.workspace_data(ident), self._paths.workspace_state(ident)):
                try:
                    shutil.rmtree(folder)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise as_error(error, folder) from error
        return super().purge(deleted)

    def _info(self, name: str) -> AssistantInfo:
        folder = self.root(name)
        return AssistantInfo(name, folder, name == self.current, bool(read_persona(folder).text.strip()))
