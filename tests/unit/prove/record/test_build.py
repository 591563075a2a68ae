import json
from pathlib import Path

import pytest

from streamproof.errors import StreamproofError
from streamproof.prove.record.build import BlobChanged, build
from streamproof.prove.record.deaths import machine_deaths
from streamproof.prove.record.images import prefixes
from streamproof.prove.record.steps import timeline

METADATA = "checkpoint/exposure/metadata"


@pytest.fixture
def last(recorded, layout):
    return prefixes(timeline(recorded, layout))[-1]


def test_an_image_is_the_disk_of_the_cut(last, recorded, layout, tmp_path):
    built = build(last, tmp_path / "image", recorded.blobs, layout)
    assert built.fired()
    assert (tmp_path / "image/checkpoint/exposure/commits/1").read_bytes() == b"commit 1"
    on_disk = {str(path.relative_to(built.folder)) for path in built.folder.rglob("*") if path.is_file()}
    assert on_disk == set(last.files)
    assert {path for path, sha in built.hashes.items() if sha != last.files[path].sha256} == {METADATA}


def test_each_image_gets_a_query_id_of_its_own(last, recorded, layout, tmp_path):
    one, two = (build(last, tmp_path / name, recorded.blobs, layout) for name in ("one", "two"))
    ids = [json.loads((built.folder / METADATA).read_text())["id"] for built in (one, two)]
    assert ids[0] != ids[1]
    recorded_id = json.loads((recorded.blobs / last.files[METADATA].sha256).read_text())["id"]
    assert recorded_id not in ids
    assert len(ids[0]) == len(recorded_id) == 36


def test_files_keep_their_modification_times(last, recorded, layout, tmp_path):
    built = build(last, tmp_path / "image", recorded.blobs, layout)
    path = "checkpoint/exposure/commits/1"
    assert (built.folder / path).stat().st_mtime_ns == last.files[path].modified_ms * 1_000_000


@pytest.mark.parametrize("damage", ["overwritten", "gone"])
def test_r16_a_changed_blob_is_refused(last, recorded, layout, tmp_path, damage):
    sha = last.files["checkpoint/exposure/offsets/1"].sha256
    if damage == "gone":
        (recorded.blobs / sha).unlink()
    else:
        (recorded.blobs / sha).write_bytes(b"offsets 2")
    with pytest.raises(BlobChanged, match=sha):
        build(last, tmp_path / "image", recorded.blobs, layout)


@pytest.mark.parametrize("damage", ["changed", "added", "removed"])
def test_an_image_that_was_touched_has_not_fired(last, recorded, layout, tmp_path, damage):
    built = build(last, tmp_path / "image", recorded.blobs, layout)
    victim = built.folder / "checkpoint/exposure/offsets/1"
    {
        "changed": lambda: victim.write_text("x"),
        "added": lambda: Path(f"{victim}2").write_text("x"),
        "removed": victim.unlink,
    }[damage]()
    assert not built.fired()


def test_a_used_folder_is_refused(last, recorded, layout, tmp_path):
    (tmp_path / "image").mkdir()
    (tmp_path / "image/x").write_text("")
    with pytest.raises(StreamproofError, match="not empty"):
        build(last, tmp_path / "image", recorded.blobs, layout)


def test_r20_a_truncated_file_is_built_truncated(last, recorded, layout, tmp_path):
    cut = next(image for image in machine_deaths(last) if image.id.endswith("+truncated"))
    built = build(cut, tmp_path / "image", recorded.blobs, layout)
    assert (built.folder / "checkpoint/exposure/commits/1").read_bytes() == b"comm"
    assert built.fired()


def test_a_torn_metadata_file_is_left_as_the_crash_left_it(recorder, layout, tmp_path):
    recorder.atomic(METADATA, b'{"id":"00000000-0000-4000-8000-000000000000"}')
    journal = recorder.journal()
    images = {image.id: image for image in machine_deaths(prefixes(timeline(journal, layout))[-1])}
    built = build(images["start/metadata@0:after+truncated"], tmp_path / "image", journal.blobs, layout)
    assert (built.folder / METADATA).read_bytes() == b'{"id":"00000000-0000-4'
