"""Whether a message asks for something of the person's own life, which a model must look up rather than guess.

Small models answer such a question out of nothing more often than they call a tool, whatever they are told.
"""

from __future__ import annotations

import re

_PERSON = re.compile(r"\b(?:i|i'm|i've|my|mine|me|we|we've|our|ours|us)\b", re.IGNORECASE)
_THAT = re.compile(
    r"\b(?:was|were|did)\b.*\b(?:that|you\s+(?:recommend|suggest|mention|said|told|advise|show|list)\w*)\b"
    r"|\bdid\s+you\s+(?:recommend|suggest|mention|say|tell|advise|show|list)\b",
    re.IGNORECASE,
)
"""Of something that was spoken of: "What was the name of that agent?", "Which book did you recommend?"."""
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|hey|ok|okay|well|by the way|please|tell me|remind me|do you know|do you remember)[,:]?\s+)*"
    r"(?:what|which|when|where|who|whom|whose|why|how\s+(?:much|many|long|old|far|often|tall|big|late|early))\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:should|could|can|would|might|must|shall|will|how (?:do|to))\s+(?:i|we|you)\b"
    r"|\bbest way\b|\bdo (?:i|we) need\b",
    re.IGNORECASE,
)
_ZH_PERSON = re.compile(r"我|咱|(?:上次|上回|之前|以前|刚才|那天).*你|那[位家间]")
"""Also what was spoken of before: 上次你推荐的书, 那位中介."""
_ZH_ASKS = re.compile(r"什么|哪|谁|几|多少|多久|多大|为什么|啥|吗|[?？]\s*$")
_ZH_ADVICE = re.compile(r"怎么(?:办|做|样)|如何|应该|该不该|可以|能不能|要不要|帮我|请你|给我")
_MOST_CHARACTERS = 300
"""More is a story, or a task with all that belongs to it."""


def asks_of_own_life(message: str) -> bool:
    """A short question about the person that is no request for advice, in English or Chinese."""
    if len(message) > _MOST_CHARACTERS or "\n" in message.strip():
        return False
    if _ASKS.search(message) and (_PERSON.search(message) or _THAT.search(message)):
        return not _ADVICE.search(message)
    return bool(_ZH_PERSON.search(message) and _ZH_ASKS.search(message) and not _ZH_ADVICE.search(message))
