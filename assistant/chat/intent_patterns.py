"""How people ask of the memory, in English and Chinese, as patterns. Whole messages: none of them looks for a part.

No two neighbours in them may share out the same characters in several ways: a hundred blank lines in a pasted text
would take minutes.
"""

from __future__ import annotations

import re

_POLITE = (
    r"(?:please[,:]?\s+|kindly\s+|(?:can|could|would|will)\s+you\s+(?:please\s+)?|i(?:'d like| want| need) you to\s+)*"
)
_ZH_POLITE = r"(?:你(?=给我|帮我|记住|记一下|记下|记着)|给我|请你?|麻烦你?|帮我|帮忙|你要|你得|务必|一定要?|那就|顺便)*"
REMEMBER = re.compile(
    r"^\s*+(?:/remember\s+"
    rf"|{_POLITE}(?:"
    r"(?:(?:just )?so (?:that )?you remember|remember"
    r"|(?:keep|bear) (?:(?:this|that) )?in mind|memori[sz]e|note(?!\s+to\b)(?:\s+down)?"
    r"|make a note(?:\s+of)?|don'?t forget"
    r"|do not forget)"
    r"(?:\s+(?:that|this|to|for (?:me|later))\b)*\s*[:,]?\s+(?!(?:when|how|what|me|it|who|where|why)\b)"
    r"|(?:write down|jot down|store|save)(?:\s+(?:that|this|for (?:me|later)))*(?:\s*:\s*|(?<=that)\s+)"
    r"|(?:add|put|save|store|commit)\s+(?:this\s+)?(?:in|into|to)\s+(?:your\s+)?memory\s*[:,]?\s+(?:that\s+)?"
    r"|(?:note to self|for the record|for future reference|for your memory)\s*[:,]\s*"
    r")"
    rf"|{_ZH_POLITE}(?:记住|记一下|记一笔|记下来?|记着|记得|别忘了|不要忘记?了?|牢记|存一下|备忘)"
    r"(?:这一点|这个|这件事|了)?\s*[:：,，]?\s*)"
    r"(?P<fact>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_GAP = r"\s.;,!。；，！—–-"
BEHIND = re.compile(
    rf"^\s*+(?P<fact>\S.{{3,}}?)(?<![{_GAP}])(?=[{_GAP}]*[.;,!。；，！—–\n-])[{_GAP}]++(?:"
    rf"{_POLITE}(?:remember|note|memori[sz]e|keep)\s+(?:that|this|it)"
    r"(?:\s+(?:down|in mind|for (?:me|later)))?(?:,?\s+please)?"
    rf"|{_ZH_POLITE}(?:把这个|把它|这个|这点)?(?:记住|记一下|记下来?|记着|别忘了)(?:这一点|这个|这件事)?(?:吧|啊|哦|了)?"
    r")\s*+[.!。！]*+\s*+$",
    re.IGNORECASE | re.DOTALL,
)
ZH_TAKEN = re.compile(
    rf"^\s*+{_ZH_POLITE}把(?P<fact>\S.*?)(?:记住|记下来?|记一下|存下来)(?:吧|啊|哦)?[。！!]?\s*$", re.DOTALL
)
QUESTION = re.compile(r"[?？]\s*$|(?:吗|没有|呢)[。.]?$")
ASKED_POLITELY = re.compile(
    r"^\s*(?:please\s+)?(?:can|could|would|will)\s+you\s+(?:please\s+)?"
    r"(?:remember|note(?:\s+down)?|make a note(?:\s+of)?|keep in mind|bear in mind|memori[sz]e|write down|save)\s*"
    r"(?::|(?:this\s*:|that)\s+(?:i|i'm|i've|my|we|we're|our|the|an?|he|she|they|it|his|her|their|there|mr|mrs|ms"
    r"|every|on|at|in|from|(?-i:[A-Z]\w+))\b)",
    re.IGNORECASE,
)
"""A request in the form of a question: "Could you make a note that the bin goes out on Tuesdays?"."""
_SAID = r"(?:say|said|tell|told|mention(?:ed)?|write|wrote|talk(?:ed)?|discuss(?:ed)?|decided?|agreed?|note[d]?)"
ABOUT = re.compile(
    r"^\s*(?:(?:so|and|hey|ok|okay|well)[, ]+)?"
    rf"{_POLITE}(?:(?:remind me|tell me|recall|show me|do you (?:remember|recall|know))\s+)?"
    r"(?:"
    r"(?:what|which\s+\w+|when|where|who)\s+(?:did|have|had|was it that)?\s*(?:i|we)\s+"
    rf"(?:ever\s+|last\s+|already\s+|just\s+)?{_SAID}"
    rf"|(?:did|have)\s+(?:i|we)\s+(?:ever\s+|already\s+)?{_SAID}(?:\s+(?:anything|something))?"
    r"|what do you (?:know|remember|have)(?:\s+(?:noted|on record))?"
    r")(?:\s+(?:to\s+)?you)?(?:\s+(?:about|of|on|regarding|concerning))?\s+(?P<what>\S.*?)\s*[?？.!]*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_ZH_VERB = r"(?:说|提|讲|聊|谈|告诉|讨论|写|提到)"
_ZH_WHO = r"(?:我们?|咱们?)"
_ZH_LEAD = r"(?:之前|以前|上次|曾经?|都|有没有|是不是|跟你|和你|对你|给你|向你|你)*"
_ZH_DID = rf"{_ZH_WHO}{_ZH_LEAD}{_ZH_VERB}(?:过|到过?|了)?"
ZH_ABOUT = (
    re.compile(
        rf"^\s*(?:还记得|你记得|记得)?{_ZH_DID}(?:你)?(?:哪些|什么|啥)?(?:关于|有关|跟|和)?"
        r"(?P<what>\S.*?)(?:有关|相关)?的?(?:什么|啥|哪些|事情?|话|内容|吗|没有|么)*\s*[?？。!！]*\s*$"
    ),
    re.compile(rf"^\s*(?:关于|有关|对于?)(?P<what>\S.*?)[,，]?\s*{_ZH_DID}(?:什么|啥|哪些|吗|没有)\s*[?？。]*\s*$"),
    re.compile(
        r"^\s*你(?:还)?(?:知道|记得|记了)(?:哪些|什么)?(?:关于|有关)(?P<what>\S.*?)"
        r"的?(?:什么|啥|哪些|事情?|内容|吗)*\s*[?？。]*\s*$"
    ),
)
ZH_ASKS = re.compile(r"什么|啥|哪些|吗|没有|么|[?？]")
ZH_MISSED = re.compile(r"^(?:带|拿|做|关|锁|买|吃|说|写|打|了)|怎么|为什么|什么")
"""忘记带伞了: something that was not done, and nothing that is to be forgotten."""
FORGET = re.compile(
    rf"^\s*(?:/forget\s+|{_POLITE}(?:"
    r"forget\s+(?:(?:that|what\s+(?:i|we)\s+(?:said|told you)(?:\s+about)?|(?:everything|all)\s+about|about"
    r"|the fact that)\s+)?"
    r"|(?:delete|erase|remove|wipe)\s+(?:everything\s+about\s+|all\s+about\s+|that\s+)?(?=.*\bmemory\b)"
    r"|(?:delete|erase|remove|wipe)\s+(?:what|everything) you (?:know|remember|have)\s+(?:about\s+|of\s+)?"
    r"))(?P<what>\S.*?)(?:\s+from\s+(?:your\s+|my\s+|the\s+)?memory)?(?:[,]?\s+please)?\s*+[.!?]*+\s*+$",
    re.IGNORECASE | re.DOTALL,
)
_ZH_TAIL = r"(?:的(?:事情?|内容|话))?"
_ZH_END = r"(?:吧)?[。！!]*\s*$"
ZH_FORGET = (
    re.compile(
        rf"^\s*{_ZH_POLITE}(?:忘掉|忘记掉?|不要再记得|别再记着?)(?:关于|有关|我说的|我说过的)?(?P<what>\S.*?){_ZH_TAIL}{_ZH_END}"
    ),
    re.compile(
        rf"^\s*{_ZH_POLITE}把(?P<what>\S.*?){_ZH_TAIL}(?:给|都|全|全部)*"
        rf"(?:忘掉|忘了|忘记|从(?:你的)?记忆(?:里|中)?(?:删掉|删除|抹掉|去掉)){_ZH_END}"
    ),
    re.compile(
        rf"^\s*{_ZH_POLITE}(?:删除|删掉|抹掉|清除)(?:你?记忆(?:里|中)?的?)(?:关于|有关)?(?P<what>\S.*?){_ZH_TAIL}{_ZH_END}"
    ),
)
NO_MATTER = re.compile(
    r"(?:about|it|this|that|me|you|us|him|her|them|everything|all|all of (?:it|this|that)|about (?:it|this|that)"
    r"|what i said|the (?:last|previous) (?:message|question|one|answer)|(?:your|previous) instructions"
    r"|这个|它|这事|这一?点|这件事|了|什么?|刚才的?|一切)",
    re.IGNORECASE,
)
PARTS = re.compile(r"[,;:，；：。!！?？\n]|\.\s")
