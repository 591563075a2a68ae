"""A real proof after the marker: some crashes of the job that `init` writes, each a test."""

import pytest

from streamproof.cli.init import write_templates

pytest_plugins = ["pytester"]


def test_the_crashes_of_a_job_are_tests(pytester: pytest.Pytester):
    write_templates(pytester.path / "my_job")
    (pytester.path / "my_job" / "test_job.py").unlink()
    pytester.makepyfile(
        test_job="""
        import pytest

        @pytest.mark.streamproof("my_job", events=2_000, batches=3)
        def test_survives_every_crash(streamproof_scenario):
            assert streamproof_scenario["fired"]
        """
    )

    result = pytester.runpytest_subprocess(
        "--streamproof", "-v", "-p", "no:cacheprovider", "-k", "exposure and ledger or fault-free"
    )

    outcomes = result.parseoutcomes()
    assert outcomes["passed"] >= 3
    assert not outcomes.keys() & {"failed", "errors", "skipped"}
    result.stdout.fnmatch_lines(["test_job.py::test_survives_every_crash[[]fault-free[]]*", "*PASSED*", "*[[]publish/*] PASSED*"])
