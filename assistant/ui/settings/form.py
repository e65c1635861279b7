"""A page of settings: rows of a name, a field and a line that says what it means."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from assistant.ui.widgets import label, spread

Field = QComboBox | QSpinBox | QDoubleSpinBox | QLineEdit


class SettingsPage(QWidget):
    """Fields by the name of their setting. ``changes()`` gives only what the person changed."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.fields: dict[str, Field] = {}
        self.hints: dict[str, QLabel] = {}
        self._before: dict[str, str | int | float] = {}
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(24)
        self._form.setVerticalSpacing(12)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        spread(column, (0, 0, 0, 0), 16)
        column.addWidget(label(title, "title"))
        column.addLayout(self._form)
        column.addStretch()

    def add_choice(self, name: str, words: str, choices: dict[str, str], hint: str = "") -> None:
        """A choice: setting value -> words."""
        field = QComboBox()
        for value, shown in choices.items():
            field.addItem(shown, value)
        self._add(name, words, field, hint)

    def add_number(self, name: str, words: str, low: int, high: int, hint: str = "", special: str = "") -> None:
        """A whole number; ``special``: words for the lowest one."""
        field = QSpinBox()
        field.setRange(low, high)
        field.setGroupSeparatorShown(True)
        field.setSpecialValueText(special)
        self._add(name, words, field, hint)

    def add_fraction(self, name: str, words: str, low: float, high: float, hint: str = "") -> None:
        """A number in steps of 0.05."""
        field = QDoubleSpinBox()
        field.setRange(low, high)
        field.setSingleStep(0.05)
        self._add(name, words, field, hint)

    def add_text(self, name: str, words: str, hint: str = "", placeholder: str = "") -> QLineEdit:
        """A line of text; placeholder: what an empty one means."""
        field = QLineEdit()
        field.setPlaceholderText(placeholder)
        self._add(name, words, field, hint)
        return field

    def add_field(self, words: str, field: QComboBox | QLineEdit, hint: str = "", name: str = "") -> None:
        """A field made elsewhere; without a name it is no setting."""
        self._add(name, words, field, hint)

    def add_words(self, words: str, widget: QWidget) -> None:
        """A row without a setting."""
        self._form.addRow(label(words), widget)

    def show_values(self, section: Any) -> None:
        """Show the stored values."""
        self.show_named({name: getattr(section, name) for name in self.fields})

    def show_named(self, values: dict[str, Any]) -> None:
        """Show values by the names of their fields."""
        for name, field in self.fields.items():
            value = values[name]
            if isinstance(field, QLineEdit):
                field.setText(value)
            elif isinstance(field, QComboBox) and field.isEditable():
                field.setEditText(value)
            elif isinstance(field, QComboBox):
                field.setCurrentIndex(max(0, field.findData(value)))
            else:
                field.setValue(value)
            self._before[name] = self._value(field)

    def chosen(self, name: str) -> str | int | float:
        """What a field says now."""
        return self._value(self.fields[name])

    def changes(self) -> dict[str, str | int | float]:
        """Settings whose field says something else than when it was shown."""
        values = {name: self._value(field) for name, field in self.fields.items()}
        return {name: value for name, value in values.items() if name in self._before and value != self._before[name]}

    def _value(self, field: Field) -> str | int | float:
        if isinstance(field, QLineEdit):
            return field.text().strip()
        if isinstance(field, QComboBox):
            return field.currentText().strip() if field.isEditable() else str(field.currentData())
        return round(field.value(), 4) if isinstance(field, QDoubleSpinBox) else field.value()

    def _add(self, name: str, words: str, field: Field, hint: str) -> None:
        field.setAccessibleName(words)
        field.setAccessibleDescription(hint)
        field.wheelEvent = lambda event: event.ignore()  # type: ignore[method-assign]  # scrolling must not change it
        if isinstance(field, QSpinBox | QDoubleSpinBox):
            field.lineEdit().setTextMargins(8, 0, 0, 0)  # the style sheet's padding does not reach it
        if name:
            self.fields[name] = field
        holder = QWidget()
        column = QVBoxLayout(holder)
        spread(column, spacing=4)
        column.addWidget(field)
        if hint:
            self.hints[name] = label(hint, "small", wrap=True)
            column.addWidget(self.hints[name])
        name_label = label(words)
        name_label.setBuddy(field)
        name_label.setContentsMargins(0, 7, 0, 0)
        name_label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)  # beside the field itself
        self._form.addRow(name_label, holder)
