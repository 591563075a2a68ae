"""One warm Spark session for all tests of this folder."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from streamproof._jvm import jars

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.hadoop.fs.sp-record.impl": "io.streamproof.proof.RecordingFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.sp-record.impl": "io.streamproof.proof.RecordingFs",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    class_path = os.pathsep.join(jars(proof=True))
    builder = SparkSession.builder.master("local[2]").appName("streamproof tests").config("spark.driver.extraClassPath", class_path)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
