"""``keepsake models ...``: GGUF files, here and to be downloaded."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from pathlib import Path
from typing import Any

from assistant.cli.context import Context, natural
from assistant.cli.model_words import catalogue_words, fit_value, fit_words, list_words, offer_value
from assistant.cli.remote import add_remote
from assistant.cli.secret_input import read_secret
from assistant.cli.signals import stopped_by_signals
from assistant.cli.tuning import add_tune
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.engine.model_files import ModelStore, Verified

_NONE = (
    "No models yet. `keepsake models add PATH` adds a GGUF file, `keepsake models catalogue` shows what to download."
)


def add_commands(commands: Any) -> None:
    models = commands.add_parser("models", help="model files")
    actions = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="all that are known").set_defaults(run=run_list)
    add = actions.add_parser("add", help="use a GGUF file, or all of a folder, where they lie")
    add.add_argument("path", metavar="PATH", type=Path, help="a GGUF file or a folder, also one of another program")
    add.set_defaults(run=run_add)
    use = actions.add_parser("use", help="answer with this model from now on")
    use.add_argument("name", metavar="NAME", help="as models list gives it")
    use.set_defaults(run=run_use)
    verify = actions.add_parser("verify", help="check a file's structure, and its checksum where it is known")
    verify.add_argument("name", metavar="NAME", nargs="?", help="as models list gives it; without: all")
    verify.set_defaults(run=run_verify)
    add_tune(actions)
    fit = actions.add_parser("fit", help="how much memory models need, and whether they fit")
    fit.add_argument("name", metavar="NAME", nargs="?", help="as models list gives it; without: all")
    fit.add_argument("--window", metavar="N", type=natural, default=0, help="tokens; without: as in the settings")
    fit.set_defaults(run=run_fit)
    remove = actions.add_parser("remove", help="forget a model; one that was downloaded is deleted")
    remove.add_argument("name", metavar="NAME", help="as models list gives it")
    remove.set_defaults(run=run_remove)
    _add_network(actions)
    add_remote(actions)


def _add_network(actions: Any) -> None:
    actions.add_parser("catalogue", help="models that can be downloaded").set_defaults(run=run_catalogue)
    download = actions.add_parser("download", help="fetch a model of the catalogue over the network and check it")
    download.add_argument(
        "name",
        metavar="NAME",
        help="as models catalogue gives it, or owner/repository/file.gguf; it goes on where it was",
    )
    download.add_argument("--to", metavar="DIR", type=Path, help="another folder than the one for models")
    download.set_defaults(run=run_download)
    token = actions.add_parser("token", help="save an access token for files that are not given to everybody")
    token.add_argument("--remove", action="store_true", help="remove it from the system's keyring")
    token.set_defaults(run=run_token)


def run_list(context: Context, options: Namespace) -> int:
    models = context.services.models()
    words = [list_words(models)] if models else [_NONE]
    with contextlib.suppress(AssistantError):  # there is none
        chosen = context.services.model_service.chosen()
        words += [] if chosen.problem else [f"Used: {chosen.name}"]
    context.output.value({"models": models}, "\n\n".join(words))
    return 0


def run_use(context: Context, options: Namespace) -> int:
    """Also in the place of a server that was used."""
    model = context.services.choose_model(options.name)
    context.output.value(model, f"Used from now on: {model.name}")
    return 0


def run_add(context: Context, options: Namespace) -> int:
    path = named_path(options.path)
    if not path.is_dir():
        model = context.services.add_model(path)
        context.output.value(model, f"Added: {model.name}")
        return 0
    models = context.services.add_model_folder(path)
    words = "\n".join(f"Added: {m.name}" if not m.problem else f"Not usable: {m.name} ({m.problem})" for m in models)
    context.output.value({"folder": path, "models": models}, words)
    return 0


def run_verify(context: Context, options: Namespace) -> int:
    store = context.services.model_service.store
    results = [store.verify(options.name)] if options.name else [_verified(store, m.name) for m in store.list()]
    words = "\n".join(f"{r.name}: {'sound' if r.ok else 'damaged'} ({r.detail})" for r in results)
    context.output.value({"models": results}, words or "No models yet.")
    if damaged := [r.name for r in results if not r.ok]:
        error = AssistantError("model.damaged", f"Damaged: {', '.join(damaged)}.", "Remove the file or fetch it again.")
        context.output.note_error(error)
    return 1 if damaged else 0


def _verified(store: ModelStore, name: str) -> Verified:
    """One of several: what is wrong with it must not hide the others."""
    try:
        return store.verify(name)
    except AssistantError as error:
        return Verified(name, False, "structure", str(error), "")


def run_fit(context: Context, options: Namespace) -> int:
    facts = context.services.model_facts
    found = [facts.of(options.name, options.window)] if options.name else facts.here(options.window)
    context.output.value({"models": [fit_value(fact) for fact in found]}, fit_words(found) or _NONE)
    return 0


def run_remove(context: Context, options: Namespace) -> int:
    model = context.services.remove_model(options.name)
    words = "Deleted" if model.own else "Forgotten; the file stays where it is"
    context.output.value({"name": model.name, "path": model.path, "deleted": model.own}, f"{words}: {model.path}")
    return 0


def run_catalogue(context: Context, options: Namespace) -> int:
    offers = context.services.model_facts.offers()
    context.output.value({"models": [offer_value(offer) for offer in offers]}, catalogue_words(offers))
    return 0


def run_download(context: Context, options: Namespace) -> int:
    downloads = context.services.downloads
    folder = named_path(options.to) if options.to else None
    order = downloads.order(options.name, folder)
    context.output.note(f"From {order.url}\nto {order.target}")
    with stopped_by_signals(context.cancel):
        model = downloads.fetch(options.name, folder, context.cancel, context.output.progress)
    checked = "catalogue" if order.sha256 else "hub"
    whose = "the published checksum" if order.sha256 else "the checksum that its host gives"
    value = {"name": model.name, "path": model.path, "size_bytes": model.size_bytes, "checked": checked}
    context.output.value(value, f"Downloaded and checked against {whose}: {model.name}")
    return 0


def run_token(context: Context, options: Namespace) -> int:
    token = "" if options.remove else read_secret(context, "Access token: ")
    if not token and not options.remove:
        raise AssistantError("download.token_missing", "No access token was given.", "Send it on stdin.")
    host = context.services.downloads.set_token(token)
    done = "Saved in the system's keyring" if token else "Removed from the system's keyring"
    context.output.value({"host": host, "saved": bool(token)}, f"{done}: the access token for {host}.")
    return 0
