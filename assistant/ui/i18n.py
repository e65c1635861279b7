"""Words of the window in the person's language: English in the code, other languages as JSON catalogues."""

from __future__ import annotations

import json

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QTranslator

from assistant.core.resources import resource

CONTEXT = "Keepsake"
LANGUAGES = {"": "System", "en": "English", "zh_CN": "简体中文"}
"""The choices of the settings; "" follows the system."""


class JsonTranslator(QTranslator):
    """Looks a string up by its English words alone, for the program's own strings and Qt's."""

    def __init__(self, catalogue: dict[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._catalogue = catalogue

    def isEmpty(self) -> bool:
        return not self._catalogue

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return self._catalogue.get(source)


def load_catalogue(language: str) -> dict[str, str]:
    """English words -> words of ``language``; empty for English."""
    if language == "en":
        return {}
    words: dict[str, str] = json.loads(resource(f"i18n/{language}.json").read_text(encoding="utf-8"))
    return words


def choose_language(setting: str, system: str | None = None) -> str:
    """The language to show for a setting ("" or "system": the system's; anything we do not speak: English)."""
    wanted = setting
    if setting in ("", "system"):
        wanted = system if system is not None else QLocale.system().name()
    if wanted.replace("-", "_").split("_")[0] == "zh":
        return "zh_CN"
    return "en"


def tr(text: str, /, **values: object) -> str:
    """``text`` in the chosen language, ``{name}`` fields filled in."""
    words = QCoreApplication.translate(CONTEXT, text)
    return words.format(**values) if values else words
