"""State that is gone is found, also where no commit names its files; metadata and snapshots that say what no Spark writes end no command."""

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.finding import Harm
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.errors import ConfigurationError
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import DATA, JOIN, OURS, WINDOWS, copy_of, files_checkpoint, kafka_checkpoint, with_two_operators

SUMS = OURS / "checkpoint" / "sums"
OLDER = sorted((DATA / "older").glob("*.zip"))


def verified(checkpoint: Path) -> Verified:
    return verify(inspect_checkpoint(checkpoint))


def without_ids(checkpoint: Path) -> Path:
    """As a checkpoint in state format 1: its commits name no files of the state."""
    for log in (checkpoint / "commits").iterdir():
        if log.name.isdigit():
            log.write_text('v1\n{"nextBatchWatermarkMs":0}')
            log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    return checkpoint


# -- no false alarm


@pytest.mark.parametrize("archive", OLDER, ids=lambda path: path.stem)
def test_what_each_spark_has_written_is_sound(archive, tmp_path):
    with zipfile.ZipFile(archive) as written:
        written.extractall(tmp_path / "c")

    found = verified(tmp_path / "c")

    assert (found.problems, found.unsure) == ((), ())


def test_a_first_batch_that_died_before_all_of_its_state_was_there_is_no_damage(tmp_path):
    copy = with_two_operators(tmp_path)
    shutil.rmtree(copy / "state" / "0")
    shutil.rmtree(copy / "commits")
    for number in range(1, 5):
        (copy / "offsets" / str(number)).unlink()

    assert verified(copy).problems == ()


def test_a_job_without_state_and_without_a_watermark_is_sound_without_reserve(tmp_path):
    found = verified(files_checkpoint(tmp_path / "c", 3))

    assert (found.is_sound, found.unsure) == (True, ())


# -- what is gone


@pytest.mark.parametrize("store", ["left-keyToNumValues", "right-keyWithIndexToValue"])
@pytest.mark.parametrize("partitions", [["0"], ["1"], ["0", "1"]])
def test_a_store_of_a_join_is_gone(partitions, store, tmp_path):
    copy = copy_of(JOIN, tmp_path)
    for partition in partitions:
        shutil.rmtree(copy / "state" / "0" / partition / store)

    found = verified(copy)

    assert [(one.harm, one.path) for one in found.problems] == [
        (Harm.MISSING, f"state/0/{partition}/{store}") for partition in partitions
    ]
    assert found.sound == ()
    with pytest.raises(ConfigurationError, match="has no sound point"):
        back_up(copy, tmp_path / "to")


def test_all_stores_of_a_partition_of_a_join_are_gone(tmp_path):
    copy = copy_of(JOIN, tmp_path)
    for store in (copy / "state" / "0" / "1").iterdir():
        shutil.rmtree(store)

    assert verified(copy).sound == ()


def test_an_operator_below_another_is_gone(tmp_path):
    copy = with_two_operators(tmp_path)
    shutil.rmtree(copy / "state" / "0")

    found = verified(copy)

    assert [(one.harm, one.path) for one in found.problems] == [(Harm.MISSING, "state/0")]
    assert found.sound == ()


def test_the_only_operator_is_gone(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    shutil.rmtree(copy / "state" / "0")

    found = verified(copy)

    assert [(one.harm, one.path) for one in found.problems] == [(Harm.MISSING, "state/0")]
    assert found.sound == ()


@pytest.mark.parametrize(("gone", "missing"), [("state", ["state/0", "state/1"]), ("state/1", ["state/1"])])
def test_a_job_of_ours_says_how_many_operators_keep_state(gone, missing, tmp_path):
    copy = without_ids(copy_of(SUMS, tmp_path))
    shutil.rmtree(copy / gone)

    found = verified(copy)

    assert [one.path for one in found.problems if one.path in ("state/0", "state/1")] == missing
    assert found.sound == ()


def test_a_job_of_ours_without_state_has_none(tmp_path):
    copy = without_ids(copy_of(SUMS, tmp_path))
    shutil.rmtree(copy / "state")
    found = inspect_checkpoint(copy)
    manifests = {number: replace(one, made_by={**one.made_by, "operators": "none"}) for number, one in found.own.manifests.items()}

    seen = verify(replace(found, own=replace(found.own, manifests=manifests)))

    assert not [one.path for one in seen.problems if one.path.startswith("state")]
    assert seen.unsure == ()


def test_a_job_without_state_is_backed_up_again(tmp_path):
    for count in (1, 2):
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        ends = [{"t": {"0": 5 + number}} for number in range(count)]
        assert back_up(kafka_checkpoint(tmp_path / "k", ends, committed=count), tmp_path / "to").batch == count - 1


# -- whole JSON that says what no Spark writes


@pytest.mark.parametrize(
    "tables",
    [[{"x": 1}], [{"dfsSstFileName": "a.sst"}], [{"sizeBytes": 3}], [None], None, 7, [{"dfsSstFileName": "a", "sizeBytes": "x"}]],
)
def test_a_snapshot_that_does_not_say_its_table_files(tables, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    path = copy / "state" / "0" / "0" / "5.zip"
    path.with_name(".5.zip.crc").unlink(missing_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata", f"v1\n{json.dumps({'sstFiles': tables, 'numKeys': 3})}")

    found = verified(copy)

    assert [(one.path, one.says) for one in found.problems] == [
        ("state/0/0/5.zip", "state/0/0/5.zip does not say which table files belong to it.")
    ]
    assert found.sound[-1] == 3
    assert recover(inspect_checkpoint(copy), 3).batch == 3


@pytest.mark.parametrize("ids", ['{"0":null}', '{"0":[null]}', '{"0":"x"}'])
def test_the_ids_of_a_commit(ids, tmp_path):
    copy = copy_of(SUMS, tmp_path)
    (copy / "commits" / "3").write_text(f'v2\n{{"nextBatchWatermarkMs":0,"stateUniqueIds":{ids}}}')

    assert (Harm.TORN, "commits/3") in [(one.harm, one.path) for one in verified(copy).problems]


@pytest.mark.parametrize("sums", ["[]", '{"mainFileSize":null,"algorithm":"CRC32C","value":"x"}'])
def test_sums_of_spark_that_are_none_say_nothing_of_the_file(sums, tmp_path):
    copy = copy_of(SUMS, tmp_path)
    for path in (copy / "state" / "0" / "0").glob("4_*.zip"):
        path.with_name(f"{path.name}.crc").write_text(sums)

    assert verified(copy).problems == ()
