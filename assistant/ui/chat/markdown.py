"""Markdown of untrusted text into HTML for Qt and blocks of code. Raw HTML is shown as text; nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

COPY_SCHEME = "keepsake-copy"
"""Links of this scheme are made here only: the text of a nested code block to copy, by number."""
PICTURE_SCHEME = "workspace"
TICKED, EMPTY = "☑", "☐"
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_OWN_TAG = re.compile(r"</?(?:recalled|memory|chats|found)>")
"""The tags of assistant.chat.row, .recalled and .tool_results, without which a reply reads the same."""
_TASK = re.compile(r"^\[([ xX])\] ")


@dataclass(frozen=True, slots=True)
class Prose:
    """HTML in Qt's subset; copies: the code blocks nested in it, as ``keepsake-copy:<n>`` links name them."""

    html: str
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code on the outer level."""

    text: str
    language: str


Segment = Prose | Code


def is_web(address: str) -> bool:
    """Whether an address may be offered to the browser."""
    return address.lower().startswith(("http://", "https://"))


def is_picture_path(address: str) -> bool:
    """Whether an address can be a picture in the workspace: relative, without a scheme."""
    path = address.lower().split("?")[0]
    if _SCHEME.match(address) or address.startswith(("/", "\\")):
        return False
    return path.endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"))


class MarkdownRenderer:
    """Splits Markdown into prose and code. The parser is loaded when it is first needed."""

    def segments(self, text: str) -> tuple[Segment, ...]:
        """The parts of ``text`` in order."""
        made: list[Segment] = []
        run: list[Token] = []
        env: dict[str, Any] = {}
        for token in self._parser.parse(text, env):
            if token.level == 0 and token.type in ("fence", "code_block"):
                self._flush(run, env, made)
                words = token.info.split()
                made.append(Code(token.content.removesuffix("\n"), words[0] if words else ""))
            else:
                run.append(token)
        self._flush(run, env, made)
        return tuple(made)

    def _flush(self, run: list[Token], env: dict[str, Any], made: list[Segment]) -> None:
        if run:
            env["copies"] = []
            html = self._parser.renderer.render(run, self._parser.options, env).strip()
            made.append(Prose(html, tuple(env["copies"])))
            run.clear()

    @cached_property
    def _parser(self) -> MarkdownIt:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False})
        parser.enable(["table", "strikethrough"])
        parser.core.ruler.before("inline", "own_tags", _hide_own_tags)
        parser.core.ruler.push("task_lists", _mark_tasks)
        parser.validateLink = _may_link  # type: ignore[method-assign, assignment]  # markdown-it's documented way
        for name, rule in _RULES.items():
            parser.add_render_rule(name, rule)
        return parser


def _may_link(address: str) -> bool:
    return is_web(address) or is_picture_path(address)


def _hide_own_tags(state: Any) -> None:
    """Lines of a paragraph that are only a tag of our prompt are not shown: small models repeat them. Code stays."""
    tokens: list[Token] = state.tokens
    kept: list[Token] = []
    i = 0
    while i < len(tokens):
        if tokens[i].type != "paragraph_open":
            kept.append(tokens[i])
            i += 1
            continue
        inline = tokens[i + 1]
        lines = inline.content.split("\n")
        shown = [line for line in lines if not _OWN_TAG.fullmatch(line.strip())]
        if shown:
            inline.content = "\n".join(shown)
            kept.extend(tokens[i : i + 3])
        i += 3
    state.tokens = kept


def _mark_tasks(state: Any) -> None:
    """``- [x] done`` becomes a ticked box; ProseView takes the bullet away."""
    tokens: Sequence[Token] = state.tokens
    for i in range(2, len(tokens)):
        if tokens[i].type != "inline" or tokens[i - 2].type != "list_item_open":
            continue
        children = tokens[i].children
        if not children or children[0].type != "text":
            continue
        first = children[0]
        found = _TASK.match(first.content)
        if found:
            first.content = (TICKED if found[1] in "xX" else EMPTY) + " " + first.content[found.end() :]


def _link_open(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    address = str(tokens[i].attrs.get("href", ""))
    return f'<a href="{escape(address)}" title="{escape(address)}">' if is_web(address) else "<u>"


def _link_close(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    depth = 0
    for token in reversed(tokens[:i]):
        depth += {"link_close": 1, "link_open": -1}.get(token.type, 0)
        if depth < 0:
            return "</a>" if is_web(str(token.attrs.get("href", ""))) else "</u>"
    return ""


def _image(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    address, words = str(tokens[i].attrs.get("src", "")), escape(tokens[i].content)
    if is_web(address):
        return f'<a href="{escape(address)}">🖼 {words or escape(address)}</a>'
    return f'<img src="{PICTURE_SCHEME}:{escape(address)}" alt="{words}">'


def _nested_code(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    env["copies"].append(tokens[i].content.removesuffix("\n"))
    words = tokens[i].info.split()
    link = f'<a href="{COPY_SCHEME}:{len(env["copies"]) - 1}">⧉</a>'
    return (
        '<table class="code" width="100%" cellpadding="8" cellspacing="0"><tr>'
        f"<td><pre>{escape(tokens[i].content.rstrip())}</pre></td>"
        f'<td align="right" class="lang">{escape(words[0]) if words else ""} {link}</td></tr></table>'
    )


def _quote_open(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    return (
        '<table class="quote" width="100%" cellpadding="0" cellspacing="0"><tr><td class="bar" width="3"></td>'
        '<td class="quoted">'
    )


def _quote_close(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    return "</td></tr></table>"


def _table_open(renderer: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    return '<table class="grid" border="1" cellspacing="0" cellpadding="8">'


_RULES: dict[str, Callable[..., str]] = {
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "fence": _nested_code,
    "code_block": _nested_code,
    "blockquote_open": _quote_open,
    "blockquote_close": _quote_close,
    "table_open": _table_open,
}


def document_style(palette: Any, mono: Sequence[str], line: int) -> str:
    """The style sheet of a prose document. palette: assistant.ui.palette.Palette; line: height of one, per cent."""
    families = ", ".join(f"'{name}'" for name in mono)
    return f"""
    body {{ color: {palette.text}; }}
    p, li, td, th {{ line-height: {line}%; }}
    p {{ margin-top: 0; margin-bottom: 12px; }}
    h1 {{ font-size: 21px; font-weight: 600; margin-top: 18px; margin-bottom: 8px; }}
    h2 {{ font-size: 18px; font-weight: 600; margin-top: 16px; margin-bottom: 8px; }}
    h3, h4, h5, h6 {{ font-size: 16px; font-weight: 600; margin-top: 14px; margin-bottom: 6px; }}
    ul, ol {{ margin-top: 0; margin-bottom: 0; }}
    li {{ margin-bottom: 0; }}
    a {{ color: {palette.accent}; text-decoration: underline; }}
    code {{ font-family: {families}; font-size: 14px; background-color: {palette.sunken}; color: {palette.name}; }}
    pre {{ font-family: {families}; font-size: 13px; margin: 0; line-height: 140%; }}
    table.code {{ background-color: {palette.sunken}; margin-top: 4px; margin-bottom: 10px; }}
    td.lang {{ color: {palette.muted}; font-size: 12px; }}
    table.quote {{ margin-bottom: 10px; }}
    td.bar {{ background-color: {palette.border_strong}; }}
    td.quoted {{ color: {palette.muted}; padding-left: 14px; }}
    table.grid {{ border-collapse: collapse; border-color: {palette.border}; border-style: solid;
      margin-top: 10px; margin-bottom: 14px; }}
    th {{ background-color: {palette.sunken}; font-weight: 600; text-align: left; }}
    td, th {{ vertical-align: middle; }}
    hr {{ background-color: {palette.border}; }}
    """
