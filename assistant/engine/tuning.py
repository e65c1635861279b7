"""Which speed settings a model gets on this machine: chosen from what was measured, kept in the state folder."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private, open_private
from assistant.core.json_text import parse_json
from assistant.core.values import EngineSettings
from assistant.engine.speed import Speed
from assistant.engine.threads import usable_cores

FILE = "tuning.json"
_VERSION = 1
_HASHED_BYTES = 1 << 20
QUIET_SHARE, BUSY_SHARE = 0.98, 0.9
"""What a policy has to keep of the best decoding speed on the quiet machine, and beside one busy core."""
_CLEARLY = 1.03
"""A setting other than the usual one has to be so much faster, for a measurement is never quite the same again."""
_AS_FAST = 0.97
_DISTURBING = 0.3


@dataclass(frozen=True, slots=True)
class Policy:
    """Threads and how they wait; fields as core.values.EngineSettings."""

    threads: int
    threads_batch: int
    wait: str
    give_way: bool


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """One number of threads, used for reading and decoding: how fast when quiet, and beside one busy core."""

    threads: int
    wait: str
    give_way: bool
    quiet: Speed
    busy: Speed


@dataclass(frozen=True, slots=True)
class OptionFigures:
    """One way to open the model, with the chosen threads, on the quiet machine. load_ms: milliseconds to open it."""

    name: str
    changes: Mapping[str, str | int | bool]
    speed: Speed
    load_ms: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was measured and chosen. chosen: fields of EngineSettings. measured: an ISO time. seconds: it took.

    others: cores that other programs kept busy just before; "quiet" was not quiet then.
    """

    model: str
    machine: str
    measured: str
    seconds: float
    chosen: Mapping[str, str | int | bool]
    policies: tuple[PolicyFigures, ...]
    options: tuple[OptionFigures, ...]
    others: float = 0.0

    @property
    def disturbed(self) -> bool:
        """Whether it should be measured again in a quiet moment."""
        return self.others > _DISTURBING

    @property
    def reaches(self) -> tuple[float, float]:
        """The chosen policy's decoding speed over the best one's: quiet, beside a busy core."""
        own = self.policy
        return (
            own.quiet.decode / max(figures.quiet.decode for figures in self.policies),
            own.busy.decode / max(figures.busy.decode for figures in self.policies),
        )

    @property
    def policy(self) -> PolicyFigures:
        """The figures of decoding as chosen."""
        return next(figures for figures in self.policies if _is_of(figures, self.chosen["threads"], self.chosen))

    @property
    def reading_policy(self) -> PolicyFigures:
        """The figures of reading as chosen."""
        return next(figures for figures in self.policies if _is_of(figures, self.chosen["threads_batch"], self.chosen))


def choose_policy(measured: Sequence[PolicyFigures]) -> Policy:
    """Decoding first: it must keep its shares of the best speed both when quiet and when busy; then what is fastest.

    Where no policy keeps both, the one that misses its share by least.
    """
    quiet_best, busy_best = (
        max(figures.quiet.decode for figures in measured),
        max(figures.busy.decode for figures in measured),
    )

    def worth(decode: PolicyFigures, read: PolicyFigures) -> tuple[float, float]:
        quiet, busy = decode.quiet.decode / quiet_best, decode.busy.decode / busy_best
        return min(quiet / QUIET_SHARE, busy / BUSY_SHARE, 1.0), quiet + busy + _reading(read, measured)

    pairs = [
        (decode, read)
        for decode in measured
        for read in measured
        if 1 in (decode.threads, read.threads) or (decode.wait, decode.give_way) == (read.wait, read.give_way)
    ]
    decode, read = max(pairs, key=lambda pair: worth(*pair))
    several = read if decode.threads == 1 else decode  # one thread waits for nobody
    return Policy(decode.threads, read.threads, several.wait, several.give_way)


def choose_options(
    policy: Policy, usual: OptionFigures, others: Sequence[OptionFigures]
) -> dict[str, str | int | bool]:
    """What to change of the usual way to open the model.

    Flash attention is taken where it is as fast, for it needs less memory, unless the number of threads that decode may
    change: with it their number shows in the last bits, and a reply with a seed would not be repeated. A smaller cache
    type never for speed alone, for it costs precision: that is a person's choice. Anything else must be clearly faster.
    """
    steady = policy.threads == 1 or not policy.give_way
    chosen: dict[str, str | int | bool] = {}
    for option in others:
        name = next(iter(option.changes))
        ratios = (option.speed.decode / usual.speed.decode, option.speed.read / usual.speed.read)
        as_fast, reads_faster = min(ratios) >= _AS_FAST, ratios[1] >= _CLEARLY  # steps are of reading alone
        enough = {"flash_attention": steady, "batch": reads_faster, "gpu_layers": max(ratios) >= _CLEARLY}
        if as_fast and enough.get(name, False):
            chosen.update({key: value for key, value in option.changes.items() if key not in chosen})
    return chosen


