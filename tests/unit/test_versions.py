"""What `make versions` looks at on each version of Spark: every example on files, and each version that there is a jar for. No Spark is started."""

import tomllib
from pathlib import Path

from streamproof import _jvm
from versions.__main__ import VERSIONS
from versions.worked import EXAMPLES, Example, Ran, there

ROOT = Path(__file__).parents[2]


def test_each_example_on_files_has_a_row_and_each_version_a_column():
    jobs = [path for path in (ROOT / "examples").glob("*/streamproof.toml") if (path.parent / "job.py").exists()]
    on_files = {path.parent.name for path in jobs if "kafka" not in {one["connector"] for one in _sources(path)}}

    assert set(EXAMPLES) == on_files
    assert set(VERSIONS) == {"3.5", *_jvm.SPARK_VERSIONS}


def _sources(path: Path) -> list[dict[str, str]]:
    return list(tomllib.loads(path.read_text())["source"].values())


def test_the_files_of_an_example_arrive_in_two_halves_in_the_order_of_their_age(tmp_path):
    example = Example("sensor_sessions", tmp_path / "job")
    example.begin()
    example.feed(second=False)
    before = sorted(path.name for path in (tmp_path / "job" / "data" / "readings").iterdir())
    example.feed(second=True)
    after = sorted((tmp_path / "job" / "data" / "readings").iterdir(), key=lambda path: path.stat().st_mtime)

    assert before == ["0.jsonl", "1.jsonl", "2.jsonl"]
    assert [path.name for path in after] == [f"{number}.jsonl" for number in range(6)]


def test_each_source_of_an_example_has_a_file_in_each_batch(tmp_path):
    example = Example("ad_attribution", tmp_path / "job")
    example.begin()
    example.feed(second=False)
    data = tmp_path / "job" / "data"

    assert {folder.name: sorted(path.name for path in folder.iterdir()) for folder in data.iterdir()} == {
        source: [f"{number}.jsonl" for number in range(4)] for source in ("impressions", "purchases")
    }
    assert "i-1" in (data / "impressions" / "0.jsonl").read_text()
    assert "b-1" in (data / "purchases" / "0.jsonl").read_text()


def test_another_row_another_account_and_an_error_are_told_apart():
    whole = Ran(0, {"runs a": 2, "late b": 1}, [{"emitted": 3}], (), "")

    assert whole.differs(whole) == ""
    assert (
        Ran(0, {"runs a": 1, "late b": 1}, [{"emitted": 3}], (), "")
        .differs(whole)
        .startswith("1 rows are missing, 0 are there instead")
    )
    assert "another account" in Ran(0, whole.rows, [{"emitted": 2}], (), "").differs(whole)
    assert Ran(2, {}, [], (), "no jar").differs(whole) == "exit code 2: no jar"


def test_an_example_is_not_tried_where_spark_lacks_what_it_uses():
    assert [version for version in ("4.0", "4.1", "4.3") if there("observability", version)] == ["4.1", "4.3"]
    assert there("loyalty", "4.0")
