"""The person's server: which one, whether they agreed to it, its key, and whether it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Delta, Done, GenerateOptions, Message, ModelInfo, Role
from assistant.engine.remote.address import ServerAddress, parse_address
from assistant.runtime.engines import EngineSwitch
from assistant.runtime.remote_engine import RemoteEngine, ServerChoice
from assistant.runtime.remote_http import Patience
from assistant.settings.schema import Settings
from assistant.settings.secrets import SecretStore
from assistant.settings.store import SettingsStore

_HELLO = (Message(Role.USER, "Say hello."),)
_SHORT = GenerateOptions(max_tokens=8, temperature=0.0)
_TEST_PATIENCE = Patience(first=180.0, between=30.0)
"""A person looks on while a server is tested; the longest that it may need is to load its model."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is set. on: the server is asked; agreed: the person said yes to this address; key: the keyring has one."""

    on: bool
    url: str
    host: str
    here: bool
    encrypted: bool
    model: str
    window: int
    private: bool
    agreed: bool
    key: bool


@dataclass(frozen=True, slots=True)
class ServerTest:
    """A server that works. models: all that it lists; said: what its model answered; took_ms: all of it together."""

    host: str
    model: str
    models: tuple[str, ...]
    window: int
    tools: bool
    counts: bool
    said: str
    took_ms: float


