"""Words that carry no content: a query does without them, the index keeps them."""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about after again all already also am an and any are as at be because been before being both but by can could did do
    does doing done down during each ever few for from further get gets getting give given go goes going gone got had has
    have having he her here hers him his how i if in into is it its itself just know let like made make many may me might
    mine more most much must my myself need no nor not now of off on once one only or other our ours out over own per
    please put really said same say shall she should so some still such take tell than that the their theirs them then
    there these they thing this those through to too under until up upon us use used very was we well went were what when
    where which while who whom whose why will with without would yes yet you your yours
    aren couldn didn doesn don hadn hasn haven isn ll mightn mustn needn re shan shouldn ve wasn weren won wouldn
    s t d m o
    """.split()
)

CHINESE_PHRASES = (
    "什么时候 为什么 怎么样 怎么办 有没有 是不是 能不能 要不要 可不可以 多少钱 多长时间 什么 怎么 怎样 如何 哪里 哪儿 哪个 哪些 哪种 "
    "哪部 哪位 哪天 哪家 多少 几个 几点 谁的 这个 那个 这些 那些 这里 那里 我们 你们 他们 她们 咱们 自己 应该 可以 需要 已经 现在 "
    "以及 还是 或者 因为 所以 但是 如果 的话 时候 一下 一个 一些 知道 告诉 记得 请问 叫做 关于 到底 之前 之后 每次 都是 就是 不是"
).split()
"""Longer phrases first matter: the query builder takes the longest that fits."""

CHINESE_CHARACTERS = frozenset(
    "的了吗呢吧啊呀么是我你您他她它这那哪谁几在和跟与就都也还被把让给对从到要会能有去来又很个该得地着过"
)
"""Single characters that part a Chinese question into the pieces worth searching for."""
