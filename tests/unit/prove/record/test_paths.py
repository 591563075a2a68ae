"""The table of ARCHITECTURE: each kind of file once, as Spark 4.3 and Streamproof name it."""

import re

import pytest

from streamproof.prove.record.paths import Layout, final, pattern, place, temporary

UUID = "9a42f2c0-f96e-47cc-8521-7a583df8d5c3"
OTHER = "128d029e-2673-4dde-bbca-29cb5955b499"


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("checkpoint/exposure/metadata", "start/metadata@0"),
        ("checkpoint/exposure/_streamproof/incarnation.json", "start/incarnation@0"),
        ("checkpoint/exposure/sources/0/3", "plan/source.0@3"),
        ("checkpoint/exposure/sources/1/9.compact", "plan/source.1@9"),
        ("checkpoint/exposure/offsets/3", "plan/offsets@3"),
        ("checkpoint/exposure/state/0/_metadata/metadata", "work/operator.0@None"),
        ("checkpoint/exposure/state/0/_metadata/v2/0", "work/operator.0@None"),
        ("checkpoint/exposure/state/1/0/_metadata/schema", "work/schema.1@None"),
        (f"checkpoint/exposure/state/1/_stateSchema/default/0_{UUID}", "work/schema.1@None"),
        (f"checkpoint/exposure/state/0/1/SSTs/000008-{UUID}.sst", "work/sst.0.1@None"),
        (f"checkpoint/exposure/state/0/1/4_{UUID}.zip", "work/state.0.1@3"),
        ("checkpoint/exposure/state/0/1/4.zip", "work/state.0.1@3"),
        (f"checkpoint/exposure/state/0/1/4_{UUID}.changelog", "work/state.0.1@3"),
        (f"checkpoint/exposure/state/0/1/4_{UUID}.zip.crc", "work/checksum.state.0.1@3"),
        ("checkpoint/exposure/state/0/1/4.delta", "work/state.0.1@3"),
        ("checkpoint/exposure/state/0/1/4.snapshot", "work/state.0.1@3"),
        ("checkpoint/exposure/state/0/1/left-keyToNumValues/4.delta", "work/state.0.1.left-keyToNumValues@3"),
        ("checkpoint/exposure/_streamproof/side/late/000002-abcdef12/00001-7.jsonl", "work/side.late.1@2"),
        ("checkpoint/exposure/_streamproof/staging/exposure/000002-abcdef12/part-00000.parquet", "stage/exposure@2"),
        ("out/late/_staging/000002-abcdef12/late-00001-7.jsonl", "work/side.late.1@2"),
        (f"out/exposure/_staging/000002-abcdef12/part-00001-{UUID}-c000.parquet", "stage/exposure@2"),
        ("checkpoint/exposure/_streamproof/tables/_pinned/2", "plan/tables@2"),
        (
            f"checkpoint/exposure/_streamproof/tables/prices/_staging/000002-abcdef12/part-00000-{UUID}-c000.parquet",
            "plan/table.prices@2",
        ),
        (
            f"checkpoint/exposure/_streamproof/tables/prices/0123456789abcdef/part-00000-{UUID}-c000.parquet",
            "plan/table.prices@None",
        ),
        ("checkpoint/exposure/_streamproof/manifests/2", "stage/manifest@2"),
        ("out/exposure/_staging/000002-abcdef12/_ledger.json", "publish/exposure.ledger@2"),
        ("out/exposure/batch=000002", "publish/exposure@2"),
        ("out/exposure/batch=000002/extra", "publish/exposure@2"),
        ("out/exposure/anything.csv", "publish/exposure@None"),
        ("out/exposure/_spark_metadata/2", "publish/exposure.log@2"),
        ("checkpoint/exposure/commits/2", "commit/commits@2"),
    ],
)
def test_the_table(layout, path, step):
    found = place(path, layout)
    assert f"{found.phase}/{found.kind}@{found.batch}" == step
    assert found.known
    assert found.query is None


@pytest.mark.parametrize("path", ["checkpoint/exposure/novelty/7", f"elsewhere/x-{UUID}#1@2"])
def test_an_unknown_path_keeps_a_name(layout, path):
    found = place(path, layout)
    assert not found.known
    assert found.kind in {"other.7", "other.x-id_1_2"}


