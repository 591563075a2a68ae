"""What a side of a comparison is, without a JVM: published outputs by their ledgers, plain folders, folders of outputs, jobs."""

import json
from dataclasses import asdict

import pytest

from streamproof.core.manifest import LedgerEntry, StagedFile
from streamproof.errors import ConfigurationError, UnknownFormat
from streamproof.replay.diff.folders import LocalFolders
from streamproof.replay.diff.sides import is_remote, local, outputs_of


def write(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def publish(output, batch, names=("part-0.parquet",), *, named=True):
    folder = output / f"batch={batch:06d}"
    for name in names:
        write(folder / name)
    files = tuple(StagedFile(name, 1) for name in names) if named else ()
    entry = LedgerEntry("job", "out", "inc", batch, 0, "m", "f", 1, 1, files=files)
    write(folder / "_ledger.json", entry.to_json())
    return folder


def side(path):
    return outputs_of(str(path), LocalFolders())


def test_a_published_output_is_read_by_its_ledgers(tmp_path):
    publish(tmp_path, 0, ("b.parquet", "a.parquet"))
    publish(tmp_path, 2)
    write(tmp_path / "batch=000003" / "part-0.parquet")  # a crash left it: no ledger
    write(tmp_path / "_staging" / "4-x" / "part-0.parquet")
    write(tmp_path / "batch=000002" / ".part-0.parquet.crc")

    rows = side(tmp_path)[""]

    assert rows.files == tuple(
        f"{tmp_path}/{name}" for name in ("batch=000000/b.parquet", "batch=000000/a.parquet", "batch=000002/part-0.parquet")
    )
    assert (rows.format, rows.batches, rows.left) == ("parquet", 2, 1)


def test_a_batch_that_its_owner_has_rewritten_is_read_as_it_is_there(tmp_path):
    folder = publish(tmp_path, 0)
    (folder / "part-0.parquet").rename(folder / "compacted.parquet")

    assert side(tmp_path)[""].files == (f"{folder}/compacted.parquet",)


def test_a_ledger_of_a_version_that_named_no_files_is_read_too(tmp_path):
    folder = publish(tmp_path, 0, named=False)

    assert side(tmp_path)[""].files == (f"{folder}/part-0.parquet",)


def test_a_published_output_of_avro_is_read_as_such(tmp_path):
    publish(tmp_path, 0, ("part-0.avro",))

    assert (side(tmp_path)[""].format, side(tmp_path)[""].files) == ("avro", (f"{tmp_path}/batch=000000/part-0.avro",))


@pytest.mark.parametrize("names", [("part-0.orc",), ("part-0.parquet", "part-1.orc")])
def test_a_published_file_of_an_unknown_ending_is_refused(names, tmp_path):
    folder = publish(tmp_path, 0, names)

    with pytest.raises(ConfigurationError, match=rf"{names[-1]} lies in a published batch, and is no file of"):
        side(tmp_path)
    (folder / names[0]).rename(folder / "compacted.orc")  # by its owner: its rows are no less there
    with pytest.raises(ConfigurationError, match=r"orc lies in a published batch, and is no file of"):
        side(tmp_path)


def test_a_published_batch_that_is_not_whole_is_refused(tmp_path):
    folder = publish(tmp_path, 1, ("a.parquet", "b.parquet"))
    (folder / "b.parquet").unlink()

    with pytest.raises(ConfigurationError, match=r"b.parquet is not whole: it is gone"):
        side(tmp_path)
    write(folder / "b.parquet", "longer")
    with pytest.raises(ConfigurationError, match="it has 6 bytes"):
        side(tmp_path)


def test_a_torn_ledger_and_one_of_another_version_are_refused(tmp_path):
    folder = publish(tmp_path, 1)
    text = (folder / "_ledger.json").read_text()
    write(folder / "_ledger.json", text[:40])
    with pytest.raises(ConfigurationError, match=r"_ledger.json is torn"):
        side(tmp_path)
    write(folder / "_ledger.json", json.dumps({**json.loads(text), "format": 99}))
    with pytest.raises(UnknownFormat):
        side(tmp_path)


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("a.parquet", "parquet"),
        ("a.snappy.parquet", "parquet"),
        ("day=1/a.json", "json"),
        ("a.jsonl.gz", "json"),
        ("a.csv", "csv"),
        ("a.avro", "avro"),
    ],
)
def test_a_plain_folder_is_what_its_files_are(name, format_, tmp_path):
    write(tmp_path / name)
    write(tmp_path / "_SUCCESS")

    rows = side(tmp_path)[""]

    assert (rows.format, rows.files, rows.batches) == (format_, (), None)


def test_one_file_is_a_side(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv")

    assert side("a.csv")[""].files == ("a.csv",)
    assert side(f"file://{tmp_path}/a.csv")[""].files == (f"{tmp_path}/a.csv",)
    assert [local("a.csv"), local("s3a://b/a.csv")] == [f"{tmp_path}/a.csv", "s3a://b/a.csv"]
    assert side(tmp_path / "a.csv")[""].files == (f"{tmp_path}/a.csv",)


def test_a_folder_of_outputs_has_each_by_its_name(tmp_path):
    publish(tmp_path / "exposure", 0)
    write(tmp_path / "late" / "a.json")
    write(tmp_path / "notes" / "readme.txt")

    found = side(tmp_path)

    assert {name: (rows.format, rows.batches) for name, rows in found.items()} == {
        "exposure": ("parquet", 1),
        "late": ("json", None),
    }


def test_a_job_has_the_outputs_that_it_publishes_to_files(tmp_path):
    write(tmp_path / "job.py")
    write(
        tmp_path / "streamproof.toml",
        '[job]\nentry = "job.py:small"\n[source.events]\nconnector = "files"\npath = "in"\nformat = "json"\nschema = "id string"\n'
        '[sink.kept]\nconnector = "files"\npath = "out/kept"\n[sink.late]\nconnector = "files"\npath = "out/late"\nformat = "json"\n',
    )
    with pytest.raises(ConfigurationError, match="has published nothing to files"):
        side(tmp_path)
    publish(tmp_path / "out" / "kept", 0)

    assert {name: rows.place for name, rows in side(tmp_path).items()} == {"kept": str(tmp_path / "out/kept")}


@pytest.mark.parametrize("name", ["nowhere", "empty", "texts", "a.txt", "a.orc"])
def test_what_is_no_side_is_refused(name, tmp_path):
    (tmp_path / "empty").mkdir()
    write(tmp_path / "texts" / "readme.md")
    write(tmp_path / "a.txt")
    write(tmp_path / "a.orc")

    with pytest.raises(ConfigurationError, match=f"(There is no .*{name}|{name} holds no rows|{name} is no folder)"):
        side(tmp_path / name)


def test_a_folder_of_two_formats_is_refused(tmp_path):
    write(tmp_path / "a.json")
    write(tmp_path / "b.parquet")

    with pytest.raises(ConfigurationError, match="holds files of json and of parquet"):
        side(tmp_path)


def test_stores_are_told_from_this_machine():
    assert [is_remote(path) for path in ("s3a://b/x", "hdfs://h:1/x", "file:///x", "out/x", "/x")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_an_entry_has_what_the_test_writes():
    assert asdict(StagedFile("a", 1))["size"] == 1
