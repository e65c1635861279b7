"""Builds the Qt application: name, icon, style, fonts, language and theme, and nothing that takes long."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication

from assistant.ui.i18n import JsonTranslator, choose_language, load_catalogue
from assistant.ui.icons import app_icon
from assistant.ui.theme import Theme, sans_font


def build_application(argv: Sequence[str], language: str = "", theme: str = "system") -> QApplication:
    """The one QApplication. ``language``, ``theme``: as in the settings. The Theme is a child of the application."""
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = QApplication(list(argv))
    app.setApplicationName("Keepsake")
    app.setApplicationDisplayName("Keepsake")
    app.setDesktopFileName("keepsake")
    dress_application(app, language, theme)
    return app


def dress_application(app: QApplication, language: str = "", theme: str = "system") -> Theme:
    """Give an application our style, language and theme."""
    app.setStyle("Fusion")
    app.setWindowIcon(app_icon())
    app.setFont(sans_font())
    use_language(app, language)
    return Theme(app, theme)


def use_language(app: QApplication, setting: str) -> str:
    """Install the translator of a language setting; returns the language shown."""
    for old in app.findChildren(JsonTranslator):
        app.removeTranslator(old)
        old.deleteLater()
    language = choose_language(setting)
    catalogue = load_catalogue(language)
    if catalogue:
        app.installTranslator(JsonTranslator(catalogue, app, language))
    QLocale.setDefault(QLocale(language))
    return language


def find_theme(app: QApplication) -> Theme:
    """The theme that dress_application gave to ``app``."""
    return app.findChildren(Theme)[0]
