"""R24: a recovered run is held against a run without a fault over the same batches, or against nothing."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.subjects.pyspark.reading import Batch, Left
from streamproof.prove.subjects.pyspark.reference import CUT, NO_DATA_BATCHES, Cut, NoReference, References, cut_of


def batch(number: int, *files: str, watermark: int = 0) -> Batch:
    return Batch(number, {"clicks": files}, watermark)


def test_a_cut_is_how_many_files_each_source_gives_and_whether_batches_without_data_follow():
    two = Batch(1, {"clicks": ("b",), "payments": ("p", "q")}, 0)

    cut = cut_of({"out": [batch(0, "a"), batch(1, "b", "c"), batch(2)], "paid": [two]})

    assert cut == Cut((("out", ((1,), (2,))), ("paid", ((1, 2),))), ends=True)
    assert not cut_of({"out": [batch(0, "a")]}).ends


def test_a_run_is_told_its_batches_by_query_and_source():
    cut = Cut((("out", ((2,), (1,), (4,))), ("paid", ((1, 2), (0, 3)))), ends=False)

    assert json.loads(cut.setting(0, None)) == {"out.0": "2,1,4", "paid.0": "1,0", "paid.1": "2,3"}
    assert json.loads(cut.setting(0, 1)) == {"out.0": "2", "paid.0": "1", "paid.1": "2"}
    assert json.loads(cut.setting(2, None)) == {"out.0": "4"}


def test_a_batch_without_data_between_others_cannot_be_had_again():
    with pytest.raises(NoReference, match="lies between others"):
        cut_of({"out": [batch(0, "a"), batch(1), batch(2, "b")]})


class Runs:
    """A job that gives the watermarks it is told, and keeps what it was asked."""

    def __init__(self, folder: Path, *watermarks: list[int], stops: str = "") -> None:
        self.settings: list[Mapping[str, str]] = []
        self._watermarks, self._stops = iter(watermarks), stops
        self._folder, self.places = folder, [""]
        self.references = References(self, self._read, self._run)  # type: ignore[arg-type]

    def binding(self, name: str) -> ScenarioBinding:
        return ScenarioBinding(str(self._folder / name), self._folder / name, {"clicks": "/events/clicks"}, 2)

    def open_places(self, name: str) -> None:
        self.places.append(name)

    def close_places(self, name: str) -> None:
        self.places.remove(name)

    def _run(self, name: str, binding: ScenarioBinding, settings: Mapping[str, str]) -> ChildResult:
        assert binding.data == {"clicks": "/events/clicks"}, "the very files of the scenario"
        assert binding.files_per_batch is None
        assert self.places[-1] == binding.folder.name, "its places in services are there, and are its own"
        self.settings.append(settings)
        return ChildResult(code="job-raised", message=self._stops) if self._stops else ChildResult()

    def _read(self, folder: Path) -> Left:
        found = next(self._watermarks)
        return Left({"out": tuple(batch(number, "x", watermark=mark) for number, mark in enumerate(found))}, (), ())


TWO = {"out": [batch(0, "a", watermark=0), batch(1, "b", watermark=5)]}


def test_a_run_over_the_same_batches_is_made_once(tmp_path):
    runs = Runs(tmp_path, [0, 5])

    assert runs.references.over(TWO, "out") is runs.references.over(TWO, None)
    assert runs.settings == [{NO_DATA_BATCHES: "false", CUT: json.dumps({"out.0": "1,1"})}]
    assert runs.places == [""], "what it had in services is removed"


def test_batches_without_data_follow_where_they_did(tmp_path):
    runs = Runs(tmp_path, [0])

    with pytest.raises(NoReference, match="batches"):
        runs.references.over({"out": [batch(0, "a", watermark=0), batch(1, watermark=5)]}, "out")

    assert runs.settings[0][NO_DATA_BATCHES] == "true"


def test_r13_a_run_that_was_started_again_there_is_tried_where_the_watermarks_differ(tmp_path):
    runs = Runs(tmp_path, [0, 7], [0, 5])

    found = runs.references.over(TWO, "out")

    assert [one.watermark_ms for one in found.batches["out"]] == [0, 5]
    assert [json.loads(one[CUT]) for one in runs.settings] == [{"out.0": "1,1"}, {"out.0": "1"}, {"out.0": "1"}]


def test_other_watermarks_are_no_reference(tmp_path):
    with pytest.raises(NoReference, match="watermark"):
        Runs(tmp_path, [0, 7], [0, 7]).references.over(TWO, "out")


def test_a_batch_that_the_sink_skips_has_the_watermark_stand_still_and_the_reference_has_it_too(tmp_path):
    """Spark's file sink does not run again a batch that it has in its log; Spark then learns nothing of the times in it."""
    skipped = {
        "out": [batch(0, "a", watermark=0), batch(1, "b", watermark=5), batch(2, "c", watermark=5), batch(3, "d", watermark=9)]
    }
    commits: list[str] = []
    runs = Runs(tmp_path, *[[0, 5, 7, 9]] * 4, [0, 5, 5, 9])

    def run(name: str, binding: ScenarioBinding, settings: Mapping[str, str]) -> ChildResult:
        commit = binding.folder / "checkpoint" / "out" / "commits" / "1"
        if name.endswith("-first"):
            commit.parent.mkdir(parents=True)
            commit.write_text('v1\n{"nextBatchWatermarkMs":7}')
            commit.with_name(".1.crc").write_text("of what was there")
        elif commit.exists() and not commit.with_name(".1.crc").exists():
            commits.append(commit.read_text())
        return ChildResult()

    runs.references.run = run
    found = runs.references.over(skipped, "out")

    assert [one.watermark_ms for one in found.batches["out"]] == [0, 5, 5, 9]
    assert commits == ['v1\n{"nextBatchWatermarkMs":5}']


def test_a_watermark_that_goes_elsewhere_is_no_reference(tmp_path):
    other = {"out": [batch(0, "a", watermark=0), batch(1, "b", watermark=5), batch(2, "c", watermark=6)]}

    with pytest.raises(NoReference):
        Runs(tmp_path, [0, 5, 7], [0, 5, 7], [0, 5, 7]).references.over(other, "out")


def test_of_several_queries_the_one_that_is_asked_for_must_have_the_same_batches(tmp_path):
    runs = Runs(tmp_path, [0, 5])
    with_another = {**TWO, "more": [batch(0, "a", watermark=9)]}

    assert runs.references.over(with_another, "out").batches
    with pytest.raises(NoReference):
        Runs(tmp_path, [0, 5], [0, 5]).references.over(with_another, None)


def test_a_run_that_stops_is_no_reference_and_is_not_made_again(tmp_path):
    runs = Runs(tmp_path, stops="the disk is full")

    for _ in range(2):
        with pytest.raises(NoReference, match="the disk is full"):
            runs.references.over({"out": [batch(0, "a")]}, "out")
    assert len(runs.settings) == 1
