import re

from streamproof.core.phases import Side
from streamproof.prove.record.cuts import cuts
from streamproof.prove.record.deaths import deaths_of_several, deaths_of_staged, machine_deaths
from streamproof.prove.record.images import merged, prefixes, without
from streamproof.prove.record.paths import temporary
from streamproof.prove.record.steps import timeline
from streamproof.prove.record.tree import EMPTY


def by_name(images):
    return {name: image for image in images for name in image.names}


def durable(image):
    return {path for path in image.files if not temporary(path)}


def test_every_step_has_a_disk_before_and_after(recorded, layout):
    steps = timeline(recorded, layout)
    images = prefixes(steps)
    wanted = {str(step.name(side)) for step in steps.steps for side in Side}
    assert {name for image in images for name in image.names} == wanted
    assert len({image.digest for image in images}) == len(images) < len(wanted)


def test_after_one_step_is_before_the_next(recorded, layout):
    found = by_name(prefixes(timeline(recorded, layout)))
    assert found["plan/source.0@1:after"] is found["plan/offsets@1:before"]
    assert found["plan/source.0@1:after"].id == "plan/source.0@1:after"
    assert found["plan/offsets@1:after"] is not found["plan/offsets@1:before"]


def test_temporary_files_are_on_the_disk_but_make_no_new_image(recorded, layout):
    image = by_name(prefixes(timeline(recorded, layout)))["plan/offsets@1:before"]
    assert any(temporary(path) for path in image.files)


def test_a_file_made_in_place_is_there_and_empty_before_it_is_closed(recorded, layout):
    found = by_name(prefixes(timeline(recorded, layout)))
    before, after = found["publish/exposure.ledger@0:before"], found["publish/exposure.ledger@0:after"]
    ledger = next(path for path in after.files if path.endswith("_ledger.json"))
    assert before.files[ledger].sha256 == EMPTY
    assert after.files[ledger].size == len(b"ledger 0")


def test_publication_moves_the_whole_directory(recorded, layout):
    found = by_name(prefixes(timeline(recorded, layout)))
    before, after = found["publish/exposure@0:before"], found["publish/exposure@0:after"]
    assert not any("batch=" in path for path in before.files)
    assert sum(path.startswith("out/exposure/batch=000000/") for path in after.files) == 3
    assert not any("_staging" in path for path in after.files)


def test_r19_each_task_alone_and_all_but_one(recorded, layout):
    steps = timeline(recorded, layout)
    known = prefixes(steps)
    found = by_name(without(cuts(steps), known))
    alone = found["work/checksum.state.0.1@1:after+alone-1"]
    begun = by_name(known)["plan/offsets@1:after"]
    added = durable(alone) - durable(begun)
    assert len(added) == 3
    assert all("/state/0/1/" in path for path in added)
    everything = by_name(cuts(steps))
    assert everything["work/checksum.state.0.0@1:before+without-0"].digest == alone.digest
    assert everything["work/sst.0.0@1:before+none"].files.keys() >= begun.files.keys()
    assert everything["work/checksum.state.0.1@1:after+all"].digest in {image.digest for image in known}


def test_r19_the_checksum_may_be_there_first(recorded, layout):
    image = by_name(cuts(timeline(recorded, layout)))["work/checksum.state.0.0@1:after+first"]
    state = [path for path in durable(image) if "/state/0/0/2_" in path]
    assert [path.endswith(".zip.crc") for path in state] == [True]


def test_r19_the_background_may_lag(recorder, layout):
    recorder.batch(0)
    recorder.batch(1)
    recorder.log("delete", "checkpoint/exposure/offsets/0", thread="async-log-purge")
    recorder.batch(2)
    image = by_name(cuts(timeline(recorder.journal(), layout)))["commit/commits@2:after+background-late"]
    assert "checkpoint/exposure/offsets/0" in image.files
    assert "checkpoint/exposure/commits/2" in image.files


def test_a_recursive_delete_may_be_half_done(recorder, layout):
    recorder.batch(0)
    recorder.log("delete", "out/exposure/batch=000000", directory=True)
    image = by_name(cuts(timeline(recorder.journal(), layout)))["maintenance/published.exposure@0:before+half"]
    assert sum("batch=" in path for path in image.files) == 2


def test_r20_the_newest_unsynced_file_is_dropped_emptied_or_cut(recorded, layout):
    commit = by_name(prefixes(timeline(recorded, layout)))["commit/commits@1:after"]
    found = {image.id: image for image in machine_deaths(commit)}
    assert set(found) == {f"commit/commits@1:after+{what}" for what in ("dropped", "emptied", "truncated")}
    path = "checkpoint/exposure/commits/1"
    assert path not in found["commit/commits@1:after+dropped"].files
    assert found["commit/commits@1:after+emptied"].files[path].length == 0
    assert found["commit/commits@1:after+truncated"].files[path].length == len(b"commit 1") // 2
    assert len({image.digest for image in [commit, *found.values()]}) == 4


