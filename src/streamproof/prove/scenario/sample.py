"""A sample: a file of records as the users have them, which takes the place of the generator's events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample_records import Found, Record
from streamproof.prove.scenario.sample_time import TimeColumn, id_column, instant_us, time_columns, time_columns_of

MOST_RECORDS = 50_000
"""So many records of a sample are taken unless the caller says otherwise."""
FORMATS: Mapping[str, str] = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".avro": "avro",
    ".log": "text",
}
_LEAST_RECORDS = 2


@dataclass(frozen=True)
class Written:
    """How a file holds its records.

    Parameters
    ----------
    header
        The first line of a CSV file, without its line end.
    layout
        The schema of the file itself: Arrow's for Parquet, Avro's for Avro.
    whole_lines
        Whether no line of it is ever cut: the file that it stands for is not read in lines.
    left_out
        How many lines of the file hold no record.
    """

    header: bytes | None = None
    layout: Any = None
    whole_lines: bool = False
    left_out: int = 0


@dataclass(frozen=True)
class Sample:
    """The records of a file, in its order, and what can be seen of them.

    Parameters
    ----------
    name
        The name of the input that it stands for.
    format
        "json" (one object a line), "csv" (with a header), "text" (plain lines), "parquet" or "avro" (an object container).
    schema
        The columns in Spark's DDL, all of them nullable: "id string, amount double, address struct<city: string>".
    time
        The column that looks like event time; None where none does.
    id_column
        A column whose values are texts or whole numbers, all there and all different; None where none is.
    columns
        Each column with its type, as `schema` has it.
    written
        How the file holds the records.
    notes
        What a person should know: that the file has more records, that a value is read otherwise than it looks.
    kept
        The columns that a job gets, where a reader has to name more of them; empty where it gets all.
    of_types
        By column the note, among the others, of how its type was inferred.
    """

    name: str
    path: Path
    format: str
    schema: str
    records: Sequence[Record]
    time: TimeColumn | None
    id_column: str | None
    columns: Mapping[str, str]
    written: Written = field(default_factory=Written)
    notes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    of_types: Mapping[str, str] = field(default_factory=dict)

    @property
    def broken_share(self) -> float:
        """The share of the lines that hold no record."""
        left_out = self.written.left_out
        return left_out / (left_out + len(self.records)) if left_out else 0.0

    @property
    def time_column(self) -> str | None:
        """The name of the column that looks like event time."""
        return self.time.name if self.time is not None else None

    def instants(self) -> list[int | None]:
        """The event time of each record in microseconds since 1970, UTC; None where it has none that can be read."""
        if self.time is None:
            return [None] * len(self.records)
        return [instant_us(record.values.get(self.time.name), self.time.unit) for record in self.records]


def read_sample(
    name: str,
    path: Path,
    *,
    format: str | None = None,  # noqa: A002
    limit: int | None = None,
    least: int = _LEAST_RECORDS,
    forgiving: bool = False,
) -> Sample:
    """Read a sample; needs neither Spark nor a JVM.

    Parameters
    ----------
    name
        Of the input that it stands for, "trades".
    path
        One file: JSON lines, CSV with a header, plain lines (.log), Parquet, or an Avro object container.
    format
        "json", "csv", "text", "parquet" or "avro"; by the ending of the file's name unless given.
    limit
        At most so many records, the first ones; 50,000 unless given.
    least
        So many records it must have: two for a proof.
    forgiving
        Whether records of text formats are left out whose values are of another kind than nearly all of their column. Without it such a
        column is a text, as Spark infers it.

    Lines that hold no record are left out, and a note says so.

    Raises
    ------
    ScenarioError
        If the file is not there, is empty, has an ending that says nothing, or is not what it should be: half of its lines hold no record.
    MissingExtra
        If it is Avro, and the library that reads it is not installed.
    """
    from streamproof.prove.scenario import sample_lines, sample_tables
    from streamproof.prove.scenario.sample_types import ddl_of

    format_ = _format(path, format)
    _require_file(path)
    most = MOST_RECORDS if limit is None else limit
    read: Mapping[str, Callable[[Path, int], Found]] = {
        "json": partial(sample_lines.json_lines, forgiving=forgiving),
        "csv": partial(sample_lines.csv_lines, forgiving=forgiving),
        "text": sample_lines.text_lines,
        "parquet": sample_tables.parquet,
        "avro": sample_tables.avro,
    }
    found = read[format_](path, most)
    _require_columns(path, list(found.columns))
    if len(found.records) < least:
        count = "one record" if found.records else "no record"
        raise ScenarioError(
            f"{display(path)} has {count}.",
            required="A sample needs at least two records: a proof runs two batches or more."
            if least > 1
            else "A sample needs records.",
            remedy="Take a larger sample; a thousand records are a good one.",
        )
    values = {column: [record.values[column] for record in found.records] for column in found.columns}
    times = time_columns_of(values) if forgiving else time_columns(values)
    time = times[0] if times else None
    notes = (*found.notes, *found.of_types.values(), *_more(path, most, more=found.more), *_backwards(values, time))
    return Sample(
        name,
        path,
        format_,
        ddl_of(found.columns),
        found.records,
        time,
        id_column(values, times),
        found.columns,
        Written(found.header, found.layout, left_out=found.left_out),
        notes,
        of_types=found.of_types,
    )


def _format(path: Path, given: str | None) -> str:
    known = tuple(dict.fromkeys(FORMATS.values()))
    if given is not None:
        if given not in known:
            raise ScenarioError(f'There is no format "{given}" of samples.', required=f"It is one of {', '.join(known)}.")
        return given
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        ending = f'the ending "{path.suffix}"' if path.suffix else "no ending"
        raise ScenarioError(
            f"{display(path)} has {ending}, which does not say what it is.",
            required=f"A sample ends with one of {', '.join(FORMATS)}.",
            remedy="Unpack it." if path.suffix in (".gz", ".zip", ".bz2", ".zst", ".xz") else "Rename it to what it is.",
        )
    return found


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise ScenarioError(
            f"{display(path)} is a folder.",
            required="A sample is one file.",
            remedy="Name one of the files in it, or put them into one.",
        )
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise ScenarioError(f"There is no {display(path)}.", required="A sample is a file.", remedy="Look at its name.") from None
    except OSError as problem:
        raise ScenarioError(f"{display(path)} cannot be read: {problem.strerror}.") from None
    if size == 0:
        raise ScenarioError(f"{display(path)} is empty.", required="A sample needs at least two records.")


def _require_columns(path: Path, names: Sequence[str]) -> None:
    if not names:
        raise ScenarioError(
            f"{display(path)} has no column.",
            required="Its records need at least one column with a name.",
            remedy="Take another file.",
        )
    seen: dict[str, str] = {}
    for name in names:
        if name.lower() in seen:
            raise ScenarioError(
                f'{display(path)} has the columns "{seen[name.lower()]}" and "{name}".',
                required="Spark takes names for the same where only the case differs.",
                remedy="Give one of them another name.",
            )
        seen[name.lower()] = name


def _more(path: Path, most: int, *, more: bool) -> list[str]:
    return [f"{display(path)} has more than {most:,} records; the first {most:,} are taken."] if more else []


def _backwards(values: Mapping[str, Sequence[Any]], time: TimeColumn | None) -> list[str]:
    """Said where the records go back in time: a job would call most of them late."""
    if time is None:
        return []
    instants = [instant for value in values[time.name] if (instant := instant_us(value, time.unit)) is not None]
    steps = [later - earlier for earlier, later in pairwise(instants) if later != earlier]
    if sum(step < 0 for step in steps) <= 0.9 * len(steps) or not steps:
        return []
    return [
        f"The records go back in time by {time.name}, the newest first: a job with a watermark calls most of them late. Sort them."
    ]
