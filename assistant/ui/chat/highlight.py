"""Code in the colours of the theme, by Pygments."""

from __future__ import annotations

from html import escape

from assistant.ui.palette import Palette

MAX_CHARACTERS = 60_000
"""Longer code is shown without colours, so that no paste can hold the window up."""


def code_html(text: str, language: str, palette: Palette) -> str:
    """``text`` as ``<pre>`` with coloured spans; plain where the language is not known."""
    if len(text) > MAX_CHARACTERS:
        return f"<pre>{escape(text)}</pre>"
    parts = [_span(kind, words, palette) for kind, words in _tokens(text, language)]
    return f"<pre>{''.join(parts)}</pre>"


def _tokens(text: str, language: str) -> list[tuple[str, str]]:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [("", text)]
    return [(str(kind).removeprefix("Token."), words) for kind, words in lexer.get_tokens(text)]


def _span(kind: str, words: str, palette: Palette) -> str:
    colour = _colour(kind, palette)
    return f'<span style="color:{colour}">{escape(words)}</span>' if colour else escape(words)


def _colour(kind: str, palette: Palette) -> str:
    table = (
        ("Comment", palette.comment),
        ("Keyword", palette.keyword),
        ("Operator.Word", palette.keyword),
        ("Literal.String", palette.string),
        ("Literal.Number", palette.number),
        ("Name.Function", palette.name),
        ("Name.Class", palette.name),
        ("Name.Builtin", palette.name),
        ("Name.Tag", palette.name),
        ("Name.Decorator", palette.number),
        ("Name.Attribute", palette.number),
    )
    return next((colour for prefix, colour in table if kind.startswith(prefix)), "")