class RemoteService:
    """Implements runtime.models.Servers. Blocking. Raises AssistantError (remote.*, settings.*, keyring.*)."""

    def __init__(
        self, settings: SettingsStore, switch: EngineSwitch, secrets: Callable[[], SecretStore] = SecretStore
    ) -> None:
        self._settings = settings
        self.switch = switch
        self._secrets = secrets
        self._closing = CancelToken()

    # --- for ModelService -----------------------------------------------------------------------------------------

    def wanted(self, model: str = "") -> ServerChoice | None:
        settings = self._settings.load()
        if settings.model.engine != "remote" or self.switch.stays_here:
            self._leave()
            return None
        address = self._address()
        if settings.remote.agreed != address.origin:
            self._leave()
            raise AssistantError(
                "remote.unasked",
                f"You have not said yet that what you write may go to {address.host}.",
                "Switch the server on in the settings, or: keepsake models remote on.",
            )
        return _choice(settings, address, model)

    def connected(self, choice: ServerChoice) -> ModelInfo | None:
        engine = self.switch.remote
        if engine.choice != choice:
            return None
        self.switch.use_remote(True)
        return engine.info

    def lasting(self) -> ModelInfo | None:
        """The server's model, where it answers all chats but private ones and this thread works for one of those."""
        return self.switch.remote.info if self.switch.stays_here and self.switch.uses_remote else None

    def connect(self, choice: ServerChoice, usual_window: int, cancel: CancelToken) -> ModelInfo:
        self.switch.use_remote(True)
        return self.switch.remote.connect(choice, usual_window, cancel)

    def _leave(self) -> None:
        if not self.switch.stays_here:
            self.switch.use_remote(False)

    # --- for the person -------------------------------------------------------------------------------------------

    def state(self) -> ServerState:
        """Never raises for an address that is none: it is shown as it stands."""
        settings = self._settings.load()
        remote = settings.remote
        try:
            address = parse_address(remote.url)
        except AssistantError:
            address = ServerAddress("", "", "", False)
        return ServerState(
            settings.model.engine == "remote",
            remote.url,
            address.host,
            address.here,
            address.encrypted,
            remote.model,
            remote.window,
            remote.private == "on",
            bool(address.origin) and remote.agreed == address.origin,
            bool(address.origin) and remote.key_for == address.origin,
        )

    def set_server(self, url: str, model: str | None = None, window: int | None = None) -> ServerAddress:
        """Note a server; nothing is sent to it by that. What is None stays as it is."""
        address = parse_address(url)
        values: dict[str, str | int] = {"url": url.strip()}
        values |= {"model": model} if model is not None else {}
        values |= {"window": window} if window is not None else {}
        self._settings.update("remote", **values)
        return address

    def turn_on(self) -> ServerAddress:
        """Use the server that is set. The caller has told the person what goes where, and they said yes."""
        address = self._address()
        self._settings.update("remote", agreed=address.origin)
        self._settings.update("model", engine="remote")
        return address

    def turn_off(self) -> None:
        """Use the models of this machine again."""
        if self._settings.load().model.engine != "local":
            self._settings.update("model", engine="local")
        self._leave()
        self.switch.remote.unload()

    def allow_private(self, wanted: bool) -> None:
        """Whether private chats, and what was said in them, may go to the server, too."""
        self._settings.update("remote", private="on" if wanted else "off")

    def set_key(self, key: str, *, openly: bool = False) -> None:
        """Put the key of the server that is set into the keyring, in the place of any other; "" removes it.

        openly: the person was warned that anybody on the way can read it; ("remote.open_key") without that, where it
        would go over plain http to another machine.
        """
        address, known = self._address(), self._settings.load().remote.key_for
        _check_key(address, key, openly)
        if key:
            self._secrets().set(_name(address.origin), key.strip())
        elif known:
            self._secrets().delete(_name(known))
        self._settings.update("remote", key_for=address.origin if key else "")
        self.switch.remote.unload()  # it is connected again with the key that there is now
        if key and known not in ("", address.origin):  # nothing leads to it any more: it would stay there for ever
            self._secrets().delete(_name(known))

    def test(
        self, cancel: CancelToken, url: str = "", model: str = "", key: str | None = None, *, openly: bool = False
    ) -> ServerTest:
        """Ask a server what it has and let its model say hello; nothing of the person's is sent.

        url, model: "" for those that are set; key: None for the one in the keyring. openly: as for ``set_key``.
        """
        settings = self._settings.load()
        address = parse_address(url) if url else self._address()
        _check_key(address, key or "", openly)
        engine = RemoteEngine(lambda origin: self.key(origin) if key is None else key, _TEST_PATIENCE)
        choice = ServerChoice(address, model if url else model or settings.remote.model, proxy=settings.downloads.proxy)
        started = time.perf_counter()
        take_back = self._closing.on_cancel(cancel.cancel)
        try:
            info = engine.connect(choice, 0, cancel)
            said = _hello(engine, cancel)
            facts = engine.facts
        finally:
            take_back()
            engine.close()
        took = (time.perf_counter() - started) * 1000
        return ServerTest(info.host, info.name, facts.models, info.window, info.tools, facts.is_llama, said, took)

    def close(self) -> None:
        """End a test that runs."""
        self._closing.cancel()

    def key(self, origin: str) -> str:
        """The key of a server, "" where there is none. The keyring is asked only where it is known to have one."""
        if self._settings.load().remote.key_for != origin:
            return ""
        return self._secrets().get(_name(origin)) or ""

    def _address(self) -> ServerAddress:
        """Of the server that is set."""
        url = self._settings.load().remote.url
        if not url.strip():
            raise AssistantError(
                "remote.none", "No server is set.", "Name one in the settings, or: keepsake models remote URL."
            )
        return parse_address(url)


def _choice(settings: Settings, address: ServerAddress, model: str) -> ServerChoice:
    remote, proxy = settings.remote, settings.downloads.proxy
    return ServerChoice(address, model or remote.model, remote.window, proxy, remote.private == "on")


def _name(origin: str) -> str:
    """A key belongs to one address: whatever else is set later never gets it."""
    return f"server {origin}"


def _check_key(address: ServerAddress, key: str, openly: bool) -> None:
    if any(not " " <= c <= "~" for c in key.strip()):
        raise AssistantError("remote.bad_key", "This is no key: it holds more than letters, digits and signs.")
    if key and address.open_to_others and not openly:
        raise AssistantError(
            "remote.open_key",
            f"{address.host} is asked without encryption: anybody on the way could read the key.",
            "Use an address that begins with https://, or say that you want it all the same.",
        )


def _hello(engine: RemoteEngine, cancel: CancelToken) -> str:
    said = ""
    for event in engine.chat(_HELLO, _SHORT, cancel):
        if isinstance(event, Delta) and not event.thought:
            said += event.text
        elif isinstance(event, Done):
            said = event.text or said
    return " ".join(said.split())