def test_r20_a_renamed_directory_can_lose_all_or_only_its_last_file(recorded, layout):
    published = by_name(prefixes(timeline(recorded, layout)))["publish/exposure@1:after"]
    found = {image.id.rpartition("+")[2]: image for image in machine_deaths(published)}
    assert set(found) == {what + last for what in ("dropped", "emptied", "truncated") for last in ("", "-last")}
    lost = durable(published) - durable(found["dropped-last"])
    assert lost == {"out/exposure/batch=000001/_ledger.json"}


def test_r20_a_publication_is_lost_whole_only_where_the_newest_rows_are_published(recorded, layout):
    staged = by_name(prefixes(timeline(recorded, layout)))["stage/manifest@1:after"]
    assert not any(image.id.endswith("-publication") for image in deaths_of_several(staged))


def test_r20_what_was_synced_stays(recorder, layout):
    recorder.atomic("checkpoint/exposure/offsets/0", b"offsets", synced=True)
    (image,) = [image for image in prefixes(timeline(recorder.journal(), layout)) if image.files and durable(image)]
    assert machine_deaths(image) == []


def test_r20_older_files_can_be_lost_while_newer_ones_stay(recorded, layout):
    commit = by_name(prefixes(timeline(recorded, layout)))["commit/commits@1:after"]
    found = {image.id: image for image in machine_deaths(commit, depth=3)}
    image = found["commit/commits@1:after+dropped-3"]
    assert durable(commit) - durable(image) == {"checkpoint/exposure/_streamproof/manifests/1"}


def test_r20_what_vouches_for_each_other_is_lost_at_once(recorded, layout):
    commit = by_name(prefixes(timeline(recorded, layout)))["commit/commits@1:after"]
    found = {image.id.rpartition("+")[2]: image for image in deaths_of_several(commit)}
    pairs = ("rows", "manifests", "rows-and-manifest", "ledger-and-manifest", "publication", "log-and-state", "plan")
    assert set(found) == {f"{what}-{pair}" for what in ("dropped", "emptied", "truncated") for pair in pairs}
    manifests = "checkpoint/exposure/_streamproof/manifests"
    assert found["dropped-manifests"].lost == (f"{manifests}/0", f"{manifests}/1")
    assert durable(commit) - durable(found["dropped-manifests"]) == {f"{manifests}/0", f"{manifests}/1"}
    ledger = "out/exposure/batch=000001/_ledger.json"
    assert found["dropped-ledger-and-manifest"].lost == (f"{manifests}/1", ledger)
    whole = {path for path in durable(commit) if path.startswith("out/exposure/batch=000001/")}
    assert durable(commit) - durable(found["dropped-publication"]) == whole
    *rows, manifest = sorted(found["truncated-rows-and-manifest"].lost, reverse=True)
    assert manifest == f"{manifests}/1"
    assert len(rows) == 2
    assert all(path.startswith("out/exposure/batch=000001/part-") for path in rows)
    assert {found["truncated-rows-and-manifest"].files[path].length for path in rows} == {len(b"rows 1 0") // 2}
    log, state = found["emptied-log-and-state"].lost
    assert log == "checkpoint/exposure/commits/1"
    assert re.match(r"checkpoint/exposure/state/0/[01]/2_.*\.zip$", state)
    assert found["dropped-plan"].lost == ("checkpoint/exposure/offsets/1", "checkpoint/exposure/sources/0/1")
    assert set(found["dropped-rows"].lost) == whole - {ledger}


def test_r20_before_anything_is_staged_there_are_no_two_to_lose(recorded, layout):
    planned = by_name(prefixes(timeline(recorded, layout)))["plan/offsets@0:after"]
    assert {image.id.rpartition("-")[2] for image in deaths_of_several(planned)} == {"plan"}
    assert deaths_of_staged(planned) == []


def test_r3_what_is_staged_is_lost_where_its_manifest_is_not(recorder, layout):
    recorder.start()
    recorder.batch(0, late=True)
    images = by_name(prefixes(timeline(recorder.journal(), layout)))

    dropped = deaths_of_staged(images["publish/exposure@0:after"])[0]

    assert dropped.id == "publish/exposure@0:after+dropped-staged"
    assert [path.rpartition("/")[2] for path in dropped.lost] == ["late_1-00000-30.jsonl"]
    assert "checkpoint/exposure/_streamproof/manifests/0" in durable(dropped)
    assert deaths_of_staged(images["plan/offsets@0:after"]) == []


def test_merging_keeps_every_name(recorded, layout):
    images = prefixes(timeline(recorded, layout))
    assert merged([*images, *images]) == images
    assert without(images, images) == []
