"""A soak says what grows without end, and nothing else. `make soak` and tests/spark/test_soak.py do it to real jobs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from soak.catalogue import KINDS
from soak.growth import growths
from soak.kinds import SHORT_MEMORY
from soak.running import Soaked
from soak.samples import Sample, by_folder
from streamproof.config import load

BATCHES = 2_000
QUERY = "checkpoint/rows"


def run(
    files: Callable[[int], int] = lambda _: 100, folder: str = f"{QUERY}/state", **figures: Callable[[int], float]
) -> list[Sample]:
    """Samples of a run in which so many files lie in a folder after a batch."""
    given = {"heap": 50_000_000, "memory": 100_000_000, "threads": 90, "descriptors": 300, "batch_ms": 200}
    return [
        Sample(batch, {folder: files(batch)}, {folder: 1}, **{**given, **{name: value(batch) for name, value in figures.items()}})
        for batch in range(10, BATCHES + 1, 10)
    ]


def too_much(samples: list[Sample], starts: dict[int, float] | None = None) -> list[str]:
    return [each.name for each in growths(samples, BATCHES, starts or {}) if each.too_much]


def test_a_run_in_which_all_stays_as_it_is_has_no_growth():
    assert too_much(run(), {300: 5.0, 1_999: 5.5}) == []


def test_what_is_there_from_time_to_time_is_no_growth():
    """Old state is removed once a minute: how much there is depends on when one looks."""
    assert too_much(run(lambda batch: 200 + batch % 300)) == []


@pytest.mark.parametrize(
    ("samples", "starts", "name"),
    [
        (run(lambda batch: 200 + batch * 8), {}, f"files {QUERY}/state"),
        (run(lambda batch: 200 + batch // 20, folder=f"{QUERY}/offsets"), {}, f"files {QUERY}/offsets"),
        (run(lambda batch: batch // 10, folder="tmp"), {}, "files tmp"),
        (run(heap=lambda batch: 50_000_000 + 10_000 * batch), {}, "heap"),
        (run(memory=lambda batch: 100_000_000 + 20_000 * batch), {}, "memory"),
        (run(threads=lambda batch: 90 + batch // 50), {}, "threads"),
        (run(descriptors=lambda batch: 300 + batch // 20), {}, "descriptors"),
        (run(batch_ms=lambda batch: 200 + batch / 40), {}, "batch_ms"),
        (run(), {300: 5.0, 1_999: 6.5}, "start_seconds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_grows_is_named(samples, starts, name):
    assert too_much(samples, starts) == [name]


def test_what_a_batch_under_way_needs_is_no_growth():
    """A collection in the middle of one finds more that lives."""
    assert too_much(run(heap=lambda batch: 227_000_000 if batch == BATCHES - 50 else 100_000_000)) == []


def test_eight_files_that_stay_with_each_batch_are_seen_in_a_short_run_too():
    short = [sample for sample in run(lambda batch: 700 + 8 * batch) if sample.batch <= 200]
    assert [each.name for each in growths(short, 200, {}) if each.too_much] == [f"files {QUERY}/state"]


def test_a_short_run_is_looked_at_once_it_has_the_hundred_batches_that_are_kept():
    short = [sample for sample in run(lambda batch: 2 * min(batch, 100)) if sample.batch <= 200]
    assert [each.name for each in growths(short, 200, {}) if each.too_much] == []


def test_what_may_grow_is_shown_with_the_reason():
    (shown,) = [each for each in growths(run(folder=f"{QUERY}/sources"), BATCHES, {}) if each.name.startswith("bytes")]
    assert "may grow: Spark keeps the name of every file" in str(shown)


@pytest.mark.parametrize("folder", ["data", "out"])
def test_input_and_output_may_grow(folder):
    assert too_much(run(lambda batch: batch, folder=folder)) == []


def test_files_are_counted_by_the_folders_of_a_checkpoint(tmp_path):
    for name in (
        "out/rows/batch=000001/a.parquet",
        f"{QUERY}/state/0/1/2.zip",
        f"{QUERY}/state/0/1/.2.zip.crc",
        f"{QUERY}/metadata",
        "job.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("12")
    files, size = by_folder(tmp_path, QUERY)
    assert files == {"out": 1, f"{QUERY}/state": 2, QUERY: 1, ".": 1}
    assert size[f"{QUERY}/state"] == 4


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_each_kind_can_be_written_and_fed(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA", "127.0.0.1:9092")
    (tmp_path / "job").mkdir()
    kind.write(tmp_path / "job", SHORT_MEMORY)
    if kind.name != "topics":
        kind.feed(tmp_path / "job", 3, {})
        (file,) = (tmp_path / "job" / kind.data).iterdir()
        assert len([json.loads(line) for line in file.read_text().splitlines()]) == 10
    if kind.name == "plain":
        compile((tmp_path / "job/plain.py").read_text(), "plain.py", "exec")
    else:
        assert load(tmp_path / "job").spark["spark.sql.streaming.minBatchesToRetain"] == "10"
    assert (kind.committed(tmp_path / "job"), kind.read(tmp_path / "job")) == (0, 0)


def test_what_a_job_has_read_of_a_topic_is_counted_by_its_offsets(tmp_path):
    kind = KINDS["topics"]
    log: Path = tmp_path / kind.query / "offsets"
    log.mkdir(parents=True)
    (log / "9").write_text('v1\n{"batchWatermarkMs": 0}\n{"events": {"0": 1, "1": 2}}')
    (log / "10").write_text('v1\n{"batchWatermarkMs": 0}\n{"events": {"0": 11, "1": 28}}')
    assert kind.read(tmp_path) == 3


def test_the_newest_of_a_log_is_found_where_it_is_compacted(tmp_path):
    kind = KINDS["plain"]
    for name in ("sources/0/9.compact", "sources/0/8", "sources/0/.8.crc", "commits/11", "commits/.11.crc"):
        place: Path = tmp_path / kind.query / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    assert (kind.committed(tmp_path), kind.read(tmp_path)) == (12, 10)
    assert Soaked("plain", 1).samples == []
