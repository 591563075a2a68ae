"""The state of an operator as a table with the columns that a person expects, read by Spark's state reader; one reader for each operator.

`state.py` reads the state of our own operators for accounts and proofs, in columns that programs compare. Here any job's state is shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import LongType, NullType, StructField, StructType

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.moved import moved
from streamproof.checkpoint.state import reachable
from streamproof.checkpoint.stores import DEFAULT, Operator

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

PARTITION = "partition"
TIMERS = "timers"
_WINDOW, _WINDOW_END, _PIECE = "window", "_window_end", "_piece"
_MATCHED = "matched"
_SIDES = ("left", "right")
_ROWS = "{side}-keyWithIndexToValue"
_RECORDS = "records"
_AGGREGATES, _AGGREGATE, _FIELDS, _FIELD = "order of aggregates", "aggregate ", "fields of keyed", "field "
_TIMED = "timeoutTimestamp"
_COUNTS = ("count(*)", "count(1)")


@dataclass(frozen=True)
class Read:
    """What is read: a checkpoint that Spark can read, one operator of it, and the batch after which (None: the newest that is committed).

    Parameters
    ----------
    made_by
        Of a job of ours, what its state is made by; else empty.
    traced
        Whether a proof has written it: each window of a job of ours has the sum of trace hashes then, which is left out.
    """

    spark: "SparkSession"
    path: str
    operator: Operator
    batch: int | None
    made_by: Mapping[str, str]
    traced: bool = False

    def load(self, **options: str) -> "DataFrame":
        """The rows of Spark's state reader: `key`, `value` or what it calls it, `partition_id`."""
        asked = {"operatorId": str(self.operator.number), **options}
        if self.batch is not None:
            asked["batchId"] = str(self.batch)
        return self.spark.read.format("statestore").options(**asked).load(self.path)


def variables_of(operator: Operator) -> list[str]:
    """What a state of several parts can be asked for one by one: the variables of `transformWithState`, and its timers."""
    if not operator.variables:
        return []
    timed = [TIMERS] if operator.time_mode not in ("", "None") else []
    return [*sorted(name for name in operator.variables if not name.startswith("$")), *timed]


def state_table(read: Read, variable: str | None = None) -> "DataFrame":
    """The state of an operator as a table; its last column is `partition` (int), times are timestamps.

    Parameters
    ----------
    variable
        One of `variables_of`, with its own columns; without it all of them are rows with `variable`, `key` and `value` (JSON).
    """
    operator = read.operator
    if operator.variables:
        return _of_variables(read, variables_of(operator)) if variable is None else _variable(read, variable)
    return _TABLES.get(operator.name, _plain)(read)


@contextmanager
def readable(found: Inspection) -> Iterator[str]:
    """A path by which Spark's state reader reads a checkpoint wherever it lies: links where the path has a space, or where it was moved."""
    with TemporaryDirectory(prefix="streamproof-") as folder:
        path = moved(found.path.absolute(), found.operators, Path(folder) / "checkpoint")
        with reachable(str(path)) as shown:
            yield shown


def _aggregate(read: Read) -> "DataFrame":
    rows = read.load()
    names, columns = _fields(rows, "value")
    return _shown(rows, _key(rows), _of_aggregates(read, names, columns))


def _sessions(read: Read) -> "DataFrame":
    """Spark's key is that of the group and the start; its value the session, the key once more, and the aggregates."""
    rows = read.load()
    group = _key(rows)[:-1]
    names, columns = _fields(rows, "value")
    skipped = len(_types(rows, "key"))  # the session, and the group once more
    session = [("session_start", columns[0]["start"]), ("session_end", columns[0]["end"])]
    values = _of_aggregates(read, names[skipped:], columns[skipped:])
    return _shown(rows, [one for one in group if one[0] != _PIECE], [*session, *values])


def _keys(read: Read) -> "DataFrame":
    rows = read.load()
    names, columns = _fields(rows, "value")
    expires = [("expires_at", F.timestamp_micros(columns[0]))] if names == ["expiresAtMicros"] else []
    return _shown(rows, _key(rows), expires)


