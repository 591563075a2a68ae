"""Computes a job as batch queries over what its sources hold now, and writes each output to a folder as Parquet (S17)."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof import _jvm
from streamproof.core.account import Account
from streamproof.core.clock import monotonic_seconds
from streamproof.core.notes import Note, NoteCode
from streamproof.core.paths import display
from streamproof.core.sides import copies_in
from streamproof.errors import ConfigurationError, StreamproofError
from streamproof.replay.bounded.doors import RECORDS_AFTER, BatchDoors
from streamproof.replay.bounded.places import folder_of, mark, require_own
from streamproof.replay.diff.sides import is_remote
from streamproof.runtime.adding_up import require_adds_up
from streamproof.runtime.batch.held import GoneOn, told_by_state
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.rows.doors import AFTER
from streamproof.runtime.spark.connector_jars import connector_jars
from streamproof.runtime.spark.environment import find_spark
from streamproof.runtime.spark.failures import telling_of_a_dead_jvm, translated
from streamproof.runtime.spark.session import give_settings, settings_of_query, start_session
from streamproof.runtime.spark.settings import guard
from streamproof.runtime.start.plan import reads
from streamproof.runtime.tables.now import tables_now
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.result import OutputResult, QueryAccount, RunResult
from streamproof.stream.graph import build
from streamproof.stream.names import RECORDS, quoted, visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig
    from streamproof.runtime.binding.bound import BoundJob

GUARANTEE = "computed as a batch"
_COSTS_NOTHING = "Nothing was published; the next bounded run replaces what this one has written."
_LOOK_EVERY_SECONDS = 0.5
_KEEPS_COUNTS = {
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation,"
    "org.apache.spark.sql.catalyst.optimizer.PruneFilters",
    "spark.sql.adaptive.optimizer.excludedRules": "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation",
}
"""Where nothing comes out of a plan, Spark takes a part of it out, and what was counted in that part with it."""


def run_bounded(
    config: "JobConfig",
    *,
    to: str | None = None,
    spark: "SparkSession | None" = None,
    end: threading.Event | None = None,
    say: Callable[[str], None] | None = None,
    log: Path | None = None,
) -> RunResult:
    """Computes every main output of the job once, over what its sources hold now; nothing is published.

    Parameters
    ----------
    to
        The folder to write to, one folder in it for each output. By default it lies beside the checkpoint, "<checkpoint>-bounded".
    end
        Is set by whoever wants it to end.
    say
        Is told what is done.

    Raises
    ------
    AccountError
        If the account does not add up; it has the result, and the rows are written.
    StreamproofError
        What stopped it, with the remedy.
    KeyboardInterrupt
        If it was asked to end.
    """
    find_spark()
    end, say = end or threading.Event(), say or (lambda _: None)
    with telling_of_a_dead_jvm(_COSTS_NOTHING, end.is_set):
        say("starting Spark")
        session = spark or start_session(config.name, config.spark, jars=connector_jars(config, lambda *_: None), log=log)
        bound = bind(config)
        _require_ends(bound)
        result = _computed(bound, session, folder_of(bound, to), end, say)
    require_adds_up(result, bound.outputs.main)
    return result


def _computed(
    bound: "BoundJob", session: "SparkSession", folder: str, end: threading.Event, say: Callable[[str], None]
) -> RunResult:
    """Computes one query after the other into a folder, which is marked as whole after the last one."""
    storage = _jvm.Storage(session)
    require_own(folder, bound.name, storage)
    began = monotonic_seconds()
    computing = _Computing(bound, session.newSession(), folder)
    storage.delete(folder)  # an output that the job no longer has would be compared
    mark(folder, bound.name, storage, complete=False)
    done = threading.Event()
    threading.Thread(target=_cancelling, args=(session, end, done), name="cancel-batch", daemon=True).start()
    try:
        for query in bound.outputs.main:
            if end.is_set():
                raise KeyboardInterrupt
            say(f"computing {query}")
            computing.query(query)
    except StreamproofError:
        raise
    except Exception as problem:
        if end.is_set():
            raise KeyboardInterrupt from problem
        raise translated(problem) from problem
    finally:
        done.set()
    mark(folder, bound.name, storage, complete=True)
    return computing.result(monotonic_seconds() - began)


class _Computing:
    """The queries of a job, one after the other."""

    def __init__(self, bound: "BoundJob", spark: "SparkSession", folder: str) -> None:
        self.bound, self.spark, self.folder = bound, spark, folder
        self.notes = guard(spark, bound.config.spark)
        give_settings(spark, {**settings_of_query(bound.config.spark), **_KEEPS_COUNTS})
        self._noticed = Noticed(spark, bound.inputs.values())
        self._outputs: list[OutputResult] = []
        self._accounts: list[QueryAccount] = []

    def query(self, name: str) -> None:
        """Computes one main output, and the side outputs that its query delivers."""
        query = self.bound.query(name)
        asked = copies_in(query.sides)
        doors = BatchDoors(copies_asked=bool(asked), tables=tables_now(query, self.spark))
        read = reads(query, self.spark, doors, stream=False, trace=False)
        doors.at_source = False
        made = build(query.root, read, doors).rows
        made = doors.counted(made, "rows")
        if RECORDS in made.columns:
            made = doors.counted(made, "records", F.sum(RECORDS))
        self._write(made.select(*map(quoted, visible(made.columns))), name)
        counts = doors.counts
        found = {place: counts.get(place, 0) for place in ("duplicate", "filtered")}
        for side in query.root.sides:
            found[side.kind] = counts.get(str(side), 0) + (found.get(side.kind, 0) if side.name else 0)
        found |= query.root.counted(rows=counts["rows"], records=counts.get("records", 0))
        went = {
            name.removeprefix(AFTER): GoneOn(rows, counts.get(f"{RECORDS_AFTER}{name.removeprefix(AFTER)}", 0))
            for name, rows in counts.items()
            if name.startswith(AFTER)
        }
        found |= told_by_state(
            query.root,
            {**counts, **found},
            {"duplicate": counts["duplicate"]},
            went,
            rows=counts["rows"],
            records=counts.get("records", 0),
        )
        account = QueryAccount(
            name,
            counts["input"],
            Account.of(found),
            expanded=found.get("expanded", counts.get("expanded", 0)),
            duplicates_in=asked,
            duplicates_written=found["duplicate"] if asked else 0,
        )
        self._accounts.append(account)
        self._add(name, counts["rows"])
        for side, output in query.sides.items():
            left = doors.side(side)
            if left is not None:
                self._write(left, output)
                self._add(output, counts.get(str(side), 0))

    def result(self, seconds: float) -> RunResult:
        """What was computed, as a run has it: one batch, nothing open."""
        first = self._accounts[0]
        stateful = any(root.stateful for root in self.bound.outputs.main.values())
        return RunResult(
            job=self.bound.name,
            batches=1,
            without_input=0,
            rows_in=first.input,
            seconds=seconds,
            outputs=self._outputs,
            account=first.account,
            account_input=first.input,
            open_windows=0,
            closes_after=None,
            notes=[*self.notes, *self._noticed.look(), *([_note(self.folder)] if stateful else [])],
            accounts=self._accounts,
        )

    def _write(self, rows: DataFrame, output: str) -> None:
        rows.write.mode("overwrite").parquet(f"{self.folder}/{output}")

    def _add(self, output: str, rows: int) -> None:
        self._outputs.append(OutputResult(output, f"{self.folder}/{output}", "parquet", rows, GUARANTEE))


def _cancelling(spark: "SparkSession", end: threading.Event, done: threading.Event) -> None:
    """Ends what Spark works on once somebody asks for it: a batch has no place to stop at by itself."""
    while not done.wait(_LOOK_EVERY_SECONDS):
        if end.is_set():
            spark.sparkContext.cancelAllJobs()
            return


def _require_ends(bound: "BoundJob") -> None:
    for name, source in bound.inputs.items():
        if not source.ends:
            raise ConfigurationError(
                f"[source.{name}] connector is {source.config.connector}, which has no end.",
                required="A bounded run reads what its sources hold now, and ends.",
                remedy="Bind the source to files or to a topic, in a profile of its own.",
            )


def _note(folder: str) -> Note:
    where = folder if is_remote(folder) else display(Path(folder))
    said = (
        "A batch knows all events at once: none is late, no window is still open, and a copy is dropped however late it comes. Where that "
        f"makes another row than in the stream, `streamproof diff` shows it against {where}."
    )
    return Note(NoteCode.BOUNDED, said)
