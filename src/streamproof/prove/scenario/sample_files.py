"""The events of a sample as files, in the sample's own format; Spark's file source takes them in the order of their modification times."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.connectors.extras import library
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.perturb import SampleEvent
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.schedule import set_age


def write_sample_files(
    events: Sequence[SampleEvent], sample: Sample, folder: Path, *, files: int, modified: bool = True
) -> Mapping[str, list[str]]:
    """Write the events, in their order, as files of about equal size: `trades-00000.json` and so on.

    Parameters
    ----------
    folder
        Where the files go; made if it is not there.
    files
        How many; where there are fewer events, some are empty files of the format.
    modified
        Whether the files are a second apart in age, in their order.

    Returns
    -------
    Mapping
        The name of each file with the traces of its events, in their order.

    Raises
    ------
    ScenarioError
        If no file is asked for, or a value is not of its column's type.
    MissingExtra
        If the sample is Avro, and the library that writes it is not installed.
    """
    if files < 1:
        raise ScenarioError(f"The sample {sample.name} is to be written to {files} files.", required="It takes one at least.")
    folder.mkdir(parents=True, exist_ok=True)
    write = _WRITERS[sample.format]
    traces: dict[str, list[str]] = {}
    for number in range(files):
        content = events[number * len(events) // files : (number + 1) * len(events) // files]
        path = folder / f"{sample.name}-{number:05d}.{sample.format}"
        write(content, sample, path)
        if modified:
            set_age(path, number)
        traces[path.name] = [event.trace for event in content]
    return traces


def _lines(events: Sequence[SampleEvent], sample: Sample, path: Path) -> None:
    head = [] if sample.written.header is None else [sample.written.header]
    path.write_bytes(b"".join(line + b"\n" for line in (*head, *(event.record.raw or b"" for event in events))))


def _parquet(events: Sequence[SampleEvent], sample: Sample, path: Path) -> None:
    rows = [dict(event.record.values) for event in events]
    try:
        pq.write_table(pa.Table.from_pylist(rows, schema=sample.written.layout), path)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise ScenarioError(f"The sample {sample.name} cannot be written as Parquet: {problem}.") from None


def _avro(events: Sequence[SampleEvent], sample: Sample, path: Path) -> None:
    fastavro = library("fastavro", "lab", "A sample in Avro")
    marker = hashlib.sha256(path.name.encode()).digest()[:16]  # else it is random, and no two files are the same
    with path.open("wb") as file:
        fastavro.writer(file, sample.written.layout, [dict(event.record.values) for event in events], sync_marker=marker)


_WRITERS: Mapping[str, Callable[[Sequence[SampleEvent], Sample, Path], None]] = {
    "json": _lines,
    "csv": _lines,
    "text": _lines,
    "parquet": _parquet,
    "avro": _avro,
}
