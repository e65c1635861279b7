"""Downloads as the window drives them, from a hub on loopback: events, pause, continue, cancel, and the token."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import DownloadChanged, DownloadStatus, Event
from assistant.engine.catalogue import CatalogueModel
from assistant.engine.downloads.web import Patience
from assistant.engine.model_files import ModelStore
from assistant.runtime.composition import Places, compose
from assistant.runtime.downloads import DownloadService
from assistant.runtime.leaving import leave_when_cancelled
from assistant.settings.secrets import SecretStore
from assistant.settings.store import SettingsStore
from tests.engine.downloads.hub import DIGEST, MODEL, Hub, serve_hub

NAMES = ("one", "two")
QUICK = Patience(tries=2, pause=0.0)


class Keyring(SecretStore):
    """A keyring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.asked: list[str] = []

    def get(self, name: str) -> str | None:
        self.asked.append(name)
        return self.held.get(name)

    def set(self, name: str, secret: str) -> None:
        self.held[name] = secret

    def delete(self, name: str) -> bool:
        return self.held.pop(name, None) is not None


class House:
    """The service over a hub, and what it told."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        catalogue = [
            CatalogueModel(name, name, ("en",), 0, f"o/{name}", "", f"{name}.gguf", len(MODEL), DIGEST, "MIT")
            for name in NAMES
        ]
        catalogue.append(CatalogueModel("starter", "S", ("en",), 0, "", "", "", 1, "", "MIT"))
        self.folder, self.hub, self.keyring = folder / "models", hub, Keyring()
        self.settings = SettingsStore(folder / "settings.toml")
        self.settings.update("downloads", host=hub.url)
        self.events: list[DownloadChanged] = []
        self.on_event: Callable[[DownloadChanged], None] = lambda _: None
        self._changed = threading.Condition()
        self.store = ModelStore(self.folder, catalogue)
        self.service = DownloadService(self.store, self.settings, self._take, self.keyring, QUICK)

    def _take(self, event: Event) -> None:
        assert isinstance(event, DownloadChanged)
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()
        self.on_event(event)

    def until(self, name: str, status: DownloadStatus) -> DownloadChanged:
        """The first event of that kind that was not looked at before; those before it are dropped."""

        def found() -> DownloadChanged | None:
            return next((one for one in self.events if (one.name, one.status) == (name, status)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, 30), self.events
            event = found()
            assert event is not None
            del self.events[: self.events.index(event) + 1]
            return event

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name != "models.json")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve_hub() as served:
        yield served


@pytest.fixture
def house(tmp_path: Path, hub: Hub) -> Iterator[House]:
    made = House(tmp_path, hub)
    yield made
    made.service.close()


def test_a_download_ends_as_a_model_in_the_list(house: House) -> None:
    house.service.start("one")
    done = house.until("one", DownloadStatus.DONE)
    assert (done.done, done.total, done.host) == (len(MODEL), len(MODEL), "127.0.0.1")
    assert [(file.name, file.problem, file.own) for file in house.store.list()] == [("one", "", True)]
    assert house.service.states() == [done]
    assert house.keyring.asked == []


def test_nothing_is_fetched_unasked(house: House) -> None:
    house.service.states()
    house.service.order("one")
    assert house.hub.asked == []


def test_pausing_keeps_what_came_and_continuing_goes_on_there(house: House) -> None:
    house.hub.slow = True
    house.on_event = lambda event: house.service.pause("one") if event.done else None
    house.service.start("one")
    assert house.until("one", DownloadStatus.PAUSED).done == 8
    assert house.names() == ["one.gguf.part", "one.gguf.part.json"]
    house.hub.slow, house.on_event = False, lambda _: None
    house.service.start("one")
    house.until("one", DownloadStatus.DONE)
    assert house.hub.ranges_asked() == ["", "bytes=8-"]


def test_one_that_an_earlier_run_left_is_shown_paused_and_waits_for_the_person(house: House, tmp_path: Path) -> None:
    house.hub.cut_after, house.hub.ranges = 40_000, False
    house.service.start("one")
    error = house.until("one", DownloadStatus.FAILED).error
    assert error is not None and error.code == "download.cut"
    house.hub.asked.clear()
    again = House(tmp_path, house.hub)
    (state,) = again.service.states()
    assert (state.status, state.done, state.total) == (DownloadStatus.PAUSED, 40_000, len(MODEL))
    assert house.hub.asked == []
    again.service.close()


@pytest.mark.parametrize("running", [True, False])
def test_cancelling_leaves_nothing(house: House, running: bool) -> None:
    house.hub.slow = True
    act = house.service.cancel if running else house.service.pause
    house.on_event = lambda event: act("one") if event.status is DownloadStatus.READING else None
    house.service.start("one")
    if not running:
        house.until("one", DownloadStatus.PAUSED)
        house.service.cancel("one")
    assert house.until("one", DownloadStatus.GONE).done == 0
    assert house.names() == []


def test_two_downloads_go_one_after_the_other(house: House) -> None:
    house.service.start("one")
    house.service.start("two")
    house.service.start("one")
    house.until("two", DownloadStatus.DONE)
    assert [one.path for one in house.hub.asked] == [f"/o/{name}/resolve/main/{name}.gguf" for name in NAMES]


@pytest.mark.parametrize(("act", "status"), [("pause", DownloadStatus.PAUSED), ("cancel", DownloadStatus.GONE)])
def test_one_that_waits_for_another_ends_when_it_is_told_to(house: House, act: str, status: DownloadStatus) -> None:
    house.hub.slow = True
    house.service.start("one")
    house.until("one", DownloadStatus.READING)
    house.service.start("two")
    house.until("two", DownloadStatus.QUEUED)
    getattr(house.service, act)("two")
    house.until("two", status)
    assert house.service.running() == ("one",)
    house.service.cancel("three")  # nor what an earlier run left
    house.until("three", DownloadStatus.FAILED)
    house.service.start("two")  # it may be asked for again at once
    assert house.until("two", DownloadStatus.QUEUED)


def test_one_that_is_asked_for_while_its_rest_is_thrown_away_can_be_paused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of what an earlier run left is not the end of the one that was asked for since."""
    thrown, go_on = threading.Event(), threading.Event()

    def slow(_target: Path) -> None:
        thrown.set()
        assert go_on.wait(30)

    monkeypatch.setattr("assistant.engine.downloads.part.discard_part", slow)
    house.hub.slow = True
    house.service.cancel("one")
    assert thrown.wait(30)
    house.service.start("one")
    house.until("one", DownloadStatus.READING)
    go_on.set()
    house.service.pause("one")
    house.until("one", DownloadStatus.PAUSED)
    assert house.service.running() == ()


