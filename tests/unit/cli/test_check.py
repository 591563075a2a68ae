"""`check` against a Java of the test's own: a script that says its version."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from streamproof.runtime.checks.rehearsal import rehearsing

OTHER = "\n\ndef other(trades): ...\n"


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Puts a Java that says the given thing into JAVA_HOME."""

    def java(says: str = 'openjdk version "17.0.9" 2023-10-17') -> Path:
        program = tmp_path / "jdk" / "bin" / "java"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
        return program

    java()
    return java


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_all_is_there(streamproof, my_job, java):
    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "✗" not in result.out
    for said in (
        "my_job/streamproof.toml",
        "job.py:risk_exposure(trades) -> exposure, late, rejected\n",
        "called without Spark: the columns that its steps name are there; their types were not looked at\n",
        "17 (JAVA_HOME=",
        "data/trades, 4 files",
    ):
        assert said in result.out
    assert "types are looked at by: streamproof check my_job --spark" in result.out
    assert result.out.endswith("next: streamproof run my_job\n")
    assert not (my_job / "out").exists(), "check makes nothing"
    assert not (my_job / "__pycache__").exists()


def test_files_are_counted_that_are_read_and_others_are_named(streamproof, my_job, java):
    data = my_job / "data" / "trades"
    for name in ("odd[1].json", "a:b.json", "date=2026-03-02/part.json", "old/c.json", "_hidden.json"):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).touch()

    out = streamproof("check", "my_job").out

    assert "data/trades, 7 files" in out
    assert "note: files in data/trades/old are not read" in out


def test_a_column_of_a_line_of_text_that_no_folder_names(streamproof, my_job, java):
    file = my_job / "streamproof.toml"
    edit(file, 'format = "json"', 'format = "text"')

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "no folder of the path names the column" in result.out


def test_a_side_output_that_the_job_does_not_return_can_be_bound_by_its_default_name(streamproof, my_job, java):
    edit(
        my_job / "job.py",
        "Outputs(exposure=exposure, late=exposure.late, rejected=checked.rejected)",
        "Outputs(raw=trades, exposure=exposure)",
    )
    edit(my_job / "streamproof.toml", "[sink.late]", "[sink.exposure_late]")
    with (my_job / "streamproof.toml").open("a") as file:
        for name in ("raw", "exposure_rejected"):
            file.write(f'[sink.{name}]\nconnector = "files"\npath = "more/{name}"\nformat = "json"\n')

    result = streamproof("check", "my_job")

    assert result.code == 0, result.out


SEVERAL = """[sink.exposure.folder]
connector = "files"
path = "out/exposure"

[sink.exposure.table]
connector = "postgres"
url = "postgresql://job@db/risk"
table = "exposure"
"""


def test_k7_each_of_several_sinks_of_an_output_is_looked_at(streamproof, my_job, java):
    edit(my_job / "streamproof.toml", '[sink.exposure]\nconnector = "files"\npath = "out/exposure"\nformat = "parquet"\n', SEVERAL)

    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "sink exposure.folder   out/exposure, will be made\n" in result.out
    assert "sink exposure.table    postgresql://db:5432/risk/exposure, not looked at from here\n" in result.out
    assert "(not sink exposure.table)" in result.out


def test_k7_a_mistake_in_one_of_several_sinks_is_found_at_its_line(streamproof, my_job, java):
    (my_job / "file").touch()
    several = SEVERAL.replace("out/exposure", "file/exposure")
    edit(my_job / "streamproof.toml", '[sink.exposure]\nconnector = "files"\npath = "out/exposure"\nformat = "parquet"\n', several)

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "my_job/streamproof.toml line 18: my_job/file/exposure cannot be made: my_job/file is a file." in result.out


def test_k7_what_several_main_outputs_over_one_source_cost_is_said(streamproof, my_job, java):
    edit(my_job / "job.py", "late=exposure.late", "late=once")

    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "note: exposure and late are queries of their own: each reads trades again" in result.out


def test_what_is_next_names_the_profile_too(streamproof, my_job, java):
    with (my_job / "streamproof.toml").open("a") as file:
        file.write("[profile.small]\n")

    assert streamproof("check", "my_job", "--profile", "small").out.endswith("next: streamproof run my_job --profile small\n")


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "Java 11 found (JAVA_HOME="),
        ('java version "1.8.0_292"', "Java 8 found (JAVA_HOME="),
        ("something else", "does not say its version"),
    ],
)
def test_a_java_that_is_too_old(streamproof, my_job, java, says, message):
    java(says)

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert message in result.out
    assert "17 or later" in result.out


def test_no_java_at_all(streamproof, my_job, java, monkeypatch):
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(Path("nothing").absolute()))

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "No Java found (JAVA_HOME is not set, no java on the PATH)" in result.out
    assert "apt install openjdk-17-jdk-headless" in result.out


def test_a_java_home_without_java(streamproof, my_job, java):
    java().unlink()

    assert "No Java found (JAVA_HOME=" in streamproof("check", "my_job").out


