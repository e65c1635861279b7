"""Newer word on the same matter: a unit that says something changed goes above the older ones it changes.

Nothing in the files need mark the old fact as replaced: people write "new dentist is …", 改到周六. The words of change,
a later day and nearness in meaning together are the sign; each alone is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from assistant.recall.snapshot import Snapshot

NEAR = 0.30
"""Least cosine, both less their language's centre, of a fact and its replacement (measured: such pairs have about 0.30
to 0.58, while one pair in 200 of all facts has more than 0.26)."""
_LEADERS = 5
_STEP = 1e-3
_ENGLISH = re.compile(
    r"\b(?:now|new|no longer|not any ?more|instead|replac\w+|mov(?:e[sd]?|ing)|push(?:es|ed)|postpon\w+|chang\w+"
    r"|switch\w+|swapp?\w*|quit|cancel\w*|retired|raised?|rise[sn]?|rose|went up|reduced|cut to|stopp?(?:s|ed)?"
    r"|gave up|given up|updat\w+|reschedul\w+|dropped|migrat\w+|renamed|correct(?:ion|ed)|turns out"
    r"|from (?:now|next|the)|(?:up|down) to"
    r"|agreed|promised)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    "改|换|搬|涨|降到|降为|减到|减为|加到|推迟|提前|延期|延到|取消|不再|不用|现在|新的|停了|停用|辞|退|变成|变为|调到|更正|答应|原来|作废"
)


def tells_of_change(text: str) -> bool:
    """Whether a text has words of change."""
    return bool(_ENGLISH.search(text) or _CHINESE.search(text))


def lift(snapshot: Snapshot, at: np.ndarray, vectors: np.ndarray, score: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """What to add to each candidate's score so that the newest word on a matter stands just above the older ones.

    at, vectors, score: of the candidates (vectors centred, of length 1); usable: which of them take part (struck and
    expired ones do not). Each of the leading candidates pulls up those that tell of a change, are of a later day and
    near to it in meaning.
    """
    import numpy as np

    raised = score.copy()
    day = snapshot.day[at]
    newer = np.flatnonzero(usable & snapshot.renews[at] & snapshot.has_vector[at] & (day > 0))
    leaders = [n for n in np.argsort(-score) if usable[n] and snapshot.has_vector[at[n]] and day[n] > 0][:_LEADERS]
    for n in leaders if len(newer) else ():
        later = newer[day[newer] > day[n]]
        later = later[vectors[later] @ vectors[n] >= NEAR]
        later = later[np.argsort(day[later], kind="stable")]
        raised[later] = np.maximum(raised[later], score[n] + _STEP * np.arange(1, len(later) + 1))
    lifted: np.ndarray = raised - score
    return lifted
