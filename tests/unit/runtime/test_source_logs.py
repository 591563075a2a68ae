"""R2: what is gone of a file source's log comes back from whichever manifest holds it, word for word; no Spark is started."""

from dataclasses import replace

import pytest

from streamproof.checkpoint.logs import SourceFile, source_log_text
from streamproof.core.manifest import Fingerprint, Manifest
from streamproof.errors import RemedyAction, TornCheckpoint
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.recovery.mending import restore_logs
from streamproof.runtime.recovery.replayable import Obstacle, advise, obstacle
from streamproof.runtime.recovery.source_logs import restore_source_logs
from unit.runtime.disk import Disk


def entry(number: int) -> SourceFile:
    return SourceFile(f"file:///in/{number}.json", 1_700_000_000_000 + number, number)


def text(*numbers: int) -> str:
    return source_log_text(map(entry, numbers))


def offsets(end: int) -> str:
    return f'v1\n{{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{{"spark.sql.shuffle.partitions":"2"}}}}\n{{"logOffset":{end}}}'


class Manifests:
    """One manifest for each batch; each has read the entry of its own number."""

    def __init__(self, *batches: int) -> None:
        self.there = batches

    def batches(self):
        return list(self.there)

    def newest_first(self):
        for batch in reversed(self.there):
            logs = {"0": {str(batch): text(batch)}}
            yield Manifest("m", "job", "q", "i", batch, "a", Fingerprint(0, (), {}), "", logs, (), {})


def made(end: int, *, interval: int = 10) -> Disk:
    """A checkpoint whose source log is whole, up to an entry."""
    disk = Disk({f"c/offsets/{end}": offsets(end)})
    compacted = [number for number in range(end + 1) if (number + 1) % interval == 0]
    for number in range(end + 1):
        disk[f"c/sources/0/{number}{'.compact' if number in compacted else ''}"] = (
            text(*range(number + 1)) if number in compacted else text(number)
        )
    return disk


def restored(disk: Disk, manifests: Manifests, interval: int = 10) -> list[str]:
    notes: list[str] = []
    restore_source_logs(disk, QueryLogs(disk, "c", compact_interval=interval), manifests, notes)
    return notes


@pytest.mark.parametrize("interval", [3, 10])
@pytest.mark.parametrize("how", ["gone", "torn"])
@pytest.mark.parametrize("end", [4, 9, 13])
def test_r2_every_entry_that_spark_reads_comes_back(end, how, interval):
    whole = made(end, interval=interval)
    begins = max((number for number in range(end + 1) if (number + 1) % interval == 0), default=0)
    for path in [path for path in whole if path.startswith("c/sources/") and int(path.split("/")[-1].split(".")[0]) >= begins]:
        disk = Disk(whole)
        if how == "gone":
            del disk[path]
        else:
            disk[path] = "" if path.endswith(".compact") else disk[path][:-5]

        notes = restored(disk, Manifests(*range(end + 1)), interval)

        assert disk == whole, path
        assert [path in note for note in notes] == [True]


@pytest.mark.parametrize("name", ["9.compact", "12"])
@pytest.mark.parametrize("nothing", ["v1", "v1\n"])
def test_r2_an_entry_that_names_nothing_is_put_back_too(name, nothing):
    """Spark reads it, and then reads the files of these entries once more."""
    whole = made(13)
    disk = Disk({**whole, f"c/sources/0/{name}": nothing})

    notes = restored(disk, Manifests(*range(14)))

    assert disk == whole
    assert [f"c/sources/0/{name}" in note for note in notes] == [True]


def test_a_compact_file_is_not_put_together_from_one_that_names_less_than_it_stands_for():
    disk = made(25)
    del disk["c/sources/0/19.compact"]
    disk["c/sources/0/9.compact"] = text(*range(9))

    with pytest.raises(TornCheckpoint, match=r"c/sources/0/19\.compact is gone"):
        restored(disk, Manifests(*range(19, 26)))


def test_a_whole_log_is_left_alone_and_no_manifest_is_read():
    class Unread(Manifests):
        def newest_first(self):
            raise AssertionError

    disk = made(13)
    for number in range(9):  # Spark removes what a compact file names
        del disk[f"c/sources/0/{number}"]

    assert restored(disk, Unread()) == []


def test_a_compact_file_comes_back_from_the_one_before_it_where_manifests_are_no_longer_kept():
    whole = made(25)
    disk = Disk({path: held for path, held in whole.items() if path != "c/sources/0/19.compact"})

    restored(disk, Manifests(*range(19, 26)))

    assert disk == whole


def test_what_no_manifest_holds_is_named_with_what_helps():
    disk = made(4)
    del disk["c/sources/0/1"]
    before = Disk(disk)

    with pytest.raises(TornCheckpoint) as told:
        restored(disk, Manifests(3, 4))

    assert "c/sources/0/1 is gone" in told.value.message
    assert "Restore c/sources/0/1 from a backup" in told.value.remedy
    assert told.value.action is None
    assert disk == before


