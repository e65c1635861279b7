"""What other assistants leave on disk, as small realistic samples: English and Chinese, with the usual oddities."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

COUNTBOT = """\
2026-02-15|web-chat|用户询问天气API方案；决定使用OpenWeatherMap；缓存策略选Redis TTL=3600s
2026-02-15|telegram|user wants the daily report at 9:00；cron job made

2026-02-16|dingtalk|用户偏好Python而非Java；常用Flask框架
2026-02-30|web-chat|a day that is none
2026-02-17|web-chat|the a|b test ended；keep variant B
A line somebody wrote by hand
"""
NANOBOT_MEMORY = """\
# Long-term Memory

This file stores important information that should persist across sessions.

## User Information

- Name: 李雷, lives in Hangzhou
- Works as a hydrologist

## Preferences

(User preferences learned over time)

- Short replies, metric units
"""
NANOBOT_HISTORY = [
    {"cursor": 1, "timestamp": "2026-04-03 00:02", "content": "- Prefers dark mode\n- Decided to use PostgreSQL"},
    {
        "cursor": 2,
        "timestamp": "2026-04-05 18:30",
        "content": "[2026-04-05 18:30] 讨论了杭州到上海的高铁时间，选了 G7306。",
    },
]
NANOBOT_OLD_HISTORY = """\
# History

[2026-03-01 10:00] Set up the rain gauge export and fixed the time zone.

[2026-03-02 09:15] Compared two flood models.
Chose HEC-RAS.
"""
CHINESE_SESSION = """\
# 会话: 周末去莫干山

## 元数据

- **会话 ID**: session_20260214_101500
- **创建时间**: 2026-02-14T10:15:00+08:00
- **最后活跃**: 2026-02-14T10:20:00+08:00
- **参与角色**: 用户, 助手

## 对话记录

### 2026-02-14T10:15:00+08:00

**用户**:

> 周末想去莫干山，住哪里好？

**助手**:

> 可以看看庾村附近的民宿。

### 2026-02-14T10:19:00+08:00

**用户**:

> 就订庾村的竹栖民宿吧

## 关键信息摘要

**创建时间**: 2026-02-14T10:30:00+08:00

> - 订了竹栖民宿
"""
OMB_MEMORY = """\
# Notes

- 2026-09-10 · from chat "Follow-up" · the user prefers short replies
- 2026-09-11 · likes oolong · until 2030-12-01
- ~~the office is in Pune~~ · superseded 2026-09-10
- The office is in Lisbon
"""


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def countbot(root: Path) -> Path:
    write(root / "memory" / "MEMORY.md", COUNTBOT)
    return root


def nanobot(root: Path) -> Path:
    write(root / "memory" / "MEMORY.md", NANOBOT_MEMORY)
    write(root / "memory" / "history.jsonl", lines(*NANOBOT_HISTORY) + '{"cursor": 3, "timesta')
    write(root / "memory" / "HISTORY.md", NANOBOT_OLD_HISTORY)
    write(root / "SOUL.md", "# Soul\n\nI am nanobot.\n")
    write(root / "USER.md", "# User Profile\n\n- Birthday: 4 May\n")
    write(root / "notes.md", CHINESE_SESSION)
    head = {
        "_type": "metadata",
        "key": "telegram:12345",
        "created_at": "2026-03-04T08:00:00.123456",
        "updated_at": "2026-03-04T08:05:00",
        "metadata": {},
        "last_consolidated": 0,
    }
    write(
        root / "sessions" / "telegram_12345.jsonl",
        lines(
            head,
            {"role": "user", "content": "When does the ferry leave?", "timestamp": "2026-03-04T08:00:01"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}], "timestamp": "2026-03-04T08:00:02"},
            {"role": "tool", "content": "08:40", "tool_call_id": "1", "timestamp": "2026-03-04T08:00:03"},
            {"role": "assistant", "content": "At 08:40 from pier 3.", "timestamp": "2026-03-04T08:00:04"},
            {"role": "user", "content": [{"type": "text", "text": "谢谢"}], "timestamp": "2026-03-04T08:04:00"},
        ),
    )
    return root


def openmausbot(root: Path) -> Path:
    write(root / "MEMORY.md", OMB_MEMORY)
    write(root / "memory" / "clients.md", "---\ntags: [work]\n---\n# Clients\n\n- Acme pays late, see [[travel]]\n")
    write(root / "memory" / "log" / "2026-09-10.md", "- 09:00 · answered the mail of Acme\n")
    write(root / "memory" / "archive.md", '- 2025-01-02 · from chat "Old" · the car is a Volvo\n')
    return root


def atoms(root: Path) -> Path:
    write(
        root / "2026" / "02" / "15" / "a1.json",
        json.dumps(
            {
                "id": "a1",
                "timestamp": "2026-02-15T09:30:00Z",
                "type": "preference",
                "content": "Window seats on trains",
                "source": "web-chat",
                "tags": ["travel", "train seats"],
                "importance_score": 0.8,
            }
        ),
    )
    write(root / "2026-02-16" / "a2.json", json.dumps({"id": "a2", "content": "猫叫年糕", "tags": ["pets"]}))
    write(root / "2026-02-16" / "broken.json", '{"id": "a3", "content": "cut o')
    many = [{"id": "a4", "timestamp": 1771200000, "content": "Allergic to peanuts"}, {"id": "a5", "content": ""}, 7]
    write(root / "all.json", json.dumps({"memories": many}))
    return root


def message(
    role: str, *parts: Any, at: float | None = 1_709_654_400, kind: str = "text", **more: Any
) -> dict[str, Any]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"author": {"role": role}, "create_time": at, "content": content, **more}


def node(key: str, parent: str | None, said: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"id": key, "parent": parent, "message": said, "children": list(children)}


def conversation(title: str = "Lisbon in March", ident: str = "8f3a-1") -> dict[str, Any]:
    """One edited message, one regenerated reply, a tool step, a picture."""
    nodes = [
        node("root", None, None, "sys"),
        node("sys", "root", message("system", "", at=None, weight=0.0), "u1"),
        node("u1", "sys", message("user", "A hotel in Lisbon?", at=1_709_654_401), "a1", "a1b"),
        node("a1", "u1", message("assistant", "Try Alfama.", at=1_709_654_410), "u2", "u2b"),
        node("a1b", "u1", message("assistant", "Try Belém.", at=1_709_654_420)),
        node("u2", "a1", message("user", "Quiet ones?", at=1_709_654_430), "a2"),
        node("u2b", "a1", message("user", "安静一点的？", at=1_709_654_440), "t1"),
        node("a2", "u2", message("assistant", "Two are quiet.", at=1_709_654_450)),
        node("t1", "u2b", message("assistant", "search()", kind="code", recipient="web"), "t2"),
        node("t2", "t1", message("tool", "found"), "a2b"),
        node("a2b", "t2", message("assistant", "竹栖很安静。", at=1_709_654_470), "u3"),
        node(
            "u3",
            "a2b",
            message(
                "user",
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
                "Is it this one?",
                at=1_709_654_480,
                kind="multimodal_text",
            ),
        ),
    ]
    return {
        "title": title,
        "create_time": 1_709_654_400.5,
        "update_time": 1_709_658_000,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": "u3",
        "conversation_id": ident,
    }


def chatgpt(path: Path, *conversations: dict[str, Any]) -> Path:
    return write(path, json.dumps(list(conversations) or [conversation()]))


def chatgpt_zip(path: Path, *conversations: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps(list(conversations) or [conversation()]))
        archive.writestr("../../evil.json", "[]")
    return path
