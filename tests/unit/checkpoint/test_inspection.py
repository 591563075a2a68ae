"""A checkpoint is read from its files alone: of ours, of plain PySpark, whole and damaged. Nothing is changed."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.schemas import Column, Schema
from streamproof.checkpoint.stores import _told_by
from streamproof.errors import ConfigurationError, DataError, UnknownFormat
from unit.checkpoint.written import JOIN, OURS, START_MS, VARIABLES, WINDOWS, contents, copy_of, kafka_checkpoint

ENDS = [{"trades": {"0": 10, "1": 4}}, {"trades": {"0": 25, "1": 4}}, {"trades": {"0": 25, "1": 10}, "quotes": {"0": 3}}]


def test_offsets_watermarks_and_batches_of_a_topic(tmp_path):
    found = inspect_checkpoint(kafka_checkpoint(tmp_path / "c", ENDS, committed=2))

    assert found.newest.sources[0].positions == {"quotes-0": 3, "trades-0": 25, "trades-1": 10}
    assert [batch.records for batch in found.batches] == [{0: 5 + 4}, {0: 15}, {}]
    assert [batch.committed for batch in found.batches] == [True, True, False]
    assert [batch.planned_ms - START_MS for batch in found.batches] == [0, 1_000, 2_000]
    assert found.batches[2].watermark_ms == START_MS + 10_000
    assert found.own is None
    assert "Batch 2 is planned and not committed" in found.notes[0]


def test_how_many_records_the_oldest_batch_has_read_is_not_known_where_the_one_before_was_removed(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", [*ENDS, {"trades": {"0": 30, "1": 14}, "quotes": {"0": 3}}], committed=4)
    for number in ("0", "1"):
        (checkpoint / "offsets" / number).unlink()
        (checkpoint / "commits" / number).unlink()

    assert [batch.records for batch in inspect_checkpoint(checkpoint).batches] == [{}, {0: 9}]


@pytest.mark.parametrize("new", [{"trades": {"0": 12, "1": 4, "2": 5_000_000}}, {"trades": {"0": 12, "1": 4}, "quotes": {"0": 7}}])
def test_how_many_records_a_new_partition_or_topic_has_given_is_not_known(new, tmp_path):
    """A topic of last year begins with the first offset that it still has."""
    found = inspect_checkpoint(kafka_checkpoint(tmp_path / "c", [ENDS[0], new, new], committed=2))

    assert [batch.records for batch in found.batches] == [{0: 9}, {}, {0: 0}]


def test_only_the_rate_source_counts_seconds(tmp_path):
    """Other sources have a number as their offset too, and a topic may be called rate."""
    checkpoint = kafka_checkpoint(tmp_path / "c", [7, 9], committed=2)
    assert read_to(inspect_checkpoint(checkpoint)) == ("other", {}, "9")

    (checkpoint / "sources" / "0" / "0").write_text("v1\n1767603600000")
    assert read_to(inspect_checkpoint(checkpoint)) == ("rate", {"rate": 9}, "9")

    topic = kafka_checkpoint(tmp_path / "t", [{"rate": {"1": 7}}], committed=1)
    assert read_to(inspect_checkpoint(topic)) == ("kafka", {"rate-1": 7}, '{"rate": {"1": 7}}')


def read_to(found):
    (source,) = found.newest.sources
    return source.kind, source.positions, source.text


def test_a_source_that_is_not_known_is_shown_as_spark_has_written_it(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", [{"x": {"0": 1}}], committed=1)
    log = checkpoint / "offsets" / "0"
    written = '{"sourceVersion":1,"reservoirId":"abc","reservoirVersion":7}'
    log.write_text("\n".join([*log.read_text().splitlines()[:2], written]))

    source = inspect_checkpoint(checkpoint).as_dict()["sources"][0]

    assert (source["kind"], source["text"]) == ("other", written)


def test_a_checkpoint_of_ours_says_whose_it_is_and_what_waits():
    found = inspect_checkpoint(OURS)

    assert found.path == OURS / "checkpoint" / "sums"
    said = found.as_dict()["own"]
    assert (said["job"], said["query"], said["version"], said["manifests"]) == ("small", "sums", "0.1.0", [0, 1, 2, 3])
    assert {one["output"]: (one["waiting"], one["published"]) for one in said["outputs"]} == {
        "sums": ([], 3),
        "late": ([], 2),
        "rejected": ([], 2),
    }


def test_batches_that_an_output_has_not_taken_wait_for_it(tmp_path):
    job = copy_of(OURS, tmp_path)
    for batch in (2, 3):
        (job / "out" / "sums" / f"batch={batch:06d}" / "_ledger.json").unlink()

    sums = inspect_checkpoint(job).own.waiting[0]

    assert (sums.output, sums.batches, sums.published) == ("sums", (2, 3), 1)


def test_only_the_store_can_say_what_an_output_has_whose_folder_is_not_here(tmp_path):
    found = inspect_checkpoint(copy_of(OURS / "checkpoint" / "sums", tmp_path))

    assert {one.batches for one in found.own.waiting} == {None}


@pytest.mark.parametrize(
    ("checkpoint", "name", "format_", "stores", "rows"),
    [
        (WINDOWS, "stateStoreSave", 1, 2, 10),
        (JOIN, "symmetricHashJoin", 1, 8, None),
        (VARIABLES, "transformWithStateInPySparkExec", 2, 2, None),
    ],
    ids=["windows", "join", "variables"],
)
def test_the_state_of_plain_jobs_by_operator_and_partition(checkpoint, name, format_, stores, rows):
    found = inspect_checkpoint(checkpoint)
    (operator,), sizes = found.operators, found.sizes[0]

    assert (operator.name, operator.partitions, found.state_format) == (name, 2, format_)
    assert len(sizes) == stores
    assert {size.store.partition for size in sizes} == {0, 1}
    assert all(0 < size.bytes <= size.on_disk and size.missing == () for size in sizes)
    counted = [size.rows for size in sizes]
    assert (sum(counted) if None not in counted else None) == rows
    assert found.notes == ()


def test_the_size_is_that_of_the_newest_version_and_not_of_all_that_is_kept():
    size = inspect_checkpoint(WINDOWS).sizes[0][0]
    folder = size.store.folder
    newest = (folder / "5.zip").stat().st_size

    assert newest < size.bytes < newest + sum(size.store.tables.values()) + 1
    assert size.on_disk == sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in (".zip", ".sst"))


def test_the_schema_of_each_state():
    schemas = {schema.name: schema for schema in inspect_checkpoint(JOIN).operators[0].schemas}

    left = schemas["left-keyWithIndexToValue"]
    assert [(column.name, column.type) for column in left.value] == [
        ("id", "string"),
        ("client", "string"),
        ("at", "timestamp"),
        ("amount", "double"),
        ("matched", "boolean"),
    ]
    (window, client), _ = (lambda schema: (schema.key, schema.value))(inspect_checkpoint(WINDOWS).operators[0].schemas[0])
    assert (window.type, window.delay_ms, client.type) == ("struct<start:timestamp,end:timestamp>", 30_000, "string")


def test_the_variables_of_transform_with_state():
    operator = inspect_checkpoint(VARIABLES).operators[0]

    assert {name: type_ for name, type_ in operator.variables.items() if not name.startswith("$")} == {
        "by": "MapState",
        "count": "ValueState",
        "seen": "ListState",
    }
    assert operator.time_mode == "EventTime"
    assert [column.type for schema in operator.schemas if schema.name == "seen" for column in schema.value] == ["timestamp"]


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN, OURS / "checkpoint" / "sums"], ids=lambda path: path.name)
def test_operators_of_an_older_spark_are_told_by_their_schemas(checkpoint, tmp_path):
    """Spark before 4.0 writes no metadata of operators."""
    copy = copy_of(checkpoint, tmp_path)
    named = [operator.name for operator in inspect_checkpoint(copy).operators]
    for metadata in (copy / "state").glob("*/_metadata"):
        shutil.rmtree(metadata)

    found = inspect_checkpoint(copy)

    assert [operator.name for operator in found.operators] == named
    assert found.notes == ()


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ([("client", "string")], ["sum", "count"], "stateStoreSave"),
        ([], ["sum"], "stateStoreSave"),
        ([("window", "struct<start:timestamp,end:timestamp>")], ["window", "sum"], "stateStoreSave"),
        ([("key", "void")], ["value"], "globalLimit"),
        ([("id", "string")], ["__dummy__"], "dedupe"),
        ([("client", "string")], ["groupState", "timeoutTimestamp"], "flatMapGroupsWithState"),
        ([("client", "string")], ["n", "timeoutTimestamp"], "flatMapGroupsWithState"),
        ([("client", "string")], [], ""),
    ],
)
def test_an_operator_without_a_name_is_told_by_its_columns(key, value, name):
    columns = tuple(Column(*one) for one in key)
    schema = Schema("default", columns, tuple(Column(one, "bigint") for one in value))

    assert _told_by((), (schema,)) == name


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("offsets/4", "1 file is torn"),
        ("commits/3", "1 file is torn"),
        ("sources/0/2", "1 file is torn"),
        ("state/0/_metadata/metadata", "it names the operator"),
        ("state/0/0/_metadata/schema", "cannot be read: it is cut short"),
    ],
)
def test_what_is_torn_is_said_and_the_rest_is_shown(file, said, tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    path = checkpoint / file
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])

    found = inspect_checkpoint(checkpoint)

    assert [note for note in found.notes if said in note]
    assert len(found.batches) >= 4


def test_a_state_file_that_is_gone_is_said(tmp_path):
    checkpoint = copy_of(JOIN, tmp_path)
    (checkpoint / "state" / "0" / "1" / "left-keyWithIndexToValue" / "3.delta").unlink()

    found = inspect_checkpoint(checkpoint)

    assert [(size.store.name, size.missing) for size in found.sizes[0] if size.missing] == [("left-keyWithIndexToValue", ("3",))]
    assert "Of 1 store state files are missing" in found.notes[0]


def test_logs_of_a_later_spark_are_refused_and_not_guessed(tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    log = checkpoint / "offsets" / "4"
    log.write_text(log.read_text().replace("v1\n", "v9\n", 1))

    with pytest.raises(UnknownFormat, match='offsets/4 begins with "v9"'):
        inspect_checkpoint(checkpoint)


@pytest.mark.parametrize(
    ("made", "named", "said"),
    [
        ((), "nowhere", "There is no nowhere"),
        (("empty/",), "empty", "empty is empty"),
        (("text",), "text", "text is a file"),
        (("other/rows.json",), "other", "other is no checkpoint: it has rows.json"),
        (("two/a/offsets/", "two/b/offsets/"), "two", "two holds several checkpoints: two/a, two/b"),
        ((), "s3a://bucket/checkpoint", "is in a store"),
    ],
)
def test_what_is_no_checkpoint_is_refused(made, named, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in made:
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("{}")

    with pytest.raises(ConfigurationError, match=said):
        inspect_checkpoint(named)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    (checkpoint / "offsets" / "4").chmod(0)

    with pytest.raises(DataError, match="offsets/4 cannot be read"):
        inspect_checkpoint(checkpoint)


def test_a_driver_that_writes_meanwhile_is_said(tmp_path, monkeypatch):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=2)
    from streamproof.checkpoint import inspection

    def read(folder):
        found = read_operators(folder)
        kafka_checkpoint(checkpoint, ENDS, committed=3)
        return found

    read_operators = inspection.read_operators
    monkeypatch.setattr(inspection, "read_operators", read)

    assert "has written to this checkpoint while it was read" in inspect_checkpoint(checkpoint).notes[-1]


@pytest.mark.parametrize("checkpoint", [OURS, JOIN, WINDOWS, VARIABLES], ids=lambda path: path.name)
def test_reading_changes_nothing(checkpoint, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    before = contents(copy)

    found = inspect_checkpoint(copy)

    assert json.dumps(found.as_dict())
    assert contents(copy) == before


def test_no_spark_is_imported():
    code = "import sys; from streamproof.checkpoint.inspection import inspect_checkpoint; sys.exit('pyspark' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
