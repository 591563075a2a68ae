"""What a batch writer of a job is refused in a proof, and what to do instead."""

from streamproof.errors import JobDefinitionError, ScenarioError

_OF_LAKES = {
    "delta": (
        'The job writes by write.format("delta"), and this Spark has no Delta Lake.',
        "Its jars and its extension, as for spark-submit; they fit one version of Spark.",
        "Add --conf spark.jars.packages=io.delta:delta-spark_2.13:4.0.1 --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension "
        "--conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog (Spark 3.5: delta-spark_2.12:3.3.2)",
    ),
    "iceberg": (
        'The job writes by write.format("iceberg"), which a proof cannot bind.',
        "A proof moves a table from the disk that a crash left to another. Iceberg's metadata names every file by its whole path, so that the "
        "moved table would go on with the files of the first.",
        "Return the streams, or write them by writeStream: the proof keeps their rows in place of Iceberg.",
    ),
}


def not_written(form: str) -> ScenarioError:
    """Why a batch writer of a format is refused."""
    if form not in _OF_LAKES:
        return not_bound(f'write.format("{form}")')
    found, required, remedy = _OF_LAKES[form]
    return ScenarioError(found, required=required, remedy=remedy)


def without_a_path(form: str) -> ScenarioError:
    """Why `save()` is refused that says no place."""
    return ScenarioError(
        f'The job calls write.format("{form}").save() without a path.',
        required="save(path), or a path among the options.",
        remedy='Write it as .save("/path"), or as .option("path", "/path").save().',
    )


def without_a_checkpoint(name: str, form: str) -> JobDefinitionError:
    """Why a query is refused that Spark would not start either."""
    return JobDefinitionError(
        f'The query {name} writes by writeStream.format("{form}") and has no checkpoint: Spark does not start it.',
        required="checkpointLocation, a path that is the same at each start and that no other query has.",
        remedy='Add .option("checkpointLocation", "/path/of/this/query").',
    )


def inserts_into_delta(table: str) -> ScenarioError:
    """Why `insertInto` is refused where the job has made a table of Delta Lake."""
    return ScenarioError(
        f'The job calls write.insertInto("{table}"), and {table} is a table of Delta Lake.',
        required="insertInto goes by the place of columns; a proof has no catalog, and writes such a table by the names of its columns.",
        remedy=f'Write it by write.format("delta").mode("append").saveAsTable("{table}").',
    )


def not_bound(what: str) -> ScenarioError:
    """Why a writer is refused that has no folder of its own in a proof."""
    return ScenarioError(
        f"The job writes by {what}, which a proof cannot bind to a folder of its own: it would write to the real place.",
        required="A proof touches nothing real. It binds files, tables, topics and checkpoints.",
        remedy="Make the place an argument of the job, such as --set url=..., and read it back: --read NAME=module:function.",
    )
