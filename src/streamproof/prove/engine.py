"""The warm JVM of a proof: one Spark session in the proving process, gateways for the children, recordings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.prove.setting import SPARK
from streamproof.runtime.session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Gateway:
    """A door of the JVM for one child: port and secret."""

    port: int
    secret: str
    server: Any

    def close(self) -> None:
        self.server.shutdown()


class Engine:
    """The Spark that scenarios run on."""

    def __init__(self, name: str, settings: Mapping[str, str]) -> None:
        from pyspark.sql import SparkSession

        kept = {key: value for key, value in settings.items() if key not in _OURS}
        self._own = SparkSession.getActiveSession() is None
        self.spark: SparkSession = start_session(name, {**kept, **SPARK, **_partitions(settings)}, proof=True, java_options=_JAVA)
        self.spark.sparkContext.setLogLevel("OFF")
        self._jvm: Any = self.spark._jvm

    @property
    def versions(self) -> dict[str, str]:
        return {
            "spark": self.spark.version,
            "java": str(self._jvm.java.lang.System.getProperty("java.version")),
            "master": self.spark.sparkContext.master,
        }

    def gateway(self) -> Gateway:
        server = self._jvm.org.apache.spark.api.python.Py4JServer(self.spark.sparkContext._jsc.sc().conf())
        server.start()
        return Gateway(server.getListeningPort(), server.secret(), server)

    def open_recording(self, identity: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._jvm.io.streamproof.proof.Recordings.open(identity, str(folder))

    def close_recording(self, identity: str) -> None:
        self._jvm.io.streamproof.proof.Recordings.close(identity)

    def arm(self, identity: str, operation: str, path: str, side: str, occurrence: int, action: str) -> None:
        self._jvm.io.streamproof.proof.Faults.arm(identity, operation, path, side, occurrence, action)

    def fired(self, identity: str) -> bool:
        return bool(self._jvm.io.streamproof.proof.Faults.fired(identity))

    def close(self) -> None:
        if self._own:
            self.spark.stop()


# Thousands of small batches: the optimising compiler would take half of the machine for the first minutes and hardly pay it back.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseParallelGC"
_OURS = ("spark.master", "spark.driver.memory")


def _partitions(settings: Mapping[str, str]) -> dict[str, str]:
    """At least two state partitions, at most four: enough for tasks to overtake each other, few enough to enumerate."""
    wanted = int(settings.get("spark.sql.shuffle.partitions", "2"))
    return {"spark.sql.shuffle.partitions": str(min(max(wanted, 2), 4))}
