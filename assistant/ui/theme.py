"""The look of the window: follows the system or a choice, and changes while the window is open."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from assistant.core.resources import resource
from assistant.ui.icons import icon
from assistant.ui.palette import DARK, LIGHT, Palette
from assistant.ui.stylesheet import style_sheet

CHOICES = ("system", "light", "dark")

_SANS = (
    "Inter",
    "SF Pro Text",
    "Segoe UI Variable",
    "Segoe UI",
    "Noto Sans",
    "Ubuntu",
    "Cantarell",
    "Noto Sans CJK SC",
)
_CJK = ("Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei UI", "Source Han Sans SC", "WenQuanYi Micro Hei")
_MONO = ("JetBrains Mono", "SF Mono", "Cascadia Mono", "Consolas", "Menlo", "Noto Sans Mono", "DejaVu Sans Mono")
_BASE_PIXELS = 14


def sans_font() -> QFont:
    """The font of controls and text: the first good one the machine has, with Chinese behind it."""
    have = set(QFontDatabase.families())
    families = [name for name in _SANS if name in have][:1] + [name for name in _CJK if name in have][:1]
    font = QFont()
    if families:
        font.setFamilies([*dict.fromkeys(families), *(["Noto Color Emoji"] if "Noto Color Emoji" in have else [])])
    font.setPixelSize(_BASE_PIXELS)
    return font


def mono_families() -> list[str]:
    """Families for code, best first."""
    have = set(QFontDatabase.families())
    found = [name for name in _MONO if name in have][:1]
    cjk = [name for name in ("Noto Sans Mono CJK SC", *_CJK) if name in have][:1]
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    return [*(found or [fixed]), *cjk]


class Theme(QObject):
    """Applies a palette to the application and tells widgets that paint for themselves when it changes."""

    changing = Signal()
    """Before it changes: every widget there is costs time then, so let go of what nobody sees."""
    changed = Signal()

    def __init__(self, app: QApplication, choice: str = "system") -> None:
        super().__init__(app)
        self._app = app
        self._choice = choice if choice in CHOICES else "system"
        self.mono = mono_families()
        self.palette = self._pick()
        app.styleHints().colorSchemeChanged.connect(self._on_system_changed)
        self._apply()

    @property
    def choice(self) -> str:
        return self._choice

    def choose(self, choice: str) -> None:
        """Switch to "system", "light" or "dark", at once."""
        self._choice = choice if choice in CHOICES else "system"
        self._renew()

    def icon(self, name: str, colour: str = "muted", disabled: str = "border_strong") -> QIcon:
        """An icon in a colour of the theme by name, and in another while its control is disabled."""
        return icon(name, getattr(self.palette, colour), getattr(self.palette, disabled))

    def _pick(self) -> Palette:
        if self._choice == "system":
            return DARK if self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT
        return DARK if self._choice == "dark" else LIGHT

    def _on_system_changed(self) -> None:
        if self._choice == "system":
            self._renew()

    def _renew(self) -> None:
        palette = self._pick()
        if palette is self.palette:
            return
        self.changing.emit()
        self.palette = palette
        self._apply()
        self.changed.emit()

    def _apply(self) -> None:
        suffix = "-dark" if self.palette.dark else "-light"
        arrows = [resource(f"icons/{name}{suffix}.svg").as_posix() for name in ("arrow-up", "arrow-down")]
        mono = ", ".join(f'"{name}"' for name in self.mono)
        self._app.setPalette(_qt_palette(self.palette))
        self._app.setStyleSheet(style_sheet(self.palette, mono, *arrows))


def _qt_palette(colours: Palette) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    pairs = {
        role.Window: colours.window,
        role.Base: colours.surface,
        role.AlternateBase: colours.sunken,
        role.Button: colours.surface,
        role.ToolTipBase: colours.surface,
        role.WindowText: colours.text,
        role.Text: colours.text,
        role.ButtonText: colours.text,
        role.ToolTipText: colours.text,
        role.PlaceholderText: colours.muted,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Link: colours.accent,
        role.LinkVisited: colours.accent,
        role.Mid: colours.border,
    }
    for name, colour in pairs.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(colours.muted))
    return palette
