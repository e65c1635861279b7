"""Run every check on an environment that set_up.py made: ``check.py [lint|format|tests|long] [pytest arguments]``.

Without a word: format, lint, types, layers and the tests. All of them run even if one fails; the exit code is 0 only
when all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS = 5  # pytest's exit code for them
TESTS = ["pytest", "--timeout=600", "-m"]  # seconds a test: one that hangs is named, not waited for
# Most of a test's time is waiting, for a model or a process. A file stays in one of the two, with what it shares.
AT_ONCE = ["-n", "2", "--dist", "loadfile"]
# By module, not by the scripts in .venv/bin: those hold the folder's path and break when the clone is moved.
START = {
    "ruff": ["-m", "ruff"],
    "mypy": ["-m", "mypy"],
    "pytest": ["-m", "pytest"],
    "lint-imports": ["-c", "from importlinter.cli import lint_imports_command as main; main()"],
}


def main(arguments: Sequence[str]) -> int:
    words = {"lint", "format", "tests", "long"}
    what, rest = (arguments[0], list(arguments[1:])) if arguments and arguments[0] in words else ("", list(arguments))
    commands = {
        "lint": lint(),
        "format": [["ruff", "format", "."], ["ruff", "check", "--fix", "."]],
        "tests": [[*TESTS, "not long", *AT_ONCE, *rest]],
        "long": [[*TESTS, "long", *rest]],
        "": [*lint(), [*TESTS, "not long", *AT_ONCE, *rest]],
    }[what]
    environ = os.environ if what in ("lint", "format") else test_environ(os.environ)
    failed = [" ".join(command[:2]) for command in commands if not passes(command, environ)]
    if failed:
        print(f"\nFailed: {', '.join(failed)}", flush=True)
    return bool(failed)


def lint() -> list[list[str]]:
    """The checks that read the code without running it."""
    return [["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"], ["lint-imports"]]


def test_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """No window, no network, one thread a library, and where the models are."""
    from tools.setup_steps.models import embedding_folder, starter_file
    from tools.setup_steps.plan import cache_folder

    cache = cache_folder(environ)
    return {
        **environ,
        "QT_QPA_PLATFORM": "offscreen",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "passive",
        "KEEPSAKE_STARTER_MODEL": str(starter_file(cache)),
        "KEEPSAKE_EMBEDDING_MODEL": str(embedding_folder(cache, ROOT / "tools" / "build_embedding_model.py")),
    }


def passes(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Run one command; the long tests pass too when there are none."""
    print(f"==> {' '.join(command)}", flush=True)
    code = subprocess.run(
        [sys.executable, *START[command[0]], *command[1:]], cwd=ROOT, env=environ, check=False
    ).returncode
    return code == 0 or (code == NO_TESTS and "long" in command)


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main(sys.argv[1:]))
