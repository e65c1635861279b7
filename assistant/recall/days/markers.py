"""Words by which a question says what kind of answer it wants: how it was, the last time, the day, what was said.

Patterns for folded text. They are soft signs: a wrong one may cost a place among the hits, never an answer.
"""

from __future__ import annotations

import re


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


_WHICH_CHAT = r"\b(?:in|from|during)\s+(?:the|our|my|that|a)\s+"
_CHAT_WORD = r"(?:chat|conversation|discussion|thread)\b"
_SOMEBODY = r"(?:i|we|you|he|she|they|it)"

CHAT = _any(
    rf"{_WHICH_CHAT}((?:[\w'-]+\s+){{1,4}}?){_CHAT_WORD}",
    rf"{_WHICH_CHAT}{_CHAT_WORD}\s+(?:about|on|called|titled)\s+([\w'\" -]+)",
    r"(?:在 ?)?(?:(?:那个|这个|那次|关于) ?)?([\w·-]{1,12}?) ?(?:的|那个|这个|那次)"
    r"(?:聊天|对话|谈话|讨论)(?:里面?|中|时)",
)
"""The chat that something was said in; one of the groups has the words of its name."""

TALK = _any(
    r"\b(?:we|you|i)\b[^.?!]{0,40}\b(?:discuss(?:ed)?|sa(?:y|id)|agreed?|settled?|decided?|chat(?:ted)?|ask(?:ed)?)\b",
    r"\b(?:we|you|i)\b[^.?!]{0,40}\b(?:talk(?:ed)?|mention(?:ed)?|t(?:ell|old))\b",
    "聊[天了到过的]|讨论|说[好过到]|谈[到过]|提[到过]|问过",
)
"""Something that was said in some chat."""

PAST = _any(
    r"\b(?:used? to|previously|formerly|originally|back then|at the time|at first|in the past|no longer)\b",
    r"\b(?:my|our|his|her|their) old\b|\b(?:my|our|the|his|her|their) (?:former|previous|original|earlier)\b",
    r"\bbefore (?:that|this|it changed|the change)\b|\bbefore\W*$",
    "原来|原先|以前(?!的?时)|从前|当时|曾经?|过去(?!的?[0-9一两二三四五六七八九十几])|早先|那时候?|本来|最初|旧的|改之前",
)
"""How it used to be."""

LATEST = _any(
    r"\b(?:latest|most recent(?:ly)?|newest|last time)\b",
    rf"\b(?:did|have|has|was|were) {_SOMEBODY} last\b",
    "最近一[次回趟篇条个]|最新|最后一[次回]|上一?[次回]",
)
"""The last of several occasions."""

FIRST = _any(
    r"\b(?:first time|earliest|first ever)\b",
    rf"\b(?:did|have|was|were) {_SOMEBODY} first\b",
    "(?:第一|头一|首)[次回]|最早",
)
"""The first of several occasions."""

_FILLER = re.compile(
    r"\b(?:what(?:'s|s)?|anything|something|everything|all|any|things?|happen(?:ed|s|ing)?|went|going|go|on|did|do|does|done|doing"
    r"|have|had|has|is|are|was|were|am|be|been|i|we|you|me|us|my|our|there|it|the|a|and|to|for|at|in|of|from|up|please"
    r"|about|with|say|said|talk(?:ed)?|discuss(?:ed)?|chat(?:ted)?|just|again|so|far|planned|plans?|scheduled)\b"
    r"|什么|有没有|有|做|了|过|发生|干|忙|我们|咱们|我|你|都|吗|呢|的|哪些|些|事情|事儿?|安排|计划|看|一下|列出|说|聊|谈|讨论|在|里|那|要|会|是|和|跟"
)
_ORDER = re.compile(r"^\W*(?:please\s+)?(?:show|list|tell|give)\b")
_ASKED = re.compile(r"\b(?:where|who|whom|how|which|when|why)\b|哪里|哪儿|哪|谁|怎么样?|几|多少|为什么")


def is_bare(rest: str) -> bool:
    """Whether nothing is left of a folded question that could be searched for: "where were we", 去了哪里."""
    return asks_for_all(_ASKED.sub(" ", rest))


def asks_for_all(rest: str) -> bool:
    """Whether a folded question, less its words of time, wants whatever there is: "", "what happened", 做了什么."""
    return not re.search(r"\w", _FILLER.sub(" ", _ORDER.sub(" ", rest)))


BEHIND = _any(
    r"\b(?:did|was|were|had|went|bought|met|paid|saw|came|took|ate|happened|ago|have been|has been|used to)\b",
    r"了(?!解)|[去来到买看吃做见说问聊写读住去]过|曾",
)
"""Asked of what was."""

AHEAD = _any(
    r"\b(?:will|shall|going to|gonna|have to|has to|need to|must|should|due|deadline|upcoming|coming up|scheduled)\b",
    r"\b(?:planned|plans?|still to|about to|expire|expires)\b|'ll\b",
    "(?<![重主必])要(?![点求是素])|(?<![开周例晨])会(?![议上计员面])|该|将|打算|安排|计划|还没|到期|截止|准备",
)
"""Asked of what comes."""

PRESENT = _any(
    r"\b(?:until|till|by)\s+(?:the\s+)?\w+day\b",
    r"\b(?:is|are|am|do|does|can)\b|\b(?:what|who|where|when|there|it|that|he|she)'s\b|'(?:m|re)\b",
    "有什么|有哪些|有空|有没有|几点|是什么",
)
"""Asked of now, or of what comes."""
