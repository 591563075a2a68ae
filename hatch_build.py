"""Compiles the Java classes into the jars that the wheel ships; also a command: `python hatch_build.py` rebuilds those of the installed Spark.

jvm/production/java and jvm/spark become src/streamproof/_jars/streamproof-production-4.3.jar, one for each minor version of Spark. A class below
jvm/spark/4.1 holds from 4.1 to the next version that has a file of the same name. jvm/proof/java (which may use production's classes)
becomes streamproof-proof.jar, one for all versions. They are compiled with javac: for the installed Spark against the jars that pyspark brings,
for the others (in a wheel, and with `--all`) against Spark's own jars on Maven Central, or on the mirror that STREAMPROOF_MAVEN names. The
same sources and the same compiler give the same bytes. A jar whose sources have not changed is left alone.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a command the hook is not needed
    BuildHookInterface = object  # type: ignore[assignment, misc]

ROOT = Path(__file__).resolve().parent
JARS = ROOT / "src" / "streamproof" / "_jars"
JAVA_RELEASE = "17"
SPARK = ("4.0", "4.1", "4.2", "4.3")
"""The versions that there is a jar for, from the oldest."""
MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
MIRROR = "STREAMPROOF_MAVEN"
"""Names another Maven repository, as for the jars that a run fetches."""
SOURCES_ENTRY = "META-INF/streamproof-sources"
PAGES = ("what-a-pass-means.md", "incidents")
"""The pages below docs/ that reports name: a wheel brings them."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PAUSE_SECONDS = 1.0
"""After which a fetch that broke off is tried once more."""


class JarsNotBuilt(RuntimeError):
    """The Java classes could not be compiled; the message says what is missing and how to get it."""


class JarBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the jars before hatchling collects the files of a wheel, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_jars(every_version=version == "standard")
        build_data["pure_python"] = True
        if version == "standard":  # an editable install finds them in the checkout
            pages = {str(ROOT / "docs" / name): f"streamproof/_docs/{name}" for name in PAGES}
            build_data["force_include"] = {**build_data.get("force_include", {}), **pages}


def build_jars(*, every_version: bool = False) -> list[Path]:
    """Build the jars whose sources have changed, for the installed Spark or for every one, and return the paths of those that were built."""
    installed = installed_spark()
    built = []
    with tempfile.TemporaryDirectory(prefix="streamproof-javac-") as scratch:
        for version in SPARK if every_version else (installed,):
            jar = production_jar(version)
            spark, made_with = _spark_of(version, installed)
            imports = _imports_of(version)
            if _build(_sources_of(version), jar, spark, Path(scratch, version), made_with=made_with, imports=imports):
                built.append(jar)
        proof, production = JARS / "streamproof-proof.jar", production_jar(installed)
        classpath = [production, spark_jars() / "*"]
        made_with = _fingerprint_in(production) or ""
        if _build(_files_of(ROOT / "jvm" / "proof"), proof, lambda: classpath, Path(scratch, "proof"), made_with=made_with):
            built.append(proof)
    return built


def production_jar(version: str) -> Path:
    """The jar for a minor version of Spark."""
    return JARS / f"streamproof-production-{version}.jar"


def installed_spark() -> str:
    """The minor version of the installed pyspark."""
    found = next((re.search(r"-(\d+\.\d+)\.[^-]*\.jar$", path.name) for path in spark_jars().glob("spark-core_*.jar")), None)
    if found is None or found[1] not in SPARK:
        raise JarsNotBuilt(
            f"The Java classes are compiled for Spark {', '.join(SPARK)}; {found[1] if found else 'no spark-core'} found in {spark_jars()}. "
            f"Install one of them: pip install 'pyspark=={SPARK[-1]}.*'"
        )
    return found[1]


def _spark_of(version: str, installed: str) -> tuple[Callable[[], list[Path]], str]:
    """The class path to compile against, fetched when it is asked for, and a text that changes with it."""
    if version == installed:
        return lambda: [spark_jars() / "*"], str(sorted(path.name for path in spark_jars().glob("spark-core_*.jar")))
    listed = ROOT / "jvm" / "spark" / version / "jars"
    if not listed.is_file():
        raise JarsNotBuilt(f"Classes for Spark {version} are compiled where it is installed: pip install 'pyspark=={version}.*'")
    return lambda: [*_fetched(listed, version), *_of_others()], listed.read_text()


def _of_others() -> list[Path]:
    """What Spark stands on, as the installed one brings it: other versions have the same classes there."""
    return sorted(path for path in spark_jars().glob("*.jar") if not path.name.startswith("spark-"))


