"""Settings: a server of one's own that answers in the place of a model on this laptop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.engine.remote.address import ServerAddress, parse_address
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.server_mark import ask_to_send, ask_to_send_key
from assistant.ui.settings.form import SettingsPage
from assistant.ui.widgets import button, label, restyle, spread

if TYPE_CHECKING:
    from assistant.runtime.remote import ServerTest


class ServerPage(SettingsPage):
    """Where replies are made, the server, its key, and a try whether it answers."""

    tested = Signal()

    def __init__(self, services: Backend, bridge: Bridge) -> None:
        super().__init__(tr("Server"))
        self._services, self._bridge = services, bridge
        self._agreed = self._key_for = ""
        self._cancel = CancelToken()
        here, there = tr("by a model on this laptop"), tr("by the server below")
        self.add_choice("engine", tr("Replies are made"), {"local": here, "remote": there}, _explained())
        self.url = self.add_text("url", tr("Address"), " ", "http://localhost:8080")
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.add_field(tr("Key"), self.key, tr("Kept in the system's keyring, sent to this address only."))
        self.test_button = button(tr("Test connection"), "", self._on_test)
        self.result = label("", "small", wrap=True)
        self.result.setAccessibleName(tr("Result of the test"))
        row = QWidget()
        line = QHBoxLayout(row)
        spread(line, spacing=12)
        line.addWidget(self.test_button)
        line.addWidget(self.result, 1)
        self.add_words("", row)
        self.model = self._model_field()
        self.add_number(
            "window",
            tr("Context window"),
            0,
            1_048_576,
            tr("Tokens. Set it where the server does not say how large it is."),
            special=tr("as the server says"),
        )
        choices = {"off": tr("are answered on this laptop"), "on": tr("may go to the server, too")}
        self.add_choice("private", tr("Private chats"), choices)
        self.url.textChanged.connect(self._show_way)

    # --- values ---------------------------------------------------------------------------------------------------

    def show_settings(self, settings: Any) -> None:
        """Show the stored values of both sections."""
        self._agreed, self._key_for = settings.remote.agreed, settings.remote.key_for
        values = {name: getattr(settings.remote, name) for name in ("url", "model", "window", "private")}
        self.show_named({"engine": settings.model.engine, **values})
        self._show_way()

    def sections(self) -> dict[str, dict[str, str | int | float]]:
        """What changed, by the section that it belongs to; switching on and off is not among it."""
        return {"remote": {name: value for name, value in self.changes().items() if name != "engine"}}

    @property
    def wants_server(self) -> bool:
        return self.chosen("engine") == "remote"

    @property
    def is_changed(self) -> bool:
        return bool(self.changes() or self.key.text())

    def address(self) -> ServerAddress:
        """Raises AssistantError("remote.address")."""
        return parse_address(self.url.text())

    def may_save(self) -> bool:
        """Ask what has to be asked: before anything goes to an address for the first time, or a key in the clear.

        False when the person does not want it. Raises AssistantError for an address that is none.
        """
        if not self.wants_server and not self.key.text():
            return True
        address = self.address()
        if self.key.text() and address.open_to_others and not ask_to_send_key(self, address.host):
            return False
        if not self.wants_server or address.origin == self._agreed:
            return True
        private = self.chosen("private") == "on"
        return ask_to_send(self, address.host, address.here, address.encrypted, private)

    def apply(self) -> None:
        """After the settings were written, on a lane: the key, and which engine it is."""
        remote = self._services.remote
        if self._typed_key:
            remote.set_key(self._typed_key, openly=True)
        if self._chosen or self._was_chosen:  # else the model of this laptop stays loaded as it is
            self._services.use_server(self._chosen)

    def hold(self) -> None:
        """Take from the fields what ``apply`` needs, which must not touch them."""
        self._typed_key, self._chosen = self.key.text().strip(), self.wants_server
        self._was_chosen = self._before.get("engine") == "remote"

    def stop(self) -> None:
        """The dialog closes."""
        self._cancel.cancel()

    # --- the test -------------------------------------------------------------------------------------------------

    def _on_test(self) -> None:
        try:
            address = self.address()
        except AssistantError as error:
            self._on_failed(error)
            return
        typed = self.key.text().strip()
        goes_open = address.open_to_others and bool(typed or self._key_for == address.origin)
        if goes_open and not ask_to_send_key(self, address.host):
            return
        self._cancel.cancel()
        self._cancel = CancelToken()
        self.test_button.setEnabled(False)
        self._show(tr("Asking {host}…", host=address.host), "small")
        test, cancel, url, model = self._services.remote.test, self._cancel, self.url.text(), self.model.currentText()
        self._bridge.run(
            self._services.lanes.keeping,
            lambda: test(cancel, url, model.strip(), typed or None, openly=goes_open),
            done=self._on_tested,
            failed=self._on_failed,
        )

    def _on_tested(self, found: ServerTest) -> None:
        self.test_button.setEnabled(True)
        chosen = self.model.currentText()
        self.model.clear()
        self.model.addItems(list(found.models))
        self.model.setEditText(chosen)
        said = found.said if len(found.said) <= 60 else found.said[:59] + "…"
        words = tr("{model} answers: {said}", model=found.model, said=said)
        window = tr("Context window: {n} tokens", n=f"{found.window:,}") if found.window else ""
        self._show(" · ".join(part for part in (words, window) if part), "small")
        self.tested.emit()

    def _on_failed(self, error: BaseException) -> None:
        self.test_button.setEnabled(True)
        if isinstance(error, AssistantError):
            self._show(translate_message(str(error)), "smallred")
        elif not isinstance(error, Cancelled):  # the dialog closed meanwhile
            self._bridge.work_failed.emit(error)
        self.tested.emit()

    def _show(self, words: str, role: str) -> None:
        self.result.setText(words)
        restyle(self.result, "role", role)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _model_field(self) -> QComboBox:
        field = QComboBox()
        field.setEditable(True)
        if line := field.lineEdit():
            line.setPlaceholderText(tr("its first"))
        self.add_field(tr("Its model"), field, tr("Empty for its first one. A test fills the list."), name="model")
        return field

    def _show_way(self) -> None:
        """Below the address: whether others can read along."""
        hint = self.hints["url"]
        try:
            address = self.address()
        except AssistantError as error:
            hint.setText(translate_message(error.hint) if self.url.text().strip() else tr("llama-server, Ollama, …"))
            restyle(hint, "role", "small")
            return
        if address.open_to_others:
            hint.setText(tr("Not encrypted: anybody in the network on the way can read your messages and the key."))
        elif address.here:
            hint.setText(tr("A server on this laptop."))
        else:
            hint.setText(tr("Encrypted on the way to {host}.", host=address.host))
        restyle(hint, "role", "smallamber" if address.open_to_others else "small")
        kept = tr("saved in the keyring") if self._key_for == address.origin else tr("none")
        self.key.setPlaceholderText(kept)


def _explained() -> str:
    return tr(
        "A llama-server, Ollama, vLLM, LM Studio or any other that speaks OpenAI's language. Off unless you choose it."
    )
