"""The command line: global options, one group of commands a file, errors and exit codes as the contract says."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from assistant.cli import (
    ask,
    assistants,
    backup,
    bench,
    chats,
    doctor,
    forget,
    history,
    imports,
    index,
    memory,
    models,
    recall,
    receipt,
    serve,
    summarize,
)
from assistant.cli.context import Context
from assistant.cli.output import Output, silence, use_utf8
from assistant.core.errors import AssistantError, Cancelled
from assistant.runtime.composition import Places

INTERRUPTED = 130
_FIRST_YEAR, _LAST_YEAR = 1900, 9000  # a calendar that can be counted back and forth in
_GROUPS = (
    ask,
    receipt,
    memory,
    recall,
    forget,
    chats,
    assistants,
    summarize,
    index,
    models,
    backup,
    history,
    imports,
    serve,
    doctor,
    bench,
)


def main(arguments: Sequence[str], open_window: Callable[[Places], int]) -> int:
    """Run one command; without one, ``open_window``. Returns the exit code: 0, 1, 2 or 130."""
    try:
        options = build_parser().parse_args(_globals_first(arguments))
        if check := getattr(options, "check", None):  # what argparse cannot say by itself
            check(options)
    except SystemExit as exit_:  # argparse has said why; 2 for wrong usage, 0 for --help
        return int(exit_.code or 0)
    use_utf8(sys.stdin)
    output = Output(as_json=options.json, quiet=options.quiet)
    places = Places(options.workspace, options.config, options.state, options.now, options.assistant)
    try:
        if options.command is None:
            return open_window(places)
        with Context(places, output, reads=getattr(options, "reads", False)) as context:
            return int(options.run(context, options) or 0)
    except AssistantError as error:
        output.error(error)
        return 1
    except (KeyboardInterrupt, Cancelled):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say, at exit neither
        silence(sys.stdout)
        return 1
    except Exception as error:  # noqa: BLE001 - a bug: one line as the contract says, the details behind it
        traceback.print_exc()
        output.error(AssistantError("bug", f"Keepsake made a mistake ({type(error).__name__}).", "See above."))
        return 1


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands; the tests hold it against the contract."""
    parser = argparse.ArgumentParser(
        "keepsake", description="An offline personal assistant. Without a command it opens the window."
    )
    _add_globals(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for group in _GROUPS:
        group.add_commands(commands)
    _describe(commands)
    return parser


def _describe(commands: Any) -> None:
    """Let the help of a command say what it does, not only the list that it stands in."""
    said = {action.dest: action.help for action in commands._choices_actions}
    for name, parser in commands.choices.items():
        words = said.get(name) or ""
        parser.description = parser.description or f"{words[:1].upper()}{words[1:]}."
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)


def _add_globals(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", type=_folder, metavar="DIR", help="the folder with your memory and chats")
    parser.add_argument("--config", type=_folder, metavar="DIR", help="the folder with settings.toml")
    parser.add_argument("--state", type=_folder, metavar="DIR", help="one folder for data, cache and models")
    parser.add_argument("--json", action="store_true", help="JSON on stdout and nothing else")
    parser.add_argument("--quiet", action="store_true", help="no remarks")
    parser.add_argument("--assistant", metavar="NAME", default="", help="another assistant than the default one")
    parser.add_argument("--now", type=_moment, metavar="ISO", help="the time to assume")


def _folder(text: str) -> Path:
    """Not the empty text: an unset variable of a script must not make the current folder a workspace."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            raise ValueError(moment.year)
        return moment
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time like 2026-11-29T15:30:00") from None


def _globals_first(arguments: Sequence[str]) -> list[str]:
    """Global options may stand anywhere before ``--``: argparse wants them in front of the command."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in ("--json", "--quiet"):
            front.append(word)
        elif word in ("--workspace", "--config", "--state", "--now", "--assistant"):
            front += [word, *[next(words, "")]]
        elif word.startswith(("--workspace=", "--config=", "--state=", "--now=", "--assistant=")):
            front.append(word)
        else:
            rest.append(word)
    return front + rest
