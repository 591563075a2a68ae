"""The guide's table of what works where has a row for each kind of job that `make versions` proves, and says nothing of other versions."""

from pathlib import Path

from versions.__main__ import NOT_THERE, VERSIONS
from versions.kinds import JOBS, KINDS

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "any-pyspark-job.md").read_text(encoding="utf-8")


def test_the_table_of_the_guide_is_that_of_make_versions():
    rows = [line.strip("| ").split(" | ") for line in GUIDE.splitlines() if line.startswith("| ")]
    heading = next(number for number, row in enumerate(rows) if row == ["your job is", *VERSIONS])
    table = {row[0]: row[1:] for row in rows[heading + 1 : heading + 1 + len(KINDS)]}

    assert list(table) == [kind.says for kind in KINDS]
    for kind in KINDS:
        assert [cell == NOT_THERE for cell in table[kind.says]] == [not kind.there(version) for version in VERSIONS], kind.says


def test_each_kind_has_a_job_and_a_twin_with_a_mistake():
    for kind in KINDS:
        file, _, function = kind.target.partition(":")
        for below in ("", "broken"):
            assert f"def {function}(" in (JOBS / below / file).read_text() or not function
