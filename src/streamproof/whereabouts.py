"""Where the records of a key are, in a job that runs in production: in which batch of which output, in which side output and why, in which state.

A proof gives each event an id and follows that (`prove/lineage`). A job in production has only what its records say themselves: their columns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.checkpoint.kinds import kind_of
from streamproof.checkpoint.logs import parse_offsets
from streamproof.config import load
from streamproof.core.clock import from_micros
from streamproof.core.plain import plain_fields
from streamproof.core.sides import LATE, Side
from streamproof.errors import ConfigurationError, StreamproofError
from streamproof.inspection import Checkpoint, inspect
from streamproof.replay.diff.folders import LocalFolders
from streamproof.replay.diff.sides import Rows, outputs_of
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.json_rows import as_json, reader_of
from streamproof.runtime.spark.state_reader import does_not_go, in_a_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamproof.runtime.binding.bound import BoundJob, BoundQuery, OutputPlace

MOST = 20
"""So many rows of one output or state are given, unless others are asked for."""
PUBLISHED, STATE = "published", "state"
_BATCH = "_batch_of_ours"


@dataclass(frozen=True)
class Found:
    """A row for which the condition holds.

    Parameters
    ----------
    query
        The name of the main output.
    where
        The output, or "operator 0, a deduplication".
    batch
        That has published it; of a state the one it is read after. None of an output that no batch of ours has written.
    place
        "published", "state", or the kind of the side output by which it left: "late", "rejected".
    says
        What became of it, in a sentence.
    row
        Its columns, as JSON has them; decimals are `decimal.Decimal`.
    """

    query: str
    where: str
    batch: int | None
    place: str
    says: str
    row: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON: decimals as texts."""
        return plain_fields(self)


@dataclass(frozen=True)
class Whereabouts:
    """What was found, and what was not looked at: by its name why."""

    found: Sequence[Found]
    not_looked_at: Mapping[str, str]
    more: Sequence[str] = ()
    """Outputs and states that have more rows than are given."""

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        return {
            "found": [one.as_dict() for one in self.found],
            "not_looked_at": dict(self.not_looked_at),
            "more": list(self.more),
        }


def whereabouts(
    target: str | Path,
    where: str,
    *,
    profile: str | None = None,
    limit: int = MOST,
    spark: "SparkSession | None" = None,
    say: Callable[[str], None] = lambda _: None,
) -> Whereabouts:
    """Look for records in the outputs, the side outputs and the state of a job. It only reads.

    `whereabouts("my_job", "order = 'o-17'").found`

    Parameters
    ----------
    target
        As `streamproof run` takes it.
    where
        A condition in SQL over columns. An output or a state that has no such column is not looked at, and the result says so.
    limit
        At most so many rows of each output and state.
    spark
        A session to use; one is started where none is given.
    say
        Told what is looked at.

    Raises
    ------
    ConfigurationError
        If the condition is no SQL or does not go with a row, such as a text that is no number, or the job cannot be loaded.
    """
    job = bind(load(target, profile=profile))
    session = (spark or _session()).newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    looked = _Looking(job, where, limit, session, say)
    looked.look()
    return Whereabouts(looked.found, looked.not_looked_at, looked.more)


