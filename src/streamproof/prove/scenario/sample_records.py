"""The records of a sample, and what a reader of one format finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Record:
    """One record of a sample.

    Parameters
    ----------
    raw
        The line as it stands in a text format, without its line end; None for Parquet and Avro.
    values
        Every column of the sample with its value, typed as Arrow gives it; None where the record has none.
    line
        The line of the file that it stands on, from 1; 0 where the format has no lines.
    """

    raw: bytes | None
    values: Mapping[str, Any]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Found:
    """What a reader of one format has found: records, columns with their types, and whether the file has more."""

    records: Sequence[Record]
    columns: Mapping[str, str]
    more: bool
    header: bytes | None = None
    layout: Any = None
    notes: tuple[str, ...] = ()
    of_types: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0
