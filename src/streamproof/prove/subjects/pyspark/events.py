"""The events of a proof's samples: perturbed, and spread over files that make the batches."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.prove.scenario.perturb import SampleEvent
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_files import write_sample_files
from streamproof.prove.scenario.schedule import set_age
from streamproof.prove.subjects.pyspark.kafka_headers import headers_of
from streamproof.prove.subjects.pyspark.readers import KAFKA_FOLDER
from streamproof.prove.subjects.pyspark.shapes import write_spoilt

_FIRST_MS = 1_767_225_600_000
_KAFKA_FIELDS: list[tuple[str, Any]] = [
    ("key", pa.binary()),
    ("value", pa.binary()),
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", tz="UTC")),
    ("timestampType", pa.int32()),
    ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
]
_KAFKA = pa.schema(_KAFKA_FIELDS)


@dataclass(frozen=True)
class Offered:
    """The events of one input as they were written.

    Parameters
    ----------
    files
        By file the events in it, in their order; the files in the order of their batches.
    records
        By event the record as Kafka's source would give it; empty where nobody can ask for it.
    """

    sample: Sample
    files: Mapping[str, Sequence[SampleEvent]]
    records: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Given:
    """The events that the inputs of a job are bound to.

    Parameters
    ----------
    data
        By input the folder of its files.
    offered
        By input its events, and the files they lie in.
    files_per_batch
        How many of them are one batch.
    seed
        What disorder, late events and copies were made by.
    """

    data: Mapping[str, str]
    offered: Mapping[str, Offered]
    files_per_batch: int
    seed: int


def write_events(sample: Sample, events: Sequence[SampleEvent], folder: Path, files: int) -> Offered:
    """Writes the events of an input to `folder/NAME`, and as Kafka's records to `folder/NAME.kafka`."""
    at = folder / sample.name
    traces = write_sample_files(events, sample, at, files=files)
    by_trace = {event.trace: event for event in events}
    found = {name: [by_trace[trace] for trace in of_file] for name, of_file in traces.items()}
    spoilt = {name: [place for place, event in enumerate(its) if event.kind == "malformed"] for name, its in found.items()}
    write_spoilt(at, spoilt)
    records = _records(sample, found)
    for number, (name, its) in enumerate(found.items()):
        _write_kafka(Path(KAFKA_FOLDER.format(at)) / name, [records[event.trace] for event in its], number)
    return Offered(sample, found, records)


def _records(sample: Sample, files: Mapping[str, Sequence[SampleEvent]]) -> dict[str, dict[str, object]]:
    """By event its record in a topic of as many partitions as a batch has files; the timestamp is the event time where it has one."""
    next_offset = [0, 0]
    instants = dict(zip((f"{sample.name}-{place:06d}" for place in range(len(sample.records))), sample.instants(), strict=True))
    found: dict[str, dict[str, object]] = {}
    for number, events in enumerate(files.values()):
        partition = number % len(next_offset)
        for event in events:
            instant = instants.get(event.event_id)
            found[event.trace] = {
                "key": _key(sample, event),
                "value": _value(event),
                "topic": sample.name,
                "partition": partition,
                "offset": next_offset[partition],
                "timestamp": instant if instant is not None else _FIRST_MS * 1_000,
                "timestampType": 0,
                "headers": headers_of(event.record.values),
            }
            next_offset[partition] += 1
    return found


def _key(sample: Sample, event: SampleEvent) -> bytes | None:
    value = event.record.values.get(sample.id_column) if sample.id_column else None
    return None if value is None else str(value).encode()


def _value(event: SampleEvent) -> bytes:
    if event.record.raw is not None:
        return event.record.raw
    return json.dumps(dict(event.record.values), default=str, ensure_ascii=False).encode()


def _write_kafka(path: Path, records: Sequence[Mapping[str, object]], number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(record) for record in records], schema=_KAFKA), path, coerce_timestamps="us")
    set_age(path, number)
