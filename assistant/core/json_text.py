"""JSON from a file or a line that anybody may have written."""

from __future__ import annotations

import json
import math
from typing import Any


def _number(text: str) -> float | None:
    """1e400 is no number that can be counted with."""
    value = float(text)
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    """Python refuses numbers of thousands of digits, with advice for programmers."""
    return int(text) if len(text) <= _MOST_DIGITS else None


_MOST_DIGITS = 400
"""Numbers with a point end at 308."""
_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_whole, parse_constant=lambda _: None)


def parse_json(text: str | bytes) -> Any:
    """As json.loads, with ValueError for all that is wrong: also for what is nested deeper than can be read.

    Numbers that are none (NaN, Infinity, 1e400) or have more than 400 digits are None.
    """
    try:
        return _DECODER.decode(
            text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
