"""Jobs for the doctor, made from a few lines: plain PySpark from its text, a job of ours from its configuration and what it keeps."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from streamproof.checkpoint.inspection import Inspection, inspect_checkpoint
from streamproof.config import load
from streamproof.connectors.source import Holding
from streamproof.doctor.finding import Code, Finding, Severity
from streamproof.doctor.findings import MISTAKES
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.program import Program
from streamproof.runtime.checks.rehearsal import Keeping, Steps

JOB = """
[job]
entry = "job.py:job"
{job}

[source.clicks]
connector = "files"
path = "clicks"
format = "json"
schema = "click string, paid boolean, at long"
{source}

[sink.out]
connector = "files"
path = "out"
{rest}
"""
IMPORTS = """
from pyspark.sql import functions as F
import streamproof as sp
"""

BATCH = """
def save(rows, batch):
    {does}

def main(spark):
    spark.readStream.json("/in").writeStream.foreachBatch(save).option("checkpointLocation", "/c").start()
"""
SINK = """
class Mine(Sink):
    def publish(self, manifest, section):
        {does}

@sp.job
def job(clicks):
    return sp.Outputs(out=clicks)

Mine
"""


def found(patient: Patient, code: Code) -> list[Finding]:
    """What is found of one mistake."""
    (mistake,) = (one for one in MISTAKES if one.code == code)
    ways = mistake.ways_for(patient)
    assert ways, "the mistake is not looked for at all"
    return [Finding(code, symptom, mistake.why) for way in ways for symptom in way.look(patient)]


def severities(patient: Patient, code: Code) -> list[Severity]:
    return [one.severity for one in found(patient, code)]


def plain(folder: Path, text: str, entry: str = "", checkpoints: Sequence[Inspection] = ()) -> Patient:
    """A plain PySpark job."""
    file = folder / "plain.py"
    file.write_text(IMPORTS + textwrap.dedent(text))
    missing = {part: "not here" for part in Part if part not in (Part.TEXT, *([Part.CHECKPOINT] if checkpoints else []))}
    return Patient("plain.py", programs=[Program.of(file, entry)], checkpoints=checkpoints, missing=missing)


def of_batch(folder, does):
    return plain(folder, BATCH.format(does=does.replace("\n", "\n    ")), "main")


def of_sink(folder, does):
    return plain(folder, SINK.format(does=does.replace("\n", "\n        ")))


def ours(
    folder: Path,
    *,
    job: str = "",
    source: str = 'event_time = { column = "at", unit = "milliseconds", lag = "1 minute" }',
    rest: str = "",
    text: str = "",
    keeping: Sequence[Keeping] = (),
    tables: Sequence[str] = (),
    checkpoints: Sequence[Inspection] = (),
    holding: Holding | None = None,
) -> Patient:
    """A job of ours, as if its function had been called."""
    (folder / "streamproof.toml").write_text(JOB.format(job=job, source=source, rest=rest))
    (folder / "job.py").write_text(
        IMPORTS + (textwrap.dedent(text) or "@sp.job\ndef job(clicks):\n    return sp.Outputs(out=clicks)\n")
    )
    config = load(folder)
    programs = [Program.of(config.entry_file, config.name)]
    missing = {} if checkpoints else {Part.CHECKPOINT: "not here"}
    holdings = {"clicks": [holding]} if holding is not None else {}
    steps = [Steps("out", ("clicks",), tuple(keeping), tuple(tables))]
    return Patient(str(folder), config, steps, programs, checkpoints, holdings, missing=missing)


def keeping(call: str = "window()", *, by: Sequence[str] = (), lateness: float = 0.0, for_ever: str = "") -> Keeping:
    """An operator that keeps state of the clicks."""
    return Keeping(call, tuple(by), ("clicks",), lateness, for_ever)


def seen(checkpoint: Path) -> list[Inspection]:
    return [inspect_checkpoint(checkpoint)]
