"""`streamproof doctor`: what it prints, its exit codes, JSON and SARIF; every sound example is sound, every broken one as the guide says."""

import json
import re
import shutil
from pathlib import Path

import pytest

from streamproof.doctor.examine import Examination, examine
from streamproof.doctor.finding import Severity
from streamproof.doctor.gather import Asked, gather
from unit.checkpoint.written import JOIN, WINDOWS

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
GUIDE = ROOT / "docs" / "guides" / "doctor.md"
SOUND = [
    *sorted(path for path in EXAMPLES.glob("*/streamproof.toml") if "broken" not in path.parent.name),
    *sorted((EXAMPLES / "plain_pyspark").glob("*.py")),
    *sorted(EXAMPLES.glob("mutants/**/twin/streamproof.toml")),
    *sorted(EXAMPLES.glob("mutants/*/twin.py")),
]
PROFILES = [("risk_exposure", "services"), ("recommendations", "services")]
CHECKPOINTS = ROOT / "tests" / "proofs" / "jobs" / "checkpoints" / "clicks.py"
OF_CHECKPOINTS = {
    "checkpoint-changes": "changes",
    "checkpoint-missing": "misses",
    "checkpoint-deleted": "deletes",
    "checkpoint-shared": "shares",
}


def looked_at(target: object, **asked: object) -> Examination:
    return examine(gather(str(target), Asked(**asked)))  # type: ignore[arg-type]


def grave(found: Examination) -> list[str]:
    return [f"{one.code}: {one.symptom.where}" for one in found.findings if one.severity != Severity.NOTE]


