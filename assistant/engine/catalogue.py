"""The models the app knows by name: where they come from, how large they are, and what their bytes hash to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.resources import resource
from assistant.engine.memory_estimate import MemoryEstimate, ModelShape, RunPlan, estimate

_BYTES_A_WEIGHT = {"Q4_0": 0.58, "Q4_1": 0.64, "Q4_K_M": 0.61, "Q5_K_M": 0.71, "Q6_K": 0.82, "Q8_0": 1.07, "F16": 2.0}
"""Of a whole file, tables in finer types included: sizes of known files over their weights."""
_REPACKED_SHARE = {"Q4_0": 0.8, "Q4_K_M": 0.56}
"""Of a file's bytes, what llama.cpp copies when it loads them; measured for Q4_K_M, see memory_estimate."""


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One known file. size_bytes 0 or sha256 "": not known. languages: codes; more_languages: how many besides.

    repository "": it comes with the app or from a package and is not downloaded from a hub. window: tokens it was
    trained for. tools: whether its template can call tools. shape: None where it is not known.
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
    parameters: int = 0
    quantisation: str = ""
    window: int = 0
    tools: bool = False
    shape: ModelShape | None = None

    @property
    def about_bytes(self) -> int:
        """The size, or what it will be about where it is not known; 0 where nobody can tell."""
        return self.size_bytes or round(self.parameters * _BYTES_A_WEIGHT.get(self.quantisation, 0))

    def memory(self, plan: RunPlan) -> MemoryEstimate | None:
        """What it would take here; None where too little is known."""
        if self.shape is None or not self.about_bytes:
            return None
        repacked = round(self.about_bytes * _REPACKED_SHARE.get(self.quantisation, 0))
        return estimate(self.shape, self.about_bytes, repacked, plan)


def load_catalogue() -> tuple[CatalogueModel, ...]:
    """All models of ``resources/catalogue.json``, in the order in which they are offered."""
    data = json.loads(resource("catalogue.json").read_text("utf-8"))
    return tuple(_model(item) for item in data["models"])


def find_in_catalogue(models: tuple[CatalogueModel, ...], name: str) -> CatalogueModel:
    """By name, title or file name, in any case; ``owner/repository/file.gguf`` is any file of the hub, known or not.

    Raises AssistantError("model.not_in_catalogue").
    """
    wanted = name.strip().casefold().removesuffix(".gguf")
    for model in models:
        known = (model.name, model.title, model.file.removesuffix(".gguf"))
        if wanted and wanted in map(str.casefold, known):
            return model
    owner, _, rest = name.strip().partition("/")
    repository, _, file = rest.partition("/")
    parts = (owner, repository, *file.split("/"))
    # On Windows a backslash or a drive's colon in a name would lead out of the models folder.
    if file.casefold().endswith(".gguf") and not any(
        part in ("", ".", "..") or set(part) & {"\\", ":"} for part in parts
    ):
        short = file.rpartition("/")[2]
        return CatalogueModel(short[: -len(".gguf")], short, (), 0, f"{owner}/{repository}", "", file, 0, "", "")
    raise AssistantError(
        "model.not_in_catalogue",
        f"The catalogue has no model called {name}.",
        "`keepsake models catalogue` shows those that it has.",
    )


def _model(item: Mapping[str, Any]) -> CatalogueModel:
    return CatalogueModel(
        name=item["name"],
        title=item["title"],
        languages=tuple(item["languages"]),
        more_languages=item["more_languages"],
        repository=item["repository"],
        revision=item["revision"],
        file=item["file"],
        size_bytes=item["bytes"],
        sha256=item["sha256"],
        licence=item["licence"],
        parameters=item["parameters"],
        quantisation=item["quantisation"],
        window=item["window"],
        tools=item["tools"],
        shape=ModelShape(**item["shape"]),
    )
