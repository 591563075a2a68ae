"""A record in a format that is not known stops the start before the first batch, and every byte stays where it is (R30)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from full_tables import full
from spark.small_job import KEPT, SUMS, Binding, SmallJob, event
from streamproof import __version__
from streamproof.core.account import Account
from streamproof.errors import UnknownFormat
from streamproof.runtime.start import query

LOSSES = "checkpoint/kept/_streamproof/accepted_losses.json"
MANIFEST = "checkpoint/kept/_streamproof/manifests/{}"
LEDGER = "out/kept/batch={:06d}/_ledger.json"
Change = Callable[[dict[str, Any]], object]


def newer(found: dict[str, Any]) -> None:
    found["format"] = 9


def with_a_key(found: dict[str, Any]) -> None:
    found["colour"] = "red"


RECORDS: list[tuple[str, Change, str]] = [
    (MANIFEST.format(2), newer, "a manifest of format 9, written by Streamproof"),
    (MANIFEST.format(2), with_a_key, 'a manifest of format 1 with the key "colour"'),
    (MANIFEST.format(2), lambda found: with_a_key(found["sections"][0]["digest"]), 'with the key "colour"'),
    (MANIFEST.format(2), lambda found: found.pop("format"), "a manifest of no format"),
    (MANIFEST.format(1), newer, "a manifest of format 9"),
    (MANIFEST.format(0), with_a_key, 'with the key "colour"'),
    ("checkpoint/kept/_streamproof/incarnation.json", newer, "an incarnation of format 9"),
    ("checkpoint/kept/_streamproof/incarnation.json", with_a_key, 'with the key "colour"'),
    ("checkpoint/kept/_streamproof/incarnation.json", lambda found: found.pop("incarnation"), 'without the key "incarnation"'),
    (LEDGER.format(2), newer, "a ledger entry of format 9"),
    (LEDGER.format(2), lambda found: with_a_key(found["earlier"]), 'with the key "colour"'),
    (LEDGER.format(1), newer, "a ledger entry of format 9"),
    (LEDGER.format(0), with_a_key, 'with the key "colour"'),
    (LOSSES, lambda found: found.update(format=99), "a record of accepted losses of format 99"),
    (LOSSES, with_a_key, 'with the key "colour"'),
]


def changed(path: Path, change: Change) -> None:
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def three_batches(small_job: Callable[..., SmallJob]) -> SmallJob:
    job = small_job(KEPT)
    for batch in range(3):
        job.feed([event(f"e{batch}", batch)])
    job.run()
    (job.folder / LOSSES).write_text('{"format": 1, "losses": {}}')
    return job


@pytest.mark.parametrize(
    "lost", [[], *full(["commits/2"], ["commits/2", "offsets/2"])], ids=["committed", "interrupted", "planned anew"]
)
def test_r30_an_unknown_format_stops_the_start_and_nothing_is_touched(small_job, lost):
    """Of an interrupted batch a torn manifest is removed, and a torn ledger written again."""
    job = three_batches(small_job)
    job.lose(*lost)
    job.feed([event("e3", 3)])

    for name, change, said in RECORDS:
        path = job.folder / name
        before = path.read_bytes()
        changed(path, change)
        whole = tree(job.folder)
        for options in ({}, {"replay_last": True}, {"accept_missing": True}):
            error = job.stopped(UnknownFormat, **options)
            assert error.message.startswith(f"{path} is "), name
            assert said in error.message
            assert f"This is Streamproof {__version__}, which knows format 1" in error.message
            assert tree(job.folder) == whole, f"{name}: {options}"
        path.write_bytes(before)

    assert job.run().account == Account(emitted=4)
    assert job.ids() == ["e0", "e1", "e2", "e3"]


def test_r30_a_torn_manifest_that_names_an_unknown_format_stays_too(small_job):
    job = three_batches(small_job)
    job.lose("commits/2")
    job.change_manifest(2, newer)
    job.tear("_streamproof/manifests/2", keep=-20)
    before = tree(job.folder)

    job.stopped(UnknownFormat)

    assert tree(job.folder) == before


@pytest.mark.full
def test_r30_a_torn_incarnation_is_made_again_by_the_manifests_and_never_from_an_unknown_one(small_job):
    job = three_batches(small_job)
    job.tear("_streamproof/incarnation.json", keep=10)
    path = job.folder / MANIFEST.format(2)
    whole = path.read_bytes()
    job.change_manifest(2, newer)
    before = tree(job.folder)

    job.stopped(UnknownFormat)
    assert tree(job.folder) == before

    path.write_bytes(whole)
    job.feed([event("e3", 3)])
    assert job.run().account == Account(emitted=4)
    found = json.loads((job.checkpoint() / "_streamproof/incarnation.json").read_text())
    assert (found["incarnation"], found["format"], found["version"]) == (job.manifest(3).incarnation, 1, __version__)


TWO = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(v="v >= 0"), other=events.require(v="v >= 0").filter("v > 0", name="positive"))
"""


@pytest.mark.full
def test_r30_no_query_of_a_job_begins_while_another_is_refused(small_job, monkeypatch):
    job = small_job(TWO, Binding(sinks={"kept": "json", "other": "json", "rejected": "json"}))
    job.feed([event("e0", 0)])
    job.run()
    job.feed([event("e1", 1)])
    for path in (job.checkpoint("other") / "_streamproof/manifests/0", job.out("other") / "batch=000000/_ledger.json"):
        before = path.read_bytes()
        changed(path, newer)
        whole = tree(job.folder)
        with monkeypatch.context() as patched:
            patched.setattr(query, "launch", lambda *_: pytest.fail("a query begins"))
            job.stopped(UnknownFormat)
        assert tree(job.folder) == whole
        path.write_bytes(before)

    job.run()
    assert (job.ids(), job.ids("other")) == (["e0", "e1"], ["e0", "e1"])


def test_r30_a_log_of_another_version_of_spark_is_not_torn(small_job):
    job = three_batches(small_job)
    for log in ("offsets", "commits"):
        path = job.checkpoint() / f"{log}/2"
        before = path.read_text()
        path.write_text(before.replace(before.split("\n")[0], "v9", 1))
        path.with_name(".2.crc").unlink(missing_ok=True)
        whole = tree(job.folder)

        assert 'begins with "v9"' in job.stopped(UnknownFormat).message

        assert tree(job.folder) == whole
        path.write_text(before)


def test_r30_a_manifest_names_our_version_and_what_the_state_was_made_by(small_job):
    job = small_job(SUMS, Binding(sinks={"sums": "json", "late": "json", "rejected": "json"}))
    job.feed([event("e0", 0)])
    job.run()

    found = job.manifest(0, "sums")

    assert found.version == __version__
    assert found.made_by["operators"] == "window"
    assert found.made_by["window"] == "tumbling 30 seconds"
