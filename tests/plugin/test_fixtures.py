"""The fixtures, and what the plugin costs where it is not used."""

import subprocess
import sys
from pathlib import Path

import pytest

from plugin.conftest import Folder
from streamproof.cli.init import write_templates

pytest_plugins = ["pytester"]

COSTS = """
import sys

import pytest


class Looks:
    def pytest_sessionfinish(self, session):
        plugin = "streamproof_pytest" in sys.modules
        heavy = sorted({name.partition(".")[0] for name in sys.modules} & {"streamproof", "pyspark", "pandas", "pydantic"})
        print(f"plugin: {plugin}, heavy: {heavy}")


pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", sys.argv[1]], plugins=[Looks()])
"""


def test_it_costs_nothing_when_unused(tmp_path: Path):
    (tmp_path / "test_other.py").write_text("def test_something():\n    pass\n")
    (tmp_path / "pytest.ini").touch()
    found = subprocess.run(
        [sys.executable, "-c", COSTS, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )

    assert "1 passed" in found.stdout
    assert "plugin: True, heavy: []" in found.stdout


def test_a_marked_test_that_is_skipped_brings_nothing_in_either(tmp_path: Path):
    marked = "import pytest\n\n@pytest.mark.streamproof('my_job')\ndef test_something():\n    pass\n"
    (tmp_path / "test_job.py").write_text(marked)
    (tmp_path / "pytest.ini").touch()
    found = subprocess.run(
        [sys.executable, "-c", COSTS, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )

    assert "1 skipped" in found.stdout
    assert "plugin: True, heavy: []" in found.stdout


def test_prove_takes_a_target_beside_the_test_and_keeps_its_report_in_the_tests_folder(folder: Folder):
    folder.pytester.makepyfile(
        test_job="""
        def test_proof(prove, tmp_path):
            assert prove("my_job", quick=True).verdict == "fail"
            assert (tmp_path / "proof" / "report.json").exists()
            prove("my_job")
            assert (tmp_path / "proof-2" / "report.json").exists()
        """
    )

    folder.run("--streamproof-seed", "5").assert_outcomes(passed=1)
    assert [call[1:] for call in folder.calls()] == [["my_job", {"seed": 5, "quick": True}], ["my_job", {"seed": 5}]]


def test_events_are_those_of_the_scenario(pytester: pytest.Pytester):
    write_templates(pytester.path / "my_job")
    (pytester.path / "my_job" / "test_job.py").unlink()
    pytester.makepyfile(
        """
        def test_events(streamproof_events):
            (events,) = streamproof_events("my_job", events=50).values()
            (again,) = streamproof_events("my_job", events=50).values()
            (others,) = streamproof_events("my_job", events=50, seed=99).values()
            assert len(events) >= 50
            assert [event.record for event in events] == [event.record for event in again]
            assert [event.record for event in events] != [event.record for event in others]
        """
    )

    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


@pytest.mark.full
def test_the_session_is_one_as_proofs_have_it(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        def test_session(streamproof_session):
            assert streamproof_session.range(3).count() == 3
            assert "RocksDB" in streamproof_session.conf.get("spark.sql.streaming.stateStore.providerClass")
            assert streamproof_session.conf.get("spark.sql.session.timeZone") == "UTC"
        """
    )

    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
