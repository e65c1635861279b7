"""What a stranger's template may cost: so many steps, so long texts, so much memory. Jinja's sandbox bounds none.

Steps are lines of Python, counted by the interpreter while the template runs: the same template ends at the same step
on every machine, and nothing has to watch a clock.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

STEPS = 2_000_000
"""A chat of a thousand messages takes some 200 000; this many take about a second."""
CHARACTERS = 2_000_000
"""Of any text that the template makes, beyond eight times what it was given."""
MEMORY = 512 << 20
"""Bytes that it may take beside what is taken already; for what gets past the bounds of each way to make a text."""
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z]*(?:\d{4}|\*)")
_WIDE_FIELD = re.compile(r"\d{4}|\{[^{}]*\{")
_MOST_WIDTH = 1_000
_WIDTH_FILTERS = ("center", "indent")


class TemplateLimitError(Exception):
    """The template wants more steps or longer texts than any chat needs."""


class LimitedTemplate:
    """Stands where the formatter keeps its compiled template: ``render`` is all that it asks of it."""

    def __init__(self, environment: Any, source: str) -> None:
        """environment: Jinja's sandboxed one, which is changed for good."""
        environment.intercepted_binops = frozenset({"+", "*", "**", "%"})
        environment.call_binop = _binop(environment.call_binop)
        environment.call = _call(environment.call)
        for name in _WIDTH_FILTERS:
            environment.filters[name] = _narrow(environment.filters[name])
        environment.filters["format"] = _format(environment.filters["format"])
        environment.filters["replace"] = _replace(environment.filters["replace"])
        self._lock = threading.Lock()  # the limit of memory is the whole process's
        with _limited_memory(), _limited_steps():
            self._template = environment.from_string(source)
        names = self._template.root_render_func.__globals__
        names["str_join"] = _join(names["str_join"])

    def render(self, **values: Any) -> str:
        """As jinja2.Template.render, from any thread. Raises TemplateLimitError, and whatever the template raises."""
        room = CHARACTERS + 8 * sum(len(str(message)) for message in values.get("messages", ()))
        pieces: list[str] = []
        with self._lock, _limited_memory(), _limited_steps():
            for piece in self._template.generate(**values):
                pieces.append(piece)
                room -= len(piece)
                if room < 0:
                    raise TemplateLimitError("the template writes without end")
        return "".join(pieces)


@contextmanager
def _limited_steps() -> Iterator[None]:
    left = STEPS

    def step(_frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                raise TemplateLimitError("the template runs without end")
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def _limited_memory() -> Iterator[None]:
    """What goes beyond it is a MemoryError of Python's; the system would kill the whole worker for it."""
    take_back = _limit_memory(MEMORY)
    try:
        yield
    finally:
        take_back()


def _limit_memory(more: int) -> Callable[[], None]:
    """Let this process take so many bytes more, where the system knows such a limit; what is returned ends it."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):
        return lambda: None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _binop(operate: Callable[..., Any]) -> Callable[..., Any]:
    def bounded(context: Any, operator: str, left: Any, right: Any) -> Any:
        sizes = [len(value) for value in (left, right) if isinstance(value, str | list | tuple)]
        numbers = [abs(value) for value in (left, right) if isinstance(value, int)]
        if operator == "+":
            _check(sum(sizes))
        elif operator == "*" and sizes:
            _check(max([*sizes, 1]) * max([*numbers, 1]))
        elif operator == "**" or (operator == "*" and max([*numbers, 0]).bit_length() > 4_000):
            _check(CHARACTERS + 1 if max([*numbers, 0]) > _MOST_WIDTH else 0)
        elif operator == "%" and isinstance(left, str):
            _check_format(left)
        return operate(context, operator, left, right)

    return bounded


def _call(call: Callable[..., Any]) -> Callable[..., Any]:
    """Methods such as ``ljust`` take a width."""

    def bounded(context: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(getattr(called, "__wrapped__", called), "__self__", None)  # the sandbox wraps str.format
        if isinstance(owner, str):
            _check_widths((*args, *kwargs.values()))
            _check(CHARACTERS + 1 if hasattr(called, "__wrapped__") and _WIDE_FIELD.search(owner) else 0)
            _check_growth(getattr(called, "__name__", ""), owner, args)
        return call(context, called, *args, **kwargs)

    return bounded


def _replace(filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)  # Jinja looks for its marks on it
    def bounded(context: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        _check_growth("replace", str(value), (*args, *kwargs.values()))
        return filter_(context, value, *args, **kwargs)

    return bounded


def _narrow(filter_: Callable[..., Any]) -> Callable[..., Any]:
    def bounded(value: Any, *args: Any, **kwargs: Any) -> Any:
        _check_widths((*args, *kwargs.values()))
        return filter_(value, *args, **kwargs)

    return bounded


def _format(filter_: Callable[..., Any]) -> Callable[..., Any]:
    def bounded(value: Any, *args: Any, **kwargs: Any) -> Any:
        _check_format(str(value))
        return filter_(value, *args, **kwargs)

    return bounded


def _join(join: Callable[..., str]) -> Callable[..., str]:
    def bounded(parts: Any) -> str:
        texts = [str(part) for part in parts]
        _check(sum(map(len, texts)) // 8)  # what was given may be long
        return join(texts)

    return bounded


def _check(size: int) -> None:
    if size > CHARACTERS:
        raise TemplateLimitError("the template makes texts without end")


def _check_growth(name: str, text: str, args: tuple[Any, ...]) -> None:
    """What a text may become by ``replace`` or ``join``, beyond eight times what it was."""
    if name == "replace" and len(args) > 1:
        _check((text.count(str(args[0])) * len(str(args[1]))) // 8)
    elif name == "join" and args and isinstance(args[0], str | list | tuple):
        _check(len(text) * len(args[0]))


def _check_widths(values: tuple[Any, ...]) -> None:
    if any(isinstance(value, int) and abs(value) > _MOST_WIDTH for value in values):
        raise TemplateLimitError("the template makes very wide texts")


def _check_format(text: str) -> None:
    if _WIDE_FORMAT.search(text):
        raise TemplateLimitError("the template makes very wide texts")
