"""What a report says of a PySpark job: what it was judged by, what was not checked and why, its outputs."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from streamproof.core.notes import Note, NoteCode
from streamproof.prove.subjects.pyspark.events import Given
from streamproof.prove.subjects.pyspark.fault_free import FaultFree
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.reading import Left
from streamproof.prove.subjects.pyspark.terms import Terms
from streamproof.prove.subjects.pyspark.told import Query, Told
from streamproof.prove.subjects.pyspark.unread import not_looked_at

NO_PICTURE: dict[str, Any] = {"points": [], "watermark": [], "windows": [], "batches": []}
_SINKS = {
    "kafka": "Kafka",
    "delta": "Delta Lake",
    "iceberg": "Iceberg",
    "table": "the table",
    "hudi": "Hudi",
}
_KEPT_NOWHERE = ("noop", "console", "memory")
JUDGED_BY = "its own run without a fault over the same batches"


class Reported(Protocol):
    """What is asked of a PySpark job for its report."""

    name: str
    told: Told
    given: Given
    terms: Terms
    readers: Sequence[ReadBack]
    notes: tuple[Note, ...]
    fault_free: FaultFree

    @property
    def queries(self) -> tuple[Query, ...]: ...


def report_of(subject: Reported, left: Left | None) -> dict[str, Any]:
    """The subject's part of the report; `left` is what the fault-free run has left, None where it could not be read."""
    events = sum(len(its) for one in subject.given.offered.values() for its in one.files.values())
    return {
        "job": subject.name,
        "title": f"{events:,} events of {', '.join(subject.given.offered)}, seed {subject.given.seed}",
        "seed": subject.given.seed,
        "events": events,
        "noun": "event",
        "judged_by": [JUDGED_BY],
        "not_exercised": list(not_looked_at(subject.told, left, [one.name for one in subject.readers], subject.queries)),
        "not_compared": [],
        "not_checked": [
            {"code": f"{name.partition(' ')[0]}-not-checked", "name": name, "says": says}
            for name, says in _not_checked(subject, left)
        ],
        "notes": [
            *subject.fault_free.notes(),
            *subject.notes,
            *(Note(NoteCode.SAMPLE, said) for one in subject.given.offered.values() for said in one.sample.notes),
        ],
        "event_time": NO_PICTURE,
        "outputs": _outputs(left),
    }


def _not_checked(subject: Reported, left: Left | None) -> Iterator[tuple[str, str]]:
    shown = subject.fault_free
    for name in subject.terms.ignored.names:
        yield f"column {name}", "left out by --ignore: it may have another value in each run"
    yield "late rows", shown.about_late_rows()
    yield "account", "the account place by place takes a job that is written with streamproof"
    yield "state", shown.about_state()
    for query in left.queries if left else ():
        if query.rows == "batches" and query.was in _KEPT_NOWHERE:
            yield f"sink {query.name}", f"{query.was} keeps no row: the proof keeps and compares those that reach it"
        elif query.rows == "batches" and query.was in _SINKS:
            yield (
                f"sink {query.name}",
                f"the proof keeps the rows in place of {_SINKS[query.was]}: what that does with a batch that runs again is its own affair",
            )


def _outputs(left: Left | None) -> list[dict[str, Any]]:
    found = []
    for output in left.outputs if left else ():
        was = output.query.was if output.query else "the job's own function"
        mode = f", {output.query.mode} mode" if output.query else ""
        found.append(
            {
                "name": output.name,
                "rows": output.count,
                "format": output.query.format if output.query else "",
                "where": f"{was}{mode}",
                "guarantee": "compared with a run without a fault, row by row",
            }
        )
    return found
