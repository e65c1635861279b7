"""Settings: how the model runs."""

from __future__ import annotations

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.settings.form import SettingsPage
from assistant.ui.settings.speed_row import SpeedRow


class ModelPage(SettingsPage):
    """Window, threads, sampling and speed."""

    def __init__(self, services: Backend, bridge: Bridge) -> None:
        super().__init__(tr("Model"))
        self.add_number(
            "window",
            tr("Context window"),
            256,
            1_048_576,
            tr("Tokens the model keeps in mind at once. More takes more memory."),
        )
        self.add_number(
            "max_tokens", tr("Longest reply"), 0, 1_048_576, tr("In tokens."), special=tr("until the window is full")
        )
        self.add_fraction(
            "temperature", tr("Temperature"), 0.0, 5.0, tr("0 always says the likeliest word; higher is freer.")
        )
        self.add_choice(
            "thinking",
            tr("Thinking"),
            {"auto": tr("When the model likes to"), "off": tr("Reply at once")},
            tr("Some models think before they reply, which takes longer. Their thoughts are shown folded."),
        )
        self.add_choice(
            "tools",
            tr("Uses memory by itself"),
            {"auto": tr("When the model can"), "off": tr("Never")},
            tr("It searches memory and chats and notes facts while it replies. “Remember that …” always works."),
        )
        self.add_number(
            "threads", tr("Threads"), 0, 256, tr("How many processor cores work on a reply."), special=tr("automatic")
        )
        self.add_number(
            "snapshot_mb",
            tr("Disk for what was read"),
            0,
            1_000_000,
            tr("In megabytes. Chats go on after a restart without being read again."),
            special=tr("none"),
        )
        self.add_number(
            "idle_minutes",
            tr("Rests after"),
            0,
            1440,
            tr("Minutes without a message until the model gives its memory back; the next message wakes it."),
            special=tr("never"),
        )
        self.speed = SpeedRow(services, bridge)
        self.add_words(tr("Speed"), self.speed)
