"""What is wrong with a checkpoint is found from its files, and so is the newest batch that a start can go on from. A sound one is called sound."""

import json
import shutil
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.checkpoint.crc32c import crc32c
from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.finding import Harm, in_words
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.errors import TornCheckpoint
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of, kafka_checkpoint

SUMS = OURS / "checkpoint" / "sums"
STORE = "state/0/1/left-keyWithIndexToValue"


def verified(checkpoint: Path) -> Verified:
    return verify(inspect_checkpoint(checkpoint))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])


def altered(path: Path) -> None:
    """A bit in the middle, as a disk loses it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("checkpoint", [JOIN, WINDOWS, VARIABLES, OURS], ids=lambda path: path.name)
def test_a_whole_checkpoint_is_sound_and_stays_as_it_is(checkpoint, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    before = contents(copy)

    found = verified(copy)

    assert found.problems == ()
    assert found.sound[-1] == found.newest
    assert found.cost is None
    assert found.looked_at > 20
    assert contents(copy) == before


def test_topics_without_state(tmp_path):
    found = verified(kafka_checkpoint(tmp_path / "c", [{"t": {"0": 3}}, {"t": {"0": 5}}], committed=1))

    assert (found.is_sound, found.sound, found.newest) == (True, (0,), 1)


@pytest.mark.parametrize(
    ("checkpoint", "file", "damage", "harm", "batches", "sound"),
    [
        (JOIN, f"{STORE}/3.delta", cut, Harm.TORN, {2, 3, 4}, 1),
        (JOIN, f"{STORE}/3.delta", Path.unlink, Harm.MISSING, {2, 3, 4}, 1),
        (WINDOWS, "state/0/0/5.zip", cut, Harm.TORN, {4}, 3),
        (WINDOWS, "state/0/0/5.zip", altered, Harm.TORN, {4}, 3),
        (WINDOWS, "state/0/1", shutil.rmtree, Harm.MISSING, None, None),
        (WINDOWS, "offsets/4", cut, Harm.TORN, {4}, 3),
        (WINDOWS, "offsets/2", Path.unlink, Harm.GAP, {2, 3}, 4),
        (WINDOWS, "offsets/3", Path.unlink, Harm.GAP, {3, 4}, 2),
        (WINDOWS, "offsets/3", cut, Harm.TORN, {3, 4}, 2),
        (WINDOWS, "commits/4", cut, Harm.TORN, {4}, 3),
        (WINDOWS, "sources/0/3", Path.unlink, Harm.MISSING, {3, 4}, 2),
        (WINDOWS, "sources/0/2", cut, Harm.TORN, {2, 3, 4}, 1),
        (WINDOWS, "metadata", Path.unlink, Harm.MISSING, None, None),
        (OURS, "checkpoint/sums/_streamproof/manifests/3", cut, Harm.TORN, {3}, 2),
        (OURS, "checkpoint/sums/_streamproof/manifests/3", Path.unlink, Harm.MISSING, {3}, 2),
    ],
)
def test_what_is_torn_or_missing_is_named_with_the_batches_it_costs(checkpoint, file, damage, harm, batches, sound, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    damage(copy / file)

    found = verified(copy)

    path = file.removeprefix("checkpoint/sums/")
    path = path.removesuffix(".delta") if harm is Harm.MISSING else path  # of what kind it was nobody knows
    assert (path, harm, batches) in [
        (one.path, one.harm, None if one.batches is None else {*one.batches}) for one in found.problems
    ]
    assert all(one.means and one.says.endswith(".") for one in found.problems)
    assert max(found.sound, default=None) == sound


def test_a_table_file_of_rocksdb(tmp_path):
    for damage, harm in ((cut, Harm.TORN), (Path.unlink, Harm.MISSING)):
        copy = copy_of(WINDOWS, tmp_path / harm)
        tables = sorted((copy / "state" / "0" / "0" / "SSTs").iterdir())
        damage(tables[0])

        found = verified(copy)

        assert {(one.path, one.harm) for one in found.problems} == {(f"state/0/0/SSTs/{tables[0].name}", harm)}


def zeros_at_the_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))


def test_a_table_file_of_the_right_length_that_was_not_written_to_its_end(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    table = min((copy / "state" / "0" / "1" / "SSTs").iterdir())
    zeros_at_the_end(table)

    assert [(one.path, one.harm) for one in verified(copy).problems] == [(f"state/0/1/SSTs/{table.name}", Harm.TORN)]


def test_blocks_that_go_on_behind_their_end(tmp_path):
    copy = copy_of(JOIN, tmp_path)
    file = copy / STORE / "5.delta"
    file.write_bytes(file.read_bytes() + b"LZ4Block")

    assert [one.says for one in verified(copy).problems] == [f"{STORE}/5.delta goes on behind its end."]


def test_all_state_of_a_partition_is_gone(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    for file in (copy / "state" / "0" / "0").glob("*.zip"):
        file.unlink()

    found = verified(copy)

    assert [(one.path, one.harm) for one in found.problems] == [("state/0/0/5", Harm.MISSING)]
    assert found.sound == ()


def test_a_bit_in_a_file_that_spark_has_summed(tmp_path):
    copy = copy_of(SUMS, tmp_path)
    snapshot = next((copy / "state" / "0" / "0").glob("4_*.zip"))
    data = bytearray(snapshot.read_bytes())
    data[-10] ^= 1
    snapshot.write_bytes(bytes(data))

    (problem,) = [one for one in verified(copy).problems if one.path.endswith(".zip")]

    assert "does not have the sum that Spark wrote for it" in problem.says


def test_a_bit_in_a_file_that_hadoop_has_summed(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    log = copy / "commits" / "2"
    log.with_name(".2.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + (1).to_bytes(4, "big"))

    (problem,) = verified(copy).problems

    assert (problem.path, problem.harm) == ("commits/2", Harm.TORN)
    assert "the sums that Hadoop wrote" in problem.says


def test_logs_that_were_exchanged(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    one, other = copy / "offsets" / "2", copy / "offsets" / "3"
    texts = one.read_text(), other.read_text()
    one.write_text(texts[1])
    other.write_text(texts[0])

    found = verified(copy)

    assert {one.harm for one in found.problems} == {Harm.SWAPPED}
    assert "offsets/3 has an earlier watermark than offsets/2." in [one.says for one in found.problems]


def test_an_offset_that_goes_back(tmp_path):
    found = verified(kafka_checkpoint(tmp_path / "c", [{"t": {"0": 9}}, {"t": {"0": 5}}], committed=2))

    assert [(one.harm, one.says) for one in found.problems] == [(Harm.SWAPPED, "offsets/1 has read less of t-0 than offsets/0.")]


def test_a_log_that_is_not_what_the_manifest_says(tmp_path):
    copy = copy_of(SUMS, tmp_path)
    log = copy / "offsets" / "2"
    log.write_text(log.read_text().replace('"spark.sql.shuffle.partitions":"1"', '"spark.sql.shuffle.partitions":"2"'))

    assert "offsets/2 is not what the manifest of batch 2 has written down." in [one.says for one in verified(copy).problems]


def test_files_of_another_kind_of_state_store(tmp_path):
    copy = copy_of(JOIN, tmp_path)
    (copy / STORE / "5.delta").rename(copy / STORE / "5.zip")

    found = verified(copy)

    assert (Harm.FOREIGN, f"{STORE}/5.zip") in [(one.harm, one.path) for one in found.problems]
    assert found.sound[-1] == 3


def test_state_files_of_another_checkpoint(tmp_path):
    copy = copy_of(SUMS, tmp_path)
    (mine,) = (copy / "state" / "0" / "0").glob("4_*.zip")
    mine.rename(mine.with_name(f"4_{'0' * 8}-0000-0000-0000-{'0' * 12}.zip"))

    found = verified(copy)

    (problem,) = found.problems
    assert problem.harm is Harm.FOREIGN
    assert f"names {mine.stem}" in problem.says
    assert found.sound[-1] == 2


def test_a_manifest_of_another_checkpoint_and_of_another_batch(tmp_path):
    copy = copy_of(SUMS, tmp_path)
    manifests = copy / "_streamproof" / "manifests"
    foreign = json.loads((manifests / "3").read_text())
    (manifests / "3").write_text(json.dumps({**foreign, "incarnation": "0" * 32}))
    (manifests / "1").write_text((manifests / "2").read_text())

    harms = {one.path.rpartition("/")[2]: one.harm for one in verified(copy).problems if "manifests" in one.path}

    assert harms == {"3": Harm.FOREIGN, "1": Harm.SWAPPED}


def test_commits_that_are_missing_before_a_planned_batch(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", [{"t": {"0": n}} for n in range(1, 5)], committed=1)

    found = verified(checkpoint)

    assert [(one.harm, one.path) for one in found.problems] == [(Harm.MISSING, "commits/1"), (Harm.MISSING, "commits/2")]
    assert found.sound == (0,)
    assert (found.cost.batches, found.cost.records) == (3, 3)


def test_old_versions_that_spark_has_removed_are_no_damage(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    for partition in ("0", "1"):
        for version in ("1", "2"):
            (copy / "state" / "0" / partition / f"{version}.zip").unlink()

    found = verified(copy)

    assert (found.problems, found.sound) == ((), (2, 3, 4))


def test_to_the_oldest_batch_that_spark_keeps_nobody_can_go_back(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    for number in range(2):
        (copy / "offsets" / str(number)).unlink()
        (copy / "commits" / str(number)).unlink()

    found = verified(copy)

    assert found.problems == ()
    assert found.sound == (3, 4), "a start after batch 2 reads where that begins, in the log of batch 1"


def test_a_clock_that_was_set_back_is_no_damage(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", [{"t": {"0": 3}}, {"t": {"0": 5}}], committed=2)
    log = checkpoint / "offsets" / "1"
    version, metadata, *rest = log.read_text().splitlines()
    log.write_text("\n".join([version, json.dumps({**json.loads(metadata), "batchTimestampMs": 1}), *rest]))

    assert verified(checkpoint).is_sound


def test_what_going_back_costs(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    for version in (3, 4, 5):
        cut(copy / "state" / "0" / "0" / f"{version}.zip")

    found = verified(copy)

    assert found.sound == (0, 1)
    assert (found.cost.batches, found.cost.files, found.cost.records) == (3, 2, None)


@pytest.mark.parametrize("length", [0, 9, 65_536, 65_537, 200_001])
def test_the_sum_of_spark(length):
    data = bytes(number * 7 % 251 for number in range(length))
    register = 0xFFFFFFFF
    for byte in data:  # RFC 3720, bit by bit
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)

    assert crc32c(data) == register ^ 0xFFFFFFFF
    assert crc32c(b"123456789") == 0xE3069283


def test_a_state_that_lacks_a_partition_is_not_shown_as_if_it_were_whole(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    shutil.rmtree(copy / "state" / "0" / "1")

    with pytest.raises(TornCheckpoint, match="partition 1 of operator 0 is not there"):
        sp.inspect(copy).operator(0).count()


def test_batches_in_words():
    assert [in_words(one) for one in (None, frozenset(), frozenset({4}), frozenset({2, 3, 4}))] == [
        "all batches",
        "",
        "batch 4",
        "batches 2 to 4",
    ]
