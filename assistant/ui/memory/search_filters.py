"""Where and when to look: two chips, and two fields for days in the person's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QVBoxLayout, QWidget

from assistant.core.values import Scope
from assistant.ui.backend import Backend
from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

_OWN = "own"


def scopes() -> dict[Scope, str]:
    """Where to look, in the person's language."""
    return {"all": tr("Everywhere"), "memory": tr("In memory"), "chats": tr("In chats")}


def times() -> dict[str, str]:
    """When: English words that mean a range of days -> what the menu says."""
    return {
        "": tr("Any time"),
        "today": tr("Today"),
        "yesterday": tr("Yesterday"),
        "this week": tr("This week"),
        "last week": tr("Last week"),
        "this month": tr("This month"),
        "last month": tr("Last month"),
        "this year": tr("This year"),
        _OWN: tr("From … until …"),
    }


class SearchFilters(QWidget):
    """``changed`` after each choice of the person. The fields take what the command line takes: dates, or words."""

    changed = Signal()

    def __init__(self, services: Backend) -> None:
        super().__init__()
        self._services = services
        self.scope: Scope = "all"
        self.time = ""
        self.where, self.when = button("", "chip"), button("", "chip")
        self.menus = {
            self.where: _menu(self.where, scopes(), self.choose_scope),
            self.when: _menu(self.when, times(), self.choose_time),
        }
        self.since, self.until = QLineEdit(), QLineEdit()
        self._said = ("", "")
        self.wrong = label("", "smallred", wrap=True)
        self._fields = QWidget()
        self._lay_out()
        self._say()

    def _lay_out(self) -> None:
        for field, words in ((self.since, tr("from: a date, or “last month”")), (self.until, tr("until: a date"))):
            field.setPlaceholderText(words)
            field.setAccessibleName(words)
            field.setClearButtonEnabled(True)
            field.editingFinished.connect(self._on_edited)
        fields = QHBoxLayout(self._fields)
        spread(fields, spacing=8)
        fields.addWidget(self.since, 1)
        fields.addWidget(self.until, 1)
        chips = QHBoxLayout()
        spread(chips, spacing=8)
        chips.addWidget(self.where)
        chips.addWidget(self.when)
        chips.addStretch()
        column = QVBoxLayout(self)
        spread(column, spacing=6)
        column.addLayout(chips)
        column.addWidget(self._fields)
        column.addWidget(self.wrong)

    # --- what is chosen ---

    @property
    def is_limited(self) -> bool:
        """Whether not everything is looked through."""
        return self.scope != "all" or any(self.days())

    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day to look at; None where there is no bound."""
        if self.time != _OWN:
            found = self._range(self.time)
            return found or (None, None)
        first, last = (self._range(field.text()) for field in (self.since, self.until))
        return (first[0] if first else None, last[1] if last else None)

    def choose_scope(self, scope: Scope) -> None:
        self.scope = scope
        self._say()
        self.changed.emit()

    def choose_time(self, time: str) -> None:
        self.time = time
        self._say()
        if time == _OWN:
            self.since.setFocus()
        self.changed.emit()

    def clear(self) -> None:
        """Look everywhere, at any time."""
        self.scope, self.time = "all", ""
        self.since.clear()
        self.until.clear()
        self._say()
        self.changed.emit()

    # --- inside ---

    def _range(self, words: str) -> tuple[date, date] | None:
        from assistant.recall.days.dates import parse_range  # many patterns, which starting the window does not need

        found = parse_range(words, self._services.review.today()) if words.strip() else None
        return (found.first, found.last) if found else None

    def _on_edited(self) -> None:
        """Also when the focus goes: a click on a hit must not have it searched for anew."""
        if self._said != (self.since.text(), self.until.text()):
            self._say()
            self.changed.emit()

    def _say(self) -> None:
        self._said = (self.since.text(), self.until.text())
        self._choose(self.where, scopes()[self.scope], self.scope != "all")
        self._choose(self.when, times()[self.time], bool(self.time))
        self._fields.setVisible(self.time == _OWN)
        strange = [f.text() for f in (self.since, self.until) if f.text().strip() and not self._range(f.text())]
        first, last = self.days()
        words = ""
        if self.time == _OWN and strange:
            words = tr("“{words}” is no day. Write a date like 2026-03-01, or yesterday, last month.", words=strange[0])
        elif first and last and first > last:
            words = tr("The first day is after the last one.")
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))

    def _choose(self, chip: QPushButton, words: str, limited: bool) -> None:
        chip.setText(f"{words} ▾")
        chip.setAccessibleName(words)
        for action in self.menus[chip].actions():
            action.setChecked(action.text() == words)
        chip.setProperty("chosen", limited)
        chip.style().unpolish(chip)
        chip.style().polish(chip)


def _menu(chip: QPushButton, choices: Mapping[Any, str], choose: Callable[[Any], None]) -> QMenu:
    """Not ``setMenu``, with which the style forgets the chip's padding."""
    menu = QMenu(chip)
    group = QActionGroup(menu)
    for choice, words in choices.items():
        action = menu.addAction(words)
        action.setCheckable(True)
        group.addAction(action)
        action.triggered.connect(partial(_chosen, choose, choice))
    chip.clicked.connect(lambda: menu.popup(chip.mapToGlobal(chip.rect().bottomLeft())))
    return menu


def _chosen(choose: Callable[[Any], None], choice: Any, checked: bool = True) -> None:
    choose(choice)
