"""Settings: whether a git repository of the workspace is kept."""

from __future__ import annotations

from assistant.ui.i18n import tr
from assistant.ui.settings.form import SettingsPage


class HistoryPage(SettingsPage):
    """On or off, and what that means."""

    def __init__(self) -> None:
        super().__init__(tr("History"))
        words = tr(
            "A commit for each change of memory and each turn of a chat, in the folder .git beside your memory. Private"
            " chats stay out. What you forget or delete for good leaves all commits. Keepsake never sends it anywhere."
        )
        self.add_choice("git", tr("Git repository of your folder"), {"off": tr("Off"), "on": tr("On")}, words)
