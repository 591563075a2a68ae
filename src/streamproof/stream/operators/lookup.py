"""Looking rows up in a table: each row goes on with the columns of the table's row of its key; without one it leaves, or goes on with nulls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.config.problems import did_you_mean, one_of
from streamproof.core.sides import UNMATCHED, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.looked_up import TableRows, Use
from streamproof.stream.names import FOUND, LOOKED_UP, TRACE, quoted, visible
from streamproof.stream.operators.operator import Exercise, Operator, RowWise

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

INNER, LEFT = "inner", "left"
_KINDS = (INNER, LEFT)


@dataclass(frozen=True)
class Lookup(RowWise):
    """Joins a row with the row of its key in the version of a table that its batch uses.

    Parameters
    ----------
    on
        By column of the stream the column of the table that it equals.
    adds
        The columns of the table that are added; None for all but the key and the validity.
    how
        "inner": a row without one leaves by the unmatched output; "left": it goes on with nulls.
    as_of
        The column that says at which instant the table's row holds; None where its rows hold at all times.
    """

    table: str
    on: Mapping[str, str]
    adds: tuple[str, ...] | None = None
    how: str = INNER
    as_of: str | None = None

    @property
    def sides(self) -> Sequence[Side]:
        return (UNMATCHED,) if self.how == INNER else ()

    @property
    def uses(self) -> Sequence[Use]:
        return (Use(self.table, tuple(self.on.values()), self.adds, at_instant=self.as_of is not None, call=self.call),)

    @property
    def call(self) -> str:
        """How errors call it."""
        return f'lookup("{self.table}")'

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        joined = self._joined(rows, doors.table(self.table))
        if self.how == LEFT:
            return joined.drop(FOUND)
        shown = [name for name in rows.columns if name == TRACE or name in visible(rows.columns)]
        reason = F.lit(f"no row in {self.table}")
        payload = F.struct(*map(quoted, shown), reason.alias("reason"))
        return doors.divert(joined, UNMATCHED, F.col(FOUND).isNull(), payload, reason).drop(FOUND)

    def _joined(self, rows: "DataFrame", table: TableRows) -> "DataFrame":
        """The rows with the columns of the table, and whether there was a row of it."""
        from pyspark.sql import functions as F

        added = self._added(rows, table)
        key = [F.col(quoted(name)).alias(_hidden(number)) for number, name in enumerate(self.on.values())]
        bounds = self._bounds(rows, table)
        instants = [F.col(quoted(name)).alias(hidden) for hidden, name in bounds.items()]
        there = table.rows.select(*key, *instants, *map(quoted, added), F.lit(True).alias(FOUND))
        holds = F.lit(True)
        for number, name in enumerate(self.on):
            holds = holds & (F.col(quoted(name)) == F.col(quoted(_hidden(number))))
        joined = rows.join(there, holds & self._at(bounds), "left")
        return joined.select(*map(quoted, (*rows.columns, *added, FOUND)))

    def _at(self, bounds: Mapping[str, str]) -> "Column":
        """Whether a row of the table holds at the instant of a row."""
        from pyspark.sql import functions as F

        holds = F.lit(True)
        if self.as_of is not None:
            instant = F.col(quoted(self.as_of))
            holds = F.col(quoted(_FROM)) <= instant
            if _TO in bounds:
                holds = holds & (F.col(quoted(_TO)).isNull() | (instant < F.col(quoted(_TO))))
        return holds

    def _bounds(self, rows: "DataFrame", table: TableRows) -> dict[str, str]:
        """The columns of the table between which a row holds, by the names that they have in the plan.

        Raises
        ------
        JobDefinitionError
            If the lookup asks for an instant and the table has none, or the other way round, or the column of the stream is no TIMESTAMP.
        """
        if self.as_of is None and table.valid_from is None:
            return {}
        if self.as_of is None:
            raise JobDefinitionError(
                f"{self.call} says no as_of, and [table.{self.table}] has valid_from.",
                required="Its rows hold from one instant to another: a key can have several.",
                remedy=f'Say at which instant: {self.call[:-1]}, ..., as_of="..."), the column of the event time for instance.',
            )
        if table.valid_from is None:
            raise JobDefinitionError(
                f'{self.call} says as_of="{self.as_of}", and [table.{self.table}] has no valid_from.',
                required="The table says which column has the instant from which a row holds.",
                remedy=f'Add to streamproof.toml, [table.{self.table}]: valid_from = "...", and valid_to = "..." where it has one.',
            )
        bounds = {_FROM: table.valid_from} | ({_TO: table.valid_to} if table.valid_to else {})
        where = f'{self.call} as_of="{self.as_of}"'
        _require(where, rows, self.as_of)
        type_ = rows.schema[self.as_of].dataType.simpleString()
        if type_ != "timestamp":
            raise JobDefinitionError(
                f"{where}: the column {self.as_of} is {type_}.",
                required="An instant is a TIMESTAMP: a text and a number say no zone or unit.",
                remedy="Make one in a transform() before the lookup.",
            )
        return bounds

    def _added(self, rows: "DataFrame", table: TableRows) -> list[str]:
        """The columns of the table that a row gets.

        Raises
        ------
        JobDefinitionError
            If a column is not there, the two sides of a key have other types or cannot be compared, or a column would be there twice.
        """
        from streamproof.stream.problems import require_free

        for mine, theirs in self.on.items():
            _require(f"{self.call} on", rows, mine)
            _require(f"{self.call} on: the table", table.rows, theirs)
            types = [side.schema[name].dataType.simpleString() for side, name in ((rows, mine), (table.rows, theirs))]
            if types[0] != types[1] or "map<" in types[0]:
                raise JobDefinitionError(
                    f"{self.call}: the column {mine} of the stream is {types[0]}, {theirs} of the table is {types[1]}.",
                    required="Both sides of a key have the same type, which can be compared; else a row would be looked up as what it is not.",
                    remedy=f'Cast it in a transform() before the lookup: rows.withColumn("{mine}", rows["{mine}"].cast("{types[1]}")).'
                    if "map<" not in types[0]
                    else "Look up by columns of the map: F.col(...)['name'] in a transform() before.",
                )
        hidden = {*self.on.values(), *(name for name in (table.valid_from, table.valid_to) if name)}
        added = list(self.adds) if self.adds is not None else [name for name in table.rows.columns if name not in hidden]
        for name in added:
            _require(f"{self.call} columns: the table", table.rows, name)
        require_free(added, f"[table.{self.table}]")
        lower = {name.lower() for name in rows.columns}
        twice = [name for name in added if name.lower() in lower]
        if twice:
            raise JobDefinitionError(
                f"{self.call} adds the column {twice[0]}, which the stream has already.",
                required="Each column is there once.",
                remedy="Name the columns that are to be added, columns=(...), or rename that of the stream in a transform() before the lookup.",
            )
        return added

    def is_same(self, other: Operator) -> bool:
        """No: two queries can use two versions of the table in batches that read one record, and a requirement that stands after can differ."""
        return False

    def exercises(self) -> Sequence[Exercise]:
        if self.how == LEFT:
            return ()
        missing = f"{{query}} looks rows up in {self.table}, and each had one there."
        return (Exercise(UNMATCHED.kind, missing, f"Leave a key of [source.{{source}}] out of [table.{self.table}]"),)

    def mentioned(self) -> Sequence[Mention]:
        times = () if self.as_of is None else (self.as_of,)
        return (Mention(self.call, (*self.on, *times), exact=True),)

    def columns(self, known: Known, look: Look) -> Known:
        """Those of the stream and of the table; which the table has is not known without Spark, where none are named."""
        look.mentions(self.mentioned(), known)
        if self.adds is None:
            return Known(known.names, known.further or f"{self.call} adds those of the table")
        return known.beside(Known(self.adds))


def lookup_of(table: Any, on: Any, columns: Any, how: Any, as_of: Any) -> Lookup:
    """JobDefinitionError unless the arguments of lookup() make sense."""
    if not isinstance(table, str) or not table.isidentifier():
        raise JobDefinitionError(
            f"lookup() got {_said(table)} for a table.",
            required="It takes the name of a [table.NAME] of the configuration.",
            remedy='For example: lookup("prices", on="sku").',
        )
    if how not in _KINDS:
        raise JobDefinitionError(
            f'lookup("{table}", how={how!r}): there is no such kind.{did_you_mean(str(how), _KINDS)}',
            required=f"It is {one_of(_KINDS)}: without a row in the table a row leaves by .unmatched, or goes on with nulls.",
        )
    pairs = _pairs(table, on)
    added = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns) if _is_list(columns) else None
    if columns is not None and (added is None or not all(isinstance(name, str) for name in added)):
        raise JobDefinitionError(
            f'lookup("{table}", columns=...) got a {type(columns).__name__}.',
            required='It takes names of columns of the table, such as ("price", "currency").',
        )
    if added is not None and (twice := [name for name in added if added.count(name) > 1]):
        raise JobDefinitionError(f'lookup("{table}", columns=...) names {twice[0]} twice.', required="Each column is there once.")
    if as_of is not None and not isinstance(as_of, str):
        raise JobDefinitionError(
            f'lookup("{table}", as_of=...) got a {type(as_of).__name__}.',
            required="It takes the name of a column of the stream, of type TIMESTAMP.",
        )
    return Lookup(table, pairs, added, how, as_of)


def _pairs(table: str, on: Any) -> dict[str, str]:
    """By column of the stream that of the table."""
    pairs = (
        {on: on}
        if isinstance(on, str)
        else dict(on)
        if isinstance(on, Mapping)
        else {name: name for name in on}
        if _is_list(on)
        else {}
    )
    if not pairs or not all(isinstance(name, str) for pair in pairs.items() for name in pair):
        raise JobDefinitionError(
            f'lookup("{table}", on=...) got {_said(on)}.',
            required="It needs the columns of the key.",
            remedy='For example: on="sku"; on=("country", "sku"); or on={"product": "sku"} where the table calls it otherwise.',
        )
    return pairs


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _said(value: Any) -> str:
    return repr(value) if isinstance(value, str | list | tuple | dict) else f"a {type(value).__name__}"


def _hidden(number: int) -> str:
    """The name that a column of the table's key has in the plan, until the rows are joined."""
    return f"{LOOKED_UP}{number}"


_FROM, _TO = f"{LOOKED_UP}from", f"{LOOKED_UP}to"


def _require(where: str, rows: "DataFrame", name: str) -> None:
    from streamproof.stream.problems import require_columns

    require_columns(rows, [name], where)
