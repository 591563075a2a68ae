"""The build of the jars: the same sources give the same bytes, and what is missing is said. javac is not started."""

import hashlib
import importlib.util
import io
import subprocess
import urllib.request
import zipfile
from http.client import IncompleteRead
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("hatch_build_under_test", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for part in ("production", "proof"):
        source = tmp_path / "jvm" / part / "java" / "io" / f"{part.title()}.java"
        source.parent.mkdir(parents=True)
        source.write_text(f"package io; class {part.title()} {{}}")
    (tmp_path / "jvm/production/resources/META-INF/services").mkdir(parents=True)
    (tmp_path / "jvm/production/resources/META-INF/services/x").write_text("io.Production")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "JARS", tmp_path / "jars")
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "spark-core_2.13-4.3.0.jar").touch()
    (tmp_path / "spark" / "avro.jar").touch()
    monkeypatch.setattr(module, "spark_jars", lambda: tmp_path / "spark")
    return module


@pytest.fixture
def maven(build, monkeypatch):
    """Maven Central with one jar for each older version; the addresses that were asked for."""
    asked = []

    def answer(address, **_):
        asked.append(address)
        return io.BytesIO(b"spark")

    for version in build.SPARK[:-1]:
        folder = build.ROOT / "jvm" / "spark" / version
        folder.mkdir(parents=True)
        (folder / "jars").write_text(f"# of Spark\n{hashlib.sha256(b'spark').hexdigest()} spark-sql_2.13-{version}.9.jar\n")
    monkeypatch.setattr("urllib.request.urlopen", answer)
    monkeypatch.setattr(build, "_PAUSE_SECONDS", 0)
    monkeypatch.delenv("STREAMPROOF_MAVEN", raising=False)
    return asked


@pytest.fixture
def javac(monkeypatch):
    """A compiler that writes one class for each source, and keeps its command lines."""
    calls = []

    def run(command, **_):
        calls.append(command)
        target = Path(command[command.index("-d") + 1])
        for source in (part for part in command if part.endswith(".java")):
            (target / f"{Path(source).stem}.class").write_bytes(Path(source).read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    return calls


def test_two_jars_hold_classes_and_resources(build, javac):
    production, proof = build.build_jars()

    assert set(zipfile.ZipFile(production).namelist()) >= {"Production.class", "META-INF/MANIFEST.MF", "META-INF/services/x"}
    assert "Proof.class" in zipfile.ZipFile(proof).namelist()
    assert "Production.class" not in zipfile.ZipFile(proof).namelist()
    assert str(production) in javac[1][javac[1].index("-cp") + 1], "proof is compiled against production"


def test_the_same_sources_give_the_same_bytes(build, javac):
    first = {jar.name: jar.read_bytes() for jar in build.build_jars()}
    for name in first:
        (build.JARS / name).unlink()

    assert {jar.name: jar.read_bytes() for jar in build.build_jars()} == first


def test_what_has_not_changed_is_left_alone_and_a_change_reaches_both_jars(build, javac):
    assert len(build.build_jars()) == 2
    assert build.build_jars() == []
    (build.ROOT / "jvm/proof/java/io/Proof.java").write_text("package io; class Proof { int x; }")
    assert [jar.name for jar in build.build_jars()] == ["streamproof-proof.jar"]
    (build.ROOT / "jvm/production/java/io/Production.java").write_text("package io; class Production { int x; }")
    assert len(build.build_jars()) == 2, "proof was compiled against production"


def test_a_torn_jar_is_built_again(build, javac):
    production = build.build_jars()[0]
    production.write_bytes(production.read_bytes()[:100])

    assert production in build.build_jars()
    assert zipfile.is_zipfile(production)


def _class_of(folder: Path, name: str, text: str) -> None:
    file = folder / "java" / "io" / f"{name}.java"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"package io; {text}")


def _of_jar(jar: Path, name: str) -> str:
    return zipfile.ZipFile(jar).read(f"{name}.class").decode()


def test_each_version_has_a_jar_with_the_newest_of_what_differs_that_is_not_newer(build, javac, maven):
    spark = build.ROOT / "jvm" / "spark"
    for version in ("4.0", "4.2"):
        _class_of(spark / version, "Told", f"class Told {{}} // {version}")
    _class_of(spark / "4.3", "Windows", "class Windows {}")

    assert len(build.build_jars(every_version=True)) == 5

    jars = [build.production_jar(version) for version in build.SPARK]
    assert [_of_jar(jar, "Told")[-3:] for jar in jars] == ["4.0", "4.0", "4.2", "4.2"]
    assert ["Windows.class" in zipfile.ZipFile(jar).namelist() for jar in jars] == [False, False, False, True]
    assert all("Production.class" in zipfile.ZipFile(jar).namelist() for jar in jars)


def test_a_version_that_is_not_installed_is_compiled_against_its_own_jars_fetched_once(build, javac, maven):
    build.build_jars(every_version=True)

    folder = build.ROOT / "build" / "spark-jars" / "4.1"
    classpath = next(call[call.index("-cp") + 1] for call in javac if str(folder) in call[call.index("-cp") + 1])
    assert classpath.split(":") == [str(folder / "spark-sql_2.13-4.1.9.jar"), str(build.spark_jars() / "avro.jar")]
    assert "https://repo1.maven.org/maven2/org/apache/spark/spark-sql_2.13/4.1.9/spark-sql_2.13-4.1.9.jar" in maven
    assert len(maven) == 3
    for jar in build.JARS.glob("*.jar"):
        jar.unlink()
    assert len(build.build_jars(every_version=True)) == 5
    assert len(maven) == 3, "they were kept"


