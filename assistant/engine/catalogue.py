"""The models the app knows by name: where they come from, how large they are, and what their bytes hash to."""

from __future__ import annotations

import json
from dataclasses import dataclass

from assistant.core.resources import resource


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One known file. size_bytes 0 or sha256 "": not known. languages: codes; more_languages: how many besides.

    repository "": it comes with the app or from a package and is not downloaded from a hub.
    """

    name: str
    title: str
    languages: tuple[str, ...]
    more_languages: int
    repository: str
    revision: str
    file: str
    size_bytes: int
    sha256: str
    licence: str


def load_catalogue() -> tuple[CatalogueModel, ...]:
    """All models of ``resources/catalogue.json``, in the order in which they are offered."""
    data = json.loads(resource("catalogue.json").read_text("utf-8"))
    return tuple(
        CatalogueModel(
            item["name"],
            item["title"],
            tuple(item["languages"]),
            item["more_languages"],
            item["repository"],
            item["revision"],
            item["file"],
            item["bytes"],
            item["sha256"],
            item["licence"],
        )
        for item in data["models"]
    )
