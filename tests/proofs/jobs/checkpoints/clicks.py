"""Clicks, a folder for each batch: a sound job, and the same with one mistake each in where its checkpoint lies."""

import shutil
from pathlib import Path
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

CHECKPOINT = "/lake/checkpoints/clicks"


def _start(spark: SparkSession, name: str, **options: str) -> None:
    def keep(rows: DataFrame, batch: int) -> None:
        rows.write.mode("overwrite").parquet(f"/lake/{name}/batch={batch}")

    clicks = spark.readStream.schema("id long, user string").json("/data/clicks")
    clicks.writeStream.queryName(name).foreachBatch(keep).options(**options).start().awaitTermination()


def sound(spark: SparkSession) -> None:
    _start(spark, "clicks", checkpointLocation=CHECKPOINT)


def changes(spark: SparkSession) -> None:
    _start(spark, "clicks", checkpointLocation=f"{CHECKPOINT}-{uuid4()}")


def misses(spark: SparkSession) -> None:
    _start(spark, "clicks")


def deletes(spark: SparkSession) -> None:
    if Path(CHECKPOINT).exists():
        shutil.rmtree(CHECKPOINT)
    _start(spark, "clicks", checkpointLocation=CHECKPOINT)


def deletes_by_hadoop(spark: SparkSession) -> None:
    hadoop = spark._jvm.org.apache.hadoop.fs
    path = hadoop.Path("/lake/checkpoints")
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)
    _start(spark, "clicks", checkpointLocation=CHECKPOINT)


def shares(spark: SparkSession) -> None:
    _start(spark, "clicks", checkpointLocation=CHECKPOINT)
    _start(spark, "again", checkpointLocation=CHECKPOINT)
