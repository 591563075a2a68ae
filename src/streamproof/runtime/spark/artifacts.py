"""Downloads jars that no Python package brings, for Spark's connectors and the lab's services: from Maven Central, with checksums.

`artifacts.toml` is the lock file. A mirror is named by STREAMPROOF_MAVEN, the cache by STREAMPROOF_CACHE.
"""

import hashlib
import os
import re
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from streamproof.errors import EnvironmentProblem

MIRROR, CACHE = "STREAMPROOF_MAVEN", "STREAMPROOF_CACHE"
elsewhere: "Callable[..., Path] | None" = None
"""Calls a function in a process that has a network, where this one has none (`prove/process/apart.py`)."""
_IVY = "org/apache/ivy/plugins/resolver/IBiblioResolver.class"
_ADDRESS = re.compile(rb"https://[\w.-]+/maven2")
_CHUNK = 1 << 16
_ATTEMPTS, _PAUSE_SECONDS = 3, 0.5

Progress = Callable[[str, int, int], None]
"""Told the name of what is fetched, the bytes that are there, and the bytes in all."""


@dataclass(frozen=True)
class Artifact:
    """One file: `group:name:version[:classifier][@extension]`, its bytes and SHA-256."""

    coordinates: str
    size: int
    sha256: str

    @property
    def path(self) -> str:
        """Its path in a Maven repository."""
        coordinates, _, extension = self.coordinates.partition("@")
        group, name, version, *classifier = coordinates.split(":")
        file = "-".join([name, version, *classifier])
        return f"{group.replace('.', '/')}/{name}/{version}/{file}.{extension or 'jar'}"

    @property
    def file_name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Bundle:
    """The files of one service; `unpack` names an archive among them that is unpacked."""

    name: str
    artifacts: tuple[Artifact, ...]
    unpack: bool = False

    @property
    def size(self) -> int:
        return sum(artifact.size for artifact in self.artifacts)

    @property
    def folder(self) -> Path:
        """Where the files lie; another lock, another folder."""
        lock = hashlib.sha256("".join(sorted(artifact.sha256 for artifact in self.artifacts)).encode()).hexdigest()
        return cache() / f"{self.name}-{lock[:12]}"

    @property
    def there(self) -> bool:
        return (self.folder / ".complete").exists()


def cache() -> Path:
    """The folder that downloads are kept in."""
    named = os.environ.get(CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "streamproof"


def bundles() -> dict[str, Bundle]:
    """What the lock file lists."""
    found = tomllib.loads((Path(__file__).parent / "artifacts.toml").read_text())
    return {
        name: Bundle(name, tuple(Artifact(*each) for each in listed["artifacts"]), listed.get("unpack", False))
        for name, listed in found.items()
    }


def fetched(name: str, progress: Progress | None = None) -> Path:
    """The folder with the files of a bundle, downloaded where they are not there yet.

    Raises
    ------
    EnvironmentProblem
        If a file cannot be had or is another than the lock file says; names the file and where to put it by hand.
    """
    bundle = bundles()[name]
    if bundle.there:
        return bundle.folder
    if elsewhere is not None:
        return elsewhere(fetched, name)
    bundle.folder.mkdir(parents=True, exist_ok=True)
    got: dict[str, int] = {}

    def told(artifact: Artifact, size: int) -> None:
        got[artifact.coordinates] = size
        if progress is not None:
            progress(name, sum(got.values()), bundle.size)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda artifact: _fetch(artifact, bundle.folder, told), bundle.artifacts))
    if bundle.unpack:
        _unpack(bundle.folder / artifact.file_name for artifact in bundle.artifacts)
    (bundle.folder / ".complete").touch()
    return bundle.folder


def repository() -> str:
    """The Maven repository that is asked: the mirror that is named, else Maven Central where Ivy, Spark's own resolver, has it.

    Raises
    ------
    EnvironmentProblem
        If what is named is no address; or no mirror is named and PySpark is not installed, or brings another Ivy.
    """
    named = os.environ.get(MIRROR)
    if named and "://" not in named and not named.startswith("file:"):
        raise EnvironmentProblem(
            f"{named} is no address of a repository.",
            required="It begins with https:// or file:/.",
            remedy=f"Name the mirror in {MIRROR} with it.",
        )
    if named:
        return named.rstrip("/")
    spark = find_spec("pyspark")
    jars = sorted((Path(spark.origin).parent / "jars").glob("ivy-*.jar")) if spark is not None and spark.origin else []
    for jar in jars:
        with zipfile.ZipFile(jar) as ivy:
            found = _ADDRESS.search(ivy.read(_IVY)) if _IVY in ivy.namelist() else None
        if found is not None:
            return found[0].decode()
    raise EnvironmentProblem(
        "It is not known where Maven Central is: PySpark's own resolver does not say it.",
        remedy=f"Name a Maven repository in {MIRROR}.",
    )


def _fetch(artifact: Artifact, folder: Path, told: Callable[[Artifact, int], None]) -> None:
    target = folder / artifact.file_name
    if target.exists() and _sha256(target) == artifact.sha256:
        told(artifact, artifact.size)
        return
    url = f"{repository()}/{artifact.path}"
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".")
    os.close(descriptor)
    partial = Path(name)
    try:
        _download(url, partial, lambda size: told(artifact, size))
        _keep(partial, target, artifact)
    except (OSError, HTTPException) as problem:
        raise _not_to_be_had(artifact, target, problem) from problem
    finally:
        partial.unlink(missing_ok=True)


def _keep(partial: Path, target: Path, artifact: Artifact) -> None:
    found = _sha256(partial)
    if found != artifact.sha256:
        raise EnvironmentProblem(
            f"{artifact.coordinates} is another file than the lock file says: SHA-256 {found[:16]}…, must be {artifact.sha256[:16]}….",
            remedy=f"Look at the mirror that {MIRROR} names, if it is set.",
        )
    partial.replace(target)


def _download(url: str, target: Path, told: Callable[[int], None]) -> None:
    """Writes the answer to a file; begins anew where the connection breaks or is silent for a minute, twice. OSError or HTTPException."""
    for attempt in range(_ATTEMPTS):
        try:
            with (
                urlopen(Request(url, headers={"User-Agent": "streamproof"}), timeout=60) as answer,  # noqa: S310 -- the mirror is the user's
                target.open("wb") as file,
            ):
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
                    told(file.tell())
                if file.tell() < int(answer.headers.get("Content-Length") or 0):
                    raise ConnectionError("the connection ended early")
            return
        except (OSError, HTTPException) as problem:
            passes = not isinstance(problem, HTTPError) or problem.code == 429 or problem.code >= 500
            if not passes or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_SECONDS * (attempt + 1))


def _not_to_be_had(artifact: Artifact, target: Path, problem: Exception) -> EnvironmentProblem:
    why = f"the repository answers {problem.code}" if isinstance(problem, HTTPError) else "the repository does not answer"
    return EnvironmentProblem(
        f"{artifact.coordinates} cannot be fetched: {why}.",
        required=f"It is needed once, as {target} ({artifact.size:,} bytes).",
        remedy=f"Put the file there by hand, or name a mirror of Maven Central in {MIRROR}.",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(archives: Iterable[Path]) -> None:
    """Unpacks where nobody else has: another process may be doing the same, or run from what it has unpacked."""
    for archive in archives:
        content = archive.with_suffix("")
        with tempfile.TemporaryDirectory(dir=cache(), prefix=".unpacking-") as folder:
            partial = Path(folder) / content.name
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(partial)
            try:
                partial.rename(content)
            except OSError:
                if not content.is_dir():
                    raise
