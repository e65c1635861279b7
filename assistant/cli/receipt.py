"""``keepsake receipt`` and ``keepsake chats never``: what a turn's model was told, and what it is not told again."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assistant.cli.context import Context
from assistant.core.errors import AssistantError
from assistant.core.values import PromptLine, Receipt

if TYPE_CHECKING:
    from assistant.chat.line_now import LineNow
    from assistant.runtime.told import ReceiptNow

_CAME = {"linked": "came along: a found line links to it", "neighbour": "came along: beside a found line"}


def add_commands(commands: Any) -> None:
    receipt = commands.add_parser("receipt", help="what the model was told for a turn, from where and why")
    receipt.add_argument("chat", metavar="CHAT", help="its id, as chats list gives it")
    receipt.add_argument("turn", metavar="TURN", type=int, help="its number, as chats show gives it")
    receipt.add_argument("--today", action="store_true", help="and what became of each line since")
    receipt.set_defaults(run=run_receipt, reads=True)


def add_never(actions: Any) -> None:
    never = actions.add_parser("never", help="never tell a line of memory in this chat again")
    never.add_argument("id", metavar="CHAT", help="its id, as chats list gives it")
    never.add_argument("unit", metavar="UNIT", help="the line's id, as `receipt --json` and `recall --json` give it")
    never.add_argument("--again", action="store_true", help="it may be told there again")
    never.set_defaults(run=run_never)
    renew = actions.add_parser("renew", help="take memory as it is now to the front of a chat; its prompt is read anew")
    renew.add_argument("id", metavar="CHAT", help="its id, as chats list gives it")
    renew.set_defaults(run=run_renew)


def run_receipt(context: Context, options: Namespace) -> int:
    told = context.services.told
    receipt = told.receipt(options.chat, options.turn)
    now = told.now(receipt) if options.today else None
    value = {**asdict(receipt), "lines": _lines(receipt, now)}
    context.output.value(value, _words(receipt, now))
    return 0


def run_never(context: Context, options: Namespace) -> int:
    context.services.told.never(options.id, options.unit, not options.again)
    words = "It may be told in this chat again." if options.again else "Never told in this chat again."
    context.output.value({"chat": options.id, "unit": options.unit, "never": not options.again}, words)
    return 0


def run_renew(context: Context, options: Namespace) -> int:
    services = context.services
    services.read_chat(options.id)  # a wrong id is said before a model is loaded
    try:
        services.model_service.ensure()  # it counts what fits
    except AssistantError as error:
        context.output.note(f"{error} Tokens are estimated.")
    services.told.renew(options.id)
    prompt = services.told.preview(options.id, "")
    words = f"From the next message on this chat is told memory as it is now ({prompt.tokens} tokens are read anew)."
    context.output.value({"chat": options.id, "tokens": prompt.tokens, "window": prompt.window}, words)
    return 0


def _lines(receipt: Receipt, now: ReceiptNow | None) -> list[dict[str, Any]]:
    lines = [asdict(line) for line in receipt.lines]
    if now is not None:
        for line, today, never in zip(lines, now.lines, now.never, strict=True):
            line |= {"now": asdict(today), "never": never}
    return lines


def _words(receipt: Receipt, now: ReceiptNow | None) -> str:
    where = f" at {receipt.host}" if receipt.host else ""
    parts = [
        f"{receipt.model}{where}, {receipt.prompt_tokens} tokens of prompt, {receipt.reused_tokens} of them reused"
    ]
    for n, line in enumerate(receipt.lines):
        parts.append(f"{line.file}:{line.line} ({_why(line)}, {line.tokens} tokens)\n    {line.text}")
        if now is not None:
            parts.append(f"    {_today(now.lines[n])}{' · never told here again' if now.never[n] else ''}")
    parts += [f"left out: {left.file}:{left.line} ({left.why})" for left in receipt.left_out]
    return "\n".join(parts)


def _why(line: PromptLine) -> str:
    places = (("words", line.keyword_rank), ("meaning", line.meaning_rank))
    return ", ".join([_CAME.get(line.why, line.why), *(f"no. {place} by {name}" for name, place in places if place)])


def _today(now: LineNow) -> str:
    if now.state in ("same", "forgotten", "gone"):
        return now.state
    sure = f" (likely, {now.sure:.0%})" if now.by == "words" else ""
    text = "" if now.state == "moved" else f"\n    {now.text}"
    return f"{now.state}{sure}: {now.file}:{now.line}{text}"
