"""What a proof of a job refuses before it starts anything."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.config import JobConfig, load
from streamproof.errors import ScenarioError
from streamproof.prove.subjects.job.preparation import require_rows_for_versions
from streamproof.prove.subjects.job.reporting import events_called
from unit.prove.small import ONCE, PLAIN

EXAMPLE = Path(__file__).parents[5] / "examples" / "risk_exposure"
TABLE = """
[sink.exposure]
connector = "postgres"
url = "postgresql://localhost/streamproof"
table = "exposure"
mode = "upsert"
key = ["client", "window_start"]
"""


def test_windows_that_a_table_keeps_by_a_version_of_somebodys_own_are_not_proved(tmp_path):
    job = Path(shutil.copytree(EXAMPLE, tmp_path / "job"))
    file = job / "streamproof.toml"
    head, _, rest = file.read_text().partition("[sink.exposure]")
    without = f"{head}{TABLE}\n{rest[rest.index('[') :]}"
    windows, rows = ({"exposure": replace(shape, name="exposure").query} for shape in (ONCE, PLAIN))

    def bound(version: str) -> JobConfig:
        file.write_text(without.replace('"upsert"\n', f'"upsert"\n{version}\n'))
        return load(job)

    for version in ("", 'version = "revision"'):
        require_rows_for_versions(bound(version), windows)
    require_rows_for_versions(bound('version = "trades"'), rows)
    with pytest.raises(ScenarioError, match="a proof does not know which of them this version keeps") as raised:
        require_rows_for_versions(bound('version = "trades"'), windows)
    assert "streamproof.toml line" in str(raised.value)


@pytest.mark.parametrize(("example", "called"), [("risk_exposure", "trades"), ("ad_attribution", "events")])
def test_events_of_several_sources_are_not_called_as_the_first_of_them(example, called):
    assert events_called(load(EXAMPLE.parent / example)) == called
