"""Declared state of a key: each row of it changes the state and gives rows; timers do so when the watermark is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.core.sides import LATE, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.emissions import Emission
from streamproof.stream.keyed.declared import BEFORE, EACH, TIMER, place_of
from streamproof.stream.keyed.rules import Rules, require_free, rules_of
from streamproof.stream.keyed.types import problems
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.looked_up import Use
from streamproof.stream.names import NUMBER, PLACE, RECORDS, TRACE, quoted, visible
from streamproof.stream.operators.operator import Exercise, Kept, OneInput, Operator, RowWise, typed
from streamproof.stream.operators.ordering import comparable, require_order
from streamproof.stream.windows.window import delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from streamproof.stream.doors import Doors
    from streamproof.stream.node import Node

ABSORBED = Side("absorbed", if_returned=True)
TAGGED = Side("tagged", if_returned=True)
_ASIDE = {ABSORBED: (-1, "it changed the state of its key"), TAGGED: (-2, "it is in rows of other outputs")}
"""In place of the number of an output, see `Keyed` in Java; and why a record is there."""
_BYTES, _MADE = "_row", "_made_row"
_TAG, _OVERFLOW = "tag", "overflow"


class AsTheyCome(Emission):
    """Rows leave in the batch that makes them, and none changes again."""

    name: ClassVar[str] = "as they come"
    revised: ClassVar[bool] = False

    def gives(self, lateness: timedelta, doors: "Doors") -> "Column":
        from pyspark.sql import functions as F

        return F.lit(True)

    def emitted_up_to(self, watermark_us: int, lateness_us: int) -> int | None:
        return None


@dataclass(frozen=True)
class RequireKey(RowWise):
    """Whose state a row changes must be known: a row without a key leaves before there is any state."""

    rejects: ClassVar[bool] = True

    key: tuple[str, ...]

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        from streamproof.stream.problems import require_columns

        require_columns(rows, self.key, "keyed()")
        reasons = [F.when(F.col(quoted(name)).isNull(), F.lit(f"key {name} (is null)")) for name in self.key]
        return doors.reject(rows, F.coalesce(*reasons))

    def is_same(self, other: Operator) -> bool:
        return self == other  # made anew each time it is asked for


@dataclass(frozen=True)
class Keyed(OneInput):
    """State of a key that is declared in SQL. Spark's own processor is Java's (`Keyed` in `jvm/`); it runs what Spark has compiled."""

    name: ClassVar[str] = "keyed"
    call: ClassVar[str] = "keyed()"

    rules: Rules

    @property
    def sides(self) -> Sequence[Side]:
        overflowing = (Side(_OVERFLOW, name, if_returned=True) for name in self.rules.bounded)
        tagged = [Side(_TAG, name, if_returned=True) for name in self.rules.tags]
        return (LATE, ABSORBED, *([TAGGED] if tagged else []), *tagged, *overflowing)

    @property
    def uses(self) -> Sequence[Use]:
        begins = self.rules.initial
        if begins is None:
            return ()
        at = () if begins.at is None else (begins.at,)
        return (Use(begins.table, self.rules.key, (*self.rules.fields, *at), call=f'keyed(initial=sp.initial("{begins.table}"))'),)

    @property
    def emission(self) -> Emission:
        return AsTheyCome()

    @property
    def for_ever(self) -> str:
        return f"what it keeps of each {', '.join(self.rules.key)}" if self.rules.ttl is None else ""

    @property
    def grouped_by(self) -> Sequence[str]:
        return self.rules.key

    def requires(self) -> Sequence[RowWise]:
        return (RequireKey(self.rules.key),)

    def counted(self, *, rows: int, records: int) -> dict[str, int]:
        """A record that is in several rows counts once, and rows that a timer gives are of no record that is counted."""
        return {"emitted": records}

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: the watermark decides what a timer has seen (R10)."""
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time))

    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        from pyspark.sql import functions as F

        from streamproof._jvm import empty_rows, keyed_rows
        from streamproof.stream.keyed.beginning import state_from
        from streamproof.stream.keyed.compiled import Compiled

        plain = _plain(rows)
        compiled = Compiled(self.rules, empty_rows(rows.sparkSession, plain))
        trace = F.col(TRACE) if TRACE in rows.columns else F.lit(None).cast("string")
        by = self.rules.order_by
        if by is not None:
            require_order(rows, "keyed", by)
        order = F.lit(None).cast("bigint") if by is None else comparable(rows, by)
        coming = rows.select(*map(quoted, plain.names), order.alias(NUMBER), _hash(plain).alias(PLACE), trace.alias(TRACE))
        begins = None if self.rules.initial is None else state_from(doors.table(self.rules.initial.table), compiled)
        forgets, traced = bool(delay_of(rows, event_time)), TRACE in rows.columns
        given = keyed_rows(coming, compiled, event_time, begins, forgets=forgets, traced=traced)
        for side, (number, why) in _ASIDE.items():
            if side in self.sides:
                given = doors.divert(given, side, F.col(PLACE) == number, F.struct(TRACE), F.lit(why))
        names = [F.col(TRACE)] if traced else []
        for number, side in self._outputs().items():
            made, shown = _unpacked(given, compiled.rows_of(number), number)
            given = doors.divert(made, side, F.col(PLACE) == number, F.struct(*names, *shown), F.lit(self._why(side))).drop(_MADE)
        found, shown = _unpacked(given, compiled.rows_of(0), 0)
        return Kept(found.select(RECORDS, *names, *shown), event_time)

    def _outputs(self) -> Mapping[int, Side]:
        """The side outputs by the numbers that Java gives them."""
        return dict(enumerate((side for side in self.sides if side.kind in (_TAG, _OVERFLOW)), start=1))

    def _why(self, side: Side) -> str:
        return "it was emitted there" if side.kind == _TAG else f"the field {side.name} is full"

    def refuses(self, method: str) -> JobDefinitionError | None:
        return JobDefinitionError(
            f"{method} stands after keyed().",
            required="A record can give several rows there, or a timer gives some: what stands after it could not be accounted for.",
            remedy="Return it as an output. Put transform() before keyed(); read the output by another job for the rest.",
        )

    def exercises(self) -> Sequence[Exercise]:
        if any(one.always for one in self.rules.on_row.emits if one.to is None):
            return ()
        missing = "No record of {query} only changed the state of its key: each gave a row."
        return (
            Exercise(ABSORBED.kind, missing, "Make some that do not fulfil what emit(when=...) asks: [source.{source}.columns]"),
        )

    def mentioned(self) -> Sequence[Mention]:
        order = () if self.rules.order_by is None else (Mention("keyed(order_by=...)", (self.rules.order_by,), exact=True),)
        return (Mention("keyed()", self.rules.key, exact=True), *order)

    def columns(self, known: Known, look: Look) -> Known:
        look.mentions(self.mentioned(), known)
        key, fields = Known(self.rules.key), tuple(self.rules.state)
        for where, step in self.rules.steps.items():
            there = known if where == "on_row" else key
            besides = (*fields, BEFORE, EACH, *([] if where == "on_row" else [TIMER]))
            for part, text in step.texts():
                look.text(f"{part} in {where} of keyed()", text, there, besides=besides)
        try:
            require_free(self.rules.state, known.names)
        except JobDefinitionError as clash:
            look.wrong(clash)
        for problem in problems(self.rules, known.types):
            look.wrong(problem)
        return Known(next(tuple(one.columns) for step in self.rules.steps.values() for one in step.emits if one.to is None))

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        """What a field is, and what becomes of it; what rows are given is not in state."""
        from streamproof._jvm import empty_rows
        from streamproof.stream.keyed.compiled import Compiled

        types = Compiled(self.rules, empty_rows(rows.sparkSession, _plain(rows))).state
        parts = {
            "keyed by": typed(rows, self.rules.key),
            "keyed ttl": self.rules.kept,
            "fields of keyed": ", ".join(self.rules.state),
        }
        if self.rules.initial is not None:
            parts["keyed begins with"] = f"table {self.rules.initial.table}"
        for name, field in self.rules.state.items():
            parts[f"field {name}"] = f"{field.said} {types[name].dataType.simpleString()}"
        for where, step in self.rules.steps.items():
            for place, text in step.set.items():
                parts[f"{where} sets {place_of(place)[0]}{place.removeprefix(place_of(place)[0])}"] = text
        return parts


