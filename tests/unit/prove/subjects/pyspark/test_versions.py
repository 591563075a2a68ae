"""A plain job is proved on the Spark that it runs on, from 3.5: nothing here asks that one for what only a later one has. No Spark is started."""

import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest
from pyspark.sql import types

import streamproof
from streamproof.prove.subjects.pyspark.batch_reads import BatchReads
from streamproof.prove.subjects.pyspark.places import Places
from streamproof.prove.subjects.pyspark.redirect import _bind_readers

PACKAGE = Path(streamproof.__file__).parent
SINCE_4 = ("org/apache/spark/sql/classic/", "org/apache/spark/sql/execution/streaming/runtime/", "scala/jdk/javaapi/")


def test_a_reader_without_xml_is_bound_too(tmp_path):
    class Reader:
        def json(self, path: str) -> str:
            return path

    _bind_readers(Reader, Places("sp-record://r1/s1", tmp_path), BatchReads([], {}))
    (tmp_path / "out" / "written" / "lake").mkdir(parents=True)

    assert Reader().json("/lake") == "sp-record://r1/s1/out/written/lake"
    assert not hasattr(Reader, "xml")


def test_the_source_of_a_reference_is_linked_to_no_class_that_is_elsewhere_in_another_spark():
    with zipfile.ZipFile(PACKAGE / "_jars" / "streamproof-proof.jar") as jar:
        classes = {name: jar.read(name).decode("latin-1") for name in jar.namelist() if "/CutFiles" in name}

    assert classes
    assert {(name, part) for name, linked in classes.items() for part in SINCE_4 if part in linked} == set()


@pytest.mark.parametrize("module", ["connectors/files/formats.py", "replay/diff/columns.py"])
def test_a_spark_without_the_type_variant_is_no_obstacle(module, monkeypatch):
    monkeypatch.delattr(types, "VariantType")
    spec = importlib.util.spec_from_file_location("of_an_older_spark", PACKAGE / module)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, loaded)

    spec.loader.exec_module(loaded)
