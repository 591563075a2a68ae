"""From the plan of a query to what a catalogue is told of it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from streamproof._jvm import column_origins
from streamproof.config import output_of
from streamproof.core.datasets import Dataset, of_path
from streamproof.runtime.binding.bound import BoundQuery, OutputPlace
from streamproof.runtime.watching.planned_events import Data, Origin, QueryPlanned
from streamproof.stream.graph import Plan, Read
from streamproof.stream.names import visible

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_HIDDEN = "HIDDEN"


def planned(query: BoundQuery, read: Mapping[str, Read], built: Plan, columns: Mapping[str, "StructType"]) -> QueryPlanned:
    """What the query reads and writes; `columns` are those of each output."""
    of_columns = column_origins(built.rows, {name: each.rows for name, each in read.items()})
    shown = {name: lines for name, lines in of_columns.items() if name in visible([name])}
    origins = {name: [_origin(line) for line in lines if not line.startswith(_HIDDEN)] for name, lines in shown.items()}
    hidden = {name: [line.partition(" ")[2] for line in lines if line.startswith(_HIDDEN)] for name, lines in shown.items()}
    sources = [
        Data(name, source.datasets(query.config.resolve), _types(read[name].rows.schema)) for name, source in query.sources.items()
    ]
    tables = [Data(name, [table.dataset] if table.dataset is not None else []) for name, table in query.tables.items()]
    outputs = [
        Data(
            target,
            [dataset_of(query.places[target])],
            _types(columns[output_of(target)]) if output_of(target) in columns else {},
            *((origins, hidden) if output_of(target) == query.name else ()),
        )
        for target in _each(query.targets.values())
    ]
    return QueryPlanned(query.name, [*sources, *tables], outputs)


def dataset_of(place: OutputPlace) -> Dataset:
    """What a catalogue calls the place of an output."""
    return of_path(place.path) if place.service is None else place.service.dataset


def _origin(line: str) -> Origin:
    by, source, column = line.split(" ", 2)
    return Origin(source, column, by)


def _types(schema: "StructType") -> dict[str, str]:
    names = set(visible(schema.names))
    return {field.name: field.dataType.simpleString() for field in schema.fields if field.name in names}


def _each(groups: Iterable[Iterable[str]]) -> Iterable[str]:
    return (name for group in groups for name in group)
