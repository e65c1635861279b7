"""Who changed something, in words."""

from __future__ import annotations

from assistant.ui.i18n import tr


def actor_words(actor: str) -> str:
    """Who made a change; actors as in the journal."""
    words = {
        "you": tr("you"),
        "assistant": tr("the assistant"),
        "upkeep": tr("upkeep"),
        "import": tr("import"),
        "disk": tr("another program"),
        "undo": tr("undo"),
    }
    return words.get(actor, actor)