def _grouped(read: Read) -> "DataFrame":
    """State of a key that a function keeps: its fields, and when Spark ends it where it has a timeout."""
    rows = read.load()
    names, columns = _fields(rows, "value")
    shown: list[tuple[str, Column]] = []
    ours = _FIELDS in read.made_by
    for name, column, field in zip(names, columns, _types(rows, "value"), strict=True):
        if name == _TIMED:
            shown.append(("expires_at", F.timestamp_millis(F.when(column > 0, column + 1 if read.made_by else column))))
        elif ours and isinstance(field, StructType) and field.fieldNames()[:2] == ["value", "latest"]:
            shown += _declared(read, column)
        elif isinstance(field, StructType) and field.fieldNames() == ["order", "time", "hash"] and read.made_by:
            shown += [("newest_order", column["order"]), ("newest_at", F.timestamp_micros(column["time"]))]
        elif isinstance(field, StructType):
            shown += [(inner, column[inner]) for inner in field.fieldNames()]
        else:
            shown.append((name, column))
    return _shown(rows, _key(rows), shown)


def _declared(read: Read, kept: "Column") -> "list[tuple[str, Column]]":
    """The fields of `keyed()`, which are kept as the bytes of one row, and the latest event time of the key."""
    from streamproof._jvm import unpacked

    names = read.made_by[_FIELDS].split(", ")
    types = [read.made_by[f"{_FIELD}{name}"].rpartition(" ")[2] for name in names]
    fields = [_parsed(f"f {type_}").fields[0].dataType for type_ in types]
    row = unpacked(
        read.spark,
        F.lit(1),
        kept["value"],
        StructType([StructField(name, type_) for name, type_ in zip(names, fields, strict=True)]),
        1,
    )
    return [*((name, row[name]) for name in names), ("latest_at", F.timestamp_micros(kept["latest"]))]


def _parsed(columns: str) -> StructType:
    found: Any = StructType.fromDDL(columns)
    return StructType(list(found.fields))


def _join(read: Read) -> "DataFrame":
    """The rows of both sides that wait for partners; `matched` says whether a row has met one, where Spark keeps that."""
    stores = {store.name for store in read.operator.stores}
    sides = []
    for side in _SIDES:
        store = _ROWS.format(side=side)
        # What Spark's `joinSide` reads; with that 4.0 does not find the files of format 2, and `matched` is left out.
        rows = read.load(storeName=store) if store in stores else read.load(joinSide=side)
        names, columns = _fields(rows, "value")
        shown = {name.removeprefix(f"_{side}_"): column for name, column in zip(names, columns, strict=True)}
        known = {name: column for name, column in shown.items() if not (read.made_by and name.startswith("_"))}
        matched = known.pop(_MATCHED, F.lit(None).cast("boolean")) if names[-1:] == [_MATCHED] else F.lit(None).cast("boolean")
        sides.append((rows, matched, known))
    types = [{name: rows.select(column).schema.fields[0].dataType for name, column in known.items()} for rows, _, known in sides]
    apart = {name for name in types[0].keys() & types[1].keys() if types[0][name] != types[1][name]}
    tables = [
        _shown(
            rows,
            [("side", F.lit(side)), (_MATCHED, matched)],
            [(f"{side}_{name}" if name in apart else name, column) for name, column in known.items()],
        )
        for side, (rows, matched, known) in zip(_SIDES, sides, strict=True)
    ]
    both = tables[0].unionByName(tables[1], allowMissingColumns=True)
    return both.select(*(_quoted(name) for name in both.columns if name != PARTITION), PARTITION)


def _plain(read: Read) -> "DataFrame":
    """An operator that is not known: key and value as Spark's schema has them, of each of its stores."""
    stores = list(dict.fromkeys(store.name for store in read.operator.stores)) or [DEFAULT]
    if len(stores) == 1:
        rows = read.load() if stores[0] == DEFAULT else read.load(storeName=stores[0])
        return _shown(rows, _key(rows), [*zip(*_fields(rows, "value"), strict=True)])
    return _as_texts({store: read.load(storeName=store) for store in stores}, "store")


def _of_variables(read: Read, names: Sequence[str]) -> "DataFrame":
    return _as_texts({name: _loaded(read, name) for name in names}, "variable")


def _variable(read: Read, name: str) -> "DataFrame":
    rows = _loaded(read, name)
    shown: list[tuple[str, Column]] = []
    for field in rows.schema.fields:
        if field.name in ("key", "partition_id"):
            continue
        if field.name == "expiration_timestamp_ms":
            shown.append(("expires_at", F.timestamp_millis(F.col(field.name))))
        elif isinstance(field.dataType, StructType):
            shown += zip(*_fields(rows, field.name), strict=True)
        else:
            shown.append((field.name, F.col(field.name)))
    return _shown(rows, _key(rows), shown)


def _loaded(read: Read, name: str) -> "DataFrame":
    return read.load(readRegisteredTimers="true") if name == TIMERS else read.load(stateVarName=name)