def test_a_fetched_jar_with_another_checksum_is_refused(build, javac, maven, monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", lambda address, **_: io.BytesIO(b"another"))

    with pytest.raises(build.JarsNotBuilt, match=r"spark-sql_2\.13-4\.0\.9\.jar is not the file that jvm/spark/4\.0/jars names"):
        build.build_jars(every_version=True)


def test_the_jars_come_from_the_mirror_that_is_named(build, javac, maven, monkeypatch):
    monkeypatch.setenv("STREAMPROOF_MAVEN", "https://mirror.example/maven/")
    build.build_jars(every_version=True)

    assert maven[0] == "https://mirror.example/maven/org/apache/spark/spark-sql_2.13/4.0.9/spark-sql_2.13-4.0.9.jar"
    assert all(address.startswith("https://mirror.example/maven/org/") for address in maven)


def _breaking(monkeypatch, problem: Exception, *, times: int) -> list[str]:
    """Maven Central as before, but for the first so many times; the addresses that were asked for then."""
    asked, sound = [], urllib.request.urlopen

    def answer(address, **words):
        asked.append(address)
        if len(asked) <= times:
            raise problem
        return sound(address, **words)

    monkeypatch.setattr("urllib.request.urlopen", answer)
    return asked


BROKEN_OFF = [IncompleteRead(b"spa", 2), URLError("timed out"), HTTPError("https://maven", 503, "busy", None, None)]


@pytest.mark.parametrize("problem", BROKEN_OFF, ids=lambda one: type(one).__name__)
def test_a_fetch_that_breaks_off_is_tried_once_more(build, javac, maven, monkeypatch, problem):
    asked = _breaking(monkeypatch, problem, times=1)

    assert len(build.build_jars(every_version=True)) == 5
    assert asked[0] == asked[1]


@pytest.mark.parametrize("problem", BROKEN_OFF, ids=lambda one: type(one).__name__)
def test_a_fetch_that_breaks_off_twice_is_said_with_the_mirror(build, javac, maven, monkeypatch, problem):
    asked = _breaking(monkeypatch, problem, times=2)

    with pytest.raises(
        build.JarsNotBuilt, match=r"spark-sql_2\.13-4\.0\.9\.jar cannot be fetched: .*STREAMPROOF_MAVEN names a mirror"
    ):
        build.build_jars(every_version=True)
    assert len(asked) == 2


def test_what_is_not_there_is_not_asked_for_again(build, javac, maven, monkeypatch):
    asked = _breaking(monkeypatch, HTTPError("https://maven", 404, "not found", None, None), times=1)

    with pytest.raises(build.JarsNotBuilt, match="404"):
        build.build_jars(every_version=True)
    assert len(asked) == 1


def test_a_mirror_that_is_no_address_is_said(build, javac, maven, monkeypatch):
    _breaking(monkeypatch, ValueError("unknown url type: 'mirror/org'"), times=1)

    with pytest.raises(build.JarsNotBuilt, match="unknown url type"):
        build.build_jars(every_version=True)


def test_the_installed_spark_alone_is_compiled_for_in_a_checkout_and_nothing_is_fetched(build, javac, maven):
    assert [jar.name for jar in build.build_jars()] == ["streamproof-production-4.3.jar", "streamproof-proof.jar"]
    assert maven == []


def test_packages_that_a_later_spark_has_moved_classes_to_are_imported_from_where_they_were(build, javac, maven):
    (build.ROOT / "jvm" / "spark" / "4.0" / "imports").write_text("# moved\norg.new. org.old.\n")
    _class_of(build.ROOT / "jvm" / "production", "Moved", "import org.new.Sink; class Moved {}")

    build.build_jars(every_version=True)

    found = [_of_jar(build.production_jar(version), "Moved") for version in ("4.0", "4.1")]
    assert ["org.old.Sink" in text for text in found] == [True, False]


def test_a_spark_that_no_class_is_for_is_said(build, javac):
    (build.spark_jars() / "spark-core_2.13-4.3.0.jar").rename(build.spark_jars() / "spark-core_2.13-3.5.9.jar")

    with pytest.raises(
        build.JarsNotBuilt, match=r"compiled for Spark 4\.0, 4\.1, 4\.2, 4\.3; 3\.5 found.*pip install 'pyspark==4\.3\.\*'"
    ):
        build.build_jars()


def test_no_javac_is_said_with_the_way_to_get_it(build, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)

    with pytest.raises(build.JarsNotBuilt, match=r"No javac found \(JAVA_HOME=not set\).*apt install openjdk-17-jdk-headless"):
        build.build_jars()


def test_what_javac_refuses_is_shown_and_no_jar_is_left(build, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", "Production.java:1: error")
    )

    with pytest.raises(build.JarsNotBuilt, match=r"Production\.java:1: error"):
        build.build_jars()
    assert not list(build.JARS.glob("*.jar"))


@pytest.mark.parametrize(("version", "brought"), [("standard", True), ("editable", False)])
def test_a_wheel_brings_the_pages_that_reports_name_and_a_checkout_has_them(build, monkeypatch, version, brought):
    monkeypatch.setattr(build, "ROOT", ROOT)
    monkeypatch.setattr(build, "build_jars", lambda *, every_version: asked.append(every_version))
    data, asked = {}, []

    build.JarBuildHook.initialize(None, version, data)

    assert asked == [brought], "a wheel has a jar for each Spark, a checkout for the installed one"
    pages = data.get("force_include", {})
    assert ("streamproof/_docs/what-a-pass-means.md" in pages.values()) is brought
    assert all(Path(page).exists() for page in pages)
