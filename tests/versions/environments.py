"""Virtual environments with one version of PySpark each, kept below build/versions."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "versions"
EXTRAS = "kafka,postgres,redis,http,registry,lab"
TOOLS = ("pytest>=8.3",)
"""What the random jobs import beside the wheel."""
OLDER = ("numpy<2", "pyarrow==18.*")
"""What PySpark 3.5 takes: its pandas API stops with later ones, without Streamproof too."""


@dataclass(frozen=True)
class Environment:
    """The wheel beside one version of PySpark.

    Parameters
    ----------
    version
        The minor version, such as "4.1".
    folder
        The virtual environment.
    """

    version: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def streamproof(self, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs the command of the wheel to its end."""
        return self.run(self.folder / "bin" / "streamproof", *words, cwd=cwd)

    def run(self, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end, and keeps what it printed."""
        return subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)


def newest_wheel() -> Path:
    """The wheel that `make wheel` has built last."""
    return max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)


def made(version: str, wheel: Path, *, below: Path = FOLDER) -> Environment:
    """The environment of a version, made where it is not there; the wheel is installed anew: another build has the same version."""
    found = Environment(version, below / version)
    if not found.python.exists():
        subprocess.run([sys.executable, "-m", "venv", found.folder], check=True)
    own = version != "3.5"  # there plain jobs alone run
    _pip(
        found,
        f"pyspark=={version}.*",
        f"streamproof[{EXTRAS}] @ {wheel.as_uri()}" if own else str(wheel),
        *(TOOLS if own else OLDER),
    )
    _pip(found, "--no-deps", "--force-reinstall", str(wheel))
    return found


def _pip(environment: Environment, *words: str) -> None:
    pip: Sequence[str] = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([environment.python, *pip, *words], check=True)
