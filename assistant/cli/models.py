"""``keepsake models ...``: GGUF files."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from assistant.cli.context import Context
from assistant.cli.tuning import add_tune
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path


def add_commands(commands: Any) -> None:
    models = commands.add_parser("models", help="model files")
    actions = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="all that are known").set_defaults(run=run_list)
    add = actions.add_parser("add", help="use a GGUF file where it lies")
    add.add_argument("path", metavar="PATH", type=Path, help="a GGUF file; it stays where it is")
    add.set_defaults(run=run_add)
    verify = actions.add_parser("verify", help="check a file's structure, and its checksum where it is known")
    verify.add_argument("name", metavar="NAME", nargs="?", help="as models list gives it; without: all")
    verify.set_defaults(run=run_verify)
    add_tune(actions)


def run_list(context: Context, options: Namespace) -> int:
    models = context.services.models()
    words = "\n".join(
        f"{m.name}  {m.size_bytes / 1e6:.0f} MB  {m.architecture} {m.quantisation}"
        + (f"  ({m.problem})" if m.problem else "")
        for m in models
    )
    context.output.value({"models": models}, words or "No models yet. `keepsake models add PATH` adds a GGUF file.")
    return 0


def run_add(context: Context, options: Namespace) -> int:
    model = context.services.add_model(named_path(options.path))
    context.output.value(model, f"Added: {model.name}")
    return 0


def run_verify(context: Context, options: Namespace) -> int:
    store = context.services.model_service.store
    names = [options.name] if options.name else [m.name for m in store.list()]
    results = [store.verify(name) for name in names]
    words = "\n".join(f"{r.name}: {'sound' if r.ok else 'damaged'} ({r.detail})" for r in results)
    context.output.value({"models": results}, words or "No models yet.")
    if damaged := [r.name for r in results if not r.ok]:
        error = AssistantError("model.damaged", f"Damaged: {', '.join(damaged)}.", "Remove the file or fetch it again.")
        context.output.note_error(error)
    return 1 if damaged else 0
