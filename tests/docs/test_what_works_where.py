"""The guide's table of what works where has a row for each kind of job that `make versions` proves, and says nothing of other versions."""

from pathlib import Path

from versions.__main__ import NOT_THERE, VERSIONS
from versions.delta import CASES, JARS, NO_JAR
from versions.kinds import JOBS, KINDS

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
GUIDE = (GUIDES / "any-pyspark-job.md").read_text(encoding="utf-8")


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


def test_the_table_of_lookups_in_delta_lake_has_each_case_and_says_where_there_is_no_jar():
    lines = (GUIDES / "lookup-tables.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    own = [version for version in VERSIONS if version != "3.5"]
    heading = next(number for number, row in enumerate(rows) if row[0].startswith("a lookup in a table of Delta Lake"))
    table = {row[0]: row[1:] for row in rows[heading + 1 : heading + 1 + len(CASES)]}

    assert rows[heading][1:] == own
    assert list(table) == [*CASES.values()]
    for says, cells in table.items():
        assert [cell == NO_JAR for cell in cells] == [version not in JARS for version in own], says
    for version in ("4.1", "4.2"):
        said = (GUIDES.parent / "reference" / "configuration.md").read_text(encoding="utf-8")
        assert JARS[version] in said
