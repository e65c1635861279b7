"""``keepsake models tune --show``: what was measured, in words and as JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assistant.engine.tuning import TuningStore
from tests.cli.conftest import Keepsake
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.engine.test_tuning import TUNING


def test_what_was_measured_is_shown(keepsake: Keepsake, tmp_path: Path) -> None:
    model = tmp_path / "tiny.gguf"
    model.write_bytes(gguf_bytes(chat_facts()))
    assert keepsake("models", "add", str(model)).code == 0
    asked = keepsake("models", "tune", "--show", "--json")
    assert asked.code == 1 and asked.json["error"]["code"] == "tuning.none"

    store = TuningStore(tmp_path / "st" / "state")
    store.put(model, TUNING)
    words = keepsake("models", "tune", "tiny", "--show").out
    assert "2, fewer while others work  as built  170 / 66.0  85 / 46.0" in words
    assert "threads: 1 to write, 2 to read, fewer while others work, waiting as built, flash attention" in words
    assert "up to 8 tokens guessed ahead" in words and "keeps 0.98 when quiet and 1.00 beside" in words
    assert "quiet moment" not in words
    shown = keepsake("models", "tune", "--show", "--json").json
    assert shown["reaches"] == {"quiet": 0.985, "busy": 1.0}
    assert shown["chosen"]["threads_batch"] == 2 and shown["policies"][0]["quiet"] == {"read": 90, "decode": 65}

    store.put(model, replace(TUNING, others=1.2))
    assert "Other programs kept 1.2 cores busy: measure again" in keepsake("models", "tune", "--show").out
