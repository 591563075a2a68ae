"""What is kept of a PySpark job so that a record can be asked for after the proof: where it lay, which batch read it, the rows of the outputs.

No model knows what such a job does with a record. Where values are masked, none is kept.
"""

from collections.abc import Sequence
from functools import partial

from streamproof.prove.lineage.kept import KeptEvent, ToKeep
from streamproof.prove.lineage.stories import batches_alone, rows_alone
from streamproof.prove.scenario.perturb import SampleEvent
from streamproof.prove.subjects.pyspark.events import Given
from streamproof.prove.subjects.pyspark.reading import Batch, Left


def events_of(given: Given, *, masked: bool) -> list[KeptEvent]:
    """The records of all inputs; without `masked` with the values of the columns that tell records of the sample apart."""
    found = []
    for name, offered in given.offered.items():
        ids = [] if masked else _ids([event for events in offered.files.values() for event in events])
        for file, events in offered.files.items():
            for row, event in enumerate(events, start=1):
                known = tuple(str(event.record.values[column]) for column in ids if event.record.values.get(column) is not None)
                found.append(KeptEvent(event.trace, event.trace, known, name, file, row, None))
    return found


def _ids(events: Sequence[SampleEvent]) -> list[str]:
    """The columns whose values no two records share, copies left aside."""
    records = {event.event_id: event.record.values for event in events if event.record.values}
    columns = dict.fromkeys(name for values in records.values() for name in values)
    return [name for name in columns if len({str(values.get(name)) for values in records.values()}) == len(records)]


def queries_of(left: Left, *, masked: bool) -> list[ToKeep]:
    """What each query has read and left; what is written beside the queries stands with the first one."""
    first = next(iter(left.batches), "")
    found = []
    for query, batches in left.batches.items():
        outputs = [output for output in left.outputs if (output.query.name if output.query else first) == query]
        read = [(batch.number, _files(batch), batch.watermark_ms * 1_000) for batch in batches]
        found.append(
            ToKeep(
                query,
                batches,
                partial(batches_alone, read),
                [rows_alone(output.name, output.rows, masked=masked) for output in outputs],
            )
        )
    return found


def _files(batch: Batch) -> list[str]:
    return [file for files in batch.files.values() for file in files]
