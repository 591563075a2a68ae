"""Which keys of a table go together is said before anything runs."""

from pathlib import Path

import pytest

from streamproof.config import load
from streamproof.errors import ConfigurationError

JOB = """
[job]
entry = "job.py:small"
[source.events]
connector = "files"
path = "in"
format = "json"
schema = "id string"
[sink.out]
connector = "postgres"
url = "postgresql://h/d"
table = "t"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('mode = "upsert"', '[sink.out] mode = "upsert" needs the key.'),
        ('delete = "v = 0"', '[sink.out] delete is for mode = "upsert".'),
        ('order_by = "ts"', '[sink.out] order_by is for mode = "upsert".'),
        ('mode = "upsert"\nkey = ["id"]\nshards = 2\ndelete = "v = 0"', "[sink.out] delete does not go with shards = 2."),
        ('mode = "upsert"\nkey = ["id"]\nshards = 2\norder_by = "ts"', "[sink.out] order_by does not go with shards = 2."),
        ('version = "v"', '[sink.out] version is for mode = "upsert".'),
        ('mode = "upsert"\nkey = ["id"]\ndeleted = "d"', "[sink.out] deleted needs a version."),
        ('mode = "upsert"\nkey = ["id"]\nversion = "v"\norder_by = "v"', "[sink.out] order_by does not go with version"),
        ('mode = "upsert"\nkey = ["id"]\nversion = "v"\ndelete = "d"', "[sink.out] delete does not go with version."),
        ('mode = "upsert"\nkey = ["id"]\nversion = "v"\nshards = 2', "[sink.out] version does not go with shards = 2."),
        ('mode = "upsert"\nkey = ["id"]\nversion = "id"', '[sink.out] version = "id" is a column of the key.'),
    ],
)
def test_what_does_not_go_together_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "job.py").write_text("")
    (tmp_path / "streamproof.toml").write_text(JOB + text)

    with pytest.raises(ConfigurationError) as problem:
        load(tmp_path)

    assert said in str(problem.value)
    assert "streamproof.toml line 1" in str(problem.value)


@pytest.mark.parametrize(
    "text",
    [
        "shards = 2",
        'mode = "upsert"\nkey = ["id"]\nshards = 2',
        'mode = "upsert"\nkey = ["id"]\ndelete = "v"',
        'mode = "upsert"\nkey = ["id"]\nversion = "v"\ndeleted = "d"',
    ],
)
def test_what_does_is_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.py").write_text("")
    (tmp_path / "streamproof.toml").write_text(JOB + text)

    assert load(tmp_path).sink["out"].connector == "postgres"
