from dataclasses import replace

import pytest

from streamproof.core.manifest import Digest, Fingerprint, LedgerEntry, Manifest, Section, StagedFile

MANIFEST = Manifest(
    id="m" * 32,
    job="risk_exposure",
    query="exposure",
    incarnation="i" * 32,
    batch=3,
    attempt="a" * 32,
    fingerprint=Fingerprint(watermark_ms=90_000, offsets=('{"logOffset":3}',), files={"trades": ("a.json", "b.json")}),
    offset_log="v1\n{}",
    source_logs={"0": {"3": "v1\n{}"}},
    sections=(
        Section(
            "exposure",
            "main",
            "_staging/000003-aaaaaaaa",
            (StagedFile("part-0", 10, "c"),),
            Digest(2, 5, 77, {"exposure": (1.5, 1.5)}),
        ),
    ),
    counts={"late": 1},
)


def test_a_manifest_survives_writing_and_reading():
    again = Manifest.from_json(MANIFEST.to_json())

    assert again == MANIFEST
    assert again.fingerprint.hash == MANIFEST.fingerprint.hash
    assert again.section("exposure").digest.floats == {"exposure": (1.5, 1.5)}
    assert again.section("nothing") is None


def test_a_torn_manifest_is_no_manifest_wherever_it_is_cut():
    text = MANIFEST.to_json()

    for length in range(0, len(text), 7):
        with pytest.raises(ValueError, match=r"."):
            Manifest.from_json(text[:length])


@pytest.mark.parametrize("change", [{"watermark_ms": 1}, {"offsets": ()}, {"files": {"trades": ("a.json",)}}])
def test_the_fingerprint_sees_every_difference(change):
    assert replace(MANIFEST.fingerprint, **change).hash != MANIFEST.fingerprint.hash


def test_a_ledger_entry_survives_and_a_torn_one_is_refused():
    entry = LedgerEntry("job", "exposure", "i", 3, 0, "m", "f", 12, 7)

    assert LedgerEntry.from_json(entry.to_json()) == entry
    with pytest.raises(ValueError, match=r"."):
        LedgerEntry.from_json(entry.to_json()[:-2])


@pytest.mark.parametrize(
    ("mine", "theirs", "agree"),
    [
        (Digest(1, 2, 3), Digest(1, 2, 3), True),
        (Digest(1, 2, 3), Digest(2, 2, 3), False),
        (Digest(1, 2, 3), Digest(1, 3, 3), False),
        (Digest(1, 2, 3), Digest(1, 2, 4), False),
        (Digest(1, 2, 3, {"x": (1.0, 1.0)}), Digest(1, 2, 3, {"x": (1.0 + 1e-10, 1.0)}), True),
        (Digest(1, 2, 3, {"x": (1.0, 1.0)}), Digest(1, 2, 3, {"x": (1.0 + 1e-8, 1.0)}), False),
        (Digest(1, 2, 3, {"x": (0.0, 1e6)}), Digest(1, 2, 3, {"x": (1e-4, 1e6)}), True),
        (Digest(1, 2, 3, {"x": (float("nan"), 1.0)}), Digest(1, 2, 3, {"x": (float("nan"), 1.0)}), True),
        (Digest(1, 2, 3, {"x": (float("nan"), 1.0)}), Digest(1, 2, 3, {"x": (1.0, 1.0)}), False),
        (Digest(1, 2, 3, {"x": (1.0, 1.0)}), Digest(1, 2, 3, {"y": (1.0, 1.0)}), False),
    ],
)
def test_r4_two_digests_agree_exactly_but_for_float_sums(mine, theirs, agree):
    assert mine.agrees_with(theirs) is agree
    assert theirs.agrees_with(mine) is agree


@pytest.mark.parametrize(
    ("rows", "moved", "step", "agree"),
    [
        (1, 1e-6, 1e-6, True),  # 23.281488 beside 23.281487
        (1, 2e-6, 1e-6, False),
        (1, 1e-6, 0.0, False),
        (3, 3e-6, 1e-6, True),  # each of them may come out one step apart
        (3, 5e-6, 1e-6, False),
        (2, 1.0, 1.0, True),
    ],
)
def test_r4_a_rounded_mean_may_come_out_one_step_apart(rows, moved, step, agree):
    def digest(total):
        return Digest(rows, rows, 7, {"mean": (total, total)}, {"mean": step} if step else {})

    mine, theirs = digest(23.281487 * rows), digest(23.281487 * rows + moved)

    assert mine.agrees_with(theirs) is agree
    assert theirs.agrees_with(mine) is agree
    assert (mine + mine).agrees_with(theirs + theirs) is agree
    section = replace(MANIFEST.sections[0], digest=mine)
    assert Manifest.from_json(replace(MANIFEST, sections=(section,)).to_json()).sections[0].digest == mine


def test_r7_equal_rows_that_lie_in_other_shards_are_told_apart():
    def section(*hashes: int) -> Section:
        files = tuple(StagedFile(f"part-{number}", 1, None, Digest(1, 0, value)) for number, value in enumerate(hashes))
        return Section("kept", "main", "d", files, Digest(len(hashes), 0, sum(hashes)), 2)

    assert section(1, 2, 3, 4).splits_like(section(1, 2, 3, 4))
    assert section(1, 2, 3, 4).splits_like(section(3, 4, 1, 2)), "each shard has the same rows"
    assert not section(1, 2, 3, 4).splits_like(section(2, 1, 3, 4))
    unsaid = replace(section(1, 2), files=(StagedFile("part-0", 1), StagedFile("part-1", 1)))
    assert not unsaid.splits_like(unsaid)


def test_what_the_files_of_a_section_hold_is_read_back():
    files = (StagedFile("part-0", 1, None, Digest(1, 0, 7, {"v": (1.0, 2.0)})), StagedFile("part-1", 2))
    written = replace(MANIFEST, sections=(Section("kept", "main", "d", files, Digest(1), 2),))

    assert Manifest.from_json(written.to_json()) == written
