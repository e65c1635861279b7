"""The composition root: arguments, logging, hooks, services, then the window or a command."""

from __future__ import annotations

import faulthandler
import logging
import logging.handlers
import os
import runpy
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from assistant.cli.bench.startup import PROBE
from assistant.cli.main import main as run_command_line
from assistant.core.errors import AssistantError
from assistant.core.folders import make_private, open_private
from assistant.runtime.assistants import DEFAULT
from assistant.runtime.composition import Places, compose, find_assistants
from assistant.runtime.services import Services
from assistant.runtime.workers import Workers
from assistant.settings.paths import find_paths
from assistant.settings.store import SettingsStore
from assistant.workspace.disk import as_error

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_LOG_BYTES = 1_000_000
_log = logging.getLogger("assistant")


def main(arguments: Sequence[str]) -> int:
    """Run the app with these arguments (without the program's name); returns the exit code."""
    if arguments[:1] == ["--worker"] and len(arguments) == 2:  # a packaged app starts its workers through itself
        return _run_worker(arguments[1])
    return run_command_line(arguments, open_window)


def _run_worker(module: str) -> int:
    if module not in ("assistant.engine.worker", "assistant.recall.meaning.embed_worker"):
        return 2
    runpy.run_module(module, run_name="__main__")
    return 0


def open_window(places: Places) -> int:
    """Open the window on the workspace and stay until it is closed.

    Raises AssistantError where there is no screen, and where the workspace or our own folders cannot be used; that it
    has shown in a dialog then: whoever started the app from a menu sees no terminal.
    """
    check_screen(os.environ, sys.platform)
    from assistant.ui.application import build_application
    from assistant.ui.errors import ErrorDialog

    paths = find_paths(places.config, places.state, os.environ)
    general = SettingsStore(paths.settings_file).load().general
    application = build_application(sys.argv[:1], general.language, general.theme)
    logs = paths.state / "logs"
    try:
        with _logging(logs / "keepsake.log"), _crash_file(logs / "crash.log"):
            return _run_window(application, places, logs)
    except AssistantError as error:
        ErrorDialog(error).exec()
        raise


def _run_window(application: QApplication, places: Places, logs: Path) -> int:
    from assistant.ui.application import find_theme
    from assistant.ui.errors import ErrorReporter
    from assistant.ui.signals import EndSignals
    from assistant.ui.windows import Windows

    def other(name: str, workers: Workers) -> Services:
        return compose(replace(places, assistant=name or DEFAULT), workers=workers)

    windows = Windows(compose(last_assistant(places)), find_theme(application), other)
    reporter = ErrorReporter(logs / "keepsake.log", application)
    install_hooks(reporter.report)
    if os.environ.get(PROBE):
        from assistant.ui.probe import StartupProbe

        StartupProbe(windows.window, windows.window.page.composer.edit)
    with EndSignals(application) as signals:
        signals.asked.connect(lambda: windows.window.end())  # unsaved text is kept for the next time
        signals.demanded.connect(application.quit)
        windows.show()
        try:
            return int(application.exec())
        finally:
            sys.excepthook = sys.__excepthook__
            windows.close()


def last_assistant(places: Places, environ: Mapping[str, str] = os.environ) -> Places:
    """With the assistant that was open last, unless one was named or that one is gone."""
    from assistant.ui.window_state import FILE, load_assistant

    if places.assistant or environ.get("KEEPSAKE_ASSISTANT"):
        return places
    assistants = find_assistants(places, environ)
    state = find_paths(places.config, places.state, environ).state
    name = load_assistant(state / FILE, assistants.base)
    return replace(places, assistant=name) if name in assistants.names() else places


def check_screen(environ: Mapping[str, str], platform: str) -> None:
    """Say in words that there is no screen: Qt would end the process with a trace of its own."""
    named = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    if platform == "linux" and not named:
        raise AssistantError(
            "window.no_screen",
            "There is no screen to open the window on.",
            "Start it from a desktop session, or use a command: keepsake --help lists them.",
        )


def install_hooks(report: Callable[[BaseException], None]) -> None:
    """Send every unexpected error to the log and to ``report``; errors in destructors go to the log only."""

    def on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _log.error("unexpected error", exc_info=(kind, error, trace))
        report(error)

    def on_thread_error(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            on_error(args.exc_type, args.exc_value, args.exc_traceback)

    def on_unraisable(args: sys.UnraisableHookArgs) -> None:
        _log.error("error in a destructor: %s", args.err_msg, exc_info=args.exc_value)

    sys.excepthook = on_error
    threading.excepthook = on_thread_error
    sys.unraisablehook = on_unraisable


class _PrivateLog(logging.handlers.RotatingFileHandler):
    """Each new file is the person's alone."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=open_private)


class _logging:  # noqa: N801 - used as a function
    """Log of the app to a file that starts anew when it grows large; the person's words are never logged."""

    def __init__(self, path: Path) -> None:
        try:
            make_private(path.parent)
            self._handler = _PrivateLog(path, "a", _LOG_BYTES, 1, encoding="utf-8")
        except OSError as error:
            raise as_error(error, path.parent) from error
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def __enter__(self) -> None:
        _log.addHandler(self._handler)
        _log.setLevel(logging.INFO)

    def __exit__(self, *_: object) -> None:
        _log.removeHandler(self._handler)
        self._handler.close()


class _crash_file:  # noqa: N801 - used as a function
    """Where the interpreter writes the stacks if it dies in native code."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a", encoding="utf-8", opener=open_private)  # noqa: SIM115 - open till the end

    def __enter__(self) -> None:
        faulthandler.enable(self._file)

    def __exit__(self, *_: object) -> None:
        faulthandler.disable()
        self._file.close()
