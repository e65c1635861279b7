"""Two wordings of one line as rich text: what went and what came is marked, what is struck is struck."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from assistant.ui.i18n import tr
from assistant.ui.palette import Palette
from assistant.workspace.matching import matcher

_PIECE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|\w+|\s+|[^\w\s]")
_STRUCK = re.compile(r"~~(.+?)~~")
_LONGEST = 4_000


def then_and_now(then: str, now: str, palette: Palette) -> str:
    """A table of two rows. Both texts are shown whole; from some thousand characters on the marks are left out."""
    if max(len(then), len(now)) > _LONGEST:
        rows = [(tr("then"), escape(then)), (tr("now"), _with_strikes(escape(now)))]
        return _table(rows, palette)
    old, new = _PIECE.findall(then), _PIECE.findall(now)
    went, came = "", ""
    for tag, i1, i2, j1, j2 in matcher(old, new).get_opcodes():
        went += _marked(old[i1:i2], palette.red_soft if tag != "equal" else "")
        came += _marked(new[j1:j2], palette.accent_soft if tag != "equal" else "")
    return _table([(tr("then"), went), (tr("now"), _with_strikes(came))], palette)


def _marked(pieces: Sequence[str], colour: str) -> str:
    text = escape("".join(pieces))
    return f'<span style="background-color:{colour}">{text}</span>' if colour and text.strip() else text


def _with_strikes(html: str) -> str:
    """``~~x~~`` struck; the tildes may stand in marks of their own."""
    html = re.sub(r"(<span[^>]*>)?~~(</span>)?", lambda m: "~~" if bool(m[1]) == bool(m[2]) else m[0], html)
    return _STRUCK.sub(r"<s>\1</s>", html)


def _table(rows: Sequence[tuple[str, str]], palette: Palette) -> str:
    name_style = f"padding-right:8px;color:{palette.muted};font-size:12px"
    cells = "".join(f'<tr><td style="{name_style}">{escape(name)}</td><td>{words}</td></tr>' for name, words in rows)
    return f'<table cellspacing="0" cellpadding="1">{cells}</table>'