def test_with_several_queries_the_step_carries_the_query():
    layout = Layout({"a": "checkpoint/a", "b": "checkpoint/b"}, {"x": "out/x"}, {"x": "b"})
    assert place("checkpoint/a/offsets/0", layout).query == "a"
    assert place("out/x/batch=000001", layout).query == "b"


@pytest.mark.parametrize(
    ("path", "step"),
    [
        (f"out/exposure/_staging/000002-ab/part-00001-{UUID}-c000.parquet", "stage/exposure@2"),
        (f"out/exposure.lines/_staging/000002-ab/part-00001-{UUID}-c000.json", "publish/exposure.lines.copy@2"),
        (f"out/exposure.lines/_staging/000002-ab/.part-00001-{UUID}-c000.json.crc", "publish/checksum.exposure.lines.copy@2"),
        ("out/exposure.lines/_staging/000002-ab/_ledger.json", "publish/exposure.lines.ledger@2"),
        ("out/exposure.lines/batch=000002", "publish/exposure.lines@2"),
    ],
)
def test_k7_what_several_sinks_have_in_common_is_staged_and_a_copy_of_it_belongs_to_its_publication(path, step):
    outputs = {"exposure": "out/exposure", "exposure.lines": "out/exposure.lines"}
    layout = Layout({"exposure": "checkpoint/exposure"}, outputs, copies=frozenset({"exposure.lines"}))
    found = place(path, layout)
    assert f"{found.phase}/{found.kind}@{found.batch}" == step
    assert found.known


@pytest.mark.parametrize(
    ("path", "becomes"),
    [
        (f"checkpoint/exposure/offsets/.3.{UUID}.tmp", "checkpoint/exposure/offsets/3"),
        (f"checkpoint/exposure/state/0/1/.4_{OTHER}.zip.crc.{UUID}.tmp", f"checkpoint/exposure/state/0/1/4_{OTHER}.zip.crc"),
        (f"checkpoint/exposure/state/0/1/.4.delta.{UUID}.TID12.tmp", "checkpoint/exposure/state/0/1/4.delta"),
        ("out/late/_staging/000002-abcdef12/.late-00001-7.jsonl.tmp", "out/late/_staging/000002-abcdef12/late-00001-7.jsonl"),
        ("out/x/_staging/000002-ab/_temporary/0/_temporary/attempt_20_0008_m_000000_13/part-0", "out/x/_staging/000002-ab/part-0"),
        ("out/x/_staging/000002-ab/_temporary/0/task_20_0008_m_000000/part-0", "out/x/_staging/000002-ab/part-0"),
    ],
)
def test_a_temporary_file_is_known_by_what_it_becomes(path, becomes):
    assert temporary(path)
    assert final(path) == becomes
    assert not temporary(becomes)
    assert final(becomes) == becomes


@pytest.mark.parametrize(
    ("recorded", "again", "another"),
    [
        (f"s/state/0/1/4_{UUID}.zip", f"s/state/0/1/4_{OTHER}.zip", f"s/state/0/1/5_{OTHER}.zip"),
        (f"s/state/0/1/SSTs/000008-{UUID}.sst", f"s/state/0/1/SSTs/000011-{OTHER}.sst", f"s/state/0/0/SSTs/000008-{UUID}.sst"),
        (
            "o/_staging/000003-abcdef12/_ledger.json",
            "o/_staging/000003-12345678/_ledger.json",
            "o/_staging/000004-abcdef12/_ledger.json",
        ),
        (
            "o/_staging/000003-ab/late-00001-7.jsonl",
            "o/_staging/000003-cd/late-00001-99.jsonl",
            "o/_staging/000003-cd/late-00000-7.jsonl",
        ),
        (
            f"o/_staging/000003-ab/part-00001-{UUID}-c000.parquet",
            f"o/_staging/000003-cd/part-00001-{OTHER}-c000.parquet",
            "o/_staging/x",
        ),
        ("s/offsets/3", "s/offsets/3", "s/offsets/13"),
    ],
)
def test_a_pattern_finds_the_same_file_of_another_run(recorded, again, another):
    found = re.compile(pattern(recorded))
    assert found.search(f"file:/scenario/{recorded}")
    assert found.search(f"file:/again/{again}")
    assert not found.search(f"file:/again/{another}")
