"""A log of a batch that is cut, or whole JSON with a value that no Spark writes, is a finding; it ends no command with an error of ours."""

import json
from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.logs import parse_commit, parse_offsets, positions_in
from streamproof.checkpoint.verify.finding import Harm
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.errors import TornCheckpoint
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import JOIN, OURS, WINDOWS, copy_of, kafka_checkpoint

ENDS = [{"t": {"0": 3}}, {"t": {"0": 5}}, {"t": {"0": 9}}]
METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":1767603600000,"conf":{}}'


def verified(checkpoint: Path) -> Verified:
    return verify(inspect_checkpoint(checkpoint))


def without_sums(checkpoint: Path) -> Path:
    """As a checkpoint is in a store that writes no checksums beside its files."""
    for path in [*checkpoint.rglob(".*.crc")]:
        path.unlink()
    return checkpoint


def with_lines(log: Path, *lines: str) -> None:
    """The log with other lines for its sources."""
    log.write_text("\n".join([*log.read_text().splitlines()[:2], *lines]))


def harms(found: Verified) -> dict[str, tuple[Harm, set[int]]]:
    return {one.path: (one.harm, {*(one.batches or ())}) for one in found.problems}


# -- an offset log that is cut


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN], ids=lambda path: path.name)
def test_an_offset_log_that_is_cut_anywhere_is_torn(checkpoint, tmp_path):
    copy = without_sums(copy_of(checkpoint, tmp_path))
    log = copy / "offsets" / "4"
    text = log.read_text()
    begins = len("\n".join(text.splitlines()[:2]))
    for end in range(begins, len(text)):
        log.write_text(text[:end])

        found = verified(copy)

        assert harms(found)["offsets/4"] == (Harm.TORN, {4}), text[begins:end]
        assert found.sound[-1] == 3


@pytest.mark.parametrize("committed", [2, 3])
def test_an_offset_of_kafka_that_is_cut(committed, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=committed)
    log = checkpoint / "offsets" / "2"
    log.write_text(log.read_text()[:-3])

    found = verified(checkpoint)

    assert harms(found)["offsets/2"] == (Harm.TORN, {2})
    assert found.sound[-1] == 1
    assert back_up(checkpoint, tmp_path / "to").batch == 1
    assert recover(inspect_checkpoint(checkpoint), 1).batch == 1