def apply(settings: EngineSettings, tuning: Tuning | None, own: Collection[str] = ()) -> EngineSettings:
    """The settings with what was measured. own: fields that the person has set, which stand.

    What may be guessed ahead was measured with all of the chosen fields, so it goes with any of them.
    """
    if tuning is None:
        return settings
    taken = {name: value for name, value in tuning.chosen.items() if name not in own}
    if any(name in own for name in ("threads", "threads_batch", "flash_attention", "kv_type", "gpu_layers")):
        taken.pop("draft", None)
    return replace(settings, **taken)  # type: ignore[arg-type] # names and types of its fields


class TuningStore:
    """``tuning.json`` in the state folder: the newest tuning of each model on each machine."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE

    def get(self, model: Path) -> Tuning | None:
        """What was measured for this file here with this library; None: nothing, or it cannot be read."""
        try:
            return _from_json(self._kept()[_key(model)])
        except (OSError, LookupError, TypeError, ValueError, ArithmeticError, StopIteration):
            return None

    def put(self, model: Path, tuning: Tuning) -> None:
        """Raises AssistantError("tuning.unwritable")."""
        try:
            self._put(model, tuning)
        except OSError as error:
            message = f"What was measured cannot be kept: {error.strerror or error}."
            raise AssistantError("tuning.unwritable", message, "Make room on the disk, then measure again.") from error

    def _kept(self) -> dict[str, Any]:
        """What the file holds. Raises OSError, LookupError, TypeError or ValueError where it is none of ours."""
        kept = parse_json(self._path.read_bytes())
        return dict(kept["tunings"]) if kept["version"] == _VERSION else {}

    def _put(self, model: Path, tuning: Tuning) -> None:
        try:
            tunings = self._kept()
        except (OSError, LookupError, TypeError, ValueError):
            tunings = {}
        tunings[_key(model)] = asdict(tuning)
        make_private(self._path.parent)
        text = json.dumps({"version": _VERSION, "tunings": tunings}, ensure_ascii=False, sort_keys=True, indent=1)
        fresh = self._path.with_suffix(".new")
        with open(fresh, "w", encoding="utf-8", opener=open_private) as file:
            file.write(text + "\n")
        fresh.replace(self._path)


def machine() -> str:
    """What speeds depend on: processor, the cores that this process may use, the library's version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        library = version("llama-cpp-python")
    except PackageNotFoundError:  # a frozen build without the packages' metadata
        library = "unknown"
    return f"{_processor()}, {usable_cores()} cores, llama-cpp-python {library}"


def _processor(cpu_info: Path = Path("/proc/cpuinfo")) -> str:
    try:
        lines = cpu_info.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _key(model: Path) -> str:
    """The same for a copy under another name: size and first bytes of the file, which hold its metadata."""
    with model.open("rb") as file:
        start = sha256(file.read(_HASHED_BYTES))
    start.update(f"{model.stat().st_size} {machine()}".encode())
    return start.hexdigest()[:32]


def _is_of(figures: PolicyFigures, threads: object, chosen: Mapping[str, object]) -> bool:
    same_ways = (figures.wait, figures.give_way) == (chosen["wait"], chosen["give_way"])
    return figures.threads == threads and (threads == 1 or same_ways)


def _reading(read: PolicyFigures, measured: Sequence[PolicyFigures]) -> float:
    quiet = max(figures.quiet.read for figures in measured)
    busy = max(figures.busy.read for figures in measured)
    return read.quiet.read / quiet + read.busy.read / busy


def _from_json(data: Mapping[str, Any]) -> Tuning:
    policies = [
        PolicyFigures(**{**item, "quiet": Speed(**item["quiet"]), "busy": Speed(**item["busy"])})
        for item in data["policies"]
    ]
    options = [OptionFigures(**{**item, "speed": Speed(**item["speed"])}) for item in data["options"]]
    tuning = Tuning(**{**data, "policies": tuple(policies), "options": tuple(options)})
    _check(tuning)
    return tuning


def _check(tuning: Tuning) -> None:
    """Raises what ``TuningStore.get`` takes for nothing, where somebody else wrote the file or a later version."""
    usual = asdict(EngineSettings())
    if any(type(value) is not type(usual[name]) for name, value in dict(tuning.chosen).items()):
        raise TypeError("a setting of another type")
    if min(*tuning.reaches, tuning.reading_policy.quiet.read) <= 0 or tuning.seconds + tuning.others < 0:
        raise ValueError("speeds that nobody measured")
