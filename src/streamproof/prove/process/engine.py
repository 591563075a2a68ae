"""The warm JVM of a proof: one Spark session in the proving process, gateways for the children, recordings."""

import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof._jvm import PROOF_JAR
from streamproof.core.clock import monotonic_seconds
from streamproof.errors import EnvironmentProblem, StreamproofError
from streamproof.prove.process import apart, guard
from streamproof.prove.process.spark_settings import OURS, settings_of_proof
from streamproof.runtime.spark.session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.prove.process.guard import Limits


_END_SECONDS, _LOOK_SECONDS, _LAST_SECONDS = 60.0, 0.02, 1.0
_STORES_SECONDS = 3.0
"""Tasks of a query that was stopped may go on for a moment, with its state stores."""


@dataclass(frozen=True)
class Gateway:
    """A door of the JVM for one child: port and secret."""

    port: int
    secret: str
    server: Any

    def close(self) -> None:
        self.server.shutdown()


class Engine:
    """The Spark that scenarios run on. It stays warm until the process ends: the next proof finds it running, unless it needs other jars.

    `local` is where it keeps its temporary files, unless the job's settings say where; `jars` are those of connectors. `briefly` is for
    a proof of a minute. `log` takes what the JVM writes to standard error; None leaves it on the screen. `kind` is what it is started for: jobs
    of ours or plain ones (`spark_settings`).
    """

    def __init__(
        self,
        name: str,
        settings: Mapping[str, str],
        local: Path | None = None,
        jars: Sequence[str] = (),
        *,
        briefly: bool = False,
        log: Path | None = None,
        kind: str = OURS,
    ) -> None:
        _end_jvm_without(jars)
        own = {**local_files(local), **settings_of_proof(settings, kind)}
        options = f"{java_options()} {FIRST_COMPILER_ALONE}" if briefly else java_options()
        self._found = _settings_of_running_session()
        self.spark: SparkSession = start_session(name, own, proof=True, java_options=options, jars=jars, streaming={}, log=log)
        running = self.spark.sparkContext.getConf().get("spark.jars", "") or ""
        if any(Path(jar).name not in running for jar in (str(PROOF_JAR), *jars)):
            raise EnvironmentProblem(
                "A Spark session that Streamproof did not start is running in this process.",
                required="A proof needs its own jars and settings, which a running JVM cannot take up.",
                remedy="Call .stop() on that session first, or run the proof in a process of its own: streamproof prove TARGET",
            )
        self.spark.sparkContext.setLogLevel("OFF")
        self._jvm: Any = self.spark._jvm
        getattr(self._jvm, "io.streamproof.proof.WarmJvm").prepare(self.spark.sparkContext._jsc.sc())

    @cached_property
    def versions(self) -> dict[str, str]:
        return {
            "spark": self.spark.version,
            "java": str(self._jvm.java.lang.System.getProperty("java.version")),
            "master": str(self.spark.sparkContext.master),
        }

    @property
    def alive(self) -> bool:
        """Whether the JVM runs; its connections end a moment before it does."""
        process = getattr(self.spark.sparkContext._gateway, "proc", None)
        if process is None:
            return True
        try:
            process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return False

    def gateway(self) -> Gateway:
        server = self._jvm.org.apache.spark.api.python.Py4JServer(self.spark.sparkContext._jsc.sc().conf())
        server.start()
        getattr(self._jvm, "io.streamproof.proof.NoDelay").on(server)
        return Gateway(server.getListeningPort(), server.secret(), server)

    def open_recording(self, identity: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._jvm.io.streamproof.proof.Recordings.open(identity, str(folder))

    def close_recording(self, identity: str) -> None:
        self._jvm.io.streamproof.proof.Recordings.close(identity)

    def arm(self, identity: str, operation: str, path: str, side: str, occurrence: int, since: str, action: str) -> None:
        self._jvm.io.streamproof.proof.Faults.arm(identity, operation, path, side, occurrence, since, action)

    def arm_call(self, identity: str, operation: str, path: str, side: str, occurrence: int, since: str, call: str) -> None:
        """The step is told to a desk (`process.desk`), and waits there."""
        self._jvm.io.streamproof.proof.Faults.armCall(identity, operation, path, side, occurrence, since, call)

    def keep(self, limits: "Limits") -> bool:
        """Holds the JVM and its Python workers to the limits of a proof; whether Java's own connections are held to them as well."""
        guard.allow_in_workers(self.spark.sparkContext, limits)
        return keep(self.spark, limits)

    def release(self) -> None:
        """Ends what `keep` has begun, and gives a session that was there before the settings that it had: it may serve others now."""
        guard.release_workers(self.spark.sparkContext)
        if self._found is not None:
            _take_back(self.spark, self._found)
        getattr(self._jvm, "io.streamproof.proof.Kept").release()
        getattr(self._jvm, "io.streamproof.proof.GuardedFileSystem").guard(_java_list(self._jvm, ()))

    def forget(self) -> None:
        """Drops what our classes remember in this JVM: memory dies with a process (R17)."""
        getattr(self._jvm, "io.streamproof.Registry").forget()

    def fired(self, identity: str) -> bool:
        return bool(self._jvm.io.streamproof.proof.Faults.fired(identity))

    def wait_until_ended(self, folder: str) -> None:
        """Waits until no query works below a folder any more: it ends by itself once its driver is dead.

        Raises
        ------
        StreamproofError
            If it does not.
        """
        running = self.spark._jsparkSession.sharedState().activeStreamingQueries()
        end = monotonic_seconds() + _END_SECONDS
        # One that ends while they are listed may come as None.
        while any(query is not None and folder in str(query.resolvedCheckpointRoot()) for query in list(running.values())):
            if monotonic_seconds() > end:
                raise StreamproofError(f"The query in {folder} has outlived its driver.")
            threading.Event().wait(_LOOK_SECONDS)

    def stop_queries(self, folder: str) -> None:
        """Stops what works below a folder and does not end by itself; does not wait for what cannot be stopped."""
        running = self.spark._jsparkSession.sharedState().activeStreamingQueries()
        for query in list(running.values()):
            if query is not None and folder in str(query.resolvedCheckpointRoot()):
                threading.Thread(target=query.stop, name="stop-query", daemon=True).start()

    def close_ended_stores(self, after_seconds: float = _STORES_SECONDS) -> int:
        """Closes the state stores of queries that had ended by an earlier call, so long ago, in the background; how many."""
        active = self.spark._jsparkSession.sharedState().activeStreamingQueries()
        return int(getattr(self._jvm, "io.streamproof.proof.EndedStores").close(active, int(after_seconds * 1_000)))

    def restart_maintenance(self) -> None:
        """Ends the maintenance of state stores; the next query that loads one starts it with its own interval.

        Spark has one per JVM, with the interval of the query that came first.
        """
        stores = getattr(self._jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$")
        getattr(stores, "MODULE$").stopMaintenanceTask()


def _settings_of_running_session() -> dict[str, str] | None:
    """The SQL settings of the session that runs in this process; None where there is none, and its JVM is started with what is wanted."""
    from pyspark.sql import SparkSession

    running: Any = SparkSession._instantiatedSession
    return None if running is None or running.sparkContext._jsc is None else _settings_of(running)


def _settings_of(spark: "SparkSession") -> dict[str, str]:
    return dict(spark._jsparkSession.sessionState().conf().settings())


def _take_back(spark: "SparkSession", found: Mapping[str, str]) -> None:
    """Gives a session the settings that it had when they were `found`."""
    here, settings = _settings_of(spark), spark._jsparkSession.sessionState().conf()
    for key in here.keys() - found.keys():
        settings.unsetConf(key)
    for key, value in found.items():
        if here.get(key) != value:
            settings.setConfString(key, value)


def _end_jvm_without(jars: Sequence[str]) -> None:
    """Ends the JVM of an earlier proof that lacks a jar: a JVM takes none up any more."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    running = context.getConf().get("spark.jars", "") or "" if context is not None else ""
    if context is None or PROOF_JAR.name not in running or all(Path(jar).name in running for jar in jars):
        return
    context.stop()
    gateway: Any = SparkContext._gateway
    SparkContext._gateway, SparkContext._jvm = None, None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when this does
    try:
        gateway.proc.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait(_END_SECONDS)


# Of the methods that thousands of small batches run, only the hottest are worth the optimising compiler's time: its thresholds are four
# times Java's own, so that it does not slow the set-up.
JAVA_OPTIONS = " ".join(
    (
        "-XX:Tier4InvocationThreshold=20000",
        "-XX:Tier4MinInvocationThreshold=2400",
        "-XX:Tier4CompileThreshold=60000",
        "-XX:Tier4BackEdgeThreshold=160000",
        "-XX:ReservedCodeCacheSize=512m",
        "-XX:+UseParallelGC",
    )
)
# Within a minute the optimising compiler costs a quarter of the processor and gives nothing back.
FIRST_COMPILER_ALONE = "-XX:TieredStopAtLevel=1"


def java_options() -> str:
    """The options of every JVM of a proof."""
    return f"{JAVA_OPTIONS} {apart.java_options()}"


def _java_list(jvm: Any, texts: Sequence[str]) -> Any:
    made = jvm.java.util.ArrayList()
    for text in texts:
        made.add(text)
    return made


def keep(spark: "SparkSession", limits: "Limits") -> bool:
    """Holds the JVM of a session to limits: Spark's local file system by `GuardedFileSystem`; what the kernel does not keep, by `Kept`."""
    jvm: Any = spark._jvm
    getattr(jvm, "io.streamproof.proof.GuardedFileSystem").guard(_java_list(jvm, limits.folders))
    found = apart.state()
    if limits.own_network:
        return True
    kernel = found is not None and found.files
    return bool(getattr(jvm, "io.streamproof.proof.Kept").keep(_java_list(jvm, limits.hosts), not kernel))


def local_files(folder: Path | None) -> dict[str, str]:
    """The settings that put Spark's temporary files, and with them the working folders of the state stores, into a folder."""
    return {"spark.local.dir": str(folder)} if folder is not None else {}
