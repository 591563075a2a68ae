"""Binds a PySpark job to a scenario: its readers, writers and sessions are replaced in this process, which is the scenario's own."""

import re
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark import SparkConf
from pyspark.errors import AnalysisException
from pyspark.sql.readwriter import DataFrameReader

from streamproof.core.notes import Note, NoteCode
from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.batch_reads import BatchReads
from streamproof.prove.subjects.pyspark.delta_tables import bind_delta
from streamproof.prove.subjects.pyspark.ending import bind_ends
from streamproof.prove.subjects.pyspark.notebook import bind_notebook
from streamproof.prove.subjects.pyspark.own_files import bind_own_files
from streamproof.prove.subjects.pyspark.places import Places
from streamproof.prove.subjects.pyspark.readers import BoundReader, Inputs
from streamproof.prove.subjects.pyspark.settings import kept_small
from streamproof.prove.subjects.pyspark.statements import without_comments, writing
from streamproof.prove.subjects.pyspark.tables import Tables
from streamproof.prove.subjects.pyspark.writers import DELTA, BoundBatchWriter, BoundWriter, Started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REMOTE = ("jdbc", "kafka", "kinesis", "mongodb", "cassandra", "bigquery", "snowflake", "redshift")
_READS = ("parquet", "json", "csv", "orc", "text", "xml")
_SETS = re.compile(r"^\s*set\s+(?P<key>spark\.[\w.]+)\s*=\s*(?P<value>[^;]*?)\s*;?\s*$", re.IGNORECASE)


def redirect(spark: "SparkSession", inputs: Inputs, started: Started, of_the_proof: Mapping[str, str]) -> list[Note]:
    """Replaces what the job reads and writes by; the list gets what a person should know of it while the job runs.

    `of_the_proof` are settings of Spark that the proof gives this one run.

    What cannot be bound raises ScenarioError where the job asks for it, before anything is touched.
    """
    from pyspark.sql import SparkSession as Session

    notes: list[Note] = []
    frame = _frame_class()
    _property(Session, "readStream", lambda self: BoundReader(self, inputs, started.places))
    _property(frame, "writeStream", lambda self: BoundWriter(self, started))
    _property(frame, "write", lambda self: BoundBatchWriter(self, started))
    builder = _Builder(spark, notes)
    _property(Session, "builder", lambda _: _Builder(spark, notes))
    conf = type(spark.conf)
    conf.set = kept_small(conf.set, notes, of_the_proof)
    Session.stop = _nothing  # the JVM is shared with the other scenarios
    Session.sql = _reading_tables(_guarded_sql(Session.sql), started.tables)
    Session.__init__ = _of_the_proof(Session.__init__, spark)
    Session.newSession = lambda self: self  # a new one would not have the proof's settings
    frame.writeTo = _refused("writeTo")
    DataFrameReader.format = _noting(DataFrameReader.format)
    DataFrameReader.load = _reading_back(_guarded_load(DataFrameReader.load, started), started.places, inputs.batch_reads, "")
    _bind_readers(DataFrameReader, started.places, inputs.batch_reads)
    DataFrameReader.table = _reading_back_table(DataFrameReader.table, started)
    Session.table = lambda self, tableName: self.read.table(tableName)
    DataFrameReader.jdbc = _refused("read.jdbc")
    context = type(spark.sparkContext)
    context.stop = context.setLogLevel = _nothing
    running = spark.sparkContext
    context.__new__ = lambda *_, **__: running  # a JVM has one
    context.__init__ = _taking_settings(builder)
    context.getOrCreate = classmethod(lambda _, conf=None: _with_settings(builder, running, conf))
    if started.delta:
        bind_delta(started)
    bind_ends()
    bind_notebook(spark)
    bind_own_files(started.identity)
    signal.signal = lambda *_: signal.SIG_DFL  # the job runs in a thread, where Python has none
    return notes


def _frame_class() -> Any:
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:  # before 4.0
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _property(owner: type, name: str, get: Any) -> None:
    setattr(owner, name, _Everywhere(get))


class _Everywhere:
    """A property of instances and of the class: `SparkSession.builder` is asked of the class."""

    def __init__(self, get: Any) -> None:
        self._get = get

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._get(instance if instance is not None else owner)


class _Builder:
    """`SparkSession.builder` of a job in a proof: the session is there; settings that a session can take up are taken up."""

    def __init__(self, spark: "SparkSession", notes: list[Note]) -> None:
        self._spark, self._notes = spark, notes
        self._wanted: dict[str, str] = {}

    def config(self, key: str | None = None, value: Any = None, *, conf: Any = None, map: Any = None) -> "_Builder":
        if key is not None:
            self._wanted[key] = str(value)
        self._wanted.update({str(name): str(given) for name, given in (map or {}).items()})
        if conf is not None:  # it also holds what this JVM was started with: only the rest is the job's own
            there = dict(SparkConf().getAll())
            self._wanted.update({key: value for key, value in conf.getAll() if there.get(key) != value})
        return self

    def appName(self, name: str) -> "_Builder":
        return self

    def master(self, master: str) -> "_Builder":
        return self

    def remote(self, url: str) -> "_Builder":
        raise ScenarioError(
            "The job connects to Spark Connect.", required="A proof runs classic Spark.", remedy="Take the session as an argument."
        )

    def enableHiveSupport(self) -> "_Builder":
        return self

    def getOrCreate(self) -> "SparkSession":
        for key, value in self._wanted.items():
            if key.startswith(("spark.sql.", "spark.jars")) and self._spark.conf.get(key, None) != value:
                try:
                    self._spark.conf.set(key, value)
                except AnalysisException:
                    said = (
                        f"The job asks for {key} = {value}; a running Spark does not take it up, so the proof ran without. "
                        f"Spark starts with it by --conf {key}={value}"
                    )
                    self._notes.append(Note(NoteCode.SETTING_LEFT_OUT, said))
        return self._spark

    create = getOrCreate


