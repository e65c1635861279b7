"""The style sheet of the whole window, made from a palette. Distances are on a grid of 4 pixels."""

from __future__ import annotations

from string import Template

from assistant.ui.palette import Palette

_SHEET = Template("""
* { outline: none; }
QWidget { color: $text; }
QMainWindow, QDialog, QMessageBox { background: $window; }
QToolTip { background: $surface; color: $text; border: 1px solid $border_strong; padding: 4px 8px; }
QLabel { background: transparent; }
QLabel[role="title"] { font-size: 15px; font-weight: 600; }
QLabel[role="headline"] { font-size: 24px; font-weight: 600; }
QLabel[role="section"] { font-size: 12px; font-weight: 600; color: $muted; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="small"] { color: $muted; font-size: 12px; }
QLabel[role="smallamber"] { color: $amber; font-size: 12px; }
QLabel[role="smallred"] { color: $red; font-size: 12px; }
QLabel[role="mono"] { font-family: $mono; font-size: 12px; }
QLabel[role="chip"] { background: $accent_soft; color: $accent; border-radius: 4px; padding: 1px 6px; font-size: 11px; }

QWidget#sidebar { background: $sidebar; border: none; }
QWidget#topbar { background: $window; border-bottom: 1px solid $border; }
QWidget#bottombar { background: $sidebar; border-top: 1px solid $border; }
QFrame#indexstrip { background: $sidebar; border: none; border-top: 1px solid $border; }
QWidget#memory { background: $sidebar; border: none; }
QWidget#rail { background: $sidebar; border: none; border-right: 1px solid $border; }
QToolButton#railbutton { border-radius: 8px; padding: 7px; }
QToolButton#railbutton:checked { background: $accent_soft; }
QWidget#page, QWidget#transcript { background: $window; }
QScrollArea, QScrollArea > QWidget > QWidget#transcript { background: $window; border: none; }
QScrollArea#plain, QScrollArea#plain > QWidget > QWidget { background: transparent; border: none; }

QPushButton { background: $surface; border: 1px solid $border_strong; border-radius: 8px; padding: 6px 14px;
  min-height: 20px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $selected; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $muted; background: transparent; border-color: $border; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; padding: 5px 13px; }
QPushButton[kind="primary"]:disabled { background: $selected; border-color: $selected; color: $muted; }
QPushButton[kind="danger"] { background: $red; color: $surface; border-color: $red; font-weight: 600; }
QPushButton[kind="danger"]:focus { border: 2px solid $text; padding: 5px 13px; }
QPushButton[kind="link"] { background: transparent; border: 1px solid transparent; color: $accent;
  padding: 0 4px; min-height: 18px;
  border-radius: 6px; text-align: left; }
QPushButton[kind="link"]:hover { background: $hover; }
QPushButton[kind="link"]:focus { border-color: $accent; }
QPushButton[kind="quiet"] { background: transparent; border: 1px solid transparent; color: $muted; padding: 2px 6px;
  border-radius: 6px; font-size: 12px; text-align: left; }
QPushButton[kind="quiet"]:hover { background: $hover; color: $text; }
QPushButton[kind="quiet"]:checked { background: $selected; color: $text; }
QPushButton[kind="quiet"]:focus { border-color: $accent; }
QPushButton[kind="quiet"][level="red"] { color: $red; padding-left: 0; }
QPushButton[kind="quiet"][level="calm"] { padding-left: 0; }
QPushButton[kind="suggestion"] { background: $surface; border: 1px solid $border; border-radius: 12px;
  padding: 10px 16px; text-align: left; }
QPushButton[kind="suggestion"]:hover { background: $hover; border-color: $border_strong; }
QPushButton[kind="suggestion"]:focus { border-color: $accent; }
QPushButton[kind="assistant"] { background: transparent; border: 1px solid transparent; border-radius: 8px;
  padding: 4px 8px; font-size: 15px; font-weight: 600; text-align: left; }
QPushButton[kind="assistant"]:hover { background: $hover; }
QPushButton[kind="assistant"]:focus { border-color: $accent; }
QPushButton[kind="chip"] { background: transparent; border: 1px solid $border; border-radius: 14px; padding: 3px 12px;
  min-height: 20px; text-align: left; }
QPushButton[kind="chip"]:hover { background: $hover; }
QPushButton[kind="chip"][chosen="true"] { background: $accent_soft; border-color: $accent_soft; color: $accent; }
QPushButton[kind="chip"]:focus { border-color: $accent; }
QPushButton[kind="chip"]::menu-indicator { image: none; width: 0; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 8px; padding: 5px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $selected; }
QToolButton:focus { border-color: $accent; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton#send { background: $accent; border-radius: 16px; padding: 6px; }
QToolButton#send:hover { background: $accent_hover; }
QToolButton#send:focus { border: 2px solid $text; padding: 5px; }
QToolButton#send:disabled { background: $selected; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $surface; border: 1px solid $border_strong;
  border-radius: 8px; padding: 5px 10px; min-height: 20px; selection-background-color: $accent;
  selection-color: $on_accent; placeholder-text-color: $muted; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled { color: $muted; background: $sidebar; }
QAbstractSpinBox QLineEdit { border: none; background: transparent; padding: 0 8px; min-height: 0; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: url("$icon_down"); width: 14px; height: 14px; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border_strong; padding: 4px;
  selection-background-color: $selected; selection-color: $text; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {
  border: none; width: 20px; background: transparent; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icon_up"); width: 12px; height: 12px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icon_down"); width: 12px; height: 12px; }

QPlainTextEdit, QTextEdit, QTextBrowser { background: $surface; border: 1px solid $border; border-radius: 8px;
  selection-background-color: $accent; selection-color: $on_accent; placeholder-text-color: $muted; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
QTextBrowser[role="prose"], QTextBrowser[role="code"], QPlainTextEdit[role="bare"] { background: transparent;
  border: none; border-radius: 0; padding: 0; }
QPlainTextEdit[role="code"] { font-family: $mono; font-size: 13px; }
QDialog QPlainTextEdit, QDialog QTextEdit { padding: 6px 8px; }
QPlainTextEdit#editor { font-family: $mono; font-size: 13px; padding: 8px; }

QFrame#composer { background: $surface; border: 1px solid $border_strong; border-radius: 16px; }
QFrame#composer[focused="true"] { border-color: $accent; }
QFrame#composer[temporary="true"] { border: 1px dashed $muted; }
QFrame#composer[temporary="true"][focused="true"] { border: 1px dashed $accent; }
QFrame#banner { background: $sunken; border: none; border-bottom: 1px dashed $border_strong; }
QLabel[role="strong"] { font-weight: 600; }
QFrame#bubble { background: $bubble; border: none; border-radius: 16px; }
QFrame#code { background: $sunken; border: 1px solid $border; border-radius: 12px; }
QFrame#card { background: $surface; border: 1px solid $border; border-radius: 12px; }
QFrame#thought { background: transparent; border: none; border-left: 2px solid $border; border-radius: 0; }
QFrame#thought QTextBrowser, QFrame#thought QPlainTextEdit { color: $muted; }
QFrame#receiptrow { background: transparent; border: none; border-radius: 8px; }
QFrame#receiptrow[pointed="true"] { background: $hover; }
QFrame#errorcard { background: $red_soft; border: 1px solid $red_soft; border-radius: 12px; }
QFrame#notecard { background: $amber_soft; border: 1px solid $amber_soft; border-radius: 12px; }
QWidget#forgetlist { background: transparent; }
QFrame#toast { background: $text; border-radius: 12px; }
QFrame#toast QLabel { color: $window; }
QFrame#toast QPushButton { background: transparent; border: 1px solid transparent; color: $toast_link;
  font-weight: 600; padding: 4px 8px; }
QFrame#toast QPushButton:focus, QFrame#toast QPushButton:hover { border-color: $toast_link; }
QFrame#rule { background: $border; border: none; max-height: 1px; min-height: 1px; }

QListView, QListWidget, QTreeView { background: transparent; border: none; }
QListWidget[role="card"], QListView[role="card"] { background: $surface; border: 1px solid $border;
  border-radius: 8px; padding: 4px; }
QListWidget::item { padding: 8px 8px; min-height: 18px; border-radius: 6px; }
QListWidget::item:hover { background: $hover; }
QListWidget::item:selected { background: $selected; color: $text; }
QListView[role="card"]:focus { border: 1px solid $accent; }

QTabBar { background: transparent; border: none; }
QTabBar::tab { background: transparent; color: $muted; padding: 7px 12px; margin-right: 4px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:focus { color: $accent; }

QMenuBar { background: $sidebar; border: none; padding: 2px 4px; }
QMenuBar::item { background: transparent; padding: 4px 10px; border-radius: 6px; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $surface; border: 1px solid $border_strong; padding: 6px; }
QMenu::item { padding: 6px 28px 6px 12px; border-radius: 6px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 6px 8px; }
QMenu::icon { padding-left: 8px; }

QProgressBar { background: $selected; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }

QScrollBar:vertical { background: transparent; width: 12px; margin: 2px 2px 2px 2px; }
QScrollBar::handle:vertical { background: $border_strong; border-radius: 3px; min-height: 32px; margin: 0 1px; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 2px; }
QScrollBar::handle:horizontal { background: $border_strong; border-radius: 3px; min-width: 32px; margin: 1px 0; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter#files::handle { background: transparent; }
QCheckBox { spacing: 8px; }
""")


def style_sheet(palette: Palette, mono: str, icon_up: str, icon_down: str) -> str:
    """The style sheet for ``palette``; ``mono``: families for code, as CSS; the arrows: paths of pictures."""
    colours = {name: getattr(palette, name) for name in palette.__slots__ if name != "dark"}
    # The toast is drawn in inverted colours, so its link takes the other theme's accent.
    toast_link = "#1c6b60" if palette.dark else "#7cc8b9"
    return _SHEET.substitute(colours, mono=mono, icon_up=icon_up, icon_down=icon_down, toast_link=toast_link)
