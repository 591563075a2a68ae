"""Compiles the Java classes into the two jars that the wheel ships; also a command: `python hatch_build.py` rebuilds them in place.

jvm/production/**/*.java becomes src/streamproof/_jars/streamproof-production.jar, jvm/proof/**/*.java (which may use production's
classes) becomes streamproof-proof.jar. They are compiled with javac against the jars that pyspark brings. The same sources and the
same compiler give the same bytes. A jar whose sources have not changed is left alone.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a command the hook is not needed
    BuildHookInterface = object  # type: ignore[assignment, misc]

ROOT = Path(__file__).resolve().parent
JARS = ROOT / "src" / "streamproof" / "_jars"
JAVA_RELEASE = "17"
SOURCES_ENTRY = "META-INF/streamproof-sources"
PAGES = ("what-a-pass-means.md", "incidents")
"""The pages below docs/ that reports name: a wheel brings them."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


class JarsNotBuilt(RuntimeError):
    """The Java classes could not be compiled; the message says what is missing and how to get it."""


class JarBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the jars before hatchling collects the files of a wheel, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_jars()
        build_data["pure_python"] = True
        if version == "standard":  # an editable install finds them in the checkout
            pages = {str(ROOT / "docs" / name): f"streamproof/_docs/{name}" for name in PAGES}
            build_data["force_include"] = {**build_data.get("force_include", {}), **pages}


def build_jars() -> list[Path]:
    """Build both jars where their sources have changed, and return the paths of those that were built."""
    spark = spark_jars()
    built = []
    with tempfile.TemporaryDirectory(prefix="streamproof-javac-") as scratch:
        production = JARS / "streamproof-production.jar"
        if _build(ROOT / "jvm" / "production", production, f"{spark}/*", Path(scratch, "production")):
            built.append(production)
        proof = JARS / "streamproof-proof.jar"
        classpath = os.pathsep.join((str(production), f"{spark}/*"))
        if _build(ROOT / "jvm" / "proof", proof, classpath, Path(scratch, "proof"), after=_fingerprint_in(production) or ""):
            built.append(proof)
    return built


def spark_jars() -> Path:
    """The folder of jars that the installed pyspark brings."""
    found = importlib.util.find_spec("pyspark")
    for place in found.submodule_search_locations or () if found else ():
        if (Path(place) / "jars").is_dir():
            return Path(place) / "jars"
    raise JarsNotBuilt(
        "pyspark is not installed here, and the Java classes are compiled against its jars. Install it: pip install 'pyspark==4.3.*'"
    )


def _build(folder: Path, jar: Path, classpath: str, scratch: Path, *, after: str = "") -> bool:
    sources = sorted(folder.rglob("*.java"))
    if not sources:
        return False
    resources = sorted(path for path in (folder / "resources").rglob("*") if path.is_file())
    fingerprint = _fingerprint(folder, [*sources, *resources], after)
    if _fingerprint_in(jar) == fingerprint:
        return False
    scratch.mkdir(parents=True)
    command = [
        _javac(),
        "--release",
        JAVA_RELEASE,
        "-encoding",
        "UTF-8",
        "-nowarn",
        "-proc:none",
        "-d",
        str(scratch),
        "-cp",
        classpath,
    ]
    done = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise JarsNotBuilt(f"javac refused the classes of {folder.relative_to(ROOT)}:\n{done.stderr.strip()}")
    entries = {str(path.relative_to(scratch)): path.read_bytes() for path in scratch.rglob("*.class")}
    entries |= {str(path.relative_to(folder / "resources")): path.read_bytes() for path in resources}
    _write_jar(jar, entries, fingerprint)
    return True


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    javac = str(Path(home, "bin", "javac")) if home and Path(home, "bin", "javac").is_file() else shutil.which("javac")
    if javac is None:
        raise JarsNotBuilt(
            f"No javac found (JAVA_HOME={home or 'not set'}); building Streamproof needs a JDK, {JAVA_RELEASE} or later. "
            "Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."
        )
    return javac


def _fingerprint(folder: Path, files: list[Path], after: str) -> str:
    """What a jar is made of: Spark's version, the sources, and `after`, the fingerprint of the jar they are compiled against."""
    versions = sorted(path.name for path in spark_jars().glob("spark-core_*.jar"))
    digest = hashlib.sha256(f"{versions}{after}".encode())
    for path in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _fingerprint_in(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(SOURCES_ENTRY).decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


def _write_jar(jar: Path, entries: dict[str, bytes], fingerprint: str) -> None:
    """Write the entries in order and with one fixed date, to a temporary name first: a reader sees a whole jar or the old one."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    fixed = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n", SOURCES_ENTRY: fingerprint.encode()}
    unfinished = jar.with_suffix(f".{os.getpid()}.tmp")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*fixed.items(), *sorted(entries.items())):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    unfinished.replace(jar)


if __name__ == "__main__":
    try:
        for path in build_jars():
            print(f"built {path.relative_to(ROOT)}")
    except JarsNotBuilt as problem:
        sys.exit(f"error  {problem}")
