"""The build of the jars: the same sources give the same bytes, and what is missing is said. javac is not started."""

import importlib.util
import subprocess
import zipfile
from pathlib import Path

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
    monkeypatch.setattr(module, "spark_jars", lambda: tmp_path)
    return module


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
    monkeypatch.setattr(build, "build_jars", list)
    data = {}

    build.JarBuildHook.initialize(None, version, data)

    pages = data.get("force_include", {})
    assert ("streamproof/_docs/what-a-pass-means.md" in pages.values()) is brought
    assert all(Path(page).exists() for page in pages)