def test_the_token_is_sent_only_where_the_file_is_not_given_without(house: House) -> None:
    house.hub.status, house.hub.statuses = 401, 1
    house.service.start("one")
    error = house.until("one", DownloadStatus.FAILED).error
    assert error is not None and error.code == "download.gated" and "access token" in error.hint
    assert house.service.set_token(" hf_abc ") == "127.0.0.1"
    house.hub.statuses = 1
    house.service.start("one")
    house.until("one", DownloadStatus.DONE)
    assert [one.headers.get("authorization") for one in house.hub.asked] == [None, None, "Bearer hf_abc"]
    house.service.set_token("")
    assert house.keyring.held == {}


def test_the_token_of_one_host_is_not_another_hosts(house: House) -> None:
    house.service.set_token("hf_abc")
    house.settings.update("downloads", host="http://localhost:1")
    assert house.service.host() == "localhost"
    house.settings.update("downloads", host=house.hub.url)
    assert list(house.keyring.held) == ["access token for 127.0.0.1"]


@pytest.mark.parametrize("token", ["a b", "a\nb", "密码", "\x00"])
def test_what_can_be_no_token_is_refused(house: House, token: str) -> None:
    with pytest.raises(AssistantError) as caught:
        house.service.set_token(token)
    assert caught.value.code == "download.token"
    assert house.keyring.held == {}


@pytest.mark.parametrize("host", ["ftp://x", "huggingface.co", "https://", "http://[::1"])
def test_a_host_that_is_none_is_told(house: House, host: str) -> None:
    house.settings.update("downloads", host=host)
    house.service.start("one")
    error = house.until("one", DownloadStatus.FAILED).error
    assert error is not None and error.code == "download.host"
    assert house.service.host() == ""


@pytest.mark.parametrize(("name", "code"), [("starter", "download.not_offered"), ("x", "model.not_in_catalogue")])
def test_what_is_not_offered_is_told(house: House, name: str, code: str) -> None:
    with pytest.raises(AssistantError) as caught:
        house.service.order(name)
    assert caught.value.code == code


