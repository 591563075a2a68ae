"""What a report says of a PySpark job: what it was judged by, what was not checked and why, its outputs."""

from collections.abc import Iterator
from typing import Any

from streamproof.core.notes import Note, NoteCode
from streamproof.prove.subjects.pyspark.reading import Left
from streamproof.prove.subjects.pyspark.subject import PysparkSubject

NO_PICTURE: dict[str, Any] = {"points": [], "watermark": [], "windows": [], "batches": []}
_SINKS = {
    "kafka": "Kafka",
    "delta": "Delta Lake",
    "iceberg": "Iceberg",
    "table": "the table",
    "hudi": "Hudi",
}
JUDGED_BY = "its own run without a fault over the same batches"


def report_of(subject: PysparkSubject, left: Left | None) -> dict[str, Any]:
    """The subject's part of the report; `left` is what the fault-free run has left, None where it could not be read."""
    events = sum(len(its) for one in subject.offered.values() for its in one.files.values())
    return {
        "job": subject.name,
        "title": f"{events:,} events of {', '.join(subject.offered)}, seed {subject.seed}",
        "seed": subject.seed,
        "events": events,
        "noun": "event",
        "judged_by": [JUDGED_BY],
        "not_exercised": list(_not_exercised(left)),
        "not_compared": [],
        "not_checked": [
            {"code": f"{name.partition(' ')[0]}-not-checked", "name": name, "says": says}
            for name, says in _not_checked(subject, left)
        ],
        "notes": [*subject.notes, *(Note(NoteCode.SAMPLE, said) for one in subject.offered.values() for said in one.sample.notes)],
        "event_time": NO_PICTURE,
        "outputs": _outputs(left),
    }


def _not_checked(subject: PysparkSubject, left: Left | None) -> Iterator[tuple[str, str]]:
    for name in subject.ignored.names:
        yield f"column {name}", "left out by --ignore: it may have another value in each run"
    dropped = sum(query.dropped for query in left.queries) if left else 0
    counted = f"; Spark's own count says {dropped:,} dropped" if dropped else "; Spark's own count says none"
    yield "late rows", f"plain PySpark drops them silently{counted}"
    yield "account", "the account place by place takes a job that is written with streamproof"
    yield "state", "what is in the state stores is not read; what comes of it is"
    for query in left.queries if left else ():
        if query.rows == "batches" and query.was in _SINKS:
            yield (
                f"sink {query.name}",
                f"the proof keeps the rows in place of {_SINKS[query.was]}: what that does with a batch that runs again is its own affair",
            )
    written = any(output.query is None for output in left.outputs) if left else False
    for query in left.queries if left else ():
        if query.rows == "function" and not subject.readers and not written:
            yield (
                f"output {query.name}",
                f"{query.was} writes it where no proof looks: read it back by --read {query.name}=module:function",
            )


def _not_exercised(left: Left | None) -> Iterator[dict[str, str]]:
    """An output without a row proves nothing (R29)."""
    for output in left.outputs if left else ():
        if not output.count:
            says = f"The output {output.name} has no row. Take a sample that gives some: more records, or a longer span of time."
            yield {"code": "output-without-row", "name": output.name, "says": says}


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
