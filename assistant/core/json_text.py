"""JSON from a file or a line that anybody may have written."""

from __future__ import annotations

import json
import math
from typing import Any


def _number(text: str) -> float | None:
    """1e400 is no number that can be counted with."""
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER = json.JSONDecoder(parse_float=_number, parse_constant=lambda _: None)


def parse_json(text: str | bytes) -> Any:
    """As json.loads, with ValueError for all that is wrong: also for what is nested deeper than can be read.

    Numbers that are none (NaN, Infinity, 1e400) are None.
    """
    try:
        return _DECODER.decode(
            text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
