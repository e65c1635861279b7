"""What is chosen from what was measured, and where it is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.core.values import EngineSettings
from assistant.engine.speed import Speed
from assistant.engine.tuning import (
    FILE,
    OptionFigures,
    Policy,
    PolicyFigures,
    Tuning,
    TuningStore,
    apply,
    choose_options,
    choose_policy,
)


def figures(threads: int, wait: str, give_way: bool, *speeds: float) -> PolicyFigures:
    """speeds: read and decode when quiet, read and decode beside a busy core."""
    return PolicyFigures(threads, wait, give_way, Speed(*speeds[:2]), Speed(*speeds[2:]))


def option(name: str, value: str | int | bool, read: float, decode: float) -> OptionFigures:
    return OptionFigures(name, {name: value}, Speed(read, decode), 300)


ONE = figures(1, "passive", False, 90, 65, 88, 47)
ASLEEP = figures(2, "passive", False, 165, 17, 91, 30)
SPINNING = figures(2, "library", False, 170, 66, 38, 5)
YIELDING = figures(2, "library", True, 170, 66, 85, 46)
STEADY = Policy(1, 2, "library", True)
TUNING = Tuning(
    model="starter",
    machine="a machine",
    measured="2026-11-30T12:00:00+01:00",
    seconds=40.5,
    chosen={"threads": 1, "threads_batch": 2, "wait": "library", "give_way": True, "draft": 8, "flash_attention": "on"},
    policies=(ONE, YIELDING),
    options=(option("flash_attention", "on", 170, 66),),
)


def test_one_thread_decodes_where_it_is_as_fast() -> None:
    assert choose_policy([ONE, ASLEEP, SPINNING]) == Policy(1, 2, "passive", False)


def test_threads_that_give_way_keep_both_speeds() -> None:
    fast = [figures(2, "library", False, 60, 20, 20, 1), figures(2, "library", True, 60, 20, 30, 11)]
    slow = figures(1, "passive", False, 31, 12, 30, 11.5)
    assert choose_policy([slow, *fast]) == Policy(2, 2, "library", True)


def test_where_no_policy_keeps_both_the_one_that_misses_least_is_taken() -> None:
    slow, fast = figures(1, "passive", False, 30, 12, 30, 11), figures(2, "library", False, 60, 20, 20, 1)
    middle = figures(2, "passive", False, 60, 17, 30, 8)
    assert choose_policy([slow, fast, middle]) == Policy(2, 2, "passive", False)


def test_another_way_to_open_a_model_must_be_clearly_faster() -> None:
    usual = option("", "", 170, 66)
    assert choose_options(STEADY, usual, [option("batch", 64, 172, 66), option("flash_attention", "on", 150, 70)]) == {}
    assert choose_options(STEADY, usual, [option("batch", 64, 180, 66), option("batch", 128, 190, 66)]) == {"batch": 64}
    assert choose_options(STEADY, usual, [option("batch", 64, 172, 72)]) == {}  # steps have no part in decoding
    assert choose_options(STEADY, usual, [option("flash_attention", "on", 169, 65)]) == {"flash_attention": "on"}
    changing = Policy(2, 2, "library", True)
    assert choose_options(changing, usual, [option("flash_attention", "on", 169, 65)]) == {}
    assert choose_options(STEADY, usual, [option("kv_type", "q8_0", 300, 99), option("mmap", False, 300, 99)]) == {}
    assert choose_options(STEADY, usual, [option("gpu_layers", 999, 900, 99)]) == {"gpu_layers": 999}


def test_what_a_person_has_set_stands() -> None:
    assert apply(EngineSettings(), None) == EngineSettings()
    tuned = apply(EngineSettings(window=512), TUNING)
    assert (tuned.window, tuned.threads_batch, tuned.wait, tuned.draft) == (512, 2, "library", 8)
    own = apply(EngineSettings(threads=3, threads_batch=3), TUNING, ("threads", "threads_batch"))
    assert (own.threads, own.threads_batch, own.flash_attention, own.draft) == (3, 3, "on", 0)


def test_shares_of_the_best_speed() -> None:
    assert TUNING.policy == ONE and TUNING.reading_policy == YIELDING
    assert TUNING.reaches == (65 / 66, 1.0)


def test_it_is_kept_for_the_model_whatever_its_file_is_called(tmp_path: Path) -> None:
    model, other = tmp_path / "a.gguf", tmp_path / "b.gguf"
    model.write_bytes(b"GGUF" * 1000)
    other.write_bytes(b"GGUF" * 1001)
    store = TuningStore(tmp_path / "state")
    assert store.get(model) is None
    store.put(model, TUNING)
    store.put(other, TUNING)
    assert TuningStore(tmp_path / "state").get(model) == TUNING
    shutil.copy(model, tmp_path / "copy.gguf")
    assert store.get(tmp_path / "copy.gguf") == TUNING
    assert store.get(tmp_path / "gone.gguf") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"threads": 1', '"threads": "1"'),
        ('"threads": 1', '"threads": 7'),
        ('"draft": 8', '"a later version\x27s": 8'),
        ('"decode": 65', '"decode": 0'),
        ('"decode": 65', '"decode": "fast"'),
        ('"chosen": {', '"chosen": [], "was": {'),
        ('"seconds": 40.5', '"seconds": "long"'),
    ],
)
def test_figures_that_we_did_not_write_are_none(tmp_path: Path, old: str, new: str) -> None:
    model = tmp_path / "a.gguf"
    model.write_bytes(b"GGUF")
    store = TuningStore(tmp_path)
    store.put(model, TUNING)
    text = (tmp_path / FILE).read_text()
    assert old in text
    (tmp_path / FILE).write_text(text.replace(old, new))
    assert store.get(model) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "tunings": []}', '{"version": 9, "tunings": {}}'])
def test_a_file_that_says_nothing_is_begun_anew(tmp_path: Path, text: str) -> None:
    model = tmp_path / "a.gguf"
    model.write_bytes(b"GGUF")
    (tmp_path / FILE).write_text(text)
    store = TuningStore(tmp_path)
    assert store.get(model) is None
    store.put(model, TUNING)
    assert store.get(model) == TUNING


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    model = tmp_path / "a.gguf"
    model.write_bytes(b"GGUF")
    (tmp_path / "file").write_text("")
    with pytest.raises(AssistantError) as error:
        TuningStore(tmp_path / "file").put(model, TUNING)
    assert error.value.code == "tuning.unwritable"


def test_what_was_measured_with_other_cores_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    store = TuningStore(tmp_path)
    store.put(model, TUNING)
    assert store.get(model) == TUNING
    monkeypatch.setattr("assistant.engine.tuning.usable_cores", lambda: 64)
    assert store.get(model) is None