class _Looking:
    def __init__(self, job: "BoundJob", where: str, limit: int, spark: "SparkSession", say: Callable[[str], None]) -> None:
        self.found: list[Found] = []
        self.not_looked_at: dict[str, str] = {}
        self.more: list[str] = []
        self._refused: ConfigurationError | None = None
        self._job, self._where, self._limit, self._spark, self._say = job, where, limit, spark, say
        _require_sql(spark, where)

    def look(self) -> None:
        for name in self._job.outputs.main:
            query = self._job.query(name)
            sides: Mapping[str, Side] = {output: side for side, output in query.sides.items()}
            for output in (name, *sides):
                for target in query.targets[output]:
                    self._look_at_output(query, target, query.places[target], sides.get(output))
            self._look_at_state(query)

    def _look_at_output(self, query: "BoundQuery", name: str, place: "OutputPlace", side: Side | None) -> None:
        self._say(name)
        if not place.is_folder or query.config.is_remote(place.path):
            self.not_looked_at[name] = f"it is in {place.where}, and only folders of this machine are looked at"
            return
        rows = _rows_in(place.path)
        if rows is None:
            self.not_looked_at[name] = "nothing is published there yet"
            return
        frame = _with_batches(self._spark, rows)
        there = self._holding(name, frame)
        for row in there:
            batch = row.pop(_BATCH, None)
            self.found.append(
                Found(query.name, name, batch, PUBLISHED if side is None else side.kind, _said(query, side, batch, row), row)
            )

    def _look_at_state(self, query: "BoundQuery") -> None:
        if not query.root.stateful:
            return
        self._say(f"the state of {query.name}")
        try:
            checkpoint = inspect(query.checkpoint)
            for number in checkpoint.operators:
                self._look_at_operator(query, checkpoint, number)
        except StreamproofError as problem:
            if problem is self._refused:
                raise
            self.not_looked_at[f"the state of {query.name}"] = problem.message

    def _look_at_operator(self, query: "BoundQuery", checkpoint: Checkpoint, number: int) -> None:
        table, logs = checkpoint.operator(number), checkpoint.found.logs
        batch = logs.newest_committed
        assert batch is not None, "a checkpoint without a commit has no table"
        kind = kind_of(checkpoint.operators[number])
        name = f"operator {number}, {kind.word}"
        with table.frame() as frame:
            there = self._holding(f"{query.name}, {name}", frame)
        led_to = logs.committed[batch].next_watermark_ms
        watermark = f"the watermark is {_shown(from_micros(led_to * 1000))}" if led_to else "there is no watermark yet"
        says = f"in state, as {'an' if kind.row[0] in 'aeiou' else 'a'} {kind.row}; {watermark}"
        self.found += [Found(query.name, name, batch, STATE, says, row) for row in there]

    def _holding(self, name: str, frame: "DataFrame") -> list[dict[str, Any]]:
        """The rows for which the condition holds, as JSON has them; none where there is no such column, which is kept in mind."""
        from pyspark.errors import AnalysisException

        try:
            rows = frame.where(self._where)
            texts = [row[0] for row in as_json(rows).limit(self._limit + 1).collect()]
        except AnalysisException as problem:
            columns = ", ".join(column for column in frame.columns if column != _BATCH)
            unknown = "UNRESOLVED_COLUMN" in (problem.getCondition() or "")
            self.not_looked_at[name] = f"its columns are {columns}" if unknown else in_a_line(str(problem))
            return []
        except Exception as problem:
            self._refused = does_not_go(self._where, _jvm.causes_of(problem)) if _jvm.is_of_spark(problem) else None
            if self._refused is None:
                raise
            raise self._refused from problem
        if len(texts) > self._limit:
            self.more.append(name)
        read = reader_of(frame)
        return [read(text) for text in texts[: self._limit]]


def _require_sql(spark: "SparkSession", where: str) -> None:
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as F

    try:
        spark.range(0).select(F.expr(where))
    except AnalysisException as problem:  # of a column that is not there, too
        if not isinstance(problem, ParseException):
            return
        raise ConfigurationError(
            f'"{where}" is no condition: {in_a_line(str(problem))}',
            required="A condition in SQL over columns of the outputs and of the state.",
            remedy="Such as --where \"order = 'o-17'\".",
        ) from problem


def _session() -> "SparkSession":
    from streamproof.runtime.spark.session import start_session

    return start_session("streamproof trace", {})


def _rows_in(path: str) -> Rows | None:
    """What is published in a folder; None where nothing is."""
    folders = LocalFolders()
    if not folders.list(path):
        return None
    found = outputs_of(path, folders).get("")
    return found if found is None or found.batches is None or found.files else None


def _with_batches(spark: "SparkSession", rows: Rows) -> "DataFrame":
    """The rows of an output, each with the number of its batch (bigint; null where no batch of ours has written it)."""
    from pyspark.sql import functions as F

    from streamproof.replay.diff.reading import read_rows

    frame = read_rows(spark, rows)
    number = F.try_element_at(F.regexp_extract_all(F.input_file_name(), F.lit("/batch=([0-9]+)/"), F.lit(1)), F.lit(-1))
    return frame.withColumn(_BATCH, number.try_cast("bigint"))


def _said(query: "BoundQuery", side: Side | None, batch: int | None, row: Mapping[str, Any]) -> str:
    """What became of a record that is a row of an output."""
    if side is None:
        return PUBLISHED
    why = row.get("reason")
    if side.kind != LATE.kind:
        return f"{side.kind}: {why}" if why else side.said
    bound = _late_bound(query, batch)
    window = f" for the window {row['window_start']} to {row['window_end']}" if row.get("window_end") else ""
    instant = next(iter(_event_times(query, row)), None)
    if bound is None or instant is None:
        return f"late{window}"
    return f"late{window}: its event time {_shown(instant)} is {(bound - instant).total_seconds():,.3f} s before the watermark, {_shown(bound)}"


def _event_times(query: "BoundQuery", row: Mapping[str, Any]) -> Iterator[datetime]:
    """The event time of a late row, by what its source declares; none where it cannot be told."""
    for source in query.sources.values():
        declared = source.event_time
        value = row.get(declared.column) if declared is not None else None
        if isinstance(value, str):
            with suppress(ValueError):
                found = datetime.fromisoformat(value)
                yield found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _late_bound(query: "BoundQuery", batch: int | None) -> datetime | None:
    """The watermark by which rows were late in a batch: that of the batch before; None where Spark does not keep its log any more."""
    if batch is None or query.config.is_remote(query.checkpoint):
        return None
    with suppress(OSError, StreamproofError):
        log = parse_offsets(Path(query.checkpoint, "offsets", str(batch - 1)).read_text())
        return from_micros(log.watermark_ms * 1000)
    return None


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"
