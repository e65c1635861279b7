"""Newer word on the same matter: a unit that says something changed goes above the older ones it changes.

Nothing in the files need mark the old fact as replaced: people write "new dentist is …", 改到周六. The words of change,
a later day and nearness in meaning together are the sign; each alone is not.
"""

from __future__ import annotations

import re

import numpy as np

from assistant.recall.vectors import Snapshot

NEAR = 0.28
"""Least cosine, both less their language's centre, of a fact and its replacement (measured: such pairs have 0.30 to
0.58, while one pair in 200 of all facts has more than 0.26)."""
_LEADERS = 5
_STEP = 1e-3
_ENGLISH = re.compile(
    r"\b(?:now|new|no longer|not any ?more|instead|replac\w+|mov(?:e[sd]?|ing)|push(?:es|ed)|postpon\w+|chang\w+|switch\w+"
    r"|swapp?\w*|quit|cancel\w*|retired|raised?|rise[sn]?|rose|went up|reduced|cut to|stopp?(?:s|ed)?|gave up|given up"
    r"|updat\w+|reschedul\w+|dropped|migrat\w+|renamed|correct(?:ion|ed)|turns out|from (?:now|next|the)|(?:up|down) to"
    r"|agreed|promised)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile("改|换|搬|涨|降到|降为|减到|减为|加到|推迟|提前|延期|延到|取消|不再|不用|现在|新的|停了|停用|辞|退|变成|变为|调到|更正|答应|原来|作废")


def tells_of_change(text: str) -> bool:
    """Whether a text has words of change."""
    return bool(_ENGLISH.search(text) or _CHINESE.search(text))


def lift(snapshot: Snapshot, at: np.ndarray, score: np.ndarray, dead: np.ndarray, allowed: np.ndarray) -> dict[int, float]:
    """Scores that newer units should have at least, by position in the snapshot.

    at, score: the candidates; dead: struck or expired ones, which lift and are lifted by nothing; allowed: all units
    that may be found. Each of the leading candidates puts the newest word on its matter just above itself.
    """
    floors: dict[int, float] = {}
    sources = np.flatnonzero(allowed & snapshot.renews & snapshot.has_vector & (snapshot.day > 0))
    if not len(sources):
        return floors
    for n in np.argsort(-score)[:_LEADERS]:
        leader = int(at[n])
        if dead[n] or not snapshot.has_vector[leader] or not snapshot.day[leader]:
            continue
        newer = sources[snapshot.day[sources] > snapshot.day[leader]]
        near = snapshot.cosine(leader, newer)
        for other in newer[near >= NEAR]:
            floors[int(other)] = max(floors.get(int(other), -np.inf), float(score[n]) + _STEP)
    return floors