@pytest.mark.parametrize("version", ["3.5.9", "4.4.0"])
def test_another_spark(streamproof, my_job, java, monkeypatch, version):
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert f"PySpark {version} found; a job written with Streamproof needs 4.0, 4.1, 4.2 or 4.3." in result.out
    assert "\n1 of " in result.out, "the job is not called on it, and not complained of"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("streamproof.toml", "lag =", "lagg =", 'event_time has no key "lagg". Did you mean "lag"?'),
        ("streamproof.toml", ":risk_exposure", ":risk_exposur", 'has no such function. Did you mean "risk_exposure"?'),
        ("job.py", "@sp.job\n", "", "risk_exposure is not marked as a job."),
        ("job.py", "def risk_exposure(trades:", "def risk_exposure(deals:", "has no parameter for"),
        ("job.py", "def risk", "def def risk", "not valid Python"),
        ("streamproof.toml", "[sink.exposure]", "[sink.exposures]", 'does not have. Did you mean "exposure"?'),
        ("streamproof.toml", '"data/trades"', '"data/nowhere"', "there is no such folder"),
        ("streamproof.toml", '"out/late"', '"job.py/late"', "is a file"),
        ("streamproof.toml", '"checkpoints/risk_exposure"', '"job.py/x"', "is a file"),
        ("streamproof.toml", '"files"\npath = "out/late"', '"job.py:MySink"\npath = "out/late"', "has no such class"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_the_exit_code_is_2(streamproof, my_job, java, file, old, new, message):
    edit(my_job / file, old, new)

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert message in result.out
    assert "✗" in result.out
    assert "to fix" in result.out


IMPORTED = "import streamproof as sp\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('by="client"', 'by="clinet"', 'window(by=...) needs the column "clinet", which is not there. Did you mean "client"?'),
        (IMPORTED, f"{IMPORTED}import os; os._exit(4)\n", "ended the process (exit code 4)"),
    ],
)
def test_the_job_is_called_and_its_steps_are_looked_at(streamproof, my_job, java, old, new, message):
    edit(my_job / "job.py", old, new)

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "✗ job" in result.out
    assert message in result.out


def test_a_file_that_asks_for_a_session_is_not_called_and_that_is_said(streamproof, my_job, java):
    edit(
        my_job / "job.py", IMPORTED, f"{IMPORTED}from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
    )

    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "read, not called, since my_job/job.py line 7 asks for a SparkSession\n" in result.out
    assert "  ? job " in result.out
    assert "✓ job" not in result.out
    assert "called without Spark" not in result.out
    assert "as far as it can be seen from here (not job)" in result.out


def test_a_job_that_does_not_return_in_time_is_said_not_to_be_called(streamproof, my_job, java, monkeypatch):
    edit(my_job / "job.py", IMPORTED, f"{IMPORTED}while True:\n    pass\n")
    monkeypatch.setattr("streamproof.runtime.checks.preflight.rehearsing", partial(rehearsing, seconds=0.2))

    result = streamproof("check", "my_job")

    assert result.code == 0
    assert "not called, since importing the file and calling the job takes longer than 0.2 seconds" in result.out
    assert "  ? job " in result.out
    assert "✓ job" not in result.out
    assert "as far as it can be seen from here (not job)" in result.out


def test_what_the_job_says_and_cannot_be_looked_at_is_named_and_not_ticked(streamproof, my_job, java):
    edit(my_job / "job.py", 'notional="notional > 0"', 'notional="notional >"')

    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "  ? job " in result.out
    assert 'not looked at: the text "notional >" in require()\n' in result.out


def test_a_misspelled_column_behind_a_transform_is_found(streamproof, my_job, java):
    edit(my_job / "job.py", "trades.require(", 'trades.transform(lambda rows: rows.withColumn("fee", F.lit(1))).require(')
    edit(my_job / "job.py", 'by="client"', 'by="clinet"')

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert 'window(by=...) needs the column "clinet", which is not there. Did you mean "client"?' in result.out


def test_side_outputs_need_not_be_bound(streamproof, my_job, java):
    text = (my_job / "streamproof.toml").read_text()
    (my_job / "streamproof.toml").write_text(text[: text.index("[sink.late]")])

    assert streamproof("check", "my_job").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(streamproof, my_job, java):
    (my_job / "out").mkdir(mode=0o500)

    result = streamproof("check", "my_job")

    assert "no permission" in result.out


def test_a_mistake_in_the_scenario_is_found_too(streamproof, my_job, java):
    edit(my_job / "scenario.toml", "events = 1_000", 'events = "many"')

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "✗ scenario" in result.out
    assert "events" in result.out


def test_a_model_that_the_scenario_names_and_is_not_there_is_named(streamproof, my_job, java):
    edit(my_job / "scenario.toml", '"model.py:exposure"', '"modle.py:exposure"')

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert "✗ scenario" in result.out
    assert "[expect] model names modle.py, and there is no such file beside the scenario" in result.out


def test_without_a_scenario_there_is_nothing_to_say_of_one(streamproof, my_job, java):
    (my_job / "scenario.toml").unlink()

    result = streamproof("check", "my_job")

    assert result.code == 0
    assert "✓ scenario" not in result.out


def test_a_terminal_without_ticks_gets_plus_and_minus(my_job):
    command = [sys.executable, "-m", "streamproof.cli.main", "check", "my_job"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False)

    assert "  + configuration" in done.stdout
    assert "Unexpected" not in done.stderr


@pytest.mark.parametrize(
    ("alerts", "said"),
    [
        ('without_fault = ["StreamproofStuk"]', 'names "StreamproofStuk", which is no alert (did you mean "StreamproofStuck"?)'),
        ('under = { "machine-deat" = [] }', 'names "machine-deat", and no fault is called so. Did you mean "machine-death"?'),
    ],
)
def test_an_alert_or_a_fault_that_there_is_not_is_refused(streamproof, my_job, java, alerts, said):
    scenario = my_job / "scenario.toml"
    scenario.write_text(f"{scenario.read_text()}\n[alerts]\n{alerts}\n")

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert said in " ".join(result.out.split())
