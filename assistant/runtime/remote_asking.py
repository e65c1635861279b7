"""Asking a server for a reply in a way that it takes: what one refuses is left out, and it is asked again."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from assistant.core.cancel import CancelToken
from assistant.core.values import GenerateOptions, Message
from assistant.engine.remote.events import unreadable
from assistant.engine.remote.failures import is_too_long, refusal, words_of_body
from assistant.engine.remote.request import Json, refused_names, request_body
from assistant.engine.templates import fold_system, fold_tools, merge_roles
from assistant.runtime.remote_http import Exchange, Head, ServerClient

_log = logging.getLogger(__name__)
_REFUSED = (400, 422, 500, 501)
"""A 500 too: llama-server's for messages that a template refuses, and for tools without a template that has them."""
_COMPLAINTS = ("template", "role", "tool", "jinja", "param")
_TRIES = 3
"""A refusal names one thing, and there may be two of them; more than that is another kind of trouble."""
_KINDS = ("event-stream", "json", "octet-stream", "text/plain")


class Manners:
    """What a server takes, learned from its refusals, so that it is not asked twice each time."""

    def __init__(self, is_llama: bool) -> None:
        self._is_llama = is_llama
        self._without: frozenset[str] = frozenset()
        self._folds = False

    @property
    def takes_tools(self) -> bool:
        return "tools" not in self._without

    def trial(self) -> Manners:
        """The same, to be taught something that may prove wrong."""
        return copy.copy(self)

    def keep(self, trial: Manners) -> None:
        """It proved right."""
        self._without, self._folds = trial._without, trial._folds

    def body(self, model: str, messages: Sequence[Message], options: GenerateOptions) -> Json:
        """The request as this server takes it."""
        said = list(messages) if self.takes_tools else fold_tools(messages)
        said = merge_roles(fold_system(said)) if self._folds else said
        return request_body(model, said, options, own=self._is_llama, without=self._without)

    def learn(self, said: str, body: Json) -> bool:
        """Take from a refusal what is not wanted; False where there is nothing left to leave out."""
        words = said.casefold()
        if not self._folds and ("alternate" in words or ("system" in words and "role" in words)):
            self._folds = True
            return True
        names = refused_names(said, body) - self._without
        if names:
            _log.info("the server refused a request; it is asked without %s", ", ".join(sorted(names)))
        self._without |= names
        return bool(names)


@contextmanager
def asked(
    client: ServerClient,
    manners: Manners,
    model: str,
    messages: Sequence[Message],
    options: GenerateOptions,
    cancel: CancelToken,
) -> Iterator[Exchange]:
    """The exchange whose body is a reply. Raises AssistantError for any other answer, Cancelled.

    What was left out is left out from then on only where that helped: a server that refuses what is said, whatever the
    form, must not cost all that is said later its tools.
    """
    url = f"{client.address.base}/chat/completions"
    trial = manners.trial()
    for left in reversed(range(_TRIES)):
        body = trial.body(model, messages, options)
        with client.open(url, body, cancel) as exchange:
            head = exchange.head(client.patience.first)
            if head.status == 200:
                _check_kind(client, head)
                manners.keep(trial)
                yield exchange
                return
            said = client.without_key(words_of_body(exchange.rest(client.patience.answer)))
        if not (left and _is_about_form(head.status, said) and trial.learn(said, body)):
            raise refusal(head.status, head.headers, said, client.address.host, model, client.has_key)


def _is_about_form(status: int, said: str) -> bool:
    """Whether asking in another way may help: not where the prompt is too long, or the server broken."""
    about = any(sign in said.casefold() for sign in _COMPLAINTS)
    return status in _REFUSED and not is_too_long(said) and (status < 500 or about)


def _check_kind(client: ServerClient, head: Head) -> None:
    """A web page is no reply: the address is of something else."""
    kind = head.headers.get("content-type", "text/event-stream").casefold()
    if not any(known in kind for known in _KINDS):
        raise unreadable(client.address.host)
