"""What a run says of the data that a query reads and writes, for catalogues: once its plan is made, where somebody wants to know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from streamproof.core.datasets import Dataset
from streamproof.runtime.watching.events import RunEvent


@dataclass(frozen=True)
class Origin:
    """A column of a source that a column of an output is made of; `by` is "IDENTITY", "TRANSFORMATION" or "AGGREGATION"."""

    source: str
    column: str
    by: str


@dataclass(frozen=True)
class Data:
    """What a query reads or writes.

    Parameters
    ----------
    name
        What the job calls it: a source, a table, an output or one of its sinks.
    datasets
        What catalogues call it; several of a source of several topics, none of what is in no catalogue.
    columns
        By name the type in Spark's words; empty where they are not known.
    origins
        Of an output by column those of sources that it is made of.
    hidden
        Of an output by column the steps of Spark's plan that hide what else it is made of.
    """

    name: str
    datasets: Sequence[Dataset]
    columns: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    hidden: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryPlanned(RunEvent):
    """The plan of a query is made: what it reads (sources and tables), what it writes (outputs and their sinks), and which column is made of which.

    It is said where it is asked for alone, as `run --openlineage` does.
    """

    kind: ClassVar[str] = "query-planned"
    query: str
    reads: Sequence[Data]
    writes: Sequence[Data]
