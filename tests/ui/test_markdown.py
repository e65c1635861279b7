"""What a model writes is shown as text and safely: CASES 17."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextDocument
from pytestqt.qtbot import QtBot

from assistant.ui.chat.highlight import code_html
from assistant.ui.chat.markdown import Code, MarkdownRenderer, Prose, is_picture_path, is_web
from assistant.ui.chat.prose import ProseView, load_picture
from assistant.ui.palette import LIGHT
from assistant.ui.theme import Theme


def shown(text: str) -> str:
    """The text a person sees."""
    parts = []
    for segment in MarkdownRenderer().segments(text):
        if isinstance(segment, Code):
            parts.append(segment.text)
        else:
            document = QTextDocument()
            document.setHtml(segment.html)
            parts.append(document.toPlainText())
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<smirk> waffles!", "<smirk> waffles!"),
        ("$5 and $10", "$5 and $10"),
        ("**$1.50**", "$1.50"),
        ("a < b > c", "a < b > c"),
        ("![x](file:///etc/hostname)", "![x](file:///etc/hostname)"),
        ("[x](javascript:1)", "[x](javascript:1)"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ('<img src="http://x/y.png">', '<img src="http://x/y.png">'),
        ("&lt;b&gt; & co", "<b> & co"),
        ("[x](keepsake-copy:0)", "[x](keepsake-copy:0)"),
        ("![x](/etc/shadow.png)", "![x](/etc/shadow.png)"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
    ],
)
def test_nothing_vanishes(qapp: object, text: str, seen: str) -> None:
    assert shown(text).strip() == seen


def test_web_pictures_become_links_and_are_not_fetched(qapp: object) -> None:
    (segment,) = MarkdownRenderer().segments("![a cat](https://example.org/cat.png)")
    assert isinstance(segment, Prose)
    assert "<img" not in segment.html
    assert 'href="https://example.org/cat.png"' in segment.html


def test_parts_keep_their_order() -> None:
    parts = MarkdownRenderer().segments("one\n\n```python\nx = 1\n```\n\ntwo\n\n    indented\n")
    assert [type(part).__name__ for part in parts] == ["Prose", "Code", "Prose", "Code"]
    assert parts[1] == Code("x = 1", "python")


def test_code_inside_a_list_can_be_copied() -> None:
    (part,) = MarkdownRenderer().segments("1. do\n\n   ```sh\n   ls -l\n   ```\n")
    assert isinstance(part, Prose)
    assert part.copies == ("ls -l",)
    assert 'href="keepsake-copy:0"' in part.html


def test_tables_strikes_and_tasks(qapp: object) -> None:
    text = shown("| a | b |\n|---|---|\n| 1 | 2 |\n\n~~gone~~\n\n- [x] done\n- [ ] open\n")
    assert "☑ done" in text
    assert "☐ open" in text
    (part,) = MarkdownRenderer().segments("~~gone~~")
    assert isinstance(part, Prose)
    assert "<s>gone</s>" in part.html


@given(st.text(max_size=300))
@settings(max_examples=80, deadline=None)
def test_any_text_renders(text: str) -> None:
    for part in MarkdownRenderer().segments(text):
        if isinstance(part, Prose):
            assert "<script" not in part.html


def test_code_keeps_every_character(qapp: object) -> None:
    source = "def f(x):\n\treturn '<b>' & x  # 好\n\n"
    for language in ("python", "no-such-language", ""):
        document = QTextDocument()
        document.setHtml(code_html(source, language, LIGHT))
        assert document.toPlainText().rstrip("\n") == source.rstrip("\n")


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "http://example.org/x.png", "ftp://x/y.png", "data:image/png;base64,AA"]
)
def test_nothing_is_loaded_from_outside(qtbot: QtBot, theme: Theme, tmp_path: Path, address: str) -> None:
    view = ProseView(theme, tmp_path)
    qtbot.addWidget(view)
    assert view.loadResource(2, QUrl(address)) is None


def test_only_pictures_of_the_workspace_load(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    picture = QImage(40, 20, QImage.Format.Format_RGB32)
    picture.fill(0)
    picture.save(str(root / "in.png"))
    picture.save(str(tmp_path / "out.png"))
    (root / "link.png").symlink_to(tmp_path / "out.png")
    loaded = load_picture(root, "in.png", 20)
    assert loaded is not None
    assert loaded.width() == 20
    for address in ("../out.png", "link.png", str(tmp_path / "out.png"), "missing.png", "\0.png"):
        assert load_picture(root, address, 100) is None


def test_addresses() -> None:
    assert is_web("HTTPS://example.org")
    assert not is_web("javascript:1")
    assert is_picture_path("pictures/cat.PNG")
    assert not is_picture_path("//host/cat.png")
    assert not is_picture_path("C:/cat.png")


@pytest.mark.parametrize("tag", ["recalled", "memory", "chats"])
def test_lines_that_are_only_a_tag_of_the_prompt_are_not_shown(tag: str) -> None:
    text = f"<{tag}>\nYou like tea.\n</{tag}>\n\n</{tag}>\n\n- one\n  </{tag}>"
    (part,) = MarkdownRenderer().segments(text)
    assert isinstance(part, Prose)
    assert tag not in part.html
    assert "<p>You like tea.</p>" in part.html and "one" in part.html
    assert part.html.count("<p>") == 1, "no empty paragraph stays"


@pytest.mark.parametrize(
    "text",
    [
        "The <memory> tag",
        "<memory> and more",
        "<recall>",
        "<b>",
        "<MEMORY>",
        "<div>\n<memory/>",
        "`<memory>`",
        "# <memory>",
    ],
)
def test_other_text_with_angle_brackets_stays(text: str) -> None:
    (part,) = MarkdownRenderer().segments(text)
    assert isinstance(part, Prose)
    for line in text.split("\n"):
        assert escape(line.strip("`# ")) in part.html


@pytest.mark.parametrize("text", ["```\n<memory>\nx\n</memory>\n```", "    <memory>\n    x\n    </memory>"])
def test_code_keeps_the_tags(text: str) -> None:
    assert [part.text for part in MarkdownRenderer().segments(text) if isinstance(part, Code)] == [
        "<memory>\nx\n</memory>"
    ]
