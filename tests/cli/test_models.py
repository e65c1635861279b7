"""``keepsake models``: what is here, how it fits, what can be fetched, and fetching it from a hub on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.engine.catalogue import CatalogueModel
from assistant.engine.memory_estimate import ModelShape
from tests.cli.conftest import Keepsake
from tests.engine.downloads.hub import DIGEST, MODEL, Hub, serve_hub
from tests.real_models import starter_model_path

SHAPE = ModelShape(600, 64, 4, 128, 64, 64)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    models = (
        CatalogueModel("Known", "Known 1B", ("en", "zh"), 2, "o/k", "", "Known.gguf", len(MODEL), DIGEST, "MIT")
        , CatalogueModel("Free", "Free 8B", ("en",), 0, "o/f", "", "Free.gguf", 0, "", "MIT", 8 * 10**9, "Q4_0", 4096)
        , CatalogueModel("Huge", "H", ("en",), 0, "o/h", "", "H.gguf", 10**14, "", "MIT", 1, "Q8_0", 1, True, SHAPE)
    )  # fmt: skip
    monkeypatch.setattr("assistant.engine.model_files.load_catalogue", lambda: models)
    monkeypatch.setattr("assistant.engine.downloads.web.Patience.before", lambda *_: 0.0)
    with serve_hub() as served:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "settings.toml").write_text(f'[downloads]\nhost = "{served.url}"\n')
        yield served


def test_a_model_is_described_and_its_memory_worked_out(keepsake: Keepsake) -> None:
    keepsake("models", "add", str(starter_model_path()))
    (listed,) = keepsake("models", "list", "--json").json["models"]
    assert {"name", "path", "size_bytes", "architecture", "quantisation", "window_trained", "licence", "problem"} <= (
        listed.keys()
    )
    assert (listed["parameters"], listed["languages"], listed["template"]) == (134_515_008, ["en"], True)
    assert "135M" in keepsake("models", "list").out
    (fit,) = keepsake("models", "fit", "--json").json["models"]
    assert fit["fit"] in ("fits", "tight") and fit["window"] == 4096
    assert fit["needed"] == fit["weights"] + fit["cache"] + fit["work"] + fit["base"]
    (large,) = keepsake("models", "fit", listed["name"], "--window", "8192", "--json").json["models"]
    assert large["cache"] == 2 * fit["cache"]
    assert "needs" in keepsake("models", "fit").out


def test_a_folder_is_added_and_a_model_of_it_forgotten(keepsake: Keepsake, tmp_path: Path) -> None:
    folder = tmp_path / "LM Studio"
    folder.mkdir()
    (folder / "one.gguf").write_bytes(MODEL)
    (folder / "cut.gguf").write_bytes(MODEL[:50])
    added = keepsake("models", "add", str(folder), "--json").json
    assert [(model["name"], bool(model["problem"])) for model in added["models"]] == [("cut", True), ("one", False)]
    removed = keepsake("models", "remove", "one", "--json").json
    assert (removed["deleted"], (folder / "one.gguf").exists()) == (False, True)
    assert [model["name"] for model in keepsake("models", "list", "--json").json["models"]] == ["cut"]


def test_a_broken_model_hides_no_other_when_all_are_checked(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "lm").mkdir()
    (tmp_path / "lm" / "one.gguf").write_bytes(MODEL)
    (tmp_path / "lm" / "cut.gguf").write_bytes(MODEL[:50])
    keepsake("models", "add", str(tmp_path / "lm"))
    result = keepsake("models", "verify", "--json")
    assert result.code == 1
    assert {model["name"]: model["ok"] for model in result.json["models"]} == {"cut": False, "one": True}
    assert "cut off" in result.json["models"][0]["detail"] and "Damaged: cut." in result.err
    assert "cut off" in keepsake("models", "verify", "cut").err


def test_the_catalogue_says_what_each_is_and_how_it_fits(keepsake: Keepsake, hub: Hub) -> None:
    models = {model["name"]: model for model in keepsake("models", "catalogue", "--json").json["models"]}
    assert models["Known"]["checked"] == "catalogue" and models["Free"]["checked"] == "hub"
    assert models["Free"]["size_bytes"] == 0 and models["Free"]["about_bytes"] > 4 * 10**9
    assert (models["Huge"]["fit"], models["Huge"]["tools"]) == ("too_big", True)
    words = keepsake("models", "catalogue").out
    assert "en zh +2" in words and "about 4.6 GB" in words and "too big" in words
    assert hub.asked == []


def test_a_model_is_fetched_checked_listed_and_deleted(keepsake: Keepsake, hub: Hub, tmp_path: Path) -> None:
    said = keepsake("models", "download", "known")
    assert said.code == 0 and hub.url in said.err and "published checksum" in said.out
    assert keepsake("models", "download", "known", "--json").json["error"]["code"] == "download.there"
    assert keepsake("models", "catalogue", "--json").json["models"][0]["here"] == "Known"
    assert keepsake("models", "remove", "Known", "--json").json["deleted"] is True
    assert not (tmp_path / "st" / "models" / "Known.gguf").exists()


def test_one_without_a_published_hash_needs_the_hubs(keepsake: Keepsake, hub: Hub, tmp_path: Path) -> None:
    assert keepsake("models", "download", "Free", "--json").json["error"]["code"] == "download.no_hash"
    hub.linked = DIGEST
    fetched = keepsake("models", "download", "Free", "--to", str(tmp_path / "usb"), "--json").json
    assert (fetched["checked"], fetched["path"]) == ("hub", str(tmp_path / "usb" / "Free.gguf"))
    assert [model["name"] for model in keepsake("models", "list", "--json").json["models"]] == ["Free"]


def test_any_file_of_the_hub_is_fetched_by_its_path(keepsake: Keepsake, hub: Hub, tmp_path: Path) -> None:
    path = "someone/some-repo/Q4 0/Some-Model.gguf"
    assert keepsake("models", "download", path, "--json").json["error"]["code"] == "download.no_hash"
    hub.linked = DIGEST
    assert keepsake("models", "download", path, "--json").json["name"] == "Some-Model"
    assert hub.asked[-1].path == "/someone/some-repo/resolve/main/Q4%200/Some-Model.gguf"
    assert (tmp_path / "st" / "models" / "Some-Model.gguf").exists()
    lost = ("a/b/../c.gguf", "a//c.gguf", "a/b/..\\c.gguf", "a/b/C:c.gguf")
    for wrong in (*lost, "a/b/c.bin", "/b/c.gguf", "a/b/.gguf/"):
        assert keepsake("models", "download", wrong, "--json").json["error"]["code"] == "model.not_in_catalogue"


def test_a_download_that_was_cut_goes_on(keepsake: Keepsake, hub: Hub) -> None:
    hub.cut_after, hub.ranges = 40_000, False
    cut = keepsake("models", "download", "Known", "--json")
    assert (cut.code, cut.json["error"]["code"]) == (1, "download.cut")
    hub.cut_after, hub.ranges = None, True
    (known, *_) = keepsake("models", "catalogue", "--json").json["models"]
    assert (known["here"], known["arrived"]) == ("", 40_000)
    hub.asked.clear()
    assert keepsake("models", "download", "Known").code == 0
    assert hub.ranges_asked() == ["bytes=40000-"]


def test_a_token_comes_from_stdin_only(keepsake: Keepsake, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, str] = {}
    monkeypatch.setattr("assistant.settings.secrets.SecretStore.set", lambda _, name, value: held.update({name: value}))
    monkeypatch.setattr("assistant.settings.secrets.SecretStore.get", lambda _, name: held.get(name))
    assert keepsake("models", "token", "--json", stdin="hf_abc\n").json == {"host": "127.0.0.1", "saved": True}
    assert held == {"access token for 127.0.0.1": "hf_abc"}
    assert keepsake("models", "token", "--json").json["error"]["code"] == "download.token_missing"
    hub.status, hub.statuses = 403, 1
    assert keepsake("models", "download", "Known").code == 0
    assert [one.headers.get("authorization") for one in hub.asked] == [None, "Bearer hf_abc"]
