"""A proposal of the inbox, and the file that it stands in."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import read_bytes, write_atomic

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProposalItem:
    """One thing to remember. n: its number in the proposal, for good; taken: the words that are being accepted."""

    n: int
    text: str
    taken: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What waits for a yes. time: ISO; source, day: of the entry it becomes; actor: who wants to remember it."""

    id: str
    time: str
    source: str
    actor: str
    day: date
    items: tuple[ProposalItem, ...]
    lead: str = ""


def write_proposal(path: Path, proposal: Proposal) -> None:
    """Durable, or as it was before. Raises AssistantError."""
    record = {**asdict(proposal), "day": proposal.day.isoformat()}
    write_atomic(path, json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def read_proposal(path: Path) -> Proposal | None:
    """The proposal of a file; None where there is none that can be read."""
    try:
        record = parse_json(read_bytes(path).decode("utf-8", "surrogatepass"))
        items = tuple(
            ProposalItem(int(item["n"]), str(item["text"]), str(item.get("taken", ""))) for item in record["items"]
        )
        if len({item.n for item in items}) < len(items) or not items:
            raise ValueError("its items cannot be told apart")
        return Proposal(
            id=path.stem,
            time=str(record["time"]),
            source=str(record["source"]),
            actor=str(record["actor"]),
            day=date.fromisoformat(record["day"]),
            items=items,
            lead=str(record.get("lead", "")),
        )
    except (AssistantError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.debug("%s is no proposal: %s", path.name, error)
        return None
