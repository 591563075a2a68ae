"""What a run of a PySpark job has left is read from the logs and files of Spark itself."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.prove.subjects.pyspark.reading import read_left
from streamproof.prove.subjects.pyspark.told import QUERIES, Query


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def offsets(folder: Path, query: str, batch: int, watermark: int, *ends: int) -> None:
    metadata = json.dumps({"batchWatermarkMs": watermark, "batchTimestampMs": 1})
    lines = [json.dumps({"logOffset": end}) for end in ends]
    write(folder / "checkpoint" / query / "offsets" / str(batch), "\n".join(["v1", metadata, *lines]))


def source(folder: Path, query: str, number: int, entry: int, *files: str) -> None:
    lines = [json.dumps({"path": f"file:/data/{file}", "timestamp": 1, "batchId": entry}) for file in files]
    write(folder / "checkpoint" / query / "sources" / str(number) / str(entry), "\n".join(["v1", *lines]))


def started(folder: Path, *queries: Query) -> None:
    write(folder / QUERIES, json.dumps([vars(query) for query in queries]))


def test_a_batch_is_the_files_between_two_offsets_of_every_input(tmp_path):
    started(tmp_path, Query("out", "append", "batches", "parquet", "proof"))
    source(tmp_path, "out", 0, 0, "clicks/a.json", "clicks/b.json")
    source(tmp_path, "out", 0, 1, "clicks/c.json")
    source(tmp_path, "out", 1, 0, "payments.kafka/p.json")
    offsets(tmp_path, "out", 0, 0, 0, 0)
    offsets(tmp_path, "out", 1, 5_000, 1, 0)
    offsets(tmp_path, "out", 2, 9_000, 1, 0)

    batches = read_left(tmp_path).batches["out"]

    assert [dict(batch.files) for batch in batches] == [
        {"clicks": ("a.json", "b.json"), "payments": ("p.json",)},
        {"clicks": ("c.json",), "payments": ()},
        {"clicks": (), "payments": ()},
    ]
    assert [batch.watermark_ms for batch in batches] == [0, 5_000, 9_000]
    assert [batch.has_data for batch in batches] == [True, True, False]


def test_two_sources_that_read_one_input_are_told_apart(tmp_path):
    started(tmp_path, Query("out", "append", "batches", "parquet", "proof"))
    source(tmp_path, "out", 0, 0, "clicks/a.json")
    source(tmp_path, "out", 1, 0, "clicks/a.json", "clicks/b.json")
    offsets(tmp_path, "out", 0, 0, 0, 0)

    assert read_left(tmp_path).batches["out"][0].files == {"clicks": ("a.json",), "clicks#2": ("a.json", "b.json")}


def test_r2_a_batch_takes_the_entry_that_a_crash_has_left_without_a_plan(tmp_path):
    started(tmp_path, Query("out", "append", "batches", "parquet", "proof"))
    for entry, file in enumerate(["clicks/a.json", "clicks/b.json", "clicks/c.json"]):
        source(tmp_path, "out", 0, entry, file)
    offsets(tmp_path, "out", 0, 0, 0)
    offsets(tmp_path, "out", 1, 0, 2)

    assert read_left(tmp_path).batches["out"][1].files == {"clicks": ("b.json", "c.json")}


def test_rows_of_the_proofs_own_sink_have_their_batch(tmp_path):
    started(tmp_path, Query("out", "update", "batches", "parquet", "console"))
    for batch, value in ((0, 1), (3, 2)):
        file = tmp_path / "out" / "out" / f"batch={batch}" / "part-0.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"n": [value]}), file)
    (tmp_path / "out" / "out" / "batch=0" / "_SUCCESS").touch()

    (output,) = read_left(tmp_path).outputs

    assert output.rows == {0: [{"n": 1}], 3: [{"n": 2}]}


def test_rows_of_sparks_file_sink_are_those_that_its_log_names(tmp_path):
    started(tmp_path, Query("paid", "append", "files", "json", "json"))
    out = tmp_path / "out" / "paid"
    write(out / "day=1" / "part-0.json", '{"n": 1}\n')
    write(out / "day=1" / "part-9.json", '{"n": 9}\n')  # of an attempt that the log does not name
    write(out / "_spark_metadata" / "0", "v1\n" + json.dumps({"path": "sp-record://x/elsewhere/out/paid/day=1/part-0.json"}))
    write(out / "_spark_metadata" / "1", "v1\n" + json.dumps({"path": "file:/elsewhere/out/paid/day=1/part-5.json"}))

    (output,) = read_left(tmp_path).outputs

    assert output.rows == {0: [{"n": 1, "day": "1"}], 1: []}
    assert output.damaged == ("day=1/part-5.json is gone",)


def test_what_batch_writers_have_written_is_an_output_of_its_own(tmp_path):
    started(tmp_path, Query("out", "append", "function", "", "foreachBatch"))
    write(tmp_path / "out" / "written" / "lake" / "paid" / "batch=1" / "part-0.json", '{"n": 1}\n')
    offsets(tmp_path, "out", 0, 0)

    (output,) = read_left(tmp_path).outputs

    assert (output.name, output.query, output.rows) == ("lake/paid", None, {None: [{"n": 1}]})


@pytest.mark.parametrize("name", ["text", "csv"])
def test_lines_of_other_formats_are_compared_as_they_stand(name, tmp_path):
    started(tmp_path, Query("out", "append", "files", name, name))
    write(tmp_path / "out" / "out" / f"part-0.{name}", "a,1\nb,2\n")
    write(tmp_path / "out" / "out" / "_spark_metadata" / "0", "v1\n" + json.dumps({"path": f"file:/x/out/out/part-0.{name}"}))

    assert read_left(tmp_path).outputs[0].rows == {0: [{"line": "a,1"}, {"line": "b,2"}]}
