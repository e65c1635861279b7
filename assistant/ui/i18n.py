"""Words of the window in the person's language: English in the code, other languages as JSON catalogues."""

from __future__ import annotations

import json
import re
from functools import cached_property

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QTranslator

from assistant.core.resources import resource

CONTEXT = "Keepsake"
MESSAGES = "Messages"
"""The context of what the services say: whole sentences, with names and numbers already in them."""
LANGUAGES = {"": "System", "en": "English", "zh_CN": "简体中文"}
"""The choices of the settings; "" follows the system."""


class JsonTranslator(QTranslator):
    """Looks a string up by its English words alone, for the program's own strings, the services' and Qt's."""

    def __init__(self, catalogue: dict[str, str], parent: QObject | None = None, language: str = "en") -> None:
        super().__init__(parent)
        self._catalogue, self._language = catalogue, language

    def isEmpty(self) -> bool:
        return not self._catalogue

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return self._messages.translate(source) if context == MESSAGES else self._catalogue.get(source)

    @cached_property
    def _messages(self) -> MessageCatalogue:
        return MessageCatalogue(load_messages(self._language))


def load_catalogue(language: str) -> dict[str, str]:
    """English words -> words of ``language``; empty for English."""
    if language == "en":
        return {}
    words: dict[str, str] = json.loads(resource(f"i18n/{language}.json").read_text(encoding="utf-8"))
    return words


class MessageCatalogue:
    """Sentences with fields: ``{1} is empty.`` in the one language, ``{1} 是空的。`` in the other.

    What stands in a field is translated too where it is a message itself.
    """

    def __init__(self, words: dict[str, str]) -> None:
        self._exact = {english: said for english, said in words.items() if "{1}" not in english}
        patterned = [(english, said) for english, said in words.items() if "{1}" in english]
        patterned.sort(key=lambda pair: -len(_FIELD.sub("", pair[0])))  # the one that says most decides
        self._patterns = [(_pattern(english), said) for english, said in patterned]

    def translate(self, text: str) -> str | None:
        """``text`` in the other language; None where it is not known. Several sentences may stand in a row."""
        started = None
        for end in _SENTENCE_END.finditer(text[:_LONGEST]):
            first = self._sentence(text[: end.start()])
            if first is not None:
                rest = text[end.end() :]
                if (rest_said := self.translate(rest)) is not None:
                    return first + rest_said
                started = started or first + rest
        return self._sentence(text) or started

    def _sentence(self, text: str) -> str | None:
        if text in self._exact or len(text) > _LONGEST:
            return self._exact.get(text)
        for pattern, said in self._patterns:
            found = pattern.fullmatch(text)
            if found:
                fields = [self._exact.get(field) or self._sentence(field) or field for field in found.groups()]
                return _FIELD.sub(lambda match, fields=fields: fields[int(match[1]) - 1], said)  # type: ignore[misc]
        return None


_FIELD = re.compile(r"\{([1-9])\}")
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_LONGEST = 2_000
"""Characters of a message that are looked at: what is longer is no message of ours."""


def _pattern(english: str) -> re.Pattern[str]:
    parts = _FIELD.split(english)
    return re.compile("".join("(.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts)), re.DOTALL)


def load_messages(language: str) -> dict[str, str]:
    """What the services say, in English -> in ``language``; empty for English."""
    if language == "en":
        return {}
    words: dict[str, str] = json.loads(resource(f"i18n/{language}.messages.json").read_text(encoding="utf-8"))
    return words


def translate_message(text: str) -> str:
    """A message of the services in the chosen language; as it is where it is not known."""
    return QCoreApplication.translate(MESSAGES, text) if text else text


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
