"""llama-cpp-python is source only: its wheel is compiled once, kept outside the clone, and checked when it is used."""

from __future__ import annotations

import json
import shutil
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tools.setup_steps.stamps import key_of, sha256_of

VERSION = "0.3.36"
# Runs on any processor of its kind (the wheel may move to another machine); no picture models.
FLAGS = "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
_NOTE = "wheel.json"


def flags_with(own: str) -> str:
    """Our flags, then those a person added in CMAKE_ARGS (such as -DGGML_CUDA=ON)."""
    return f"{FLAGS} {own}".strip()


def folder_of(cache: Path, flags: str) -> Path:
    """Where the wheel built with these flags for this platform lies."""
    return cache / "wheels" / f"llama_cpp_python-{VERSION}-{key_of(flags, sysconfig.get_platform())[:12]}"


def find(folder: Path) -> Path | None:
    """The wheel in the folder; None when there is none or when it is not, byte for byte, what was stored."""
    try:
        note = json.loads((folder / _NOTE).read_text())
        wheel = folder / Path(note["file"]).name
        whole = wheel.stat().st_size == note["size"] and sha256_of(wheel) == note["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return wheel if whole else None


def store(wheel: Path, folder: Path) -> Path:
    """Copy a wheel into the cache in one step, replacing what is there. Raises ValueError for a damaged wheel."""
    if not zipfile.is_zipfile(wheel):
        raise ValueError(f"{wheel.name} is not a wheel")
    with zipfile.ZipFile(wheel) as archive:
        if damaged := archive.testzip():
            raise ValueError(f"{wheel.name} is damaged at {damaged}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as fresh:
        ready = Path(fresh) / "ready"
        ready.mkdir()
        shutil.copyfile(wheel, ready / wheel.name)
        note = {"file": wheel.name, "size": wheel.stat().st_size, "sha256": sha256_of(ready / wheel.name)}
        (ready / _NOTE).write_text(json.dumps(note))
        if folder.exists():
            folder.rename(Path(fresh) / "old")
        ready.rename(folder)
    return folder / wheel.name


def ensure(folder: Path, build: Callable[[Path], Path]) -> Path:
    """The wheel, from the cache or else by ``build(into) -> wheel``, which is then stored."""
    if wheel := find(folder):
        return wheel
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder.parent) as into:
        return store(build(Path(into)), folder)
