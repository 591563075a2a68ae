"""What a proof of a job refuses before it starts anything."""

import shutil
from pathlib import Path

import pytest

from streamproof.config import load
from streamproof.errors import ScenarioError
from streamproof.prove.subjects.job.preparation import JobPreparation

EXAMPLE = Path(__file__).parents[5] / "examples" / "risk_exposure"
TABLE = """
[sink.exposure]
connector = "postgres"
url = "postgresql://localhost/streamproof"
table = "exposure"
mode = "upsert"
key = ["client", "window_start"]
"""


def test_a_table_that_keeps_versions_is_not_proved(tmp_path):
    job = Path(shutil.copytree(EXAMPLE, tmp_path / "job"))
    file = job / "streamproof.toml"
    head, _, rest = file.read_text().partition("[sink.exposure]")
    without = f"{head}{TABLE}\n{rest[rest.index('[') :]}"
    for text, refused in ((without, False), (without.replace('"upsert"\n', '"upsert"\nversion = "trades"\n'), True)):
        file.write_text(text)
        if refused:
            with pytest.raises(ScenarioError, match="a proof does not know versions yet") as raised:
                JobPreparation.of(load(job))
            assert "streamproof.toml line" in str(raised.value)
        else:
            assert JobPreparation.of(load(job)).config.sink["exposure"].version is None
