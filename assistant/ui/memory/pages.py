"""The pages of the memory panel, in the order of the rail. A page's module is imported when it is first shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.page import Page
from assistant.ui.theme import Theme

Factory = Callable[[Backend, Bridge, Theme], Page]


@dataclass(frozen=True, slots=True)
class PageSpec:
    """icon: a name in resources/icons; title: called when shown, since the language is chosen at run time.

    early: built with the panel and not when first chosen, because its badge must show before that.
    """

    key: str
    icon: str
    title: Callable[[], str]
    factory: Factory
    early: bool = False


def _files(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.files import FilesPage

    return FilesPage(services, bridge, theme)


def _search(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.search import SearchPage

    return SearchPage(services, bridge, theme)


def _journal(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.journal import JournalPage

    return JournalPage(services, bridge, theme)


def _review(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.review import ReviewPage

    return ReviewPage(services, bridge, theme)


def _checks(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.checks import ChecksPage

    return ChecksPage(services, bridge, theme)


def _picture(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.picture import PicturePage

    return PicturePage(services, bridge, theme)


def _prompt(services: Backend, bridge: Bridge, theme: Theme) -> Page:
    from assistant.ui.memory.prompt import PromptPage

    return PromptPage(services, bridge, theme)


PAGES: tuple[PageSpec, ...] = (
    PageSpec("files", "file", lambda: tr("Files"), _files),
    PageSpec("search", "search", lambda: tr("Search"), _search),
    PageSpec("journal", "journal", lambda: tr("Journal"), _journal),
    PageSpec("review", "review", lambda: tr("Review"), _review, early=True),
    PageSpec("prompt", "prompt", lambda: tr("Next prompt"), _prompt),
    PageSpec("checks", "checks", lambda: tr("Self-test"), _checks, early=True),
    PageSpec("picture", "picture", lambda: tr("Overview"), _picture),
)
"""Keys in order: files, search, journal, review, prompt, checks, picture."""
