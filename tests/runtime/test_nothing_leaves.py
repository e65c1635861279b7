"""Promise 3: the libraries of our workers report to nobody. They run as a person's do, in a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_embeddings import embedding_model_path

pytestmark = pytest.mark.real

_WORKER = """
import sys
from pathlib import Path
from assistant.core.cancel import CancelToken
from assistant.runtime.embedding import WorkerEmbedder
embedder = WorkerEmbedder(Path(sys.argv[1]))
embedder.embed(["tea"], CancelToken())
embedder.close()
"""
_IN_PROCESS = """
import sys
from pathlib import Path
from assistant.core.cancel import CancelToken
from assistant.recall.meaning.embedders import OnnxEmbedder
OnnxEmbedder(Path(sys.argv[1])).embed(["tea"], CancelToken())
"""


@pytest.mark.parametrize("code", [_WORKER, _IN_PROCESS], ids=["worker", "in process"])
def test_embedding_keeps_no_device_id_and_no_telemetry_store(tmp_path: Path, code: str) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ORT_", "HF_", "DO_NOT"))}
    command = [sys.executable, "-c", code, str(embedding_model_path())]
    subprocess.run(command, env={**env, "HOME": str(tmp_path)}, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
