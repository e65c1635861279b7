"""What a server is and has, by its own account: models, context window, whether it can count and call tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.engine.remote.events import unreadable
from assistant.engine.remote.failures import refusal
from assistant.engine.remote.pieces import error_words
from assistant.runtime.remote_http import ServerClient

_WINDOWS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx")
"""vLLM, OpenRouter and LM Studio, Groq, llama-server: nobody agreed on a name."""
_MOST_WINDOW = 1 << 26


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """model: the one that will be asked; models: all that the server lists; window, window_trained: tokens, 0 unknown.

    is_llama: a llama-server, which can count and takes parameters of its own. tools: whether the model can call any;
    believed until the server says otherwise.
    """

    model: str = ""
    models: tuple[str, ...] = ()
    window: int = 0
    window_trained: int = 0
    is_llama: bool = False
    tools: bool = False


def find_facts(client: ServerClient, model: str, cancel: CancelToken) -> ServerFacts:
    """Ask for the list of models, then for what only a llama-server tells.

    Raises AssistantError (``remote.*``; "remote.no_model" where none is named and none is listed), Cancelled.
    """
    listed = _listed(client, model, cancel)
    names = tuple(dict.fromkeys(str(item["id"]) for item in listed))
    chosen = model or next(iter(names), "")
    if not chosen:
        host = client.address.host
        raise AssistantError("remote.no_model", f"{host} names no model.", "Write its name into the settings.")
    own = next((item for item in listed if item["id"] == chosen), listed[0] if len(listed) == 1 else {})
    meta = own.get("meta")
    details = meta if isinstance(meta, Mapping) else {}
    props = _props(client, cancel)
    defaults = props.get("default_generation_settings")
    served = _tokens(defaults.get("n_ctx")) if isinstance(defaults, Mapping) else 0
    told = served or next((found for name in _WINDOWS if (found := _tokens(own.get(name)))), 0)
    tools = _can_call(props) if props else True
    return ServerFacts(chosen, names, told, _tokens(details.get("n_ctx_train")), bool(props), tools)


def _listed(client: ServerClient, model: str, cancel: CancelToken) -> list[Mapping[str, Any]]:
    """The models; none of a server that has no list, which is no fault where one is named."""
    address = client.address
    head, answer = client.ask(f"{address.base}/models", None, cancel)
    if head.status in (404, 405, 501) and model:
        return []
    if head.status != 200:
        said = client.without_key(error_words(answer))
        raise refusal(head.status, head.headers, said, address.host, model, client.has_key)
    found = answer.get("data", answer.get("models")) if isinstance(answer, dict) else answer
    if not isinstance(found, list):
        raise unreadable(address.host)
    return [item for item in found if isinstance(item, dict) and isinstance(item.get("id"), str) and item["id"]]


def _props(client: ServerClient, cancel: CancelToken) -> Mapping[str, Any]:
    """What llama-server says of itself; nothing of others. Never raises AssistantError: the server has answered."""
    try:
        head, answer = client.ask(f"{client.address.native}/props", None, cancel)
    except AssistantError:
        return {}
    is_llama = head.status == 200 and isinstance(answer, dict) and "default_generation_settings" in answer
    return answer if is_llama else {}


def _can_call(props: Mapping[str, Any]) -> bool:
    caps = props.get("chat_template_caps")
    if not isinstance(caps, Mapping):
        return True
    return caps.get("supports_tools") is True or caps.get("supports_tool_calls") is True


def _tokens(value: Any) -> int:
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_WINDOW
    return value if sound else 0