def _noting(real: Any) -> Any:
    def noting(self: DataFrameReader, source: str) -> DataFrameReader:
        self._streamproof_format = source.lower()
        found: DataFrameReader = real(self, source)
        return found

    return noting


def _guarded_load(real: Any, started: Started) -> Any:
    def load(self: DataFrameReader, path: Any = None, format: str | None = None, schema: Any = None, **options: Any) -> Any:
        source = str(format or getattr(self, "_streamproof_format", "")).lower()
        if source in _REMOTE:
            raise _not_bound(f'read.format("{source}")')
        if source == DELTA and path is not None:
            path = started.table_at(path) or path
        return real(self, path, format, schema, **options)

    return load


def _reading_back(real: Any, places: Places, inputs: BatchReads, source: str) -> Any:
    """A method of a batch reader that finds what the job has written, where it lies in the scenario, and the events of an input."""

    def bound(place: Any, form: str) -> Any:
        if isinstance(place, list):
            return [bound(one, form) for one in place]
        if not isinstance(place, str) or not place or places.is_bound(place):
            return place
        written = places.read_back(place)
        return inputs.bound(place, form) if written == place and form in _READS else written

    def read(self: DataFrameReader, *arguments: Any, **options: Any) -> Any:
        named = options.get("format") or (arguments[1] if not source and len(arguments) > 1 else None)
        form = source or str(named or getattr(self, "_streamproof_format", "parquet")).lower()
        if "path" in options:
            options["path"] = bound(options["path"], form)
        placed = arguments if source in ("parquet", "orc") else arguments[:1]
        return real(self, *(bound(one, form) for one in placed), *arguments[len(placed) :], **options)

    return read


def _bind_readers(reader: type, places: Places, inputs: BatchReads) -> None:
    """Binds the reader's methods of one format each, those that this Spark has: `xml` came with 4.0."""
    for name in _READS:
        if hasattr(reader, name):
            setattr(reader, name, _reading_back(getattr(reader, name), places, inputs, name))


def _reading_back_table(real: Any, started: Started) -> Any:
    def table(self: DataFrameReader, tableName: str) -> Any:
        found = started.tables.frame(self._spark, tableName)
        return real(self, tableName) if found is None else found

    return table


def _of_the_proof(real: Any, spark: "SparkSession") -> Any:
    """`SparkSession(context)`, which makes a session of its own: here it is the proof's, with its settings."""

    def init(self: "SparkSession", sparkContext: Any, jsparkSession: Any = None, options: Any = None) -> None:
        real(self, sparkContext, jsparkSession or spark._jsparkSession, options or {})

    return init


def _taking_settings(builder: _Builder) -> Any:
    """`SparkContext(conf=...)`: the context is there; settings that a session can take up are taken up."""

    def init(self: Any, *arguments: Any, conf: Any = None, **_: Any) -> None:
        given = conf if conf is not None else next((one for one in arguments if hasattr(one, "getAll")), None)
        _with_settings(builder, self, given)

    return init


def _with_settings(builder: _Builder, context: Any, conf: Any) -> Any:
    if conf is not None:
        builder.config(conf=conf).getOrCreate()
    return context


def _guarded_sql(real: Any) -> Any:
    def sql(self: "SparkSession", sqlQuery: str, *arguments: Any, **options: Any) -> Any:
        writes = writing(sqlQuery)
        if writes is not None:
            raise _not_bound(f"sql({writes} ...)")
        asked = _SETS.match(without_comments(sqlQuery))
        if asked is not None:
            self.conf.set(asked["key"], asked["value"])
            return real(self, f"SET {asked['key']}")
        return real(self, sqlQuery, *arguments, **options)

    return sql


def _reading_tables(real: Any, tables: Tables) -> Any:
    def sql(self: "SparkSession", sqlQuery: str, *arguments: Any, **options: Any) -> Any:
        return real(self, tables.named_in(self, sqlQuery), *arguments, **options)

    return sql


def _nothing(*_: Any, **__: Any) -> None:
    """What a job may ask for and a proof does not do."""


def _refused(what: str) -> Any:
    def refused(*_: Any, **__: Any) -> Any:
        raise _not_bound(what)

    return refused


def _not_bound(what: str) -> ScenarioError:
    return ScenarioError(
        f"The job calls {what}, which a proof cannot bind: it would touch the real place.",
        required="A proof touches nothing real. It binds streams, files, tables and topics that the job reads and writes by DataFrames.",
        remedy="Make the place an argument of the job (--set), or give a table as a file (--table NAME=FILE).",
    )
