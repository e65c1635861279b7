"""Calling pip: without questions, its known noise left out, its own words shown when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_QUIETLY = ["--quiet", "--no-input", "--disable-pip-version-check"]
_NOISE = ("is ignored", "[notice]")


class SetUpError(Exception):
    """A step failed; the message says what and what to do."""


def pip(command: str, *arguments: str, environ: Mapping[str, str] | None = None) -> str:
    """Run ``pip COMMAND``; returns its standard output. Raises SetUpError with pip's own explanation."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", command, *_QUIETLY, *arguments],
        env={**os.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    told = worth_showing(done.stderr.splitlines())
    if done.returncode:
        raise SetUpError("\n".join([f"pip {command} failed:", *told[-40:]]))
    if told:
        print("\n".join(told), file=sys.stderr)
    return done.stdout


def worth_showing(lines: Sequence[str]) -> list[str]:
    """Without what pip says about how this machine's sources of packages are set up, and about newer pips."""
    return [line for line in lines if line.strip() and not any(noise in line for noise in _NOISE)]


def plan_of(requirement: str) -> list[dict[str, Any]]:
    """What an installation would bring, as pip's report has it. Raises SetUpError when it cannot be had."""
    report = pip("install", "--dry-run", "--ignore-installed", "--report", "-", requirement)
    found: list[dict[str, Any]] = json.loads(report)["install"]
    return found


def choose_torch(version: str) -> str:
    """The requirement to install: a CPU build where one is to be had; says so when it must be the one with CUDA."""
    plain = f"torch=={version}"
    if not brings_cuda(plan_of(plain)):
        return plain
    try:
        plan_of(f"{plain}+cpu")
    except SetUpError:
        print("    no CPU build of torch is to be had here: the CUDA build comes instead, about 3 GB", flush=True)
        return plain
    return f"{plain}+cpu"


def brings_cuda(plan: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a plan holds NVIDIA's libraries, which no CPU build needs."""
    names = [str(item["metadata"]["name"]).lower() for item in plan]
    return any(name.startswith(("nvidia-", "cuda-", "triton")) for name in names)
