"""What the services say is said in Chinese too: every error, hint and notice that stands in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import assistant
from assistant.core.errors import AssistantError
from assistant.core.events import Notice
from assistant.ui.application import use_language
from assistant.ui.errors import ErrorDialog
from assistant.ui.i18n import MessageCatalogue, load_messages, translate_message
from assistant.ui.main_window import MainWindow
from assistant.workspace.layout import topic_file

from .fakes import FakeServices

ROOT = Path(assistant.__file__).parent
SOURCES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in ("ui", "cli")]


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    use_language(qapp, "zh_CN")
    yield
    use_language(qapp, "en")


def said_in(node: ast.expr, words: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """The sentences an argument can be: fields as {1}, {2}, in order. words: what names stand for."""
    if isinstance(node, ast.Name) and node.id in words:
        for meant in words[node.id]:
            yield from said_in(meant, {})
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from said_in(node.body, words)
        yield from said_in(node.orelse, words)
    elif isinstance(node, ast.JoinedStr):
        text, n = "", 0
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
            else:
                n += 1
                text += f"{{{n}}}"
        yield text


def named_in(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """The names that stand for words in a module."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def messages() -> set[str]:
    found: set[str] = set()
    for source in SOURCES:
        tree = ast.parse(source.read_text(encoding="utf-8"))
        words = named_in(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("AssistantError", "Notice"):
                arguments = node.args[1:] if name == "AssistantError" else node.args
                named = [word.value for word in node.keywords if word.arg in ("message", "hint", "text")]
                found |= {text for argument in [*arguments, *named] for text in said_in(argument, words)}
    return {text for text in found if re.search(r"[A-Za-z]{2}", re.sub(r"\{\d\}", "", text))}


def test_every_message_of_the_services_has_a_translation() -> None:
    assert len(messages()) > 100
    assert sorted(messages() - set(load_messages("zh_CN"))) == []


def test_translations_keep_their_fields_and_are_chinese() -> None:
    for english, chinese in load_messages("zh_CN").items():
        fields = re.findall(r"\{\d\}", english)
        assert sorted(set(fields)) == sorted(set(re.findall(r"\{\d\}", chinese))), english
        assert re.search(r"[\u4e00-\u9fff]", chinese), english
        assert chinese[-1] not in ".!?", english


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("No model is loaded.", "没有载入模型。"),
        ("MEMORY.md is empty.", "MEMORY.md 是空的。"),
        ("The disk is full; MEMORY.md was not changed.", "磁盘已满；MEMORY.md 没有改动。"),
        ("/a b/c: d cannot be written: Permission denied.", "无法写入 /a b/c: d：没有权限。"),
        ("No model is loaded. Choose a model first.", "没有载入模型。请先选择模型。"),
        (
            "x.gguf is no chat model (unknown kind). Choose another model.",
            "x.gguf 不是对话模型（类型未知）。请另选模型。",
        ),
        ("Took back: Remembered: likes tea", "撤回：记住了：likes tea"),
        ("Forgotten", "已遗忘"),
        ("it was not wanted", "这不是你想记住的"),
        ("this chat writes nothing", "这个对话不写入任何内容"),
        ("the context window is full", "上下文窗口已满"),
        ("older than the last 150 entries", "比最近 150 条更早"),
        ("Something nobody knows.", "Something nobody knows."),
        ("", ""),
    ],
)
def test_messages_are_translated(chinese: None, english: str, said: str) -> None:
    assert translate_message(english) == said


def test_in_english_messages_stay_as_they_are(qapp: QApplication) -> None:
    assert translate_message("MEMORY.md is empty.") == "MEMORY.md is empty."


def test_a_very_long_text_is_no_message() -> None:
    assert MessageCatalogue(load_messages("zh_CN")).translate("a. " * 100_000) is None


def test_errors_and_notices_are_shown_translated(
    qtbot: QtBot, window: MainWindow, services: FakeServices, chinese: None
) -> None:
    services.emit(Notice("There is no model yet. Load one first.", error=True))
    qtbot.waitUntil(lambda: window.bottombar.notice.whole() == "还没有模型。请先载入一个。")
    window.show_error(AssistantError("disk.full", "The disk is full; a.md was not changed.", "Try again."))
    dialog = window.findChild(ErrorDialog)
    assert dialog is not None
    words = [label.text() for label in dialog.findChildren(QLabel, options=Qt.FindChildOption.FindChildrenRecursively)]
    assert words[:2] == ["磁盘已满；a.md 没有改动。", "请再试一次。"]
    dialog.accept()


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("name", ["", "../x", "a b/c", "con", "x" * 300, "archive", ".hidden"])
def test_a_refused_name_is_refused_in_one_language(name: str) -> None:
    with pytest.raises(AssistantError) as caught:
        topic_file(name)
    said = translate_message(str(caught.value)).replace(repr(name), "")
    assert "请换一个名称" in said
    for english in ("name", "letter", "Choose", "longer", "holds"):
        assert english not in said
