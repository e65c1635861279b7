"""Settings: whether the assistant asks before it remembers, and how much of the memory goes into every prompt."""

from __future__ import annotations

from assistant.ui.i18n import tr
from assistant.ui.settings.form import SettingsPage


class MemoryPage(SettingsPage):
    """The choice, then the four limits of the budget."""

    def __init__(self) -> None:
        super().__init__(tr("Memory"))
        self.add_choice(
            "writes",
            tr("New memories"),
            {"show": tr("Write them down and show me"), "ask": tr("Ask me first")},
            tr("What the assistant wants to remember of your chats. What you tell it to remember is always kept."),
        )
        self.add_choice(
            "tidy",
            tr("Tidy up"),
            {"off": tr("Only when I ask"), "nightly": tr("Once a day, in a quiet moment")},
            tr("What is over moves to the archive, the same line twice becomes one. The journal can undo it."),
        )
        self.add_number("fact_lines", tr("Lines of facts"), 0, 100_000, tr("From the top of MEMORY.md."))
        self.add_number(
            "fact_bytes", tr("Bytes of facts"), 0, 10_000_000, tr("Whichever limit is reached first counts.")
        )
        self.add_number("entries", tr("Latest entries"), 0, 10_000)
        self.add_fraction(
            "window_share", tr("Share of the window"), 0.0, 0.9, tr("The most that all of this together may take.")
        )
        self.add_choice(
            "private_recall",
            tr("Private chats"),
            {"off": tr("are found nowhere else"), "on": tr("may be found and told elsewhere")},
            tr("When told in another chat, its receipt says so."),
        )