def keyed_by(
    key: tuple[Any, ...], state: Any, on_row: Any, on_timer: Any, ttl: Any, order_by: Any = None, initial: Any = None
) -> Keyed:
    """JobDefinitionError unless the arguments of keyed() make sense."""
    return Keyed(rules_of(key, state, on_row, on_timer, ttl, order_by, initial))


def side_of(node: "Node", kind: str, name: str) -> Side:
    """A side output of keyed(); JobDefinitionError where the stream has none of that name."""
    found = next((side for side in node.operator.sides if (side.kind, side.name) == (kind, name)), None)
    if found is None:
        gives = {_TAG: "An emit() of keyed() gives it rows by to=.", _OVERFLOW: "It is a field of keyed() with a bound."}
        raise JobDefinitionError(f'The stream has no {kind} output "{name}".', required=gives[kind])
    return found


def _plain(rows: "DataFrame") -> "StructType":
    """The columns that expressions see, without metadata such as the delay of a watermark: they would hand it on."""
    from pyspark.sql.types import StructField, StructType

    names = visible(rows.columns)
    return StructType([StructField(one.name, one.dataType, one.nullable) for one in rows.schema.fields if one.name in names])


def _hash(rows: "StructType") -> "Column":
    """By what rows of a key with one event time are put in order (bigint): a hash of all columns."""
    from pyspark.sql import functions as F

    parts = [
        F.to_json(F.struct(quoted(one.name))) if "map<" in one.dataType.simpleString() else F.col(quoted(one.name)) for one in rows
    ]
    return F.xxhash64(*[part for one in parts for part in (F.lit(0), one)])


def _unpacked(rows: "DataFrame", columns: "StructType", number: int) -> "tuple[DataFrame, list[Column]]":
    """The rows with those of one output as a struct, which is null in those of others; and the columns in it."""
    from pyspark.sql import functions as F

    from streamproof._jvm import unpacked

    found = rows.withColumn(_MADE, unpacked(rows.sparkSession, F.col(PLACE), F.col(_BYTES), columns, number))
    return found, [F.col(f"{_MADE}.{quoted(name)}").alias(name) for name in columns.names]
