"""A checkpoint is emptied only where no batch was planned in it: what was planned is never taken away."""

from pathlib import Path

import pytest

from streamproof.prove.subjects.pyspark.leftovers import emptied


def checkpoint(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


def test_what_a_crash_before_the_first_plan_has_left_goes_and_the_rest_stays(tmp_path: Path) -> None:
    left = checkpoint(tmp_path, "metadata", "sources/0/0", "offsets/.0.tmp", "state/0/_metadata/v2/0")

    assert emptied([left])
    assert sorted(str(path.relative_to(left)) for path in left.rglob("*") if path.is_file()) == ["metadata", "sources/0/0"]


@pytest.mark.parametrize(
    "files", [("offsets/0", "state/0/0/1.zip"), ("commits/0", "offsets/.1.tmp"), ("metadata", "sources/0/0"), ()]
)
def test_a_checkpoint_with_a_plan_or_with_nothing_in_the_way_stays_as_it_is(files: tuple[str, ...], tmp_path: Path) -> None:
    left = checkpoint(tmp_path, *files)

    assert not emptied([left])
    assert sorted(str(path.relative_to(left)) for path in left.rglob("*") if path.is_file()) == sorted(files)
