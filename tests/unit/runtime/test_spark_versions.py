"""A checkpoint goes on under a newer Spark, which is said, and is refused under an older one (R25). No Spark is started."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof._jvm.versions import PINNED_SINCE
from streamproof.errors import WrongCheckpoint
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.recovery.spark_versions import require_readable
from streamproof.runtime.spark.session import ROCKSDB, ROCKSDB_EVICTING, ROCKSDB_IDENTIFIED, STATE_STORES
from streamproof.stream.identity import SPARK, differences
from unit.runtime.disk import Disk

OFFSETS = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":%s}\n{"logOffset":0}'


def made_by(version: str | None, batch: int = 6) -> Any:
    """The manifests of a checkpoint whose newest batch ran on a version of Spark; on one of before it was written down; or that has none."""
    parts = {} if version is None else {SPARK: version}
    return SimpleNamespace(checkpoint="/check", newest_first=lambda: iter([SimpleNamespace(batch=batch, made_by=parts)]))


NONE: Any = SimpleNamespace(checkpoint="/check", newest_first=lambda: iter(()))


def logs(store: str | None = None) -> QueryLogs:
    """Spark's logs, the newest offset log with this class of state stores."""
    disk = Disk()
    if store is not None:
        disk["/check/offsets/0"] = OFFSETS % "{}"
        disk["/check/offsets/1"] = OFFSETS % json.dumps({STATE_STORES: store})
    return QueryLogs(disk, "/check")  # type: ignore[arg-type]


@pytest.mark.parametrize(("before", "now"), [("4.0.5", "4.3.0"), ("4.1.4", "4.2.1"), ("4.2.1", "4.3.0")])
def test_r25_a_newer_spark_goes_on_and_says_that_there_is_no_way_back(before, now):
    (note,) = require_readable(made_by(before), logs(), now)

    assert note.code == "newer-spark"
    assert note == (
        f"Spark {before} wrote /check up to batch 6; Spark {now} goes on there. "
        f"After its first batch the checkpoint is not read by Spark {before[:3]} any more."
    )


@pytest.mark.parametrize(("before", "now"), [("4.3.0", "4.2.1"), ("4.3.0", "4.0.5"), ("4.10.0", "4.3.0")])
def test_r25_an_older_spark_is_refused_with_the_one_that_fits(before, now):
    with pytest.raises(WrongCheckpoint) as refused:
        require_readable(made_by(before), logs(), now)

    assert refused.value.message == f"Spark {before} wrote the checkpoint /check (batch 6); this is Spark {now}."
    assert f"pip install 'pyspark=={before.rpartition('.')[0]}.*'" in refused.value.remedy


@pytest.mark.parametrize(("before", "now"), [("4.2.1", "4.2.0"), ("4.2.0", "4.2.1"), (None, "4.2.1")])
def test_r25_patch_versions_are_alike_and_of_a_checkpoint_that_does_not_say_it_nothing_is_known(before, now):
    assert require_readable(made_by(before), logs(ROCKSDB), now) == []


@pytest.mark.parametrize("manifests", [NONE, made_by(None)], ids=["before the first manifest", "of before"])
def test_r25_a_state_store_that_an_older_spark_does_not_take_tells_it_too(manifests):
    with pytest.raises(WrongCheckpoint, match=r"Spark 4\.3 or later wrote the checkpoint /check; this is Spark 4\.2\.1"):
        require_readable(manifests, logs(ROCKSDB_EVICTING), "4.2.1")
    assert require_readable(manifests, logs(ROCKSDB_EVICTING), "4.3.0") == []


def test_a_torn_offset_log_is_left_to_recovery():
    torn = logs(ROCKSDB_EVICTING)
    torn.storage["/check/offsets/1"] = "v1\n{"  # type: ignore[index]

    assert require_readable(NONE, torn, "4.2.1") == []


OF_4_2 = dict.fromkeys(PINNED_SINCE["4.2"], "false")
OF_4_3 = OF_4_2 | dict.fromkeys(PINNED_SINCE["4.3"], "true")


def planned(settings: dict[str, str], torn: str | None = None) -> QueryLogs:
    """Spark's logs, the newest whole offset log with these settings; after it, where it is given, a torn one."""
    disk = Disk(
        {"/check/offsets/0": OFFSETS % json.dumps({STATE_STORES: ROCKSDB}), "/check/offsets/1": OFFSETS % json.dumps(settings)}
    )
    if torn is not None:
        disk["/check/offsets/2"] = torn
    return QueryLogs(disk, "/check")  # type: ignore[arg-type]