def test_closing_stops_and_keeps_what_came(house: House) -> None:
    house.hub.slow = True
    reading = threading.Event()
    house.on_event = lambda event: reading.set() if event.done else None
    house.service.start("one")
    assert reading.wait(30)
    assert house.service.running() == ("one",)
    house.service.close()
    assert house.service.running() == ()
    assert house.names() == ["one.gguf.part", "one.gguf.part.json"]


def test_a_server_that_says_nothing_keeps_nobody_waiting(house: House) -> None:
    house.hub.silent = True
    house.service.start("one")
    assert house.hub.connected.wait(30)
    house.service.pause("one")
    house.until("one", DownloadStatus.PAUSED)
    house.service.start("one")
    house.until("one", DownloadStatus.QUEUED)
    house.service.close()
    assert house.service.running() == ()


def test_an_answer_that_comes_too_late_is_closed() -> None:
    """The call is left, then returns; both in every order that threads can take."""
    cancel, go, closed = CancelToken(), threading.Event(), threading.Event()

    def call() -> str:
        cancel.cancel()
        assert go.wait(30)
        return "late"

    with pytest.raises(Cancelled):
        leave_when_cancelled(call, cancel, lambda result: closed.set() if result == "late" else None)
    go.set()
    assert closed.wait(30)


def test_a_call_that_is_not_left_gives_what_it_gives() -> None:
    assert leave_when_cancelled(lambda: 3, CancelToken(), lambda _: None) == 3
    with pytest.raises(ZeroDivisionError):
        leave_when_cancelled(lambda: 1 // 0, CancelToken(), lambda _: None)


def test_one_that_runs_goes_on_when_the_person_goes_to_another_assistant(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CatalogueModel("one", "one", ("en",), 0, "o/one", "", "one.gguf", len(MODEL), DIGEST, "MIT")
    monkeypatch.setattr("assistant.engine.model_files.load_catalogue", lambda: (known,))
    monkeypatch.setattr("assistant.runtime.models.ModelService.load", lambda *_: None)  # the model is not the point
    places = Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state")
    services = compose(places, {})
    services.settings.update("downloads", host=hub.url)
    reading, done = threading.Event(), threading.Event()

    def note(event: Event) -> None:
        if isinstance(event, DownloadChanged) and event.done:
            (done if event.status is DownloadStatus.DONE else reading).set()

    services.subscribe(note)
    hub.slow = True
    services.downloads.start("one")
    assert reading.wait(30)
    workers = services.hand_over().result()
    assert workers.downloads == ("one",)
    hub.slow = False
    after = compose(places, {}, workers=workers)
    after.subscribe(note)
    after.start()
    assert done.wait(30)
    after.close()
    assert hub.ranges_asked() == ["", "bytes=8-"]


def test_the_proxy_of_the_settings_is_used_and_no_token_goes_over_a_plain_connection(house: House) -> None:
    """The host does not exist; our hub on loopback answers in its place, as its proxy."""
    house.settings.update("downloads", host="http://hub.example", proxy=house.hub.url)
    house.service.fetch("one", None, CancelToken(), lambda *_: None)
    house.keyring.held["access token for hub.example"] = "hf_abc"
    house.hub.status = 401
    with pytest.raises(AssistantError) as caught:
        house.service.fetch("two", None, CancelToken(), lambda *_: None)
    assert caught.value.code == "download.gated"
    assert house.hub.asked[0].path == "http://hub.example/o/one/resolve/main/one.gguf"
    assert len(house.hub.asked) == 3
    assert all("authorization" not in one.headers for one in house.hub.asked)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://"])
def test_a_proxy_that_cannot_be_used_is_told(house: House, proxy: str) -> None:
    house.settings.update("downloads", host="http://hub.example", proxy=proxy)
    with pytest.raises(AssistantError) as caught:
        house.service.fetch("one", None, CancelToken(), lambda *_: None)
    assert caught.value.code == "download.proxy_kind"


def test_another_folder_is_known_from_then_on(house: House, tmp_path: Path) -> None:
    model = house.service.fetch("one", tmp_path / "usb stick", CancelToken(), lambda *_: None)
    assert model.path == tmp_path / "usb stick" / "one.gguf" and not model.own
    assert [file.path for file in house.store.list()] == [model.path]