def _fetched(listed: Path, version: str) -> list[Path]:
    """The jars of a list, each fetched once and held against its checksum."""
    folder = ROOT / "build" / "spark-jars" / version
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for checksum, name in (line.split() for line in _lines(listed)):
        jar = folder / name
        if not jar.is_file() or hashlib.sha256(jar.read_bytes()).hexdigest() != checksum:
            artifact, full = name.removesuffix(".jar").rsplit("-", 1)
            address = f"{_repository()}/org/apache/spark/{artifact}/{full}/{name}"
            try:
                content = _answer(address)
            except (OSError, HTTPException, ValueError) as problem:  # ValueError: the mirror's address has no scheme
                raise JarsNotBuilt(
                    f"{address} cannot be fetched: {problem}. A wheel has classes for each of {', '.join(SPARK)}. "
                    f"{MIRROR} names a mirror of Maven Central."
                ) from None
            if hashlib.sha256(content).hexdigest() != checksum:
                raise JarsNotBuilt(f"{address} is not the file that {listed.relative_to(ROOT)} names: its SHA-256 is another one.")
            unfinished = jar.with_suffix(f".{os.getpid()}.tmp")
            unfinished.write_bytes(content)
            unfinished.replace(jar)
        found.append(jar)
    return found


def _repository() -> str:
    """The Maven repository that is asked: the mirror that is named, else Maven Central."""
    return (os.environ.get(MIRROR) or MAVEN_CENTRAL).rstrip("/")


def _answer(address: str) -> bytes:
    """What an address holds; it is asked a second time where the connection breaks off or the repository is busy."""
    try:
        return _asked(address)
    except (OSError, HTTPException) as problem:
        if isinstance(problem, HTTPError) and problem.code != 429 and problem.code < 500:
            raise  # it would answer the same
        time.sleep(_PAUSE_SECONDS)
        return _asked(address)


def _asked(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310 -- the mirror is the user's
        content: bytes = answer.read()
        return content


def _lines(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def _sources_of(version: str) -> dict[str, Path]:
    """What all versions share, and of what differs the newest that is not newer than the version."""
    files = _files_of(ROOT / "jvm" / "production")
    for older in SPARK[: SPARK.index(version) + 1]:
        files |= _files_of(ROOT / "jvm" / "spark" / older)
    return files


def _files_of(folder: Path) -> dict[str, Path]:
    """Sources and resources by their names."""
    below = [*(folder / "java").rglob("*.java"), *(folder / "resources").rglob("*")]
    return {path.relative_to(folder).as_posix(): path for path in sorted(below) if path.is_file()}


def _imports_of(version: str) -> dict[str, str]:
    """Packages that a later Spark has moved classes to, with what stands in their place in this one."""
    listed = ROOT / "jvm" / "spark" / version / "imports"
    return dict(line.split() for line in _lines(listed)) if listed.is_file() else {}


def spark_jars() -> Path:
    """The folder of jars that the installed pyspark brings."""
    found = importlib.util.find_spec("pyspark")
    for place in found.submodule_search_locations or () if found else ():
        if (Path(place) / "jars").is_dir():
            return Path(place) / "jars"
    raise JarsNotBuilt(
        f"pyspark is not installed here, and the Java classes are compiled against its jars. Install it: pip install 'pyspark=={SPARK[-1]}.*'"
    )


def _build(
    files: Mapping[str, Path],
    jar: Path,
    classpath: Callable[[], list[Path]],
    scratch: Path,
    *,
    made_with: str,
    imports: Mapping[str, str] | None = None,
) -> bool:
    fingerprint = _fingerprint(files, f"{made_with}{dict(imports or {})}")
    if _fingerprint_in(jar) == fingerprint:
        return False
    sources = [_source(name, file, scratch / "sources", imports or {}) for name, file in files.items() if name.endswith(".java")]
    classes = scratch / "classes"
    classes.mkdir(parents=True)
    command = [
        _javac(),
        "--release",
        JAVA_RELEASE,
        "-encoding",
        "UTF-8",
        "-nowarn",
        "-proc:none",
        "-d",
        str(classes),
        "-cp",
        os.pathsep.join(map(str, classpath())),
    ]
    done = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise JarsNotBuilt(f"javac refused the classes of {jar.name}:\n{done.stderr.strip()}")
    entries = {str(path.relative_to(classes)): path.read_bytes() for path in classes.rglob("*.class")}
    entries |= {name.removeprefix("resources/"): file.read_bytes() for name, file in files.items() if name.startswith("resources/")}
    _write_jar(jar, entries, fingerprint)
    return True


def _source(name: str, file: Path, scratch: Path, imports: Mapping[str, str]) -> Path:
    """The file itself, or a copy with the imports of an older Spark."""
    text = file.read_text()
    if not any(moved in text for moved in imports):
        return file
    for moved, before in imports.items():
        text = text.replace(f"import {moved}", f"import {before}")
    copy = scratch / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)
    return copy


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    javac = str(Path(home, "bin", "javac")) if home and Path(home, "bin", "javac").is_file() else shutil.which("javac")
    if javac is None:
        raise JarsNotBuilt(
            f"No javac found (JAVA_HOME={home or 'not set'}); building Streamproof needs a JDK, {JAVA_RELEASE} or later. "
            "Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."
        )
    return javac


def _fingerprint(files: Mapping[str, Path], made_with: str) -> str:
    """What a jar is made of: the sources, and what they are compiled against."""
    digest = hashlib.sha256(made_with.encode())
    for name, path in files.items():
        digest.update(f"{name}\0".encode() + path.read_bytes())
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
        for path in build_jars(every_version="--all" in sys.argv[1:]):
            print(f"built {path.relative_to(ROOT)}")
    except JarsNotBuilt as problem:
        sys.exit(f"error  {problem}")
