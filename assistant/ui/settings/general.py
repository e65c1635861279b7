"""Settings: language, theme, and where the workspace is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from assistant.ui.i18n import tr
from assistant.ui.settings.form import SettingsPage
from assistant.ui.widgets import label


class GeneralPage(SettingsPage):
    """Language and theme; the folder is shown, not changed here."""

    def __init__(self, root: Path) -> None:
        super().__init__(tr("General"))
        languages = {"": tr("As the system"), "en": "English", "zh_CN": "简体中文"}
        self.add_choice("language", tr("Language"), languages, tr("Shown from the next start on."))
        themes = {"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")}
        self.add_choice("theme", tr("Theme"), themes)
        folder = label(str(root), "mono", wrap=True)
        folder.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        folder.setAccessibleName(tr("Your folder: {path}", path=str(root)))
        self.add_words(tr("Your folder"), folder)
