"""``keepsake serve``: other programs of this computer ask as they would ask OpenAI, and get answers with memory."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assistant.cli.context import Context
from assistant.cli.signals import stopped_by_signals
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ModelLoading, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assistant.runtime.serving.endpoint import Endpoint
    from assistant.runtime.serving.gate import Gate
    from assistant.runtime.serving.service import Serving

PORT = 11343
_LAST_PORT = 65_535
_LOOK_SECONDS = 1.0  # on Windows a wait without an end hears no Ctrl+C


def add_commands(commands: Any) -> None:
    serve = commands.add_parser("serve", help="answer other programs of this computer, as OpenAI's interface does")
    serve.add_argument("--port", type=_port, default=PORT, metavar="N", help=f"{PORT} by default; 0: any free one")
    serve.add_argument("--model", metavar="NAME", default="", help="another model than the one of the settings")
    serve.add_argument("--no-memory", action="store_true", help="no request gets memory, whatever it asks for")
    serve.add_argument(
        "--origin", type=_origin, action="append", default=[], metavar="URL", help="let this web page ask, too"
    )
    serve.add_argument("--new-token", action="store_true", help="make a new token; the one before opens nothing more")
    serve.set_defaults(run=run_serve)


def run_serve(context: Context, options: Namespace) -> int:
    """Serves until it is told to end; then the exit code is 0, for that is how it ends."""
    from assistant.runtime.serving.gate import Gate
    from assistant.runtime.serving.service import Serving
    from assistant.runtime.serving.token import client_token
    from assistant.settings.secrets import SecretStore

    stop = CancelToken()
    context.services.subscribe(lambda event: _show(context, event))
    serving = Serving(context.services, options.model, memory=not options.no_memory)
    token, why_once = client_token(SecretStore(), anew=options.new_token)
    gate = Gate(token, frozenset(options.origin))
    with stopped_by_signals(stop), _bound(serving, gate, options.port) as endpoint:
        info = serving.start(stop)
        endpoint.start()
        value = {
            "url": endpoint.url,
            "token": token,
            "token_kept": why_once is None,
            "model": info.name,
            "host": info.host,
            "memory": not options.no_memory,
            "addresses": endpoint.addresses,
        }
        kept = "kept in your keyring." if why_once is None else f"for this run only. {why_once.message}"
        memory = "without memory" if options.no_memory else "with your memory"
        name = f"{info.name} on {info.host}" if info.host else info.name
        words = f"{name} answers at {endpoint.url}, {memory}.\nToken: {token}\nIt is {kept}\nCtrl+C ends it."
        context.output.value(value, words)
        while not stop.wait(_LOOK_SECONDS):
            pass
    return 0


@contextmanager
def _bound(serving: Serving, gate: Gate, port: int) -> Iterator[Endpoint]:
    """The port is taken before the model is loaded, and given back however it ends."""
    from assistant.runtime.serving.endpoint import Endpoint

    try:
        endpoint = Endpoint(serving, gate, port)
    except OSError as error:
        why = error.strerror or os.strerror(error.errno or 0)
        hint = "Choose another port with --port, or 0 for any free one."
        raise AssistantError("serve.port", f"The port {port} cannot be had: {why}.", hint) from error
    try:
        yield endpoint
    finally:
        serving.close()
        endpoint.close()


def _show(context: Context, event: Event) -> None:
    match event:
        case ModelLoading(name, fraction):
            context.output.progress(round(fraction * 100), 100, f"loading {name}")
        case Notice(words):
            context.output.note(words)
        case _:
            pass


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is no port from 0 to {_LAST_PORT}")
    return int(text)


def _origin(text: str) -> str:
    from assistant.runtime.serving.gate import is_origin

    if not is_origin(text):
        raise ArgumentTypeError(f"{text!r} is no origin like https://example.org or app://obsidian.md")
    return text