def test_what_a_batch_reads_that_is_only_planned_stops_nothing():
    """A power failure has taken it: --replay-last takes the plan back, and the files are listed again."""
    disk = made(4)
    disk["c/offsets/3"] = offsets(3)
    del disk["c/sources/0/4"]

    assert restored(disk, Manifests(0, 1, 2, 3)) == []
    assert "c/sources/0/4" not in disk


# -- can the newest batch be computed again


IDS = 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{"0":[["a"],["b"]]}}'


def stateful() -> Disk:
    disk = Disk({"c/offsets/1": offsets(1), "c/offsets/2": offsets(2), "c/commits/1": IDS})
    disk |= {"c/state/0/0/2_a.zip": "x", "c/state/0/1/2_b.changelog": "x", "c/state/0/0/3_c.zip": "x"}
    return disk


def test_a_batch_whose_plan_and_state_are_there_can_be_computed_again():
    assert obstacle(stateful(), QueryLogs(Disk(stateful()), "c"), 2) is None


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("c/offsets/1", "c/offsets/1 is gone"),
        ("c/commits/1", "c/commits/1 is gone, and names the state that batch 2 began with"),
        ("c/state/0/0/2_a.zip", "c/state/0/0/2_a"),
        ("c/state/0/1/2_b.changelog", "c/state/0/1/2_b"),
    ],
)
@pytest.mark.parametrize("torn", [False, True])
def test_what_is_missing_for_it_is_named(lost, said, torn):
    disk = stateful()
    if torn:
        disk[lost] = ""
    else:
        del disk[lost]

    found = obstacle(disk, QueryLogs(disk, "c"), 2)

    assert found is not None
    assert said.replace("gone", "torn" if torn else "gone") in found.says


def test_partitions_that_were_swapped_are_seen():
    disk = Disk({"c/offsets/1": offsets(1), "c/offsets/2": offsets(2), "c/commits/1": IDS})
    disk |= {"c/state/0/1/2_a.zip": "x", "c/state/0/0/2_b.zip": "x"}

    found = obstacle(disk, QueryLogs(disk, "c"), 2)

    assert found is not None
    assert "c/state/0/0/2_a, c/state/0/1/2_b" in found.says


def test_state_of_format_1_is_looked_for_by_its_version():
    disk = Disk({"c/offsets/1": offsets(1), "c/offsets/2": offsets(2), "c/commits/1": 'v1\n{"nextBatchWatermarkMs":0}'})
    disk |= {"c/state/0/0/2.delta": "x", "c/state/0/1/3.delta": "x", "c/state/0/_metadata/metadata": "x"}

    found = obstacle(disk, QueryLogs(disk, "c"), 2)

    assert found is not None
    assert found.says.endswith("is not there: c/state/0/1/2.")


def test_a_query_without_state_needs_no_commit():
    disk = Disk({"c/offsets/1": offsets(1), "c/offsets/2": offsets(2)})

    assert obstacle(disk, QueryLogs(disk, "c"), 2) is None


def advice(action: RemedyAction | None = RemedyAction.REPLAY_LAST) -> TornCheckpoint:
    return TornCheckpoint("The checkpoint is damaged", remedy="Run again with --replay-last", action=action)


def test_replay_last_is_advised_where_it_can_help_and_was_not_tried():
    problem = advice()
    advise(problem, lambda: None, tried=False)
    assert (problem.remedy, problem.action) == ("Run again with --replay-last", RemedyAction.REPLAY_LAST)


@pytest.mark.parametrize(("found", "tried"), [(Obstacle("commits/1 is gone.", "commits/1"), False), (None, True)])
def test_where_it_cannot_help_the_error_says_so_and_names_what_does(found, tried):
    problem = advice()
    advise(problem, lambda: found, tried=tried)
    assert "does not help here" in str(problem)
    assert "from a backup" in str(problem)
    assert problem.action is None


def test_other_advice_is_not_looked_at():
    problem = advice(RemedyAction.MOVE_AWAY)
    advise(problem, lambda: 1 / 0, tried=True)
    assert problem.action is RemedyAction.MOVE_AWAY


@pytest.mark.parametrize(("entry_lost", "name"), [(9, "9.compact"), (8, "8")])
def test_a_batch_of_which_only_the_manifest_is_left_gets_its_entry_where_spark_looks_for_it(entry_lost, name):
    """As it is after a restore: offsets and source log of the batch come from the manifest; of a compact file Spark takes no other name."""
    disk = made(entry_lost - 1)
    manifest = next(Manifests(entry_lost).newest_first())
    disk[f"c/_streamproof/manifests/{entry_lost}"] = replace(manifest, offset_log=offsets(entry_lost)).to_json()
    disk[f"c/commits/{entry_lost - 1}"] = 'v1\n{"nextBatchWatermarkMs":0}'
    disk["c/metadata"] = '{"id":"q"}'

    restore_logs(Journal(disk, ManifestStore(disk, "c"), QueryLogs(disk, "c")), {})

    assert [path for path in disk if path.startswith(f"c/sources/0/{entry_lost}")] == [f"c/sources/0/{name}"]
    numbers = range(entry_lost + 1) if name.endswith("compact") else (entry_lost,)
    assert disk[f"c/sources/0/{name}"] == text(*numbers)
    assert disk[f"c/offsets/{entry_lost}"] == offsets(entry_lost)
