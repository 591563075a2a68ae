"""A copy of the product with a mutant in it."""

import shutil
import subprocess
import sys
from pathlib import Path

from mutants.catalogue import ROOT, Mutant


def broken_copy(mutant: Mutant, folder: Path) -> Path:
    """The folder to import it from; its Java classes are compiled where the mutant is in them. ValueError if it does not apply any more."""
    copy = folder / "broken"
    shutil.copytree(ROOT / "src" / "streamproof", copy / "src" / "streamproof", ignore=shutil.ignore_patterns("__pycache__"))
    for edit in mutant.edits:
        if edit.file.startswith("jvm/") and not (copy / "jvm").exists():
            shutil.copytree(ROOT / "jvm", copy / "jvm")
            shutil.copytree(ROOT / "docs", copy / "docs")
            shutil.copy(ROOT / "hatch_build.py", copy)
        path = copy / edit.path
        path.write_text(edit.applied(path.read_text()))
        if path.suffix == ".py":
            compile(path.read_text(), str(path), "exec")
    if mutant.java:
        built = subprocess.run([sys.executable, "hatch_build.py"], cwd=copy, capture_output=True, text=True, check=False)
        if built.returncode or "streamproof-production-" not in built.stdout:
            raise ValueError(f"the Java classes are not built: {built.stdout}{built.stderr}")
    return copy / "src"
