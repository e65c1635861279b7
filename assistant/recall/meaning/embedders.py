"""Embedding models behind one port: an ONNX file where the model folder has one, sentence-transformers otherwise."""

from __future__ import annotations

import hashlib
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.core.ports import Embedder
from assistant.core.values import Passage
from assistant.recall.meaning.windows import PASSAGE_RULES, Windows, token_ends

if TYPE_CHECKING:
    import numpy as np

MAX_TOKENS = 512
_BATCH = 16
QUERY_MAP = "query_map.npy"
_LARGEST_STORED = 65_504.0
"""Of float16, as which the index keeps a map."""
_INT8_BATCH = 1
"""int8 scales its inputs by the largest in the batch, so a text's vector would depend on its company (cosine 0.99)."""
_ONNX_FILES = ("onnx/model_qint8.onnx", "onnx/model.onnx", "model.onnx")
"""In the order of preference. int8 and fp32 vectors of one model are near enough to share an index."""

_CONFIGURATION = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
)
_EDGE = 1 << 20


@runtime_checkable
class PatientEmbedder(Protocol):
    """An embedder that takes time to start; recall never waits for it longer than it is allowed to."""

    @property
    def ready(self) -> bool:
        """True when a query is answered at once."""
        ...

    def warm_up(self) -> None:
        """Start it in the background; returns at once."""
        ...

    def embed_query(self, text: str, seconds: float) -> np.ndarray | None:
        """The text's vector, or None when it is not there in time."""
        ...


