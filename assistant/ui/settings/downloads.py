"""Settings: where models are downloaded from, and how."""

from __future__ import annotations

from assistant.ui.i18n import tr
from assistant.ui.settings.form import SettingsPage


class DownloadsPage(SettingsPage):
    """The host, and the proxy on the way to it."""

    def __init__(self) -> None:
        super().__init__(tr("Downloads"))
        self.add_text(
            "host",
            tr("Models come from"),
            tr("The address of Hugging Face or of a mirror of it. It is used only when you download a model."),
        )
        self.add_text(
            "proxy",
            tr("Proxy"),
            tr("An address such as http://proxy:3128, or “none” to go without one."),
            placeholder=tr("as the system"),
        )