@pytest.mark.parametrize("target", SOUND, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_a_sound_example_is_sound(target):
    found = looked_at(target)

    assert not grave(found)
    assert len(found.looked_for) > 10


@pytest.mark.parametrize(("example", "profile"), PROFILES)
def test_its_profile_is_too(example, profile):
    assert not grave(looked_at(EXAMPLES / example, profile=profile))


def test_there_are_sound_examples_to_look_at():
    assert len(SOUND) > 30


def rows_of_the_guide():
    """The rows of the table of incidents: the incident, the codes that doctor says it finds, and whether as a note."""
    for line in GUIDE.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| \[([\w-]+)\]\(\.\./incidents/[\w-]+\.md\)[^|]*\| ([^|]*) \| ([^|]*) \|", line)
        if row:
            yield row[1], set(re.findall(r"`([\w-]+)`", row[2])), row[3]


ROWS = {incident: codes for incident, codes, _ in rows_of_the_guide()}


def target_of(incident: str) -> str:
    if incident in OF_CHECKPOINTS:
        return f"{CHECKPOINTS}:{OF_CHECKPOINTS[incident]}"
    folder = EXAMPLES / "mutants" / incident
    return str(folder / "broken" if (folder / "broken").is_dir() else folder / "broken.py")


@pytest.mark.parametrize("incident", ROWS)
def test_an_incident_is_found_as_the_guide_says(incident):
    found = {str(one.code) for one in looked_at(target_of(incident)).findings}

    assert ROWS[incident] <= found if ROWS[incident] else not grave(looked_at(target_of(incident)))


def test_the_guide_has_every_incident():
    incidents = {path.stem for path in (ROOT / "docs" / "incidents").glob("*.md")} - {"README"}

    assert set(ROWS) == incidents


def test_a_job_without_findings(streamproof, my_job):
    result = streamproof("doctor", str(my_job))

    assert result.code == 0
    assert result.out.startswith("my_job/streamproof.toml (risk_exposure) · 0 stop · 0 warn · 0 note · ")
    assert "not looked at\n  checkpoint: there is none at checkpoints/risk_exposure\n" in result.out


def test_a_finding_says_what_where_why_and_what_to_do(streamproof, my_job):
    file = my_job / "streamproof.toml"
    file.write_text(re.sub(r'lag = "[^"]+"', 'lag = "0 seconds"', file.read_text()))

    result = streamproof("doctor", "my_job")

    assert result.code == 1
    assert "\nWARN  it goes wrong under load" in result.out
    for said in (
        r"  zero-delay   my_job/streamproof\.toml:\d+ \[source\.trades\] event_time\.lag\n",
        r"\n      seen  ",
        r"\n      why   ",
        r"\n      mend  ",
    ):
        assert re.search(said, result.out)


def test_json_is_one_object_and_nothing_else(streamproof, tmp_path):
    (tmp_path / "job.py").write_text('def job(clicks):\n    return clicks.withWatermark("at", "0 seconds")\n')

    result = streamproof("doctor", "job.py:job", "--json")

    found = json.loads(result.out)
    assert result.code == 1
    assert found["sound"] is False
    (one,) = found["findings"]
    assert (one["code"], one["severity"], one["file"], one["line"], one["key"]) == ("zero-delay", "warn", "job.py", 2, None)
    assert {"configuration", "steps", "folders", "services", "checkpoint"} == found["missing"].keys()
    assert all(entry["needs"] for entry in found["skipped"])


def test_sarif_goes_to_a_file_beside_what_is_printed(streamproof, tmp_path):
    (tmp_path / "job.py").write_text('def job(clicks):\n    return clicks.withWatermark("at", "0 seconds")\n')

    result = streamproof("doctor", "job.py:job", "--sarif", "doctor.sarif")

    assert result.code == 1
    assert "zero-delay" in result.out
    assert json.loads((tmp_path / "doctor.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "zero-delay"


def test_sarif_that_cannot_be_written(streamproof, tmp_path):
    (tmp_path / "job.py").write_text("def job(clicks):\n    return clicks\n")

    result = streamproof("doctor", "job.py:job", "--sarif", "nowhere/doctor.sarif")

    assert result.code == 2
    assert "Nothing can be written to nowhere/doctor.sarif" in result.err


@pytest.mark.parametrize("where", ["", "checkpoints"])
def test_a_checkpoint_alone(streamproof, tmp_path, where):
    shutil.copytree(JOIN, tmp_path / where / JOIN.name)

    result = streamproof("doctor", where or JOIN.name)

    assert result.code == 0
    assert "state-in-memory" in result.out
    assert (
        "configuration, steps of the job, Python text, folders of the sources, services of the sources: the target is a checkpoint"
        in result.out
    )
    assert "so nobody looked for no-watermark, zero-delay" in result.out


def test_a_checkpoint_beside_a_plain_job(tmp_path):
    (tmp_path / "job.py").write_text("def job(clicks):\n    return clicks\n")

    found = looked_at(f"{tmp_path}/job.py:job", checkpoint=WINDOWS)

    assert [one.path for one in found.patient.checkpoints] == [WINDOWS]


def test_the_checkpoint_that_a_text_names_is_looked_at(tmp_path):
    copy = shutil.copytree(JOIN, tmp_path / "c")
    (tmp_path / "job.py").write_text(f'spark.readStream.json("/in").writeStream.option("checkpointLocation", "{copy}").start()\n')

    assert "state-in-memory" in [str(one.code) for one in looked_at(tmp_path / "job.py").findings]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere"], "There is no folder or file nowhere."), (["job.py", "--outage", "soon"], "--outage soon")],
)
def test_what_is_no_target_or_no_duration(streamproof, tmp_path, arguments, said):
    (tmp_path / "job.py").write_text("def job(clicks):\n    return clicks\n")

    result = streamproof("doctor", *arguments)

    assert result.code == 2
    assert said in result.err


def test_a_job_that_cannot_be_called_is_looked_at_as_far_as_it_goes(streamproof, my_job):
    (my_job / "job.py").write_text("import streamproof as sp\n\n@sp.job\ndef my_job(trades):\n    return trades.windw()\n")

    result = streamproof("doctor", "my_job")

    assert result.code == 0
    assert "steps of the job: the job could not be called without Spark" in result.out


@pytest.mark.parametrize(
    "text", ["", "import os\n", "from nowhere import build\n\nbuild().awaitTermination()\n", "def job(clicks):\n    return 1\n"]
)
def test_a_text_without_a_stream_is_not_called_sound(streamproof, tmp_path, text):
    (tmp_path / "job.py").write_text(text)

    printed, result = streamproof("doctor", "job.py"), streamproof("doctor", "job.py", "--json")

    assert (printed.code, result.code) == (3, 3)
    assert "Python text: nothing in job.py starts or returns a stream" in printed.out
    assert "0 mistakes looked for" in printed.out
    found = json.loads(result.out)
    assert found["sound"] is None
    assert "text" in found["missing"]


def test_a_function_that_returns_what_it_is_given_is_a_stream(streamproof, tmp_path):
    (tmp_path / "job.py").write_text("def job(clicks):\n    return clicks\n")

    assert streamproof("doctor", "job.py:job").code == 0


def test_a_finding_in_a_checkpoint_counts_beside_a_text_without_a_stream(streamproof, tmp_path):
    (tmp_path / "job.py").write_text("import os\n")
    shutil.copytree(JOIN, tmp_path / "c")

    result = streamproof("doctor", "job.py", "--checkpoint", "c")

    assert result.code == 3
    assert "state-in-memory" in result.out
