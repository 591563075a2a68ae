"""R24: a recovered run is held against a run without a fault over the same batches, or against nothing."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from streamproof.prove.process.child import ChildResult
from streamproof.prove.subjects.binding import ScenarioBinding
from streamproof.prove.subjects.pyspark.reading import Batch, Left
from streamproof.prove.subjects.pyspark.reference import NO_DATA_BATCHES, NoReference, References, cut_of


def batch(number: int, *files: str, watermark: int = 0) -> Batch:
    return Batch(number, {"clicks": files} if files else {}, watermark)


def test_a_cut_is_the_files_of_each_batch_and_whether_batches_without_data_follow():
    cut = cut_of([batch(0, "a"), batch(1, "b", "c"), batch(2)])

    assert cut is not None
    assert cut.groups == ((("clicks", ("a",)),), (("clicks", ("b", "c")),))
    assert cut.ends
    assert not cut_of([batch(0, "a")]).ends


def test_a_batch_without_data_between_others_cannot_be_had_again():
    assert cut_of([batch(0, "a"), batch(1), batch(2, "b")]) is None


class Runs:
    """A job that gives the watermarks it is told, and keeps what it was asked."""

    def __init__(self, folder: Path, *watermarks: list[int], inputs: tuple[str, ...] = ("clicks",), stops: str = "") -> None:
        self.written: list[tuple[str, tuple[str, ...], int]] = []
        self.settings: list[Mapping[str, str]] = []
        self._watermarks, self._stops = iter(watermarks), stops
        self.references = References(folder, inputs, self._write, self._read, self._run)

    def _write(self, name: str, files: object, at: Path, number: int) -> None:
        self.written.append((name, tuple(files), number))  # type: ignore[arg-type]

    def _run(self, name: str, binding: ScenarioBinding, settings: Mapping[str, str]) -> ChildResult:
        assert binding.files_per_batch == 1
        self.settings.append(settings)
        return ChildResult(code="job-raised", message=self._stops) if self._stops else ChildResult()

    def _read(self, folder: Path) -> Left:
        found = next(self._watermarks)
        return Left({"out": tuple(batch(number, "x", watermark=mark) for number, mark in enumerate(found))}, (), ())


def test_every_batch_is_one_file_and_the_run_is_made_once(tmp_path):
    runs = Runs(tmp_path, [0, 5])
    batches = [batch(0, "a", "b", watermark=0), batch(1, "c", watermark=5)]

    assert runs.references.over(batches) is runs.references.over(batches)
    assert runs.written == [("clicks", ("a", "b"), 0), ("clicks", ("c",), 1)]
    assert runs.settings == [{NO_DATA_BATCHES: "false"}]


def test_batches_without_data_follow_where_they_did(tmp_path):
    runs = Runs(tmp_path, [0, 5])

    runs.references.over([batch(0, "a", watermark=0), batch(1, watermark=5)])

    assert runs.settings == [{NO_DATA_BATCHES: "true"}]


def test_other_watermarks_are_no_reference(tmp_path):
    with pytest.raises(NoReference, match="watermarks"):
        Runs(tmp_path, [0, 7]).references.over([batch(0, "a", watermark=0), batch(1, "b", watermark=5)])


def test_r13_with_two_inputs_a_run_that_was_started_again_there_is_tried(tmp_path):
    runs = Runs(tmp_path, [0, 7], [0, 5], inputs=("clicks", "payments"))

    found = runs.references.over([batch(0, "a", watermark=0), batch(1, "b", watermark=5)])

    assert [one.watermark_ms for one in found.batches["out"]] == [0, 5]
    assert runs.settings[1:] == [{NO_DATA_BATCHES: "false"}, {NO_DATA_BATCHES: "false"}]


def test_a_run_that_stops_is_no_reference_and_is_not_made_again(tmp_path):
    runs = Runs(tmp_path, stops="the disk is full")

    for _ in range(2):
        with pytest.raises(NoReference, match="the disk is full"):
            runs.references.over([batch(0, "a")])
    assert len(runs.settings) == 1