def _as_texts(parts: "Mapping[str, DataFrame]", called: str) -> "DataFrame":
    """Rows of different columns in one table: which part, the key, and the rest, as JSON."""
    found: DataFrame | None = None
    for name, rows in parts.items():
        rest = [column for column in rows.columns if column not in ("key", "partition_id")]
        value = F.to_json(rest[0] if rest == ["value"] else F.struct(*map(_quoted, rest)), _WHOLE)
        part = rows.select(F.lit(name).alias(called), F.to_json("key", _WHOLE).alias("key"), value.alias("value"), _partition(rows))
        found = part if found is None else found.unionAll(part)
    assert found is not None, "an operator has a part"
    return found


_WHOLE = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"}


def _of_aggregates(read: Read, names: Sequence[str], columns: "Sequence[Column]") -> "list[tuple[str, Column]]":
    """The aggregates by their names: Spark calls a sum "sum". Of a job of ours the number of records comes first, and its own names are known.

    Equal aggregates have one place, and to count all rows is to count records. Where an aggregate has several buffers they keep Spark's names.
    """
    if not read.made_by or not names:
        return [*zip(names, columns, strict=True)]
    if read.traced:
        names, columns = [*names[:1], *names[2:]], [*columns[:1], *columns[2:]]
    places, shown = dict.fromkeys(_COUNTS, 0), [(_RECORDS, columns[0])]
    for name in filter(None, read.made_by.get(_AGGREGATES, "").split(", ")):
        place = places.setdefault(read.made_by.get(f"{_AGGREGATE}{name}", name).rpartition(" ")[0], len({*places.values()}))
        if place >= len(columns):
            break
        shown.append((name, columns[place]))
    else:
        if len({*places.values()}) == len(columns):
            return shown
    return [(_RECORDS, columns[0]), *zip(names[1:], columns[1:], strict=True)]


def _key(rows: "DataFrame") -> "list[tuple[str, Column]]":
    """The columns of the key; a window as its start and its end."""
    found: list[tuple[str, Column]] = []
    for name, column, type_ in zip(*_fields(rows, "key"), _types(rows, "key"), strict=True):
        if name == _WINDOW and isinstance(type_, StructType) and type_.fieldNames() == ["start", "end"]:
            found += [("window_start", column["start"]), ("window_end", column["end"])]
        else:
            found.append(("window_end" if name == _WINDOW_END else name, column))
    return found


def _types(rows: "DataFrame", name: str) -> list[Any]:
    struct: Any = rows.schema[name].dataType
    return [field.dataType for field in struct.fields if not isinstance(field.dataType, NullType)]


def _fields(rows: "DataFrame", name: str) -> "tuple[list[str], list[Column]]":
    """The fields of a struct by their places, since Spark may name two alike; those without a type, which stand for nothing, are left out."""
    struct: Any = rows.schema[name].dataType
    numbered = StructType(
        [
            StructField(f"f{number}", LongType() if isinstance(field.dataType, NullType) else field.dataType)
            for number, field in enumerate(struct.fields)
        ]
    )
    whole = F.col(name).cast(numbered)
    there = [(number, field) for number, field in enumerate(struct.fields) if not isinstance(field.dataType, NullType)]
    return [field.name for _, field in there], [whole[f"f{number}"] for number, _ in there]


def _shown(rows: "DataFrame", *columns: "Iterable[tuple[str, Column]]") -> "DataFrame":
    """A table of named columns, with a number behind a name that was there before, and the partition as its last."""
    seen: dict[str, int] = {PARTITION: 1}
    named = []
    for name, column in (one for part in columns for one in part):
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
        named.append(column.alias(name if seen[name.lower()] == 1 else f"{name}_{seen[name.lower()]}"))
    return rows.select(*named, _partition(rows))


def _partition(rows: "DataFrame") -> "Column":
    there = "partition_id" in rows.columns
    return (F.col("partition_id") if there else F.lit(None).cast("int")).alias(PARTITION)


def _quoted(name: str) -> "Column":
    doubled = name.replace("`", "``")
    return F.col(f"`{doubled}`")


_TABLES: "Mapping[str, Callable[[Read], DataFrame]]" = {
    "stateStoreSave": _aggregate,
    "sessionWindowStateStoreSaveExec": _sessions,
    "dedupe": _keys,
    "dedupeWithinWatermark": _keys,
    "symmetricHashJoin": _join,
    "flatMapGroupsWithState": _grouped,
    "applyInPandasWithState": _grouped,
    "globalLimit": _plain,
}
"""By the name that Spark has for an operator; those with variables are read by them."""
