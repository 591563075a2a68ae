"""`inspect --verify` and `recover`: the verdict, what it means and what to do; a copy beside the checkpoint, which stays as it is."""

import json
import shutil

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.errors import CheckpointError, DiskFull
from streamproof.savepoints import copying
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of


def damaged(checkpoint, folder, file):
    copy = copy_of(checkpoint, folder)
    path = copy / file
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    return copy


def test_a_sound_checkpoint(streamproof):
    result = streamproof("inspect", str(WINDOWS), "--verify")

    assert result.code == 0
    assert result.out.startswith(f"SOUND  {WINDOWS} · a start goes on after batch 4 · 34 files looked at")


def test_a_damaged_checkpoint_and_the_way_out(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")

    result = streamproof("inspect", copy.name, "--verify")

    assert result.code == 1
    for said in (
        "DAMAGED  windows_on_rocksdb · 1 finding",
        "torn          state/0/0/5.zip is no whole zip file: it is cut short or damaged.",
        "Spark stops. (batch 4)",
        "3 is the newest; going back to it costs 1 batch",
        "streamproof recover windows_on_rocksdb --to 3",
    ):
        assert said in result.out


def test_damage_of_an_older_batch_stops_no_start(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/3.zip")

    result = streamproof("inspect", copy.name, "--verify")

    assert result.code == 1
    assert "4 is the newest: a start goes on after it" in result.out
    assert "recover" not in result.out


def test_a_batch_that_is_planned_and_torn_stops_a_start(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "offsets/4")
    (copy / "commits" / "4").unlink()

    result = streamproof("inspect", copy.name, "--verify")

    assert "3 is the newest; nothing that is committed is lost by going on from it" in result.out
    assert "streamproof recover windows_on_rocksdb --to 3" in result.out


def test_the_findings_as_json(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")

    result = streamproof("inspect", copy.name, "--verify", "--json")

    found = json.loads(result.out)
    assert (result.code, found["sound"], found["sound_batches"], found["cost"]["batches"]) == (1, False, [0, 1, 2, 3], 1)
    assert [one["harm"] for one in found["problems"]] == ["torn"]


def test_nothing_is_left_to_go_back_to(streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    (copy / "metadata").unlink()

    result = streamproof("inspect", copy.name, "--verify")

    assert "none: no batch that is kept has all that a start needs" in result.out
    assert "from a backup" in result.out


@pytest.mark.parametrize(
    "arguments",
    [["--where", "a = 1"], ["--limit", "3"], ["--batch", "1"], ["--csv", "x.csv"], ["--variable", "x"]],
    ids=lambda one: one[0],
)
def test_what_is_about_rows_needs_an_operator(arguments, streamproof):
    result = streamproof("inspect", str(WINDOWS), *arguments)

    assert result.code == 2
    assert "It needs --operator N." in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--operator", "7"], "has no operator 7."),
        (["--operator", "0", "--batch", "9"], "Committed and kept are the batches 0 to 4."),
        (["--operator", "0", "--variable", "x"], "Only transformWithState has variables."),
        (["--operator", "0", "--csv", "nowhere/x.csv"], "there is no folder nowhere"),
    ],
)
def test_what_is_not_there_is_said_before_spark_starts(arguments, said, streamproof):
    result = streamproof("inspect", str(WINDOWS), *arguments)

    assert result.code == 2
    assert said in result.err


def test_a_partition_that_is_gone_is_said_before_spark_starts(streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    shutil.rmtree(copy / "state" / "0" / "1")
    before = contents(copy)

    for arguments in (["--operator", "0"], ["--rows"]):
        result = streamproof("inspect", copy.name, *arguments)

        assert result.code == 2
        assert "partition 1 of operator 0 is not there." in result.err
    assert contents(copy) == before


def test_logs_of_a_later_spark_end_with_2_and_not_with_the_1_of_damage(streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    log = copy / "offsets" / "4"
    log.write_text(log.read_text().replace("v1\n", "v9\n", 1))

    result = streamproof("inspect", copy.name, "--verify")

    assert result.code == 2
    assert 'begins with "v9"' in result.err


@pytest.mark.parametrize(
    ("checkpoint", "file", "batch"),
    [
        (WINDOWS, "state/0/0/5.zip", 3),
        (JOIN, "state/0/1/left-keyWithIndexToValue/3.delta", 1),
        (OURS / "checkpoint" / "sums", "_streamproof/manifests/3", 2),
        (WINDOWS, "offsets/4", 3),
    ],
    ids=["windows", "join", "ours", "log"],
)
def test_a_copy_is_made_beside_it_and_nothing_else_is_changed(checkpoint, file, batch, streamproof, tmp_path):
    copy = damaged(checkpoint, tmp_path, file)
    before = contents(copy)

    result = streamproof("recover", copy.name, "--to", str(batch))

    made = tmp_path / f"{copy.name}-at-{batch}"
    assert result.code == 0
    assert f"{made} is sound, and a start goes on after batch {batch}." in result.out
    assert contents(copy) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [copy.name, made.name]
    assert streamproof("inspect", made.name, "--verify").code == 0
    found = inspect_checkpoint(made)
    assert found.logs.newest_committed == batch
    assert {path.name for path in made.rglob("*.zip")} <= {path.name for path in copy.rglob("*.zip")}


def test_the_next_batch_stays_planned_as_it_was(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/3.zip")

    told = json.loads(streamproof("recover", copy.name, "--to", "1", "--json").out)

    made = tmp_path / "windows_on_rocksdb-at-1"
    assert (told["again"], told["batches_again"], told["files_again"]) == (2, 3, 2)
    assert (made / "offsets" / "2").read_text() == (copy / "offsets" / "2").read_text()
    assert sorted(path.name for path in (made / "offsets").iterdir()) == ["0", "1", "2"]
    assert sorted(path.name for path in (made / "sources" / "0").iterdir()) == ["0", "1", "2"]
    assert not list(made.rglob("4.zip"))


def test_entries_that_only_a_later_compact_file_has_are_written_anew(tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    folder = copy / "sources" / "0"
    lines = [(folder / str(number)).read_text().splitlines()[1] for number in range(4)]
    for number in range(4):
        (folder / str(number)).unlink()
    (folder / "3.compact").write_text("\n".join(["v1", *lines]))

    recover(inspect_checkpoint(copy), 1)

    made = tmp_path / "windows_on_rocksdb-at-1" / "sources" / "0"
    assert {path.name: path.read_text() for path in made.iterdir()} == {
        str(number): f"v1\n{line}" for number, line in enumerate(lines[:3])
    }


def test_variables_come_along(tmp_path):
    copy = copy_of(VARIABLES, tmp_path)

    made = recover(inspect_checkpoint(copy), 2).path

    assert sorted(path.name for path in (made / "state" / "0" / "_stateSchema" / "default").iterdir()) == sorted(
        path.name for path in (copy / "state" / "0" / "_stateSchema" / "default").iterdir()
    )
    assert not [path.name for path in made.rglob("*.changelog") if int(path.name.partition("_")[0]) > 3]


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ("4", "Batch 4 of windows_on_rocksdb lacks something that a start needs."),
        ("9", "Batch 9 of windows_on_rocksdb is not committed."),
    ],
)
def test_a_batch_that_is_not_sound_is_refused(batch, said, streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")

    result = streamproof("recover", copy.name, "--to", batch)

    assert result.code == 2
    assert said in result.err
    assert "A start can go on after the batches 0, 1, 2, 3." in result.err
    assert [path.name for path in tmp_path.iterdir()] == [copy.name]


def test_what_is_there_already_is_not_touched(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    (tmp_path / f"{copy.name}-at-3").mkdir()

    result = streamproof("recover", copy.name, "--to", "3")

    assert result.code == 2
    assert "is there already" in result.err


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    real, left = shutil.copy2, [20]

    def full(source, target):
        left[0] -= 1
        if not left[0]:
            raise OSError(28, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(copying.shutil, "copy2", full)

    with pytest.raises(DiskFull, match="the disk is full"):
        recover(inspect_checkpoint(copy), 3)

    assert [path.name for path in tmp_path.iterdir()] == [copy.name]


def test_a_checkpoint_that_is_written_meanwhile_is_not_taken_for_whole(tmp_path, monkeypatch):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    monkeypatch.setattr(copying.filecmp, "cmp", lambda *_, **__: False)

    with pytest.raises(CheckpointError, match="was changed while it was copied"):
        recover(inspect_checkpoint(copy), 3)

    assert [path.name for path in tmp_path.iterdir()] == [copy.name]


def test_a_copy_that_is_not_sound_gets_no_name(tmp_path, monkeypatch):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    real = shutil.copy2

    def cut(source, target):
        real(source, target)
        if target.name == "4.zip":
            target.write_bytes(b"")

    monkeypatch.setattr(copying.shutil, "copy2", cut)
    monkeypatch.setattr(copying.filecmp, "cmp", lambda *_, **__: True)

    with pytest.raises(CheckpointError, match=r"The copy is not sound: state/0/0/4\.zip is no whole zip file"):
        recover(inspect_checkpoint(copy), 3)

    assert [path.name for path in tmp_path.iterdir()] == [copy.name]


def test_a_compact_file_that_spark_has_removed_is_put_together(tmp_path):
    """Of 16 entries Spark keeps `19.compact` at last; a start after entry 12 looks for `9.compact`."""
    checkpoint = copy_of(WINDOWS, tmp_path)
    folder = checkpoint / "sources" / "0"
    (line,) = (folder / "0").read_text().splitlines()[1:]
    lines = [line.replace('"batchId":0', f'"batchId":{number}').replace("0.json", f"{number}.json") for number in range(20)]
    for number in range(4):
        (folder / str(number)).unlink()
    (folder / "19.compact").write_text("\n".join(["v1", *lines]))
    for number, end in ((1, 11), (2, 12), (3, 18), (4, 19)):
        log = checkpoint / "offsets" / str(number)
        log.write_text("\n".join([*log.read_text().splitlines()[:2], f'{{"logOffset":{end}}}']))

    recover(inspect_checkpoint(checkpoint), 1)

    made = tmp_path / "windows_on_rocksdb-at-1" / "sources" / "0"
    assert {path.name: path.read_text().splitlines()[1:] for path in made.iterdir()} == {
        "9.compact": lines[:10],
        "10": lines[10:11],
        "11": lines[11:12],
        "12": lines[12:13],
    }


def test_a_compact_file_comes_along_with_what_came_after_it(tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    folder = copy / "sources" / "0"
    lines = [(folder / str(number)).read_text().splitlines()[1] for number in range(4)]
    for number in range(4):
        (folder / str(number)).unlink()
    (folder / "1.compact").write_text("\n".join(["v1", *lines[:2]]))
    (folder / "3.compact").write_text("\n".join(["v1", *lines]))

    recover(inspect_checkpoint(copy), 1)

    made = tmp_path / "windows_on_rocksdb-at-1" / "sources" / "0"
    assert {path.name: path.read_text().splitlines()[1:] for path in made.iterdir()} == {"1.compact": lines[:2], "2": lines[2:3]}


def test_a_copy_that_was_cut_off_is_made_anew(tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")
    (tmp_path / f"{copy.name}-at-3.partial" / "offsets").mkdir(parents=True)

    assert recover(inspect_checkpoint(copy), 3).path.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [copy.name, f"{copy.name}-at-3"]
