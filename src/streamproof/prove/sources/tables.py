"""Tables in a proof: what the scenario says that they hold, one state after another, in folders that the job is bound to.

A table goes on with the batches, and with restarts: a start reads it as it will be for the batch after the newest that was planned. So a batch
that a crash has interrupted is done again while the table holds something else already, and never again what it held before.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import PrivateAttr

from streamproof.config import FilesTable, TableConfig
from streamproof.config.columns import UnreadableSchema, parts_of, typed_columns_of
from streamproof.config.problems import did_you_mean
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.fitting import require_tables
from streamproof.prove.scenario.schedule import table_of, type_of_column

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.prove.record.binding import ScenarioBinding
    from streamproof.prove.scenario.scenario import Scenario, TableScenario

_FILE = "all.parquet"
_PREFIX = "table."
"""What its name in a binding begins with: a source may be called alike."""
_NESTED = re.compile(r"\s*(array|map|struct)\s*<(.*)>\s*", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*[:\s]\s*(.*)", re.DOTALL)
_FOLDER = re.compile(r"\d{6}")


class ChangingTable(FilesTable):
    """A folder of Parquet that is another one from some batch on.

    Parameters
    ----------
    states
        From which batch on which folder; the first from batch 0 on.
    """

    states: tuple[tuple[int, str], ...]
    _newest: int = PrivateAttr(default=-1)

    def at(self, batch: int) -> Self:
        self._newest = max(self._newest, state_of(self.states, batch))
        return self.model_copy(update={"path": self.states[self._newest][1]})


@dataclass(frozen=True)
class HeldTable:
    """What a table of the scenario holds: from which batch on which rows."""

    states: Sequence[tuple[int, pa.Table]]


def state_of(states: Sequence[tuple[int, Any]], batch: int) -> int:
    """The number of the state that a table is in when a batch is planned."""
    return sum(begins <= batch for begins, _ in states) - 1


def batches_behind(states: Sequence[tuple[int, Any]], number: int, batch: int) -> int:
    """For how many batches a state is no longer the newest, up to and with a batch; 0 where it still is."""
    following = states[number + 1 : number + 2]
    return max(0, batch + 1 - following[0][0]) if following else 0


def held_tables(config: "JobConfig", scenario: "Scenario") -> dict[str, HeldTable]:
    """What the tables of a job hold.

    Raises
    ------
    ScenarioError
        If the scenario says nothing of one, something of another, or gives it values that are not of their types.
    """
    require_tables(scenario, config.table)
    found = {}
    for name, table in config.table.items():
        found[name] = _held(name, table, scenario.table[name])
    return found


def _held(name: str, table: TableConfig, plan: "TableScenario") -> HeldTable:
    ddl = plan.schema_ddl or getattr(table, "schema_ddl", None)
    if ddl is None:
        raise ScenarioError(
            f'[table.{name}] of the scenario needs the key "schema".',
            required='It is the columns, such as "sku string, price decimal(10,2)".',
        )
    try:
        columns = {column: _type(column, declared) for column, declared in typed_columns_of(ddl).items()}
    except UnreadableSchema as problem:
        raise ScenarioError(f"[table.{name}] of the scenario: schema {problem}.") from None
    states = [(0, plan.rows), *((change.batch, change.rows) for change in plan.changes)]
    numbers = [begins for begins, _ in states]
    if numbers != sorted(set(numbers)):
        raise ScenarioError(
            f"[table.{name}] of the scenario changes at the batches {numbers[1:]}.", required="Each is later than the one before."
        )
    return HeldTable([(begins, table_of([_typed(name, row, columns) for row in rows], columns)) for begins, rows in states])


def _type(name: str, declared: str) -> pa.DataType:
    """The type of a column; ScenarioError where it is not known."""
    found = _NESTED.fullmatch(declared)
    if found is None:
        return type_of_column(name, declared)
    kind, parts = found[1].lower(), parts_of(found[2])
    if kind == "array" and len(parts) == 1:
        return pa.list_(_type(name, parts[0]))
    if kind == "map" and len(parts) == 2:
        return pa.map_(*(_type(name, part) for part in parts))
    fields = [_FIELD.fullmatch(part) for part in parts]
    if kind == "struct" and all(fields):
        return pa.struct([(one[1], _type(f"{name}.{one[1]}", one[2])) for one in fields if one is not None])
    return type_of_column(name, declared)  # which says that it knows no such type


def _typed(name: str, row: Mapping[str, Any], columns: Mapping[str, pa.DataType]) -> dict[str, Any]:
    """The values of a row; instants and dates may be written as texts, and so may the keys of a map."""
    for column in row:
        if column not in columns:
            raise ScenarioError(
                f'[table.{name}] of the scenario has a row with "{column}", which is no column.{did_you_mean(column, columns)}',
                required=f"The columns are {', '.join(columns)}.",
            )
    return {column: _value(row.get(column), kind) for column, kind in columns.items()}


def _value(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_list(kind) and isinstance(value, list):
        return [_value(one, kind.value_type) for one in value]
    if pa.types.is_map(kind) and isinstance(value, Mapping):
        whole = pa.types.is_integer(kind.key_type)
        return [(int(key) if whole else _value(key, kind.key_type), _value(one, kind.item_type)) for key, one in value.items()]
    if pa.types.is_struct(kind) and isinstance(value, Mapping):
        return {field.name: _value(value.get(field.name), field.type) for field in kind}
    if pa.types.is_decimal(kind) and isinstance(value, int | float):
        return Decimal(str(value))
    if isinstance(value, str) and pa.types.is_timestamp(kind):
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if isinstance(value, str) and pa.types.is_date(kind) else value


def write_tables(tables: Mapping[str, HeldTable], folder: Path) -> dict[str, str]:
    """Writes what tables hold to folders; by the name in a binding the folder of each."""
    places = {}
    for name, table in tables.items():
        place = folder / "tables" / name
        for begins, rows in table.states:
            (place / f"{begins:06d}").mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, place / f"{begins:06d}" / _FILE, coerce_timestamps="us")
        places[f"{_PREFIX}{name}"] = str(place)
    return places


def places_of_tables(config: "JobConfig", folder: Path) -> dict[str, str]:
    """Where they lie, by the name in a binding."""
    return {f"{_PREFIX}{name}": str(folder / "tables" / name) for name in config.table}


def tables_at(binding: "ScenarioBinding", config: "JobConfig") -> dict[str, TableConfig]:
    """What the tables of a job are bound to in a scenario: one that is read again is read before every batch."""
    found: dict[str, TableConfig] = {}
    for name, table in config.table.items():
        place = Path(binding.data[f"{_PREFIX}{name}"])
        folders = sorted(each for each in place.iterdir() if _FOLDER.fullmatch(each.name)) if place.is_dir() else []
        found[name] = ChangingTable(
            connector="files",
            path=str(place),
            refresh=None if table.refresh is None else timedelta(),
            valid_from=table.valid_from,
            valid_to=table.valid_to,
            states=tuple((int(each.name), str(each)) for each in folders),
        )
    return found
