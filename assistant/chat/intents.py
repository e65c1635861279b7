"""What a person asks of the memory in plain words, without a model: "remember that ...", 记住..., ``/remember``."""

from __future__ import annotations

import re

_REMEMBER = re.compile(
    r"^\s*(?:/remember\s+"
    r"|(?:please\s+|can you\s+|could you\s+)?(?:remember|note|keep in mind)(?:\s+(?:that|this))?\s*[:,]?\s+"
    r"(?!(?:when|how|what|me|to)\b)"
    r"|(?:请|帮我|麻烦你?)?(?:记住|记一下|记下|记着|记得)(?:这一点|这个|了)?\s*[:：,，]?\s*)"
    r"(?P<fact>\S.*?)\s*$",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION = re.compile(r"[?？]\s*$|吗[。.]?$")
_MOST_CHARACTERS = 1000  # more is a document, not a fact


def fact_to_remember(message: str) -> str:
    """The fact that the person asks to be remembered, in their words; "" when the message asks no such thing."""
    found = _REMEMBER.match(message)
    if not found or (_QUESTION.search(message) and not message.lstrip().startswith("/remember")):
        return ""
    fact = found["fact"].strip()
    return fact if len(fact) <= _MOST_CHARACTERS else ""
