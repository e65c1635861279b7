"""What a server is asked: messages, tools and options in the form of OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from assistant.core.values import GenerateOptions, Message, Role
from assistant.engine.jinja import tool_for

Json = dict[str, Any]

NEEDED = frozenset({"model", "messages", "stream"})
"""What is never left out, whatever the server says."""
_LONG_NAME = "max_completion_tokens"
_OWN = ("top_k", "min_p", "repeat_penalty", "return_progress", "cache_prompt")
"""Only llama-server knows these; others may refuse a request for them."""


def request_body(
    model: str,
    messages: Sequence[Message],
    options: GenerateOptions,
    *,
    own: bool = False,
    without: Collection[str] = (),
) -> Json:
    """The body of a request. own: for a llama-server, in full. without: names that this server has refused before.

    max_tokens 0 is left to the server, which goes on until its window is full. A refused max_tokens goes by its newer
    name, unless that was refused, too.
    """
    body: Json = {
        "model": model,
        "messages": [*_messages(messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": options.temperature,
        "top_p": options.top_p,
    }
    if options.max_tokens > 0:
        body[_LONG_NAME if "max_tokens" in without else "max_tokens"] = options.max_tokens
    if options.seed is not None:
        body["seed"] = options.seed
    if options.stop:
        body["stop"] = list(options.stop)
    if not options.thinking:
        body["chat_template_kwargs"] = {"enable_thinking": False}  # llama-server and vLLM; others leave or refuse it
    if options.tools:
        body["tools"] = [tool_for(tool) for tool in options.tools]
    if own:
        values = (options.top_k, options.min_p, options.repeat_penalty, True, True)
        body |= dict(zip(_OWN, values, strict=True))
    return {name: value for name, value in body.items() if name not in without}


def refused_names(said: str, body: Json) -> frozenset[str]:
    """What to leave out of a request that was refused with these words: what they name, else all that may be."""
    optional = frozenset(body) - NEEDED
    named = {name for name in optional if name in said}
    if "tool" in said.casefold() and "tools" in optional:
        named.add("tools")
    return frozenset(named) or optional | {_LONG_NAME}


def _messages(messages: Sequence[Message]) -> Iterable[Json]:
    """A call's id is its number in the conversation; a result answers the calls before it in their order."""
    made, answered = 0, 0
    for message in messages:
        value: Json = {"role": message.role.value, "content": _sound(message.text)}
        if message.calls:
            value["tool_calls"] = [_call(made + n, call.name, call.arguments) for n, call in enumerate(message.calls)]
            made += len(message.calls)
        if message.role is Role.TOOL:
            value["tool_call_id"] = f"call_{answered}"
            answered += 1
        yield value


def _call(number: int, name: str, arguments: Any) -> Json:
    written = json.dumps(dict(arguments), ensure_ascii=False)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": written}}


def _sound(text: str) -> str:
    """Half a surrogate pair is no text, and no server takes it."""
    return text.encode("utf-8", "replace").decode()
