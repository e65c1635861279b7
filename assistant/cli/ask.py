"""``keepsake ask`` and ``keepsake prompt``: one turn, and what it would tell the model."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.cli.context import Context
from assistant.cli.signals import stopped_by_signals
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ForgetAsked, ModelLoading, Notice, TextArrived, ToolUsed, TurnSaved
from assistant.core.values import Done, GenerateOptions, MadeCall, Receipt

if TYPE_CHECKING:
    from assistant.runtime.prompts import TurnPlan

_WARM_SECONDS = 60.0  # after that a question is asked without searching by meaning


def add_commands(commands: Any) -> None:
    ask = commands.add_parser("ask", help="ask one question; the answer streams")
    ask.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    ask.add_argument("--chat", metavar="ID", help="go on in this chat")
    ask.add_argument("--temporary", action="store_true", help="write nothing to disk")
    ask.add_argument("--private", action="store_true", help="in a new private chat: not recalled elsewhere")
    ask.add_argument("--no-memory", action="store_true", help="neither inject nor recall memory")
    ask.add_argument("--model", metavar="NAME", default="", help="another model than the one of the settings")
    ask.add_argument("--seed", type=int, metavar="N", help="make the answer repeatable")
    ask.add_argument("--max-tokens", type=_positive, metavar="N", help="the longest answer, in tokens")
    ask.set_defaults(run=run_ask, check=partial(_check, ask))
    prompt = commands.add_parser("prompt", help="show the exact prompt of the next turn without running it")
    prompt.add_argument("text", metavar="TEXT", help="what would be said; - reads standard input")
    prompt.add_argument("--chat", metavar="ID", default="", help="as the next turn of this chat")
    prompt.set_defaults(run=run_prompt, reads=True)


def _check(parser: ArgumentParser, options: Namespace) -> None:
    if options.temporary and options.chat:
        parser.error("--temporary writes nothing, so it cannot go on in a --chat")
    if options.private and (options.temporary or options.chat):
        parser.error("--private begins a new chat; for one that exists there is `keepsake chats private ID on`")


def run_ask(context: Context, options: Namespace) -> int:
    from assistant.runtime.prompts import TurnPlan

    services = context.services
    text = _text(options.text)
    cancel = CancelToken()
    cancel.on_cancel(context.cancel.cancel)
    with stopped_by_signals(cancel):
        warming = services.lanes.recall.submit(context.ready_recall, must=False)
        plan = TurnPlan(options.model, _generate_options(context, options), not options.no_memory)
        _ensure_model(context, plan, text, cancel)
        try:
            warming.result(_WARM_SECONDS)
        except TimeoutError:
            context.output.note("The embedding model is not ready yet: memory is searched by words alone.")
        _ask(context, options, text, plan, cancel)
    return 130 if cancel.cancelled else 0


def _ensure_model(context: Context, plan: TurnPlan, text: str, cancel: CancelToken) -> None:
    """Before a chat is begun. What the person asks of the memory in plain words needs no model."""
    from assistant.chat.intents import read_intent

    try:
        context.services.model_service.ensure(plan.model, cancel)
    except AssistantError as error:
        if read_intent(text) is None:
            raise
        context.output.note(error.message)


def _ask(context: Context, options: Namespace, text: str, plan: TurnPlan, cancel: CancelToken) -> None:
    services = context.services
    if options.temporary:
        turns, chat = services.temporary.turns, services.temporary.create()
    else:
        services.recover()
        if options.chat:
            services.read_chat(options.chat)  # a wrong id is said before anything is written
        turns, chat = services.turns, options.chat or services.new_chat(private=options.private)
    turn = 0

    def show(event: Event) -> None:
        nonlocal turn
        match event:
            case TextArrived(_, _, new, thought):
                _show_delta(context, new, thought)
            case ToolUsed(_, _, call):
                _show_call(context, call)
            case ForgetAsked(_, _, what, things, _count):
                context.output.note(_how_to_forget(context, what, things))
            case TurnSaved(_, number, _, _, redacted):
                turn = number
                if redacted:
                    context.output.note(f"{redacted} secret(s) in your message were replaced before saving.")
            case Notice(words):
                context.output.note(words)
            case _:
                pass

    services.subscribe(show)
    outcome = turns.send_now(chat, text, cancel, plan)
    saved = not options.temporary
    _show_done(context, chat if saved else None, turn if saved else 0, outcome.done, outcome.receipt)


def _how_to_forget(context: Context, what: str, things: Sequence[str]) -> str:
    """What was found, and the command that asks for the yes without which nothing is forgotten."""
    from assistant.cli.forget import target_words

    service = context.services.forgetting
    plan = service.plan_things(things) if things else service.plan(what)
    found = [target_words(target) for target in plan.targets]
    commands = [f"keepsake forget {shlex.quote(thing)}" for thing in things or (what,)]
    return "\n".join([*found, f"Nothing is forgotten yet. To forget: {'; '.join(commands)}"])


def _show_call(context: Context, call: MadeCall) -> None:
    """What a tool was used for; with --json the last line tells it."""
    if not context.output.as_json:
        given = ", ".join(f"{name}: {value}" for name, value in call.arguments.items())
        context.output.note(f"{call.name} ({given}) → {call.outcome}{f': {call.detail}' if call.detail else ''}")


def _call(call: MadeCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": dict(call.arguments),
        "outcome": call.outcome,
        "detail": call.detail,
        "result": call.result,
        "asked": call.asked,
        "journal": call.journal,
    }


def _show_delta(context: Context, text: str, thought: bool = False) -> None:
    if context.output.as_json:
        context.output.line({"type": "thought" if thought else "delta", "text": text})
    elif not thought:
        context.output.text(text)


def _show_done(context: Context, chat: str | None, turn: int, done: Done, receipt: Receipt) -> None:
    if not context.output.as_json:
        context.output.text("\n")
        by = f", answered by {receipt.host}" if receipt.host else ""
        context.output.note(f"chat {chat}, turn {turn}, {done.tokens} tokens, {done.tokens_per_s:.1f} a second{by}")
        return
    context.output.line(
        {
            "type": "done",
            "chat": chat,
            "turn": turn,
            "text": done.text,
            "thought": done.thought,
            "stop": done.stop.value,
            "tokens": done.tokens,
            "ttft_ms": round(done.ttft_ms, 1),
            "tokens_per_s": round(done.tokens_per_s, 2),
            "prompt_tokens": done.prompt_tokens,
            "reused_tokens": done.reused_tokens,
            "host": receipt.host,
            "receipt": receipt.lines,
            "tools": [_call(call) for call in receipt.calls],
        }
    )


def run_prompt(context: Context, options: Namespace) -> int:
    services = context.services
    text = _text(options.text)
    services.subscribe(lambda event: _loading(context, event))
    try:
        services.model_service.ensure()
    except AssistantError as error:
        context.output.note(f"{error} Tokens are estimated.")
    context.ready_recall(must=False)
    prompt = services.preview(options.chat, text)
    blocks = [
        {"name": b.name, "role": b.role.value, "text": b.text, "tokens": b.tokens, "lines": b.lines}
        for b in prompt.blocks
    ]
    value = {"blocks": blocks, "left_out": prompt.left_out, "tokens": prompt.tokens, "window": prompt.window}
    value["host"] = prompt.host
    words = "\n".join(f"=== {b.name} ({b.tokens} tokens)\n{b.text}" for b in prompt.blocks)
    where = f", for {prompt.host}" if prompt.host else ""
    left = "".join(f"\nleft out: {lo.file}:{lo.line} ({lo.why})" for lo in prompt.left_out)
    context.output.value(value, f"{words}{left}\n\n{prompt.tokens} of {prompt.window} tokens{where}")
    return 0


def _loading(context: Context, event: Event) -> None:
    if isinstance(event, ModelLoading):
        context.output.progress(round(event.fraction * 100), 100, f"loading {event.name}")


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ArgumentTypeError(f"{number} is less than 1")
    return number


def _text(given: str) -> str:
    text = given
    if given == "-":
        text = sys.stdin.read() if sys.stdin else ""
    if not text.strip():
        raise AssistantError("ask.empty", "There is nothing to say: the text is empty.", "Give a text.")
    return text


def _generate_options(context: Context, options: Namespace) -> GenerateOptions:
    from dataclasses import replace

    chosen = context.services.prompts.options()
    if options.seed is not None:
        chosen = replace(chosen, seed=options.seed)
    return chosen if options.max_tokens is None else replace(chosen, max_tokens=options.max_tokens)