@pytest.mark.parametrize("written", ["null", '"x"', '{"logOffset":null}'])
@pytest.mark.parametrize("batch", [0, 1, 2])
def test_an_offset_of_another_kind_than_in_the_other_batches(batch, written, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    with_lines(checkpoint / "offsets" / str(batch), written)

    assert harms(verified(checkpoint)) == {f"offsets/{batch}": (Harm.TORN, {batch, min(2, batch + 1)})}


def test_an_offset_log_of_another_checkpoint(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    with_lines(checkpoint / "offsets" / "2", '{"logOffset":3}')

    assert harms(verified(checkpoint))["offsets/2"][0] is Harm.FOREIGN


def test_a_log_with_fewer_sources_is_torn_and_one_with_more_is_foreign(tmp_path):
    for lines, harm in ((['{"logOffset":1}'], Harm.TORN), (['{"logOffset":1}'] * 3, Harm.FOREIGN)):
        copy = without_sums(copy_of(JOIN, tmp_path / harm))
        with_lines(copy / "offsets" / "1", *lines)

        assert harms(verified(copy))["offsets/1"] == (harm, {1, 2})


def test_an_offset_of_a_file_source_that_is_far_too_large_takes_no_time(tmp_path):
    copy = without_sums(copy_of(WINDOWS, tmp_path))
    with_lines(copy / "offsets" / "4", '{"logOffset":300000000000000}')

    assert verified(copy).sound == (0, 1, 2, 3)


# -- what is no damage


@pytest.mark.parametrize(
    "written",
    [
        ["-", '{"logOffset":0}', '{"logOffset":0}'],
        ["-", "-", '{"t":{"0":3}}'],
        ["{}", '{"t":{"0":3}}', '{"t":{"0":3},"u":{"0":1}}'],
        ["1", "2", "5"],
        ['{"sourceVersion":1,"reservoirVersion":7}', '{"sourceVersion":1,"reservoirVersion":8}', '{"sourceVersion":1}'],
        ['{"offset":{"0":"12"}}', '{"offset":{"0":"1f"}}', '{"offset":{"0":"20"}}'],
        ["token-a", "token-b", "token-c"],
        ["{}", '{"a":null}', '{"a":{"b":"c"}}'],
    ],
)
def test_offsets_of_any_source_are_sound(written, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    (checkpoint / "sources" / "0" / "0").write_text('v1\n{"path":"file:///data/0","timestamp":1,"batchId":0}')
    for number, line in enumerate(written):
        with_lines(checkpoint / "offsets" / str(number), line)

    assert verified(checkpoint).problems == ()


# -- asynchronous progress tracking: Spark writes the logs of some batches only


def asynchronous(folder: Path, *, planned: list[int], committed: list[int]) -> Path:
    checkpoint = kafka_checkpoint(
        folder, [{"t": {"0": number + 1}} for number in range(planned[-1] + 1)], committed=planned[-1] + 1
    )
    for kind, there in (("offsets", planned), ("commits", committed)):
        for log in (checkpoint / kind).iterdir():
            if int(log.name) not in there:
                log.unlink()
    return checkpoint


@pytest.mark.parametrize(
    ("planned", "committed", "sound"),
    [
        ([0, 2, 5, 8], [0, 2, 5, 8], (0, 2, 5, 8)),
        ([0, 2, 5], [0, 2], (0, 2)),  # the next start does what came after 2 again, up to 5
        ([0, 2, 5, 6], [0, 2, 5], (0, 2, 5)),
        ([40, 45, 46, 60], [40, 45, 46, 60], (45, 46, 60)),  # older ones are removed
        ([40, 45, 60], [45, 60], (45, 60)),
    ],
)
def test_batches_that_are_in_neither_log_were_left_out(planned, committed, sound, tmp_path):
    checkpoint = asynchronous(tmp_path / "c", planned=planned, committed=committed)

    found = verified(checkpoint)

    assert (found.problems, found.sound) == ((), sound)
    assert any("asyncProgressTrackingEnabled" in one for one in found.unsure)
    assert back_up(checkpoint, tmp_path / "to").batch == sound[-1]
    made = recover(inspect_checkpoint(checkpoint), sound[0])
    assert made.again == planned[planned.index(sound[0]) + 1]
    assert verified(made.path).sound == sound[:1]


def test_a_log_that_is_gone_is_damage_all_the_same(tmp_path):
    checkpoint = asynchronous(tmp_path / "c", planned=[0, 2, 8, 9], committed=[0, 2, 5, 8])
    (checkpoint / "offsets" / "2").write_text("v1\n{")

    found = verified(checkpoint)

    assert harms(found) == {"offsets/5": (Harm.GAP, {5, 8}), "offsets/2": (Harm.TORN, {2})}


def test_an_offset_that_goes_back_is_seen_across_what_was_left_out(tmp_path):
    checkpoint = asynchronous(tmp_path / "c", planned=[0, 3, 6], committed=[0, 3, 6])
    with_lines(checkpoint / "offsets" / "6", '{"t":{"0":2}}')

    assert harms(verified(checkpoint)) == {"offsets/6": (Harm.SWAPPED, {3, 6})}


@pytest.mark.parametrize("checkpoint", [WINDOWS, OURS / "checkpoint" / "sums"], ids=lambda path: path.name)
def test_with_state_no_batch_is_left_out(checkpoint, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    for kind in ("offsets", "commits"):
        (copy / kind / "2").unlink()

    assert {("offsets/2", Harm.GAP), ("commits/2", Harm.GAP)} <= {(one.path, one.harm) for one in verified(copy).problems}


# -- whole JSON that says what no Spark writes


@pytest.mark.parametrize("value", ["null", '"x"', "[]", "{}", "1e400"])
def test_the_watermark_of_a_commit(value, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    (checkpoint / "commits" / "2").write_text(f'v1\n{{"nextBatchWatermarkMs":{value}}}')

    found = verified(checkpoint)

    assert harms(found) == {"commits/2": (Harm.TORN, {2})}
    assert recover(inspect_checkpoint(checkpoint), 1).batch == 1
    with pytest.raises(TornCheckpoint, match="commits/2 is damaged: its watermark is"):
        parse_commit((checkpoint / "commits" / "2").read_text(), where="commits/2")


@pytest.mark.parametrize(
    "metadata",
    [
        {"conf": None},
        {"conf": []},
        {"conf": "x"},
        {"batchWatermarkMs": None},
        {"batchTimestampMs": float("inf")},
        {"batchTimestampMs": []},
    ],
)
def test_the_metadata_of_an_offset_log(metadata, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    log = checkpoint / "offsets" / "2"
    version, said, *rest = log.read_text().splitlines()
    log.write_text("\n".join([version, json.dumps({**json.loads(said), **metadata}).replace("Infinity", "1e400"), *rest]))

    assert harms(verified(checkpoint)) == {"offsets/2": (Harm.TORN, {2})}


@pytest.mark.parametrize("end", ["1e400", "null", '"7"', "1.5", "true", "[]"])
def test_an_offset_of_kafka_that_is_no_whole_number(end, tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    with_lines(checkpoint / "offsets" / "2", f'{{"t":{{"0":{end}}}}}')

    assert harms(verified(checkpoint)) == {"offsets/2": (Harm.TORN, {2})}
    with pytest.raises(TornCheckpoint, match="neither one of files nor one of Kafka"):
        positions_in(f'{{"t":{{"0":{end}}}}}')


@pytest.mark.parametrize("line", ['{"logOffset":', '{"t":{"0":3}', "[1"])
def test_a_line_that_is_no_whole_json_is_torn(line):
    with pytest.raises(TornCheckpoint, match="offsets/3 is cut short or damaged"):
        parse_offsets(f"v1\n{METADATA}\n{line}", where="offsets/3")


def test_a_whole_number_that_is_no_time_can_be_shown(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", ENDS, committed=3)
    log = checkpoint / "offsets" / "2"
    log.write_text(log.read_text().replace('"batchTimestampMs": 1767603602000', '"batchTimestampMs": 99999999999999999999'))

    assert inspect_checkpoint(checkpoint).as_dict()["batches"][2]["planned"] is None
