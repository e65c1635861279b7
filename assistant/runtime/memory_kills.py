"""How often the system ended a process for want of memory. Linux counts it; elsewhere nothing is claimed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")
_CGROUPS = Path("/sys/fs/cgroup")


class MemoryKills:
    """Reads the counters ``oom_kill`` of our control group and of the whole machine.

    The counter of the machine alone would do where we may see it; in a container it may stand still, or count what
    happens to others. Together with a kill that was not ours, one that rose is evidence enough.
    """

    def __init__(self, files: Iterable[Path] | None = None) -> None:
        self._files = tuple(files) if files is not None else (*_group_files(), _VMSTAT)

    def count(self) -> int:
        """Their sum, which rises when any of them does; 0 where there is none."""
        return sum(_counter(file) for file in self._files)


def _counter(file: Path) -> int:
    """memory.events and vmstat have lines of a name and a number, the older memory.oom_control too."""
    try:
        text = file.read_text("ascii", "replace")
    except OSError:
        return 0
    words = (line.split() for line in text.splitlines() if line.startswith("oom_kill "))
    return max((int(line[1]) for line in words if len(line) == 2 and line[1].isdecimal()), default=0)


def _group_files(own: Path = Path("/proc/self/cgroup")) -> list[Path]:
    """Of both versions of control groups; see cgroups(7). In a container the path may not be there, but its root is."""
    try:
        lines = own.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            files += [_CGROUPS / path.lstrip("/") / "memory.events", _CGROUPS / "memory.events"]
        elif "memory" in controllers.split(","):
            folder = _CGROUPS / "memory"
            files += [folder / path.lstrip("/") / "memory.oom_control", folder / "memory.oom_control"]
    return files
