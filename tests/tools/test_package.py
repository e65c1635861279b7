"""What is installed from a wheel holds the program and its resources, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_wheel_holds_the_resources_beside_the_code(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    for name in ("assistant", "resources"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "resources" / "prompts").mkdir(parents=True, exist_ok=True)
    (source / "resources" / "prompts" / "for-the-test.md").write_text("be kind")
    (source / "tools").mkdir()
    (source / "tools" / "set_up.py").write_text("")
    code = "import sys, hatchling.build; getattr(hatchling.build, sys.argv[1])(sys.argv[2])"
    for kind in ("build_wheel", "build_editable"):
        subprocess.run([sys.executable, "-c", code, kind, str(tmp_path / kind)], cwd=source, check=True)
    names = zipfile.ZipFile(next((tmp_path / "build_wheel").glob("*.whl"))).namelist()
    assert {"assistant/__init__.py", "assistant/core/errors.py", "assistant/_resources/prompts/for-the-test.md"} <= set(
        names
    )
    assert {name.split("/")[0] for name in names} == {"assistant", "keepsake-0.1.0.dist-info"}
    in_place = zipfile.ZipFile(next((tmp_path / "build_editable").glob("*.whl"))).namelist()
    assert not [name for name in in_place if name.startswith("assistant")]
