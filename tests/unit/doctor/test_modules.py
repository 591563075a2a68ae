"""A job whose pieces lie in several files of a project: what is imported from its folder or its package is followed."""

import textwrap

import pytest

from streamproof.doctor.examine import Examination, examine
from streamproof.doctor.gather import Asked, gather

PIPELINE = """
from pyspark.sql import SparkSession

CHECKPOINT = "/tmp/c"
total = 0

def source(spark):
    return spark.readStream.format("rate").load()

def save(rows, batch):
    global total
    total += rows.count()

def build(spark):
    return source(spark).dropDuplicates(["value"]).writeStream.foreachBatch(save).option("checkpointLocation", CHECKPOINT).start()

def unused(spark):
    return source(spark).writeStream.foreachBatch(save).option("checkpointLocation", CHECKPOINT).start("/out")

def main():
    unused(None)

if __name__ == "__main__":
    main()
"""
EXPECTED = {"state-outside": "pipeline.py", "unbounded-state": "pipeline.py", "checkpoint-changes": "pipeline.py"}


def looked_at(folder, target="main.py", **files) -> Examination:
    for name, text in files.items():
        file = folder / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    return examine(gather(str(folder / target), Asked()))


def grave(found: Examination) -> dict[str, str]:
    return {str(one.code): one.symptom.where.path.name for one in found.findings if one.severity != "note"}


@pytest.mark.parametrize(
    "text",
    [
        "from pipeline import build\nbuild(spark)",
        "from pipeline import build as go\ngo(spark)",
        "import pipeline\npipeline.build(spark)",
        "import pipeline as p\np.build(spark)",
        "from pipeline import *\nbuild(spark)",
        "def main():\n    from pipeline import build\n    build(spark)\nmain()",
    ],
)
def test_a_main_file_that_imports_its_job(tmp_path, text):
    found = looked_at(tmp_path, main=text, pipeline=PIPELINE)

    assert grave(found) == EXPECTED  # and not checkpoint-shared: nobody calls what is unused
    assert found.is_sound is False


def test_modules_of_a_package(tmp_path):
    target = "app/jobs/main.py"
    main = "from app.jobs.pipeline import build\nfrom . import pipeline\nfrom ..settings import spark\nbuild(spark)"

    files = {"app/jobs/main": main, "app/jobs/pipeline": PIPELINE, "app/settings": "spark = None"}

    assert grave(looked_at(tmp_path, target, **files, **{"app/__init__": "", "app/jobs/__init__": ""})) == EXPECTED


def test_a_stream_and_its_steps_in_two_files(tmp_path):
    main = """
    import steps
    from settings import PLACE, write
    rows = spark.readStream.format("rate").load().withWatermark("at", "1 minute")
    minutes = steps.per_minute(rows)
    minutes.writeStream.foreachBatch(write).option("checkpointLocation", PLACE).start()
    minutes.writeStream.foreachBatch(write).option("checkpointLocation", PLACE).start()
    """
    steps = """
    from pyspark.sql import functions as F

    def per_minute(rows):
        return rows.withColumn("at", F.current_timestamp()).groupBy(F.window("at", "1 minute")).count()
    """
    settings = """
    PLACE = "/lake/c"

    def write(rows, batch):
        rows.write.mode("append").parquet("/out")
    """

    found = looked_at(tmp_path, main=main, steps=steps, settings=settings)

    assert grave(found) == {"wall-clock": "steps.py", "not-idempotent": "settings.py", "checkpoint-shared": "main.py"}


def test_names_of_one_file_are_not_those_of_another(tmp_path):
    other = 'import main\nPLACE = "/tmp/x"\ndef save(rows, batch):\n    rows.write.mode("append").save("/out")\ndef clean(rows):\n    return rows\n'
    main = """
    from other import clean
    PLACE = "/lake/c"
    def save(rows, batch):
        rows.write.mode("overwrite").save(f"/out/{batch}")
    rows = clean(spark.readStream.format("rate").load())
    rows.writeStream.foreachBatch(save).option("checkpointLocation", PLACE).start()
    """

    found = looked_at(tmp_path, main=main, other=other)

    assert grave(found) == {}
    assert found.is_sound is True


def test_an_import_that_is_no_python_is_left_out(tmp_path):
    assert looked_at(tmp_path, main="from pipeline import build\nbuild()", pipeline="def build(:").is_sound is None


@pytest.mark.parametrize(
    "imports", ["from . import build", "from .. import build", "from .pipeline import build", "import a.b.c, os"]
)
def test_an_import_that_leads_nowhere_is_left_out(tmp_path, monkeypatch, imports):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text(
        f"{imports}\nspark.readStream.json('/in').writeStream.option('checkpointLocation', '/c').start('/out')\n"
    )

    assert examine(gather("main.py", Asked())).is_sound is True
