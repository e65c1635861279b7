"""``keepsake models remote``: a server of one's own in the place of a model on this machine."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from assistant.cli.context import Context, natural
from assistant.cli.secret_input import read_secret
from assistant.core.errors import AssistantError

if TYPE_CHECKING:
    from assistant.runtime.remote import RemoteService, ServerState

_WORDS = ("on", "off", "test", "key", "show")


def add_remote(actions: Any) -> None:
    remote = actions.add_parser(
        "remote",
        help="ask a server of yours (llama-server, Ollama, vLLM ...) instead of a model on this machine",
    )
    remote.add_argument(
        "what",
        metavar="URL|on|off|test|key|show",
        nargs="?",
        default="show",
        help="its address, which switches it on; or on, off; test: see what it has; key: save its key, from stdin",
    )
    remote.add_argument("--model", metavar="NAME", help="which of its models; without: its first")
    remote.add_argument(
        "--window", metavar="N", type=natural, help="its context window in tokens, where it does not say"
    )
    remote.add_argument("--private", choices=("on", "off"), help="whether private chats may go there, too")
    remote.add_argument("--yes", action="store_true", help="do not ask whether what you write may go there")
    remote.add_argument("--open", action="store_true", help="let the key go there without encryption all the same")
    remote.add_argument("--remove", action="store_true", help="with key: remove it from the system's keyring")
    remote.set_defaults(run=run_remote)


def run_remote(context: Context, options: Namespace) -> int:
    service = context.services.remote
    before = service.state()
    if options.what not in _WORDS:
        service.set_server(options.what, options.model or "", options.window or 0)
    elif options.model is not None or options.window is not None:
        service.set_server(service.state().url, options.model, options.window)
    if options.private:
        service.allow_private(options.private == "on")
    match options.what:
        case "show":
            pass
        case "off":
            service.turn_off()
        case "test":
            return _test(context, service)
        case "key":
            service.set_key("" if options.remove else _key(context), openly=options.open)
        case _:
            try:
                _agree(context, service.state(), options.yes)
            except BaseException:
                if before.on and before.agreed:  # who does not want another server keeps the one that is used
                    service.set_server(before.url, before.model, before.window)
                raise
            service.turn_on()
    _show(context, service.state())
    return 0


def _test(context: Context, service: RemoteService) -> int:
    found = service.test(context.cancel)
    answers = f"{found.host} answers with {found.model} in {found.took_ms / 1000:.1f} s: {found.said}"
    window = f"context window {found.window} tokens" if found.window else "it does not say how large its window is"
    others = f"models: {', '.join(found.models)}" if found.models else "it lists no models"
    context.output.value(found, f"{answers}\n{window}; {others}")
    return 0


def _show(context: Context, state: ServerState) -> None:
    if not state.url:
        context.output.value(
            state, "No server is set: models run on this machine. `keepsake models remote URL` names one."
        )
        return
    used = "is used" if state.on and state.agreed else "is set, but not used"
    parts = [
        f"{state.url} {used}",
        f"model: {state.model or 'its first'}",
        f"context window: {state.window or 'as it says'}",
        f"private chats: {'go there, too' if state.private else 'stay on this machine'}",
        f"key: {'in the keyring' if state.key else 'none'}",
    ]
    context.output.value(state, "\n".join(parts))


def what_goes(host: str, here: bool, encrypted: bool, private: bool) -> str:
    """What a person says yes to."""
    lines = [
        f"While it is used, {host} gets what you write, the chat so far, the lines of memory that belong to it (each",
        "receipt shows which), and older messages to summarize. The rest of your memory stays here.",
        "Private chats go there, too." if private else "Private chats stay here.",
    ]
    if here:
        lines.append("The server runs on this machine; what it does with that is up to it.")
    elif not encrypted:
        lines.append("WITHOUT ENCRYPTION: anybody in the network on the way can read all of it.")
    return "\n".join(lines)


def _agree(context: Context, state: ServerState, yes: bool) -> None:
    """Once for an address. Raises AssistantError where nobody says yes."""
    if not state.url:
        raise AssistantError("remote.none", "No server is set.", "Name one: keepsake models remote URL")
    if state.agreed or yes:
        return
    words = what_goes(state.host, state.here, state.encrypted, state.private)
    if not context.output.as_json and sys.stdin is not None and sys.stdin.isatty():
        context.output.text(f"{words}\nUse it? [y/N] ")
        if sys.stdin.readline().strip().casefold() in ("y", "yes", "是"):
            return
    else:
        context.output.note(words)
    raise AssistantError("remote.unasked", f"{state.host} is not used.", "Say --yes to use it.")


def _key(context: Context) -> str:
    if key := read_secret(context, "Key: "):
        return key
    raise AssistantError("remote.bad_key", "There is no key on standard input.", "Remove it with --remove.")