class _Windowed(ABC):
    """What both kinds share: texts are cut to windows that fit, whatever makes the vectors."""

    _windows: Windows

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        """See core.ports.Embedder."""
        return self._vectors([self._windows.first(text) for text in texts], cancel)

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """See core.ports.Embedder. Checks ``cancel`` between batches."""
        return _embed_cut(self._windows.cut, passages, lambda texts: self._vectors(texts, cancel))

    def embed_pieces(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """See core.ports.Embedder. Checks ``cancel`` between batches."""
        return _embed_cut(self._windows.pieces, passages, lambda texts: self._vectors(texts, cancel))

    @abstractmethod
    def _vectors(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        """Of texts that fit, a row each of length 1."""


class OnnxEmbedder(_Windowed):
    """onnxruntime and tokenizers: ready in under a second, some 8 ms a query with the int8 file."""

    def __init__(self, folder: Path, onnx_file: Path | None = None, threads: int = 1) -> None:
        # Nothing leaves: since 1.29 the library reports to its maker unless it is told not to before it is loaded.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._windows = _windows(self._tokenizer, folder, _max_tokens(folder))
        path = onnx_file or find_onnx(folder)
        self._batch = _INT8_BATCH if path and "int8" in path.name else _BATCH
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._cls = _pools_first_token(folder)
        self.identity = model_identity(folder)
        self.query_map = read_query_map(folder)
        self.dimensions = int(self._session.get_outputs()[0].shape[-1])

    def _vectors(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        """Of texts that fit; in batches of similar length."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        encodings = [self._tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda n: len(encodings[n]))
        for start in range(0, len(order), self._batch):
            cancel.check()
            batch = order[start : start + self._batch]
            vectors[batch] = self._run([encodings[n] for n in batch])
        return vectors

    def _run(self, batch: list[list[int]]) -> np.ndarray:
        import numpy as np

        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        return _unit_rows(hidden[:, 0] if self._cls else _mean(hidden, mask))


class SentenceTransformerEmbedder(_Windowed):
    """Any local sentence-transformers folder. Slow to start (seconds), needs torch."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from tokenizers import Tokenizer
        except ImportError as error:
            raise AssistantError(
                "embedding.library",
                f"The embedding model {folder.name} has no ONNX file and sentence-transformers is not installed.",
                "Install keepsake[sentence-transformers], or choose the default embedding model.",
            ) from error
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # a bar of its own starts a thread that never ends
        torch.set_num_threads(threads)
        # An fp16 folder would load as fp16, which is slow and less exact on a CPU.
        self._model = SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": torch.float32}
        )
        # A copy: the model's own pads and cuts.
        tokenizer = Tokenizer.from_str(self._model.tokenizer.backend_tokenizer.to_str())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._windows = _windows(tokenizer, folder, int(self._model.max_seq_length or MAX_TOKENS))
        self.identity = model_identity(folder)
        self.query_map = read_query_map(folder)
        self.dimensions = int(self._model.get_embedding_dimension() or 0)

    def _vectors(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        for start in range(0, len(order), _BATCH):
            cancel.check()
            batch = order[start : start + _BATCH]
            vectors[batch] = self._model.encode(
                [texts[n] for n in batch], normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        return vectors


def load_embedder(folder: Path, threads: int = 1) -> Embedder:
    """The right adapter for a model folder. threads: for one batch of sentence-transformers; ONNX takes one a text.

    Raises AssistantError("embedding.model") when it cannot be used.
    """
    try:
        return OnnxEmbedder(folder) if find_onnx(folder) else SentenceTransformerEmbedder(folder, threads)
    except AssistantError:
        raise
    except Exception as error:  # libraries raise what they like for a damaged folder
        raise AssistantError(
            "embedding.model",
            f"The embedding model in {folder} cannot be loaded: {error}",
            "Build or download it again; until then search works by keywords.",
        ) from error


def find_onnx(folder: Path) -> Path | None:
    """The ONNX file to use, or None."""
    return next((folder / name for name in _ONNX_FILES if (folder / name).is_file()), None)


def model_identity(folder: Path) -> str:
    """Names the model, its files as they are now, and the rules by which passages are cut for it.

    The manifest's name for it, else the folder's, with a hash over what its vectors come from: the whole of its
    configuration and tokenizer; of the weights that are loaded the size and both ends. Some 15 ms.
    """
    digest = hashlib.sha256(f"{PASSAGE_RULES}:{model_prefix(folder)}".encode())
    for name in _CONFIGURATION:
        if (folder / name).is_file():
            digest.update(name.encode() + (folder / name).read_bytes())
    for path in _weights(folder):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE))
            file.seek(max(size - _EDGE, 0))
            digest.update(file.read())
    name = str(_json(folder / "manifest.json").get("identity") or folder.name).partition("@")[0]
    return f"{name}@{digest.hexdigest()[:16]}"


def read_query_map(folder: Path) -> np.ndarray | None:
    """The model's query map, where its folder holds one that can be used."""
    import numpy as np

    try:
        stored = io.BytesIO((folder / QUERY_MAP).read_bytes())
        values = np.lib.format.read_array(stored, allow_pickle=False)
    except Exception:  # noqa: BLE001 - a file cut short or of another kind fails in a dozen ways
        return None
    if values.ndim != 2 or values.dtype.kind != "f":
        return None
    largest = float(np.abs(values).max(initial=0.0))  # NaN where one is among them
    fits = values.shape[0] == values.shape[1] and largest <= _LARGEST_STORED
    return values.astype(np.float32) if fits else None


def _weights(folder: Path) -> list[Path]:
    """The files from which the adapter reads its weights."""
    if onnx := find_onnx(folder):
        return [onnx, *sorted(onnx.parent.glob(f"{onnx.name}[._]data"))]
    return sorted([*folder.rglob("*.safetensors"), *folder.rglob("*.bin")])


def model_prefix(folder: Path) -> str:
    """What stands before every text, on both sides: e5 models want ``query: `` (measured better than ``passage: ``)."""
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    prefix = _json(folder / "manifest.json").get("prefix") or (prompts or {}).get("query") or ""
    return str(prefix) or ("query: " if "e5" in folder.name.lower() else "")


def _max_tokens(folder: Path) -> int:
    configured = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(configured, MAX_TOKENS) if isinstance(configured, int) and configured > 0 else MAX_TOKENS


def _windows(tokenizer: Any, folder: Path, tokens: int) -> Windows:
    """tokens: the model's limit; more than MAX_TOKENS are not used."""
    room = min(tokens, MAX_TOKENS) - tokenizer.num_special_tokens_to_add(False)
    return Windows(token_ends(tokenizer), model_prefix(folder), room)


def _embed_cut(
    cut: Callable[[Passage], list[str]], passages: Sequence[Passage], embed: Callable[[list[str]], np.ndarray]
) -> list[np.ndarray]:
    """What all passages are cut into at once, so that it is sorted by length together; given back by passage."""
    import numpy as np

    texts = [cut(passage) for passage in passages]
    vectors = embed([text for one in texts for text in one])
    return np.split(vectors, np.cumsum([len(one) for one in texts])[:-1]) if texts else []


def _pools_first_token(folder: Path) -> bool:
    return bool(_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))


def _json(path: Path) -> dict[str, Any]:
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _mean(hidden: np.ndarray, mask: np.ndarray) -> np.ndarray:
    import numpy as np

    weights = mask[:, :, None].astype(np.float32)
    pooled: np.ndarray = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    import numpy as np

    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit.astype(np.float32)
