"""The review page: what waits for the person's yes, what in memory cannot both hold, and what it says twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import InboxChanged, IndexProgress, MemoryChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.conflict_card import ConflictCard
from assistant.ui.memory.page import Page
from assistant.ui.memory.proposal_card import ProposalCard
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.workspace.conflicts import MemoryConflict
    from assistant.workspace.inbox_files import Proposal
    from assistant.workspace.memory_values import Saved, Written

_SOON_MS = 300  # several changes in a row are looked at once
_LATER_MS = 3_000  # while the page is not shown: only its badge is seen
_MOST_CARDS = 20  # of a kind; the rest comes when some of these are answered


class Section(QWidget):
    """A heading with a count and buttons for all of it, and the cards below; hidden while there are none."""

    def __init__(self, words: str, hint: str, *buttons: QPushButton) -> None:
        super().__init__()
        self._words = words
        self.heading = label(words, "section")
        self.buttons = buttons
        self.cards: dict[str, Any] = {}
        self.more = label("", "small")
        head = QHBoxLayout()
        spread(head, spacing=4)
        head.addWidget(self.heading, 1)
        for each in buttons:
            head.addWidget(each)
        self._column = QVBoxLayout()
        spread(self._column, spacing=16)
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        column.addLayout(head)
        column.addWidget(label(hint, "small", wrap=True))
        column.addLayout(self._column)
        column.addWidget(self.more)
        self.hide()

    def show_cards(self, values: Sequence[tuple[str, Any]], make: Callable[[Any], QWidget], total: int) -> None:
        """One card a value, by id; those that are shown already stay as they are, also what is being edited there."""
        wanted = dict(values)
        gone = {ident: card for ident, (value, card) in self.cards.items() if wanted.get(ident) != value}
        focused = next(
            (at for at, card in enumerate(self.widgets()) if card.isAncestorOf(card.window().focusWidget())), -1
        )
        for ident in gone:
            del self.cards[ident]
        for at, (ident, value) in enumerate(values):
            if ident not in self.cards:
                self.cards[ident] = (value, make(value))
                self._column.insertWidget(at, self.cards[ident][1])
                if ident in gone:
                    self.cards[ident][1].take_over(gone[ident])
        for card in gone.values():
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        if gone and focused >= 0:
            self._focus(focused)
        self.heading.setText(f"{self._words} · {total}")
        for each in self.buttons:
            each.setVisible(len(values) > 1 or bool(values and len(getattr(values[0][1], "items", ())) > 1))
        left = total - len(values)
        self.more.setText(tr("{n} more come when some of these are answered.", n=left))
        self.more.setVisible(left > 0)
        self.setVisible(bool(values))

    def _focus(self, at: int) -> None:
        """Whoever answers by keyboard goes on with the card that stands there now."""
        cards = self.widgets()
        if cards:
            cards[min(at, len(cards) - 1)].buttons()[0].setFocus()

    def widgets(self) -> list[Any]:
        """The cards, in order."""
        return sorted((card for _, card in self.cards.values()), key=self._column.indexOf)


class ReviewPage(Page):
    """Reads when it is built, for its badge, when it is shown, and after every change."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge, self._theme = services, bridge, theme
        self._waiting: list[Proposal] | None = None  # not read yet
        self._pairs: list[MemoryConflict] | None = None
        self._cancel = CancelToken()
        self.yes_to_all = button(tr("Yes to all"), "quiet", lambda: self._answer_all(True))
        self.no_to_all = button(tr("No to all"), "quiet", lambda: self._answer_all(False))
        self.inbox = Section(
            tr("Waits for your yes"),
            tr("The assistant would like to remember this. Nothing of it is in memory yet."),
            self.yes_to_all,
            self.no_to_all,
        )
        self.conflicts = Section(
            tr("Cannot both hold"),
            tr("Choose what holds. The other line is struck, and still found when you ask for its time."),
        )
        self.same = Section(
            tr("Said twice"), tr("These seem to say the same in other words. Keep one of them; the other is struck.")
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._read_conflicts)
        self._lay_out()
        self._read()
        self.destroyed.connect(self._cancel.cancel)

    def _lay_out(self) -> None:
        self._mark = QLabel()
        self._mark.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.empty = QWidget()
        calm = QVBoxLayout(self.empty)
        spread(calm, (24, 48, 24, 24), 8)
        calm.addWidget(self._mark)
        for words, role in (
            (tr("All is settled"), "title"),
            (tr("Nothing waits for your word, and nothing in memory contradicts itself."), "muted"),
        ):
            line = label(words, role, wrap=True)
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            calm.addWidget(line)
        calm.addStretch()
        self.empty.hide()
        inner = QWidget()
        column = QVBoxLayout(inner)
        spread(column, (16, 8, 16, 16), 24)
        column.addWidget(self.inbox)
        column.addWidget(self.conflicts)
        column.addWidget(self.same)
        column.addWidget(self.empty)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setObjectName("plain")
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        outer = QVBoxLayout(self)
        spread(outer)
        outer.addWidget(self.area)
        self._theme.changed.connect(self._show_mark)
        self._show_mark()

    def _show_mark(self) -> None:
        self._mark.setPixmap(self._theme.icon("check", "accent").pixmap(32, 32))

    # --- reading ---

    def opened(self) -> None:
        self._read()

    def noted(self, event: object) -> None:
        match event:
            case InboxChanged():
                self._read_inbox()
            case MemoryChanged() | WorkspaceChanged():
                self._read_conflicts_soon()
            case IndexProgress(what="vectors", done=done, total=total) if done >= total:
                self._read_conflicts_soon()

    def _read(self) -> None:
        self._read_inbox()
        self._read_conflicts()

    def _read_inbox(self) -> None:
        self._bridge.run(self._services.lanes.files, self._services.review.waiting, done=self._on_inbox)

    def _read_conflicts(self) -> None:
        self._bridge.run(self._services.lanes.keeping, self._services.review.pairs, done=self._on_pairs)

    def _read_conflicts_soon(self) -> None:
        self._timer.start(_SOON_MS if self.isVisible() else _LATER_MS)

    def _on_inbox(self, waiting: list[Proposal]) -> None:
        self._waiting = waiting
        shown = [(proposal.id, proposal) for proposal in waiting[:_MOST_CARDS]]
        self.inbox.show_cards(shown, self._proposal_card, len(waiting))
        self._show_state()

    def _on_pairs(self, pairs: list[MemoryConflict]) -> None:
        self._pairs = pairs
        for section, is_same in ((self.conflicts, False), (self.same, True)):
            found = [pair for pair in pairs if (pair.how == "same") is is_same]
            shown = [(pair.id, pair) for pair in found[:_MOST_CARDS]]
            section.show_cards(shown, self._conflict_card, len(found))
        self._show_state()

    def _show_state(self) -> None:
        if self._waiting is None or self._pairs is None:
            return
        count = sum(len(proposal.items) for proposal in self._waiting) + len(self._pairs)
        self.empty.setVisible(not count)
        self.badge_changed.emit(count)

    def _proposal_card(self, proposal: Proposal) -> ProposalCard:
        card = ProposalCard(proposal, self._today())
        card.answered.connect(self._answer)
        card.chat_chosen.connect(self.chat_chosen)
        return card

    def _conflict_card(self, conflict: MemoryConflict) -> ConflictCard:
        card = ConflictCard(conflict, self._today())
        card.kept.connect(self._keep)
        card.both_chosen.connect(self._both)
        card.opinion_asked.connect(self._ask)
        card.place_chosen.connect(self.place_chosen)
        return card

    def _today(self) -> date:
        return self._services.review.today()

    # --- answers ---

    def _answer(self, ident: str, number: int, text: str) -> None:
        review = self._services.review
        if text:
            self._do(lambda: review.accept(ident, {number: text}), self._on_accepted)
        else:
            self._do(lambda: review.decline(ident, [number]), lambda _: self.said.emit(tr("It is not proposed again")))

    def _answer_all(self, yes: bool) -> None:
        review = self._services.review
        if yes:
            self._do(review.accept_all, lambda _: self.said.emit(tr("Everything that waited is in memory now")))
        else:
            self._do(review.decline_all, lambda _: self.said.emit(tr("Nothing of it is proposed again")))

    def _on_accepted(self, written: Written | None) -> None:
        """What was written shows in a toast by itself, as everything does that the assistant wrote."""
        if written is None:
            self.said.emit(tr("Memory holds that already"))

    def _keep(self, ident: str, which: Literal["older", "newer"]) -> None:
        review = self._services.review
        self._do(lambda: review.keep(ident, which), self._on_kept)

    def _on_kept(self, saved: Saved) -> None:
        self.undo_offered.emit(tr("The other line is struck"), saved.journal_id)
        self._read_conflicts()

    def _both(self, ident: str) -> None:
        review = self._services.review
        self._do(lambda: review.both_hold(ident), self._on_both)

    def _on_both(self, _: None) -> None:
        self.said.emit(tr("Both hold; you are not asked again unless one changes"))
        self._read_conflicts()

    def _do(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._bridge.run(self._services.lanes.files, work, done=done, failed=self._on_failed)

    def _on_failed(self, error: BaseException) -> None:
        """What is shown may be old: read again."""
        self._read()
        self.failed.emit(error)

    def _ask(self, ident: str) -> None:
        review, cancel = self._services.review, self._cancel
        self._bridge.run(
            self._services.lanes.chat,
            lambda: review.opinion(ident, cancel),
            done=lambda opinion: self._on_opinion(ident, opinion),
            failed=lambda error: self._on_no_opinion(ident, error),
        )

    def _on_opinion(self, ident: str, opinion: Any) -> None:
        if ident in self.conflicts.cards:
            self.conflicts.cards[ident][1].show_opinion(opinion)

    def _on_no_opinion(self, ident: str, error: BaseException) -> None:
        """An expected failure is a line of its card: the choice does not depend on it."""
        if ident in self.conflicts.cards:
            known = isinstance(error, AssistantError)
            words = translate_message(str(error)) if known else tr("The model could not be asked.")
            self.conflicts.cards[ident][1].say(words)
        if not isinstance(error, AssistantError):
            self.failed.emit(error)