@pytest.mark.parametrize("manifests", [NONE, made_by("4.1.4"), made_by(None)], ids=["none", "an older one", "of before"])
@pytest.mark.parametrize(
    ("settings", "now", "wrote"), [(OF_4_3, "4.2.1", "4.3"), (OF_4_3, "4.1.4", "4.3"), (OF_4_2, "4.1.4", "4.2")]
)
def test_r25_a_batch_that_a_newer_spark_has_planned_tells_it_where_no_whole_manifest_does(manifests, settings, now, wrote):
    """It crashed before its first manifest; or that is torn, and the one before it of an older Spark; or of a Streamproof that did not say it."""
    with pytest.raises(WrongCheckpoint) as refused:
        require_readable(manifests, planned(settings), now)

    assert refused.value.message == f"Spark {wrote} or later wrote the checkpoint /check; this is Spark {now}."
    assert f"pip install 'pyspark=={wrote}.*'" in refused.value.remedy
    with pytest.raises(WrongCheckpoint):
        require_readable(manifests, planned(settings, torn="v1\n{"), now)


def test_r25_what_a_newer_spark_has_not_planned_to_the_end_is_nothing():
    assert [note.code for note in require_readable(made_by("4.1.4"), planned({}, torn="v1\n{"), "4.2.1")] == ["newer-spark"]


def test_r25_an_older_spark_that_only_the_offset_log_tells_is_said_and_the_same_one_is_not():
    (note,) = require_readable(NONE, planned(OF_4_2), "4.3.0")

    assert note.startswith("Spark 4.2 wrote /check; Spark 4.3.0 goes on there. ")
    assert require_readable(NONE, planned(OF_4_2), "4.2.0") == require_readable(NONE, planned(OF_4_3), "4.3.1") == []


def test_r25_a_patch_version_that_pins_what_a_later_minor_version_has_brought_goes_on():
    assert require_readable(made_by("4.2.1"), planned(OF_4_3), "4.2.5", knows=OF_4_3.__contains__) == []
    assert require_readable(NONE, planned(OF_4_3), "4.2.5", knows=OF_4_3.__contains__) == []
    with pytest.raises(WrongCheckpoint):
        require_readable(NONE, planned(OF_4_3), "4.2.5", knows=OF_4_2.__contains__)


def test_r25_spark_4_0_is_told_by_its_state_stores():
    disk = Disk({"/check/offsets/0": OFFSETS % json.dumps({STATE_STORES: ROCKSDB_IDENTIFIED}), "/check/commits/0": IN_FORMAT_2})
    of_4_0 = QueryLogs(disk, "/check")  # type: ignore[arg-type]

    with pytest.raises(WrongCheckpoint, match=r"Spark 4\.0 wrote the state"):
        require_readable(NONE, of_4_0, "4.1.4")
    with pytest.raises(WrongCheckpoint, match=r"Spark 4\.1 or later wrote the checkpoint"):
        require_readable(NONE, logs(ROCKSDB), "4.0.5", stores=ROCKSDB_IDENTIFIED)
    assert require_readable(NONE, logs(ROCKSDB), "4.0.5", stores=ROCKSDB) == []  # [spark] chooses that class
    assert require_readable(NONE, of_4_0, "4.0.6", stores=ROCKSDB_IDENTIFIED) == []


def test_r25_another_spark_is_not_another_job():
    assert differences({"window": "a", SPARK: "4.2.1"}, {"window": "a", SPARK: "4.3.0"}) == {}
    assert differences({"window": "a"}, {"window": "a", SPARK: "4.3.0"}) == {}


IN_FORMAT_2 = 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{"0":[["16d66ec4"],["3ea6cfd1"]]}}'


def committed(text: str) -> QueryLogs:
    """Spark's logs, of which this is the newest commit."""
    found = logs(ROCKSDB)
    found.storage["/check/commits/0"], found.storage["/check/commits/1"] = IN_FORMAT_2, text  # type: ignore[index]
    return found


def test_r25_the_state_of_spark_4_0_is_refused_under_a_later_one_which_takes_it_for_another_format():
    with pytest.raises(WrongCheckpoint) as refused:
        require_readable(made_by("4.0.5"), committed(IN_FORMAT_2), "4.1.4")

    assert refused.value.message == "Spark 4.0.5 wrote the state in the checkpoint /check (batch 6); this is Spark 4.1.4."
    assert "pip install 'pyspark==4.0.*'" in refused.value.remedy
    assert require_readable(made_by("4.0.5"), committed(IN_FORMAT_2), "4.0.6") == []


@pytest.mark.parametrize("torn", ["", "v2", IN_FORMAT_2[:40]])
def test_r25_state_of_spark_4_0_is_refused_although_its_newest_commit_is_torn(torn):
    """Recovery would take back the torn commit, and Spark load the state of the one before it."""
    with pytest.raises(WrongCheckpoint, match=r"Spark 4\.0\.5 wrote the state"):
        require_readable(made_by("4.0.5"), committed(torn), "4.3.0")


@pytest.mark.parametrize(
    ("before", "commit"),
    [
        ("4.1.4", IN_FORMAT_2),
        ("4.0.5", 'v1\n{"nextBatchWatermarkMs":0}'),
        ("4.0.5", 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{}}'),
    ],
    ids=["of 4.1", "format 1", "without state"],
)
def test_r25_no_other_checkpoint_is_refused_for_the_format_of_its_state(before, commit):
    (note,) = require_readable(made_by(before), committed(commit), "4.3.0")

    assert note.code == "newer-spark"
