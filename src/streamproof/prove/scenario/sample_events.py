"""The events of a sample of any size as chunks of arrays: when each happened, when it arrived, and which key, file and partition it is of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.config.problems import did_you_mean
from streamproof.core.paths import display
from streamproof.doctor.skew.chunks import Chunk, Names
from streamproof.errors import ConfigurationError, ScenarioError
from streamproof.prove.scenario.left_out import LeftOut
from streamproof.prove.scenario.sample import FORMATS, read_sample
from streamproof.prove.scenario.sample_arrays import instants, is_number, texts
from streamproof.prove.scenario.sample_pieces import KAFKA, pieces, record_of, value_column
from streamproof.prove.scenario.sample_records import Record
from streamproof.prove.scenario.sample_time import instant_us, time_columns, time_columns_of, unit_of

_LOOKED_AT = 5_000
"""From so many records at the beginning it is told which columns there are, and which of them are times."""
_MOST = 0.95
_NAMED = 12
UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")


@dataclass(frozen=True)
class Asked:
    """What is said beside the sample: columns by name, and the unit of the event time; None where it is to be told from the records."""

    time: str | None = None
    unit: str | None = None
    arrival: str | None = None
    key: str | None = None
    partition: str | None = None


@dataclass(frozen=True)
class SampleEvents:
    """A sample that can be read once.

    Parameters
    ----------
    name
        After its first file, or its folder.
    time, unit
        The column that the event time is taken from, and what its numbers count.
    arrival, arrival_unit, clock_known
        The column that the order of arrival is taken from, what its numbers count, and whether it is a clock.
    grouped
        By dimension the column that its groups are taken from; "file" has none.
    names
        By dimension what its groups are called; filled while the chunks are read.
    notes
        What a person should know.
    left_out
        By file the lines that hold no record, and how many do; filled while the chunks are read.
    """

    name: str
    files: Sequence[Path]
    time: str
    unit: str | None
    arrival: str | None
    arrival_unit: str | None
    clock_known: bool
    grouped: Mapping[str, str]
    names: Mapping[str, Names]
    notes: tuple[str, ...]
    _formats: Sequence[str] = field(repr=False)
    _types: Mapping[str, str] = field(repr=False)
    _value: str | None = field(repr=False)
    left_out: list[tuple[LeftOut, int]] = field(default_factory=list, repr=False)

    @property
    def broken(self) -> int:
        """How many lines hold no record."""
        return sum(lines.count for lines, _ in self.left_out)

    def notes_of_lines(self) -> tuple[str, ...]:
        """What is said of the lines that hold no record, once all are read."""
        return tuple(note for lines, records in self.left_out for note in lines.notes(records))

    def chunks(self) -> Iterator[Chunk]:
        """All events, one file after the other."""
        columns = [self.time, *([] if self.arrival is None else [self.arrival]), *self.grouped.values()]
        for path, format_ in zip(self.files, self._formats, strict=True):
            left_out, records = LeftOut(path), 0
            for values in pieces(path, format_, columns, self._types, value=self._value, left_out=left_out):
                records += len(values[0])
                yield self._chunk(path, values)
            left_out.require_fewer(records)
            self.left_out.append((left_out, records))

    def _chunk(self, path: Path, values: Sequence[Any]) -> Chunk:
        rest = iter(values)
        times, there = instants(next(rest), self.unit)
        arrival: NDArray[np.int64] | None = None
        if self.arrival is not None:
            arrival, known = self._arrival(next(rest))
            there = there & known
        codes = {name: self.names[name].numbers(texts(next(rest))) for name in self.grouped}
        if "file" in self.names:
            codes["file"] = np.full(len(times), self.names["file"].number(path.name), dtype=np.int32)
        kept = np.flatnonzero(there)
        chunk = Chunk(times, codes, arrival).part(kept)
        return Chunk(chunk.times, chunk.groups, chunk.arrival, len(times) - len(kept))

    def _arrival(self, values: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if self.clock_known:
            return instants(values, self.arrival_unit)
        plain = values if isinstance(values, list) else values.to_pylist()
        there = np.fromiter(map(is_number, plain), dtype=np.bool_, count=len(plain))
        return np.array([int(value) if is_number(value) else 0 for value in plain], dtype=np.int64), there


def open_sample(paths: Sequence[Path], asked: Asked) -> SampleEvents:
    """Look at the beginning of a sample: its columns, and which of them say when an event happened and arrived.

    Parameters
    ----------
    paths
        Files, or folders of files, of JSON lines, CSV, Parquet or Avro. They count as one after the other, those of a folder in the order of their names.

    Raises
    ------
    ScenarioError
        If there is no file, or one is not what it should be.
    ConfigurationError
        If no column is an event time, or one that was named is not there or says no time.
    """
    files = [file for path in paths for file in _files(path)]
    first = read_sample("sample", files[0], limit=_LOOKED_AT, least=1)
    value = value_column(list(first.columns))
    records = [record_of(value)(record.values) for record in first.records]
    if value is not None and not _holds_objects(first.records, value):
        value, records = None, [record.values for record in first.records]
    columns: dict[str, list[Any]] = {
        name: [record.get(name) for record in records] for name in _names_of(records, first.columns, value)
    }
    where = display(files[0])
    time, unit = _time(columns, asked, where)
    clock, arrival_unit = (False, None) if asked.arrival is None else _arrival(columns, asked.arrival, where)
    grouped = {}
    if asked.key is not None:
        grouped["key"] = _column(columns, asked.key, "--by", where)
    partition = asked.partition or _kafka_partition(columns, value)
    if partition is not None:
        grouped["partition"] = _column(columns, partition, "--partition", where)
    names = {name: Names() for name in grouped} | ({"file": Names()} if len(files) > 1 else {})
    notes = [*_kafka_notes(columns, value, asked, time)]
    return SampleEvents(
        paths[0].name.partition(".")[0] or str(paths[0]),
        files,
        time,
        unit,
        asked.arrival,
        arrival_unit,
        clock,
        grouped,
        names,
        tuple(notes),
        [FORMATS.get(file.suffix.lower(), first.format) for file in files],
        first.columns,
        value,
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and FORMATS.get(file.suffix.lower(), "text") != "text"
        and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    )
    if not found:
        raise ScenarioError(
            f"{display(path)} holds no file of a sample.",
            required=f"Files of a sample end with one of {', '.join(ending for ending, form in FORMATS.items() if form != 'text')}.",
            remedy="Look at the name of the folder.",
        )
    return found


def _holds_objects(records: Sequence[Record], value: str) -> bool:
    unpacked = record_of(value)
    there = [record.values for record in records if record.values.get(value) is not None]
    own = sum(any(not name.startswith(KAFKA) for name in unpacked(row)) for row in there)
    return bool(there) and own >= _MOST * len(there)


def _names_of(records: Sequence[Mapping[str, Any]], columns: Mapping[str, str], value: str | None) -> list[str]:
    return list(columns) if value is None else list(dict.fromkeys(name for record in records for name in record))


def _time(columns: Mapping[str, list[Any]], asked: Asked, where: str) -> tuple[str, str | None]:
    if asked.time is not None:
        values = columns[_column(columns, asked.time, "--time", where)]
        return asked.time, asked.unit or _unit(values, asked.time, where)
    own = {name: values for name, values in columns.items() if not name.startswith(KAFKA)}
    found = time_columns_of(own) or time_columns(columns)
    if not found:
        raise ConfigurationError(
            f"No column of {where} looks like event time: {_listed(columns)}.",
            required="An event time is a timestamp, a text in ISO 8601, or a number whose name speaks of time.",
            remedy="Name it: --time COLUMN, and for numbers --unit milliseconds.",
        )
    return found[0].name, asked.unit or found[0].unit


def _unit(values: Sequence[Any], name: str, where: str) -> str | None:
    """What the numbers of a column count; None where it holds no numbers."""
    there = [value for value in values if value is not None]
    if sum(instant_us(value, None) is not None for value in there) >= _MOST * len(there) > 0:
        return next((unit_of(value) for value in there if is_number(value)), None)
    if there and all(map(is_number, there)):
        raise ConfigurationError(
            f"The numbers of {name} in {where} are no times of the years 2000 to 2100: {there[0]}.",
            required="Their unit must be said.",
            remedy="Give --unit seconds, milliseconds, microseconds or nanoseconds.",
        )
    said = f"values such as {there[0]!r}" if there else "nothing"
    raise ConfigurationError(
        f"The column {name} of {where} does not say when an event happened: it holds {said}.",
        required="An event time is a timestamp, a text in ISO 8601, or a number.",
        remedy="Name another column by --time.",
    )


def _arrival(columns: Mapping[str, list[Any]], name: str, where: str) -> tuple[bool, str | None]:
    """Whether the column is a clock, and what its numbers count."""
    there = [value for value in columns[_column(columns, name, "--arrival", where)] if value is not None]
    if there and sum(instant_us(value, None) is not None for value in there) >= _MOST * len(there):
        return True, next((unit_of(value) for value in there if is_number(value)), None)
    if there and all(isinstance(value, int) and not isinstance(value, bool) for value in there):
        return False, None
    said = f"values such as {there[0]!r}" if there else "nothing"
    raise ConfigurationError(
        f"The column {name} of {where} gives no order of arrival: it holds {said}.",
        required="An order of arrival is a time, or a whole number that rises, such as an offset.",
        remedy="Name another column by --arrival, or leave it out: then the order of the sample counts.",
    )


def _column(columns: Mapping[str, list[Any]], name: str, option: str, where: str) -> str:
    if name not in columns:
        raise ConfigurationError(
            f'{option} {name}: {where} has no column "{name}".{did_you_mean(name, list(columns))}',
            required=f"It has {_listed(columns)}.",
        )
    return name


def _listed(columns: Mapping[str, list[Any]]) -> str:
    names = list(columns)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(islice(names, _NAMED))}{more}"


def _kafka_partition(columns: Mapping[str, list[Any]], value: str | None) -> str | None:
    if value is not None:
        return f"{KAFKA}partition"
    return "partition" if {"partition", "offset"} <= set(columns) else None


def _kafka_notes(columns: Mapping[str, list[Any]], value: str | None, asked: Asked, time: str) -> Iterator[str]:
    clock = next((name for name in (f"{KAFKA}timestamp", f"{KAFKA}ts") if name in columns), None)
    if value is None or clock is None:
        return
    if time == clock:
        yield f"The values hold no event time; {clock} was taken, the time at the producer or at the broker."
    elif asked.arrival is None:
        yield f"The order of the sample counts as the order of arrival. A dump of several partitions may have another: --arrival {clock}"
