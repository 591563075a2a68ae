"""Files from a Maven repository: what comes is what the lock file says, once, and what is missing is named."""

import hashlib
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from streamproof.errors import EnvironmentProblem
from streamproof.runtime.spark import artifacts
from streamproof.runtime.spark.artifacts import Artifact, Bundle


def put(repository: Path, coordinates: str, content: bytes) -> Artifact:
    """A file in a repository on disk, as the lock file lists it."""
    artifact = Artifact(coordinates, len(content), hashlib.sha256(content).hexdigest())
    path = repository / artifact.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return artifact


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(artifacts.MIRROR, (tmp_path / "repository").as_uri())
    monkeypatch.setenv(artifacts.CACHE, str(tmp_path / "cache"))
    return tmp_path / "repository"


@pytest.fixture
def lists(monkeypatch):
    def lists(*listed: Artifact, unpack: bool = False) -> None:
        monkeypatch.setattr(artifacts, "bundles", lambda: {"thing": Bundle("thing", listed, unpack)})

    return lists


def test_coordinates_are_paths_in_a_repository():
    plain = Artifact("org.apache.kafka:kafka_2.13:4.2.0", 0, "")
    packed = Artifact("io.apicurio:apicurio-registry-app:3.0.9:all@zip", 0, "")

    assert plain.path == "org/apache/kafka/kafka_2.13/4.2.0/kafka_2.13-4.2.0.jar"
    assert packed.path == "io/apicurio/apicurio-registry-app/3.0.9/apicurio-registry-app-3.0.9-all.zip"


def test_a_bundle_is_fetched_once_and_tells_how_far_it_is(repository, lists):
    one, two = put(repository, "a:one:1", b"first"), put(repository, "a:two:1", b"second")
    lists(one, two)
    told: list[tuple[str, int, int]] = []

    folder = artifacts.fetched("thing", lambda *how_far: told.append(how_far))
    (repository / one.path).unlink()

    assert sorted(path.name for path in folder.glob("*.jar")) == ["one-1.jar", "two-1.jar"]
    assert max(told) == ("thing", 11, 11)
    assert artifacts.fetched("thing") == folder, "nothing is asked for that is there"


def test_another_file_than_the_lock_says_is_refused_and_not_kept(repository, lists):
    artifact = put(repository, "a:one:1", b"as locked")
    (repository / artifact.path).write_bytes(b"tampered!")
    lists(artifact)

    with pytest.raises(EnvironmentProblem, match="a:one:1 is another file than the lock file says"):
        artifacts.fetched("thing")
    assert not list(artifacts.cache().rglob("*.jar"))


def test_a_missing_file_is_named_with_where_to_put_it(repository, lists):
    repository.mkdir()
    lists(Artifact("a:one:1", 5, hashlib.sha256(b"first").hexdigest()))

    with pytest.raises(EnvironmentProblem, match="a:one:1 cannot be fetched") as problem:
        artifacts.fetched("thing")

    wanted = artifacts.bundles()["thing"].folder / "one-1.jar"
    assert str(wanted) in str(problem.value)
    wanted.write_bytes(b"first")
    assert artifacts.fetched("thing") == wanted.parent, "a file that was put there by hand is taken"


def test_a_connection_that_breaks_is_tried_again(repository, lists, monkeypatch):
    artifact = put(repository, "a:one:1", b"as locked")
    asked: list[str] = []

    class Breaking(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "9")
            self.end_headers()
            self.wfile.write(b"as locked" if len(asked) == 3 else b"as")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    lists(artifact)
    with ThreadingHTTPServer(("127.0.0.1", 0), Breaking) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(artifacts.MIRROR, f"http://127.0.0.1:{server.server_port}")
        folder = artifacts.fetched("thing")
        server.shutdown()

    assert asked == [f"/{artifact.path}"] * 3
    assert (folder / "one-1.jar").read_bytes() == b"as locked"
    assert [path.name for path in folder.iterdir() if path.name != ".complete"] == ["one-1.jar"]


def test_a_mirror_that_is_no_address_is_said(repository, lists, monkeypatch):
    lists(put(repository, "a:one:1", b"first"))
    monkeypatch.setenv(artifacts.MIRROR, "mirror.example/maven")

    with pytest.raises(EnvironmentProblem, match=r"mirror\.example/maven is no address of a repository") as refused:
        artifacts.fetched("thing")
    assert artifacts.MIRROR in refused.value.remedy


def test_an_archive_is_unpacked(repository, lists, tmp_path):
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as packed:
        packed.writestr("inside/runner.jar", b"program")
    lists(put(repository, "a:app:1:all@zip", (tmp_path / "made.zip").read_bytes()), unpack=True)

    assert (artifacts.fetched("thing") / "app-1-all" / "inside" / "runner.jar").read_bytes() == b"program"


def test_an_archive_that_another_process_has_unpacked_is_left_to_it(repository, lists, tmp_path):
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as packed:
        packed.writestr("runner.jar", b"program")
    lists(put(repository, "a:app:1:all@zip", (tmp_path / "made.zip").read_bytes()), unpack=True)
    folder = artifacts.bundles()["thing"].folder
    (folder / "app-1-all").mkdir(parents=True)
    (folder / "app-1-all" / "runner.jar").write_bytes(b"in use")

    artifacts.fetched("thing")

    assert (folder / "app-1-all" / "runner.jar").read_bytes() == b"in use"
    assert {path.name for path in folder.glob(".*")} == {".complete"}


def test_without_a_mirror_the_address_is_that_of_sparks_own_resolver(monkeypatch):
    monkeypatch.delenv(artifacts.MIRROR, raising=False)

    assert artifacts.repository().startswith("https://")


def test_every_bundle_of_the_lock_file_has_whole_entries():
    for bundle in artifacts.bundles().values():
        assert bundle.artifacts
        assert all(len(artifact.sha256) == 64 and artifact.size > 0 for artifact in bundle.artifacts)
        assert len({artifact.file_name for artifact in bundle.artifacts}) == len(bundle.artifacts)
