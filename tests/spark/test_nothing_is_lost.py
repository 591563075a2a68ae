"""Ways of losing or doubling rows that a review of the product found; each is closed, and stays so."""

import json
import os
import shutil
from pathlib import Path

import pytest

from spark.small_job import KEPT, Binding, event, recorded
from streamproof._jvm import Storage
from streamproof.core.account import Account
from streamproof.errors import ConfigurationError, FingerprintMismatch, SinkError, TwoDrivers, WrongCheckpoint

pytestmark = pytest.mark.spark

REFUSED = KEPT.replace("rejected=checked", "refused=checked")
TWO_QUERIES = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(v="v >= 0"), big=events.require(v="v > 5"))
"""


def test_an_output_is_not_deleted_once_spark_has_forgotten_the_first_batch(small_job):
    job = small_job(KEPT)
    for number in range(3):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("commits/0", "offsets/0", "_streamproof/manifests/0")

    assert "which has batches" in job.stopped(ConfigurationError, replace_output=True).message
    assert job.ids() == ["e0", "e1", "e2"]


def test_a_lost_incarnation_is_made_again_from_the_manifests(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    path = job.checkpoint() / "_streamproof/incarnation.json"
    before = json.loads(path.read_text())["incarnation"]
    job.lose("_streamproof/incarnation.json")
    job.feed([event("e2", 2)])

    job.run()

    assert json.loads(path.read_text())["incarnation"] == before
    assert job.ids() == ["e1", "e2"]


def test_two_outputs_in_one_folder_are_refused(small_job):
    job = small_job(KEPT)
    config = job.folder / "streamproof.toml"
    config.write_text(config.read_text().replace("out/rejected", "out/kept"))
    job.feed([event("e1", 1), event("bad", 1, v=-1)])

    error = job.stopped(ConfigurationError)

    assert "the outputs kept and rejected both go to" in error.message


def test_a_file_that_is_much_older_than_the_newest_is_read(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    old = job.feed([event("e2", 2)])
    os.utime(old, (1_600_000_000,) * 2)

    job.run()

    assert job.ids() == ["e1", "e2"]


def test_rejected_rows_of_a_second_query_have_an_output(small_job):
    job = small_job(TWO_QUERIES, Binding(sinks={"kept": "parquet", "big": "parquet"}))
    job.feed([event("small", 1, v=1), event("large", 2, v=9), event("bad", 3, v=-1)])

    result = job.run()

    places = {output.name: output.where for output in result.outputs}
    rows = [json.loads(line) for line in lines_of(places["big_rejected"])]
    assert sorted(row["id"] for row in rows) == ["bad", "small"]
    assert all(account.adds_up for account in result.accounts)


def lines_of(folder: str) -> list[str]:
    return [line for path in Path(folder).glob("batch=*/*.jsonl") for line in path.read_text().splitlines()]


@pytest.mark.parametrize("behind", [',{"id":"x"}', ' x {"id":"x"}', '{"id":"x', " x", "}", "{}", "\t[1]"])
def test_a_line_that_goes_on_behind_its_record_is_rejected_whole(small_job, behind):
    job = small_job(KEPT)
    line = json.dumps(event("e1", 1)) + behind
    job.feed([line, event("e2", 2)])

    assert job.run().account == Account(emitted=1, rejected=1)
    assert [row["original"] for row in job.rows("rejected")] == [line]


@pytest.mark.parametrize("text", [r"\frac{a}{}", "}{", '} {"a":', "} \t"])
def test_braces_in_a_text_do_not_make_a_second_record(small_job, text):
    job = small_job(KEPT)
    job.feed([event(text, 1), json.dumps(event("e2", 2)) + " \t"])

    assert job.run().account == Account(emitted=2)


def test_a_manifest_lost_after_a_part_was_published_loses_nothing(small_job):
    """Also: what this attempt has staged of the other part is what is published."""
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.run()
    job.lose("commits/0", "_streamproof/manifests/0")
    shutil.rmtree(job.out("rejected") / "batch=000000")

    result = job.run()

    assert (job.ids(), job.ids("rejected")) == (["e1"], ["bad"])
    assert result.account == Account(emitted=1, rejected=1)


def test_a_manifest_lost_and_other_values_with_as_many_rows_stop(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.lose("commits/0", "_streamproof/manifests/0")
    job.text = KEPT.replace(
        'require(v="v >= 0")', 'require(v="v >= 0").transform(lambda rows: rows.withColumn("v", F.col("v") + 1))'
    )
    job.write()

    assert "others than it gives now" in job.stopped(FingerprintMismatch).message
    assert job.ids() == ["e1"]


def test_an_output_that_is_gone_while_a_batch_is_open_is_named(small_job):
    job = small_job(REFUSED, Binding(sinks={"kept": "parquet", "refused": "json"}))
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    with recorded(job, "gone") as faults:
        faults.arm("gone", "create", "/out/refused/.*/_ledger.json$", "before", 1, "enospc")
        job.stopped(SinkError)
        faults.clear("gone")
        job.text = KEPT
        config = job.folder / "streamproof.toml"
        config.write_text(config.read_text().replace("refused", "rejected"))
        (job.folder / "job.py").write_text((job.folder / "job.py").read_text().replace("refused=", "rejected="))
        error = job.stopped(WrongCheckpoint)

    assert "1 rows for the output refused" in error.message
    assert "former outputs" in error.remedy


def test_rows_taken_away_between_the_look_and_the_rename_are_not_called_published(small_job, monkeypatch):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    rename = Storage.rename

    def robbed(self: Storage, source: str, target: str) -> None:
        for path in job.out("kept").glob("_staging/*/*.parquet"):
            path.unlink()
        rename(self, source, target)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "rename", robbed)
        job.stopped(TwoDrivers)

    assert job.rows("kept") == []
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_a_setting_that_the_guarantees_stand_on_is_not_switched_off(small_job):
    job = small_job(KEPT)
    config = job.folder / "streamproof.toml"
    config.write_text(config.read_text() + '[spark]\n"spark.sql.files.ignoreMissingFiles" = "true"\n')
    job.feed([event("e1", 1)])

    error = job.stopped(ConfigurationError)

    assert "spark.sql.files.ignoreMissingFiles" in error.message
    assert "vanished" in str(error)
